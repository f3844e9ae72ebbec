package mcpapi

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// direct answers a tools/call without the SDK: in the goroutine of its request, with a
// response written whole. See docs/decisions/0003.
func (q *request) direct(c toolCall) {
	raw := c.arguments
	if !c.tool.Waits {
		out, err := q.do(q.r.Context(), q.name, q.caller, c.tool, raw)
		if err == nil {
			q.answer(c, out)
		}
		return
	}
	// A wait holds nothing of its body while it waits.
	c.id, c.progress, c.arguments, q.r.Body = bytes.Clone(c.id), bytes.Clone(c.progress), nil, http.NoBody
	key := waitKey{q.caller, q.r.Header.Get(sessionHeader), string(c.id)}
	ctx, end, ok := q.waits.begin(q.r.Context(), key)
	if !ok {
		q.refuse(http.StatusBadRequest, c.id, jsonrpc.CodeInvalidRequest, fmt.Sprintf("duplicate in-flight request ID %s", c.id))
		return
	}
	defer end()
	if c.progress != nil {
		q.streamWait(ctx, c, raw)
		return
	}
	out, err := q.do(ctx, q.name, q.caller, c.tool, raw)
	switch {
	case q.r.Context().Err() != nil: // the client has gone
	case err != nil: // then the client has cancelled
		q.refuse(http.StatusOK, c.id, codeCancelled, err.Error())
	case q.answer(c, out):
		written(out)
	}
}

// encodeFailed is the message for a result that cannot be encoded as JSON.
const encodeFailed = "Something went wrong on the server."

// codeCancelled is what the SDK answers a cancelled call with.
const codeCancelled = 0

// written records that the response of a wait was written completely.
func written(out outcome) {
	if out.delivery != nil {
		out.delivery.Written()
	}
}

// answer writes the result of a call, whole, and reports whether it did and the
// connection was still open then.
func (q *request) answer(c toolCall, out outcome) bool {
	buffer := buffers.get()
	defer buffers.put(buffer)
	body, err := q.encode(buffer, c, out)
	if err != nil {
		q.Log.Error("a result could not be encoded", "request", q.name, "tool", c.tool.Name, "error", err)
		q.refuse(http.StatusOK, c.id, jsonrpc.CodeInternalError, encodeFailed)
		return false
	}
	return q.write(http.StatusOK, body)
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

// streamWait answers a wait with a stream of progress notifications, which keep
// the timers of the client from ending it, and then the result.
func (q *request) streamWait(ctx context.Context, c toolCall, raw []byte) {
	began := time.Now()
	s := q.stream(q, q.ProgressEvery, func() []byte { return progressEvent(c.progress, time.Since(began)) })
	defer s.end()
	h := q.w.Header()
	h["Content-Type"] = []string{"text/event-stream"}
	h["Cache-Control"] = []string{"no-cache, no-transform"}
	// The headers leave now, so that the client knows that the call has arrived.
	if _, err := s.Write(heartbeat()); err != nil || s.FlushError() != nil {
		return
	}
	out, err := q.do(ctx, q.name, q.caller, c.tool, raw)
	if q.r.Context().Err() != nil {
		return // the client has gone
	}
	buffer := buffers.get()
	defer buffers.put(buffer)
	var body []byte
	if err != nil { // then the client has cancelled
		body = errorBody(c.id, codeCancelled, err.Error())
	} else if body, err = q.encode(buffer, c, out); err != nil {
		q.Log.Error("a result could not be encoded", "request", q.name, "tool", c.tool.Name, "error", err)
		body, out = errorBody(c.id, jsonrpc.CodeInternalError, encodeFailed), outcome{}
	}
	if _, err := s.Write(messageEvent(body)); err == nil && s.FlushError() == nil && s.stands() {
		written(out)
	}
}
