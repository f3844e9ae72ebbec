package mcpapi

import (
	"net/http"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/shoal-dev/shoal"
)

// refusals receives the responses of the SDK. The SDK rejects many requests in plain text;
// refusals turns these responses into JSON-RPC errors.
type refusals struct {
	http.ResponseWriter
	id     []byte // of the request, nil where it has none or none is known
	status int    // of a refusal in plain text, once it has begun
}

// asErrors returns a writer that turns plain-text rejections of this request into JSON-RPC
// errors on w.
func (q *request) asErrors(w http.ResponseWriter) *refusals {
	return &refusals{ResponseWriter: w, id: q.id}
}

// Unwrap is for [http.ResponseController].
func (w *refusals) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader implements [http.ResponseWriter].
func (w *refusals) WriteHeader(status int) {
	if status >= 400 && strings.HasPrefix(w.Header().Get("Content-Type"), "text/plain") {
		w.status = status
		return
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements [http.ResponseWriter]. The text of a refusal comes whole.
func (w *refusals) Write(b []byte) (int, error) {
	if w.status == 0 {
		return w.ResponseWriter.Write(b)
	}
	code, said := int64(jsonrpc.CodeInvalidRequest), strings.TrimPrefix(strings.TrimSpace(string(b)), "Bad Request: ")
	if method, ok := strings.CutPrefix(said, notHandled); ok {
		// The message itself is in order, so only its answer says that it failed.
		w.status, code, said = http.StatusOK, jsonrpc.CodeMethodNotFound, "method not found: "+strings.TrimSuffix(method, " unsupported")
	} else {
		said = refusal(w.status, sentenceOf(said))
	}
	w.Header()["Content-Type"] = []string{"application/json"}
	w.ResponseWriter.WriteHeader(w.status)
	if _, err := w.ResponseWriter.Write(errorBody(w.id, code, said)); err != nil {
		return 0, err
	}
	return len(b), nil
}

// sentenceOf is what the SDK says, as a sentence.
func sentenceOf(said string) string {
	if strings.HasPrefix(said, "malformed payload") { // and then in words of Go
		return `The body is not a JSON-RPC 2.0 message: "jsonrpc" must be "2.0", "method" a string, "id" a string or a whole number.`
	}
	said = strings.TrimPrefix(said, "invalid request: ")
	return strings.ToUpper(said[:min(1, len(said))]) + said[min(1, len(said)):] + "."
}

// notHandled is how the SDK begins to say that it does not know a method.
const notHandled = "JSON RPC not handled: "

// refusal is the text of an error: the code that belongs to a status, and a
// sentence.
func refusal(status int, sentence string) string {
	kind := string(shoal.InvalidArgument)
	switch status {
	case http.StatusForbidden:
		kind = string(shoal.Forbidden)
	case http.StatusNotFound:
		kind = string(shoal.NotFound)
	case http.StatusMethodNotAllowed:
		kind = "method_not_allowed"
	case http.StatusConflict:
		kind = string(shoal.Conflict)
	case http.StatusRequestEntityTooLarge:
		kind = string(shoal.TooLarge)
	case http.StatusUnsupportedMediaType:
		kind = string(shoal.UnsupportedMediaType)
	}
	if status >= 500 {
		kind, sentence = string(shoal.Internal), encodeFailed
	}
	return kind + ": " + sentence
}

// refuseRequest rejects a request before any message in it is read.
func (q *request) refuseRequest(status int, sentence string) {
	q.refuse(status, q.id, jsonrpc.CodeInvalidRequest, refusal(status, sentence))
}

// noSuchSession is the message for an MCP session that has ended or never existed.
const noSuchSession = "MCP session not found. Initialize again."
