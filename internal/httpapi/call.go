package httpapi

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/guard"
	"github.com/shoal-dev/shoal/internal/hub"
	"github.com/shoal-dev/shoal/internal/limit"
)

// call is one request on its way through a handler. It belongs to the goroutine
// of the request.
type call struct {
	*API
	w        http.ResponseWriter
	r        *http.Request
	rt       *route // nil: there is none
	who      shoal.Principal
	params   url.Values
	id       string
	began    time.Time
	caching  []string // the header Cache-Control; nil: nothing is kept
	status   int      // of the answer; 0 until it has begun
	writeErr error    // why the client does not have the whole answer
	detached bool     // the call goes on without this
}

// Header values that every answer shares; nobody appends to them.
var (
	noStore    = []string{"no-store"}
	noSniff    = []string{"nosniff"}
	noReferrer = []string{"no-referrer"}
)

// begin names the request.
func (c *call) assignID() {
	c.began = time.Now()
	if c.id = guard.RequestID(c.w); c.id == "" { // there is no guard
		c.id = shoal.NewID[string]("req_")
		c.w.Header()["X-Request-Id"] = []string{c.id}
	}
}

// start begins the answer: it sets the headers of every answer. A call that is
// blocked has not started and holds none.
func (c *call) startResponse(status int) http.Header {
	c.status = status
	h := c.w.Header()
	if h["Cache-Control"] = c.caching; c.caching == nil {
		h["Cache-Control"] = noStore
	}
	h["X-Content-Type-Options"] = noSniff
	h["Referrer-Policy"] = noReferrer
	return h
}

// end is deferred: it turns a panic into an answer and writes the log.
func (c *call) finish() {
	if c.detached {
		return
	}
	if p := recover(); p != nil {
		if err, ok := p.(error); ok && errors.Is(err, http.ErrAbortHandler) {
			panic(p)
		}
		c.Log.Error("a handler panicked", "request", c.id, "method", c.r.Method, "path", c.r.URL.Path, "panic", p, "stack", string(debug.Stack()))
		if c.status != 0 {
			panic(http.ErrAbortHandler) // half an answer must not look whole
		}
		c.writeProblem(shoal.E("httpapi", shoal.Internal, ""))
	}
	c.metrics.recordCall(c.rt, c.status, c.began)
	if !c.Log.Enabled(context.Background(), slog.LevelDebug) {
		return
	}
	c.Log.Debug("call", "request", c.id, "method", c.r.Method, "path", c.r.URL.Path, "status", c.status,
		"took", time.Since(c.began), "key", c.who.KeyID, "entity", c.who.EntityID, "lost", c.writeErr)
}

// fail answers with err, unless an answer has begun: then that just ends.
func (c *call) fail(err error) {
	var known *shoal.Error
	if c.status != 0 && !errors.As(err, &known) {
		c.writeErr = err // the connection broke
		return
	}
	if c.ctx().Err() != nil || errors.Is(err, hub.ErrStopping) || errors.Is(err, context.Canceled) {
		// The client has gone, or the server is about to: whoever still reads
		// this may repeat the call.
		c.writeErr = err
		err = shoal.E("httpapi", shoal.Busy, "The server is stopping. Repeat the call in a moment.")
	}
	if guard.Status(shoal.KindOf(err)) == http.StatusInternalServerError {
		c.Log.Error("a call failed", "request", c.id, "method", c.r.Method, "path", c.r.URL.Path, "error", err)
	}
	if c.status != 0 {
		c.writeErr = err
		return
	}
	c.writeProblem(locateFields(err, c.r.Method))
}

// refuse writes a problem document.
func (c *call) writeProblem(err error) {
	c.startResponse(guard.Status(shoal.KindOf(err)))
	control := c.allowTime(0)
	defer c.endTime(control)
	guard.WriteProblem(c.w, err)
	c.writeErr = errors.Join(c.writeErr, control.Flush())
}

// answer writes body as JSON, whole and flushed. When it returns nil, the
// connection still stood when the last byte had been handed to it.
func (c *call) answer(status int, body any) error {
	text, err := shoal.EncodeJSON(body)
	if err != nil {
		return err
	}
	return c.write(status, "application/json", text)
}

// write writes a whole answer and flushes it.
func (c *call) write(status int, mediaType string, body []byte) error {
	h := c.startResponse(status)
	h["Content-Type"] = []string{mediaType}
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	control := c.allowTime(len(body))
	defer c.endTime(control)
	c.w.WriteHeader(status)
	if _, err := c.w.Write(body); err != nil {
		return err
	}
	if err := control.Flush(); err != nil {
		return err
	}
	return context.Cause(c.r.Context())
}

// slowest is the slowest reader of a large answer that is still served, in
// bytes a second.
const slowest = 128 << 10

// allowTime bounds how long writing an answer of so many bytes may take.
func (c *call) allowTime(size int) *http.ResponseController {
	control := http.NewResponseController(c.w)
	limit := c.Patience + time.Duration(size/slowest)*time.Second
	// An error is that of a broken connection, and writing tells it too.
	_ = control.SetWriteDeadline(time.Now().Add(limit))
	return control
}

// endTime leaves no deadline behind for the next answer on the connection.
func (c *call) endTime(control *http.ResponseController) {
	_ = control.SetWriteDeadline(time.Time{}) // as in allowTime
}

// done answers 204.
func (c *call) noContentOr(err error) error {
	if err != nil {
		return err
	}
	control := c.allowTime(0)
	defer c.endTime(control)
	c.startResponse(http.StatusNoContent)
	c.w.WriteHeader(http.StatusNoContent)
	return control.Flush()
}

// answerOr answers with body, or fails with err if there is one.
func (c *call) answerOr(err error, status int, body any) error {
	if err != nil {
		return err
	}
	return c.answer(status, body)
}

// ctx is that of the request, and says for whom things are done.
func (c *call) ctx() context.Context { return limit.As(c.r.Context(), c.who) }

func (c *call) session() shoal.SessionID { return shoal.SessionID(c.r.PathValue("session")) }

func (c *call) space() shoal.SpaceID { return shoal.SpaceID(c.r.PathValue("space")) }

func (c *call) entity() shoal.EntityID { return shoal.EntityID(c.r.PathValue("entity")) }

func (c *call) idempotencyKey() string { return c.r.Header.Get("Idempotency-Key") }
