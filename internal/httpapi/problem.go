package httpapi

import (
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/shoal-dev/shoal"
)

// problem is the JSON that guard.WriteProblem writes.
type problem struct {
	Type   string             `json:"type"`
	Title  string             `json:"title"`
	Status int                `json:"status"`
	Detail string             `json:"detail"`
	Code   shoal.Kind         `json:"code"`
	Errors []shoal.FieldError `json:"errors,omitempty"`
	// RequestID identifies the call in the server's log. It is also in the header
	// X-Request-Id.
	RequestID string `json:"requestId"`
}

// methodNotAllowed responds with 405, for which the hub has no kind of error.
func (c *call) methodNotAllowed(allow string) {
	text, _ := json.Marshal(problem{ // strings and numbers can always be marshalled
		Type: "about:blank", Title: http.StatusText(http.StatusMethodNotAllowed), Status: http.StatusMethodNotAllowed,
		Detail: "This path does not take " + strconv.Quote(c.r.Method) + ", only " + allow + ".", Code: "method_not_allowed",
		RequestID: c.id,
	})
	c.w.Header().Set("Allow", allow)
	c.writeErr = c.write(http.StatusMethodNotAllowed, "application/problem+json", text)
}
