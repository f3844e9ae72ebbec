package guard

import (
	"net/http"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
)

// OpenAIError is the error object of OpenAI's API. Param is the first field that is wrong. Code is
// the kind of the error, except where their clients know another word.
type OpenAIError struct {
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    string  `json:"code"`
}

// NewOpenAIError returns the part of err that a client may see, as [WriteProblem] does.
func NewOpenAIError(err error) OpenAIError {
	public := publicError(err)
	return openAIError(Status(public.Kind), public)
}

func openAIError(status int, err *shoal.Error) OpenAIError {
	out := OpenAIError{Message: err.Msg, Type: "invalid_request_error", Code: string(err.Kind)}
	switch {
	case status == http.StatusUnauthorized:
		out.Type, out.Code = "authentication_error", "invalid_api_key"
	case status == http.StatusForbidden:
		out.Type = "permission_error"
	case status == http.StatusTooManyRequests:
		out.Type = "rate_limit_error"
	case status >= http.StatusInternalServerError:
		out.Type = "server_error"
	}
	if len(err.Fields) > 0 {
		param := strings.TrimPrefix(err.Fields[0].Location, "body.")
		out.Param = &param
	}
	return out
}

// WriteOpenAIError answers a request to OpenAI's API with err as an error object. For the rest it does
// what [WriteProblem] does.
func WriteOpenAIError(w http.ResponseWriter, err error) {
	public := publicError(err)
	writeOpenAIError(w, Status(public.Kind), public)
}

func writeOpenAIError(w http.ResponseWriter, status int, err *shoal.Error) {
	openAIError(status, err).write(w, status, err.RetryAfter)
}

// Write answers a request to OpenAI's API with e as the error object, for errors that the table of statuses does not know.
func (e OpenAIError) Write(w http.ResponseWriter, status int) { e.write(w, status, 0) }

func (e OpenAIError) write(w http.ResponseWriter, status int, retryAfter time.Duration) {
	b := appendValue([]byte(`{"error":`), e)
	writeError(w, status, jsonMedia, append(b, '}'), retryAfter)
}
