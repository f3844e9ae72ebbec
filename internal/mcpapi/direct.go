package mcpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/shoal-dev/shoal/internal/guard"
)

// direct answers a tools/call in front of the SDK: in the goroutine of its
// request, with an answer written whole. See docs/decisions/0003.
func (q *request) direct(c toolCall) {
	if !c.tool.waits {
		out, err := q.do(q.r.Context(), q.caller, c.tool, c.arguments)
		if err == nil {
			q.answer(c, out)
		}
		return
	}
	key := waitKey{q.caller, q.r.Header.Get(sessionHeader), string(c.id)}
	ctx, end, ok := q.waits.begin(q.r.Context(), key)
	if !ok {
		q.refuse(http.StatusBadRequest, c.id, jsonrpc.CodeInvalidRequest, fmt.Sprintf("duplicate in-flight request ID %s", c.id))
		return
	}
	defer end()
	if c.progress != nil {
		q.streamWait(ctx, c)
		return
	}
	out, err := q.finishWait(ctx, c)
	switch {
	case q.r.Context().Err() != nil: // nobody is left to tell
	case errors.Is(err, errCancelled):
		q.refuse(http.StatusOK, c.id, codeCancelled, errCancelled.Error())
	case err != nil:
		guard.WriteRPCError(q.w, err)
	case q.answer(c, out):
		written(out)
	}
}

// codeCancelled is what the SDK answers a cancelled call with.
const codeCancelled = 0

// finishWait waits, and then makes sure that the caller may still know what came.
func (q *request) finishWait(ctx context.Context, c toolCall) (outcome, error) {
	out, err := q.do(ctx, q.caller, c.tool, c.arguments)
	if err == nil {
		err = q.recheck()
	}
	return out, err
}

// written tells that the answer of a wait has left whole.
func written(out outcome) {
	if out.delivery != nil {
		out.delivery.Written()
	}
}

// answer writes the result of a call, whole, and reports whether it did and the
// connection still stood then.
func (q *request) answer(c toolCall, out outcome) bool {
	buffer := buffers.get()
	defer buffers.put(buffer)
	body, err := q.encode(buffer, c, out)
	if err != nil {
		q.Log.Error("a result could not be encoded", "tool", c.tool.name, "error", err)
		q.refuse(http.StatusOK, c.id, jsonrpc.CodeInternalError, "Something went wrong on the server.")
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
	// An error of these is that of a broken connection, and writing tells it too.
	_ = control.SetWriteDeadline(time.Now().Add(q.Patience + time.Duration(len(body)/slowest)*time.Second))
	defer func() { _ = control.SetWriteDeadline(time.Time{}) }()
	q.w.WriteHeader(status)
	if _, err := q.w.Write(body); err != nil {
		return false
	}
	return control.Flush() == nil && q.r.Context().Err() == nil
}

// streamWait answers a wait with a stream of progress notifications, which keep
// the timers of the client from ending it, and then the result.
func (q *request) streamWait(ctx context.Context, c toolCall) {
	began := time.Now()
	s := q.stream(q, q.ProgressEvery, func() []byte { return progressEvent(c.progress, time.Since(began)) })
	defer s.end()
	h := q.w.Header()
	h["Content-Type"] = []string{"text/event-stream"}
	h["Cache-Control"] = []string{"no-cache, no-transform"}
	// The headers leave now: who reads them knows that the call has arrived.
	if _, err := s.Write(heartbeat()); err != nil || s.FlushError() != nil {
		return
	}
	out, err := q.finishWait(ctx, c)
	var body []byte
	buffer := buffers.get()
	defer buffers.put(buffer)
	switch {
	case err == nil:
		if body, err = q.encode(buffer, c, out); err != nil {
			q.Log.Error("a result could not be encoded", "tool", c.tool.name, "error", err)
			body = errorBody(c.id, jsonrpc.CodeInternalError, "Something went wrong on the server.")
		}
	case errors.Is(err, errCancelled):
		body = errorBody(c.id, codeCancelled, errCancelled.Error())
	default: // the client has gone, or may not know any more
		return
	}
	if _, err := s.Write(messageEvent(body)); err == nil && s.FlushError() == nil && s.stands() {
		written(out)
	}
}
