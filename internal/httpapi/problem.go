package httpapi

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/shoal-dev/shoal"
)

// problem is the shape in which guard.WriteProblem tells an error.
type problem struct {
	Type   string             `json:"type"`
	Title  string             `json:"title"`
	Status int                `json:"status"`
	Detail string             `json:"detail"`
	Code   shoal.Kind         `json:"code"`
	Errors []shoal.FieldError `json:"errors,omitempty"`
	// RequestID is what the server's operator finds the call by in the log. It is
	// also in the header X-Request-Id.
	RequestID string `json:"requestId"`
}

// headerFields are inputs that travel as headers.
var headerFields = map[string]string{"idempotencyKey": "header.Idempotency-Key", "X-Shoal-Entity": "header.X-Shoal-Entity"}

// located says of every wrong field where in the request it stands. The hub
// knows fields by their names alone: what is not told otherwise came in the
// query of a GET and in the body of anything else.
func locateFields(err error, method string) error {
	var e *shoal.Error
	if !errors.As(err, &e) || len(e.Fields) == 0 {
		return err
	}
	place := "body."
	if method == http.MethodGet || method == http.MethodHead {
		place = "query."
	}
	copied := *e
	copied.Fields = make([]shoal.FieldError, len(e.Fields))
	for i, f := range e.Fields {
		copied.Fields[i] = f
		switch root, _, _ := strings.Cut(f.Location, "."); {
		case headerFields[f.Location] != "":
			copied.Fields[i].Location = headerFields[f.Location]
		case root != "body" && root != "query" && root != "header" && root != "path":
			copied.Fields[i].Location = place + f.Location
		}
	}
	return &copied
}

// renamed returns err with another place for a field and everything below it,
// in the fields and in the sentence: where a client names it otherwise than the
// hub.
func renameField(err error, from, to string) error {
	var e *shoal.Error
	if !errors.As(err, &e) || len(e.Fields) == 0 {
		return err
	}
	copied := *e
	copied.Msg = strings.Replace(e.Msg, from, to[strings.LastIndexByte(to, '.')+1:], 1)
	copied.Fields = make([]shoal.FieldError, len(e.Fields))
	for i, f := range e.Fields {
		copied.Fields[i] = f
		if rest, found := strings.CutPrefix(f.Location, from); found {
			copied.Fields[i].Location = to + rest
		}
	}
	return &copied
}

// methodNotAllowed answers 405, which is no kind of error that the hub knows.
func (c *call) methodNotAllowed(allow string) {
	text, _ := json.Marshal(problem{ // strings and numbers can always be marshalled
		Type: "about:blank", Title: http.StatusText(http.StatusMethodNotAllowed), Status: http.StatusMethodNotAllowed,
		Detail: "This path does not take " + strconv.Quote(c.r.Method) + ", only " + allow + ".", Code: "method_not_allowed",
		RequestID: c.id,
	})
	c.w.Header().Set("Allow", allow)
	c.writeErr = c.write(http.StatusMethodNotAllowed, "application/problem+json", text)
}
