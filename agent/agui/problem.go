package agui

import (
	"encoding/json"
	"errors"
	"net/http"

	"github.com/shoal-dev/shoal"
)

// errMethod is no kind of error that the root package knows.
var errMethod = &shoal.Error{Op: "agui.Handler", Kind: "method_not_allowed", Msg: "Only POST is served here."}

// statuses are the HTTP statuses of errors; all others are internal.
var statuses = map[shoal.Kind]int{
	shoal.InvalidJSON:          http.StatusBadRequest,
	shoal.InvalidArgument:      http.StatusBadRequest,
	shoal.Unauthenticated:      http.StatusUnauthorized,
	shoal.Forbidden:            http.StatusForbidden,
	shoal.NotFound:             http.StatusNotFound,
	errMethod.Kind:             http.StatusMethodNotAllowed,
	shoal.Conflict:             http.StatusConflict,
	shoal.TooLarge:             http.StatusRequestEntityTooLarge,
	shoal.UnsupportedMediaType: http.StatusUnsupportedMediaType,
	shoal.RateLimited:          http.StatusTooManyRequests,
	shoal.Busy:                 http.StatusServiceUnavailable,
	shoal.StorageFull:          http.StatusInsufficientStorage,
}

// tell returns what a client may know of err.
func tell(err error) *shoal.Error {
	var told *shoal.Error
	if errors.As(err, &told) && statuses[told.Kind] != 0 {
		return told
	}
	return &shoal.Error{Kind: shoal.Internal, Msg: "Something went wrong on the server."}
}

// writeProblem answers with an error as a problem document.
func writeProblem(w http.ResponseWriter, err error) {
	told := tell(err)
	status := statuses[told.Kind]
	if status == 0 {
		status = http.StatusInternalServerError
	}
	text, _ := json.Marshal(struct { // strings and numbers can always be marshalled
		Type   string             `json:"type"`
		Title  string             `json:"title"`
		Status int                `json:"status"`
		Detail string             `json:"detail"`
		Code   shoal.Kind         `json:"code"`
		Errors []shoal.FieldError `json:"errors,omitempty"`
	}{"about:blank", http.StatusText(status), status, told.Msg, told.Kind, told.Fields})
	if status == http.StatusMethodNotAllowed {
		w.Header().Set("Allow", http.MethodPost)
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(text) // who does not take the answer does not learn of it
}
