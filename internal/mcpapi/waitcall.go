package mcpapi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/shoal-dev/shoal/internal/detach"
	"github.com/shoal-dev/shoal/internal/hub/inbox"
	"github.com/shoal-dev/shoal/internal/limit"
	"github.com/shoal-dev/shoal/internal/mcpapi/tools"
)

// waitCall is a call of a tool that waits. It starts in the handler of its request; if it waits
// for long, its connection is detached, and it continues on a goroutine of the pool.
type waitCall struct {
	*request
	toolCall
	job    job
	ctx    context.Context // ends with the request, or when the client cancels
	rest   *tools.Rest     // of a detached call
	key    waitKey
	open   *openWait
	stream *stream // for the progress notifications; nil if the client requested none
}

// wait answers a call of a tool that waits. A wait holds nothing of its body while it waits.
func (q *request) wait(c toolCall) {
	raw := c.arguments
	c.id, c.progress, c.arguments, q.r.Body = bytes.Clone(c.id), bytes.Clone(c.progress), nil, http.NoBody
	w := &waitCall{
		request: q, toolCall: c, job: job{q.API, q.caller, q.name, c.tool, time.Now()},
		key: waitKey{q.caller, q.r.Header.Get(sessionHeader), string(c.id)},
	}
	ctx, cancel := context.WithCancelCause(q.r.Context())
	defer cancel(nil)
	var ok bool
	if w.open, ok = q.waits.begin(w.key, cancel); !ok {
		q.refuse(http.StatusBadRequest, c.id, jsonrpc.CodeInvalidRequest, fmt.Sprintf("duplicate in-flight request ID %s", c.id))
		return
	}
	w.ctx = ctx
	detached := false
	defer func() {
		if !detached {
			w.end()
		}
	}()
	detached = w.serve(raw)
}

// serve answers the call, or detaches it: then the pool ends it.
func (w *waitCall) serve(raw []byte) (detached bool) {
	if w.progress != nil && !w.startStream() {
		return false
	}
	out, rest, err := w.job.doShortly(w.ctx, raw, w.Pool.After())
	if rest != nil {
		if w.detach(rest) {
			return true
		}
		out, err = w.job.resume(w.ctx, rest)
	}
	w.respond(out, err)
	return false
}

// end forgets the call once it was answered.
func (w *waitCall) end() {
	if w.stream != nil {
		w.stream.end()
	}
	w.waits.end(w.key, w.open)
}

// detach continues the call in a goroutine of the pool, which needs little memory. It reports
// whether it did; otherwise the call has to continue here.
func (w *waitCall) detach(rest *tools.Rest) bool {
	p, ok := w.takeConnection()
	if !ok {
		return false
	}
	w.rest, w.ctx = rest, limit.As(p.Context(), w.Principal)
	w.waits.move(w.open, p.Cancel)
	p.Go(w.continueDetached)
	return true
}

// continueDetached waits. Its stack is most of the memory of a detached call: with frames of
// less than about 1.2 KiB altogether the runtime halves it.
func (w *waitCall) continueDetached() {
	defer w.end()
	defer w.recoverWait()
	d, err := w.rest.Open.Wait(w.ctx)
	w.conclude(d, err)
}

// conclude responds to a detached call.
//
//go:noinline
func (w *waitCall) conclude(d *inbox.Delivery, err error) {
	w.respond(w.job.finish(w.ctx, w.rest, d, err))
}

// recoverWait responds to a detached call whose wait panicked. It is deferred.
func (w *waitCall) recoverWait() {
	if p := recover(); p != nil {
		out := w.job.panicked(p)
		w.job.record(out, nil)
		w.respond(out, nil)
	}
}

// takeConnection detaches the connection, and continues the stream of progress notifications on
// it.
func (w *waitCall) takeConnection() (p *detach.Call, ok bool) {
	q := *w.request
	if w.stream == nil {
		if p, ok = w.Pool.Detach(q.w, q.r); ok {
			// Only the context is still needed; a stream also checks the key in the header.
			q.w, q.r = p, new(http.Request).WithContext(p.Context())
			w.request = &q
		}
		return p, ok
	}
	w.stream.end()
	if p, ok = w.Pool.DetachStream(q.w, q.r); ok {
		q.w, q.r = p, q.r.WithContext(p.Context())
		w.request = &q
	}
	w.stream = w.newStream()
	w.stream.resume()
	return p, ok
}

// newStream returns the response of a wait whose client gets progress notifications, which keep
// its timers from ending the wait.
func (w *waitCall) newStream() *stream {
	return w.request.stream(w.request, w.ProgressEvery, func() []byte { return progressEvent(w.progress, time.Since(w.job.began)) })
}

// startStream starts a response with progress notifications. Its head leaves now, so that the
// client knows that the call has arrived.
func (w *waitCall) startStream() bool {
	w.stream = w.newStream()
	h := w.w.Header()
	h["Content-Type"] = []string{"text/event-stream"}
	h["Cache-Control"] = []string{"no-cache, no-transform"}
	_, err := w.stream.Write(heartbeat())
	return err == nil && w.stream.FlushError() == nil
}

// codeCancelled is what the SDK answers a cancelled call with.
const codeCancelled = 0

// respond writes the response, unless the client has disconnected. The delivery counts only if
// the response was written completely.
func (w *waitCall) respond(out outcome, err error) {
	switch {
	case err != nil && !errors.Is(err, errCancelled): // the client has disconnected
	case w.stream != nil:
		w.respondOnStream(out, err)
	case err != nil:
		w.refuse(http.StatusOK, w.id(), codeCancelled, err.Error())
	default:
		settle(out, w.answer(w.toolCall, out))
	}
}

// respondOnStream writes the response as the last event of the stream.
func (w *waitCall) respondOnStream(out outcome, err error) {
	buffer := buffers.get()
	defer buffers.put(buffer)
	var body []byte
	ok := false
	if err != nil {
		body = errorBody(w.id(), codeCancelled, err.Error())
	} else {
		body, ok = w.resultBody(buffer, w.toolCall, out)
	}
	_, err = w.stream.Write(messageEvent(body))
	settle(out, err == nil && w.stream.FlushError() == nil && w.stream.isOpen() && ok)
}

// settle records whether the response of a wait was written completely.
func settle(out outcome, written bool) {
	if out.delivery != nil {
		out.delivery.Settle(written)
	}
}

// id returns the id of the message that the client sent.
func (w *waitCall) id() []byte { return w.toolCall.id }
