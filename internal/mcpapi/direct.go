package mcpapi

import (
	"bytes"
	"net/http"
	"strconv"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/shoal-dev/shoal/internal/tracecontext"
)

// direct answers a tools/call without the SDK, with a response written whole. See
// docs/decisions/0003.
func (q *request) direct(c toolCall) {
	if c.task != nil {
		q.beginTask(c)
		return
	}
	if c.tool.Waits {
		q.wait(c)
		return
	}
	out, err := q.do(tracecontext.With(q.origin(q.r.Context()), c.trace), q.name, q.caller, c.tool, c.arguments)
	if err == nil {
		q.answer(c, out)
	}
}

// encodeFailed is the message for a result that cannot be encoded as JSON.
const encodeFailed = "Something went wrong on the server."

// answer writes the result of a call, whole, and reports whether it did and the
// connection was still open then.
func (q *request) answer(c toolCall, out outcome) bool {
	buffer := buffers.get()
	defer buffers.put(buffer)
	body, ok := q.resultBody(buffer, c, out)
	return q.write(http.StatusOK, body) && ok
}

// resultBody encodes the answer to a call into buffer. If the result cannot be encoded, it
// returns an error for the client, and ok is false.
func (q *request) resultBody(buffer *bytes.Buffer, c toolCall, out outcome) (body []byte, ok bool) {
	body, err := q.encode(buffer, c, out)
	if err != nil {
		q.Log.Error("a result could not be encoded", "request", q.name, "tool", c.tool.Name, "error", err)
		return errorBody(c.id, jsonrpc.CodeInternalError, encodeFailed), false
	}
	return body, true
}

// refuse answers with a JSON-RPC error.
func (q *request) refuse(status int, id []byte, code int64, message string) {
	q.write(status, errorBody(id, code, message))
}

// slowest is the slowest reader of a large answer that is still served, in bytes
// a second.
const slowest = 128 << 10

// write writes a whole answer and flushes it.
func (q *request) write(status int, body []byte) bool {
	h := q.w.Header()
	h["Content-Type"] = []string{"application/json"}
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	h["Cache-Control"] = []string{"no-cache, no-transform"}
	control := http.NewResponseController(q.w)
	// An error here means a broken connection, which the write reports as well.
	_ = control.SetWriteDeadline(time.Now().Add(q.WriteTimeout + time.Duration(len(body)/slowest)*time.Second))
	defer func() { _ = control.SetWriteDeadline(time.Time{}) }()
	q.w.WriteHeader(status)
	if _, err := q.w.Write(body); err != nil {
		return false
	}
	return control.Flush() == nil && q.r.Context().Err() == nil
}
