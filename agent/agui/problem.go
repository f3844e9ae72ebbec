package agui

import (
	"encoding/json"
	"errors"
	"net/http"

	"github.com/shoal-dev/shoal/agent"
)

// errMethod is of a kind that package agent does not have.
var errMethod = &agent.Error{Op: "agui.Handler", Kind: "method_not_allowed", Msg: "Only POST is served here."}

// statuses are the HTTP statuses of errors; all others are internal.
var statuses = map[agent.ErrorKind]int{
	agent.ErrInvalidJSON:          http.StatusBadRequest,
	agent.ErrInvalidArgument:      http.StatusBadRequest,
	agent.ErrUnauthenticated:      http.StatusUnauthorized,
	agent.ErrForbidden:            http.StatusForbidden,
	agent.ErrNotFound:             http.StatusNotFound,
	errMethod.Kind:                http.StatusMethodNotAllowed,
	agent.ErrConflict:             http.StatusConflict,
	agent.ErrTooLarge:             http.StatusRequestEntityTooLarge,
	agent.ErrUnsupportedMediaType: http.StatusUnsupportedMediaType,
	agent.ErrRateLimited:          http.StatusTooManyRequests,
	agent.ErrBusy:                 http.StatusServiceUnavailable,
	agent.ErrStorageFull:          http.StatusInsufficientStorage,
}

// publicError returns the text of err for a client.
func publicError(err error) *agent.Error {
	var public *agent.Error
	if errors.As(err, &public) && statuses[public.Kind] != 0 {
		return public
	}
	return &agent.Error{Kind: agent.ErrInternal, Msg: "Something went wrong on the server."}
}

// writeProblem answers with an error as a problem document.
func writeProblem(w http.ResponseWriter, err error) {
	public := publicError(err)
	status := statuses[public.Kind]
	if status == 0 {
		status = http.StatusInternalServerError
	}
	text, _ := json.Marshal(struct { // strings and numbers can always be marshalled
		Type   string             `json:"type"`
		Title  string             `json:"title"`
		Status int                `json:"status"`
		Detail string             `json:"detail"`
		Code   agent.ErrorKind    `json:"code"`
		Errors []agent.FieldError `json:"errors,omitempty"`
	}{"about:blank", http.StatusText(status), status, public.Msg, public.Kind, public.Fields})
	if status == http.StatusMethodNotAllowed {
		w.Header().Set("Allow", http.MethodPost)
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(text) // an error means that the client has disconnected
}
