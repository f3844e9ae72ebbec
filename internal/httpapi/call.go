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
	"github.com/shoal-dev/shoal/internal/httpapi/fields"
	"github.com/shoal-dev/shoal/internal/httpapi/skew"
	"github.com/shoal-dev/shoal/internal/hub/core"
)

// call is one request and its response. It belongs to the goroutine of the request.
type call struct {
	*API
	w        http.ResponseWriter
	r        *http.Request
	rt       *route // nil if the path or method is unknown
	caller   shoal.Principal
	params   url.Values
	id       string
	began    time.Time
	caching  []string // the header Cache-Control; nil means no-store
	status   int      // of the response; 0 until it has started
	writeErr error    // why the client did not get the complete response
	detached bool     // the call continues in a copy of this one
}

// Header values that all responses share. They must not be appended to.
var (
	noStore    = []string{"no-store"}
	noSniff    = []string{"nosniff"}
	noReferrer = []string{"no-referrer"}
	apiVersion = []string{shoal.APIVersion}
)

// assignID sets the start time and the id of the request.
func (c *call) assignID() {
	c.began = time.Now()
	if c.id = guard.RequestID(c.w); c.id == "" { // without a guard
		c.id = shoal.NewID[string]("req_")
		c.w.Header()["X-Request-Id"] = []string{c.id}
	}
}

// startResponse records the status and sets the headers that every response has. A blocked call
// has not started and holds no headers.
func (c *call) startResponse(status int) http.Header {
	c.status = status
	h := c.w.Header()
	if h["Cache-Control"] = c.caching; c.caching == nil {
		h["Cache-Control"] = noStore
	}
	h["X-Content-Type-Options"] = noSniff
	h["Referrer-Policy"] = noReferrer
	h[skew.Header] = apiVersion
	return h
}

// finish ends the call. It is deferred: it turns a panic into a response, counts the call and writes
// the log.
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
			panic(http.ErrAbortHandler) // a partial response must not look complete
		}
		c.writeProblem(shoal.E("httpapi", shoal.Internal, ""))
	}
	name, stream := "none", false
	if c.rt != nil {
		name, stream = c.rt.label, c.rt.stream
	}
	c.metrics.Record(name, stream, c.status, c.began)
	if !c.Log.Enabled(context.Background(), slog.LevelDebug) {
		return
	}
	c.Log.Debug("call", "request", c.id, "method", c.r.Method, "path", c.r.URL.Path, "status", c.status,
		"took", time.Since(c.began), "key", c.caller.KeyID, "entity", c.caller.EntityID, "lost", c.writeErr)
}

// fail responds with err, unless the response has started: then it only records err.
func (c *call) fail(err error) {
	var known *shoal.Error
	if c.status != 0 && !errors.As(err, &known) {
		c.writeErr = err // the connection broke
		return
	}
	if c.ctx().Err() != nil || errors.Is(err, core.ErrStopping) || errors.Is(err, context.Canceled) {
		// The client has disconnected or the server is stopping: a client that still
		// reads this may repeat the call.
		c.writeErr = err
		if shoal.KindOf(err) == shoal.Internal {
			err = shoal.E("httpapi", shoal.Busy, "The server is stopping. Repeat the call in a moment.")
		}
	}
	guard.LogInternal(c.Log, c.r, c.id, err)
	if c.status != 0 {
		c.writeErr = err
		return
	}
	if c.rt != nil {
		c.Auth.Refuse(c.r, c.id, c.caller, c.rt.label, err)
	}
	c.writeProblem(skew.Explain(c.r.Header, fields.Locate(err, c.r.Method)))
}

// writeProblem responds with err as a problem document.
func (c *call) writeProblem(err error) {
	c.startResponse(guard.Status(shoal.KindOf(err)))
	control := c.allowTime(0)
	defer c.endTime(control)
	guard.WriteProblem(c.w, err)
	c.writeErr = errors.Join(c.writeErr, control.Flush())
}

// methodNotAllowed responds with 405, or returns the error that the versions differ.
func (c *call) methodNotAllowed(allow string) error {
	detail := "This path does not take " + strconv.Quote(c.r.Method) + ", only " + allow + "."
	err := shoal.Error{Op: "httpapi", Kind: shoal.NotFound, Msg: detail, Err: skew.ErrUnknown}
	if explained := skew.Explain(c.r.Header, &err); shoal.KindOf(explained) != err.Kind {
		return explained
	}
	c.startResponse(http.StatusMethodNotAllowed)
	guard.WriteMethodNotAllowed(c.w, allow, detail)
	return nil
}

// answer writes body as JSON and flushes it. If it returns nil, the connection was still open after
// the last byte was written to it.
func (c *call) answer(status int, body any) error {
	text, err := shoal.EncodeJSON(body)
	if err != nil {
		return err
	}
	return c.write(status, "application/json", text)
}

// write writes a complete response and flushes it.
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

// slowest is the lowest rate, in bytes per second, at which a client may read a large
// response.
const slowest = 128 << 10

// allowTime sets a deadline for writing a response of this many bytes.
func (c *call) allowTime(size int) *http.ResponseController {
	control := http.NewResponseController(c.w)
	limit := c.WriteTimeout + time.Duration(size/slowest)*time.Second
	// An error means a broken connection, and writing returns it, too.
	_ = control.SetWriteDeadline(time.Now().Add(limit))
	return control
}

// endTime removes the deadline, which would also apply to the next response on the connection.
func (c *call) endTime(control *http.ResponseController) {
	_ = control.SetWriteDeadline(time.Time{}) // as in allowTime
}

// noContentOr responds with 204, or fails with err if it is not nil.
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

// answerOr responds with body, or fails with err if it is not nil.
func (c *call) answerOr(err error, status int, body any) error {
	if err != nil {
		return err
	}
	return c.answer(status, body)
}

// ctx returns the context of the request for the operations of its caller.
func (c *call) ctx() context.Context { return c.Auth.Context(c.r.Context(), c.r, c.id, c.caller) }

func (c *call) session() shoal.SessionID { return shoal.SessionID(c.r.PathValue("session")) }

func (c *call) space() shoal.SpaceID { return shoal.SpaceID(c.r.PathValue("space")) }

func (c *call) entity() shoal.EntityID { return shoal.EntityID(c.r.PathValue("entity")) }

func (c *call) idempotencyKey() string { return c.r.Header.Get("Idempotency-Key") }
