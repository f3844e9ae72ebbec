package mcpapi

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/shoal-dev/shoal"
)

// stream is a response that stays open: server-sent events that the SDK or a
// wait writes. It is the http.ResponseWriter that they write to. Between events
// it says something at intervals, so that neither the client nor a proxy
// in between takes it for dead, and checks whether its caller's key still works; a
// client that takes nothing is cut off.
type stream struct {
	http.ResponseWriter
	ctx     context.Context
	cancel  context.CancelCauseFunc
	ended   chan struct{} // closed when the handler is done with the stream
	api     *API
	request *request
	control *http.ResponseController
	pulse   func() []byte
	unwatch func() // set by open

	mu    sync.Mutex
	every time.Duration
	timer *time.Timer
	begun bool // the first byte is written
	err   error
}

// errOver is what is wrong with a stream whose handler has returned.
var errOver = errors.New("the stream is over")

// stream makes an open response of w. Every interval it writes what pulse
// returns. The caller must end it.
func (a *API) stream(req *request, every time.Duration, pulse func() []byte) *stream {
	s := &stream{
		ResponseWriter: req.w, api: a, request: req, control: http.NewResponseController(req.w),
		ended: make(chan struct{}), every: every, pulse: pulse,
	}
	s.ctx, s.cancel = context.WithCancelCause(req.r.Context())
	s.mu.Lock()
	defer s.mu.Unlock()
	s.timer = time.AfterFunc(every, s.beat)
	return s
}

// resume records that the response has started already.
func (s *stream) resume() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.begun = true
}

// heartbeat is a comment, which clients ignore.
func heartbeat() []byte { return []byte(": still here\n\n") }

// beat checks the caller's key again and writes a heartbeat or progress event.
func (s *stream) beat() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		_, _, err := s.api.Auth.MCP(s.request.r) // notes that the caller is present, too
		if kind := shoal.KindOf(err); kind != shoal.Busy && kind != shoal.Internal {
			s.fail(err)
		}
	}
	if s.begun && s.write(s.pulse()) == nil {
		s.fail(s.flush())
	}
	if s.err == nil {
		s.timer.Reset(s.every)
	}
}

// Write writes a whole event, or as much of one as the SDK hands in at once.
func (s *stream) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.write(b); err != nil {
		return 0, err
	}
	return len(b), nil
}

// write must be called with mu held.
func (s *stream) write(b []byte) error {
	if s.err == nil {
		s.begun = true
		s.fail(s.control.SetWriteDeadline(time.Now().Add(s.api.WriteTimeout)))
	}
	if s.err == nil {
		_, err := s.ResponseWriter.Write(b)
		s.fail(err)
	}
	return s.err
}

// FlushError hands everything that was written to the connection.
func (s *stream) FlushError() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.fail(s.flush())
	}
	return s.err
}

func (s *stream) flush() error {
	s.begun = true
	return s.control.Flush()
}

// fail ends the stream with its first error.
func (s *stream) fail(err error) {
	if err != nil && s.err == nil {
		s.err = err
		s.cancel(err)
	}
}

// isOpen reports whether all writes have succeeded and the client is still
// connected.
func (s *stream) isOpen() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err == nil && s.ctx.Err() == nil
}

// endWithAPI ends the stream when the API stops, until the returned function is
// called.
func (s *stream) endWithAPI() (stop func() bool) {
	return context.AfterFunc(s.api.ctx, func() { s.cancel(context.Cause(s.api.ctx)) })
}

// end is called by the handler when it returns; nothing is written after it.
func (s *stream) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.timer.Stop()
	s.fail(errOver)
	// The connection may serve other requests; an error is that of a broken one.
	_ = s.control.SetWriteDeadline(time.Time{})
	close(s.ended)
}

// open makes a stream that counts, or refuses to: RateLimited, or Busy when all
// callers together have too many or once the API stops, which waits for it. It ends
// with the right of its caller. The caller must shut it.
func (a *API) open(req *request) (*stream, error) {
	if err := a.Limits.Open(req.Principal); err != nil {
		return nil, err
	}
	if !a.enter() {
		a.Limits.Close(req.Principal)
		return nil, stopping()
	}
	s := a.stream(req, a.Heartbeat, heartbeat)
	s.unwatch = a.Hub.Keys.Watch(req.Principal, req.Session, s.cancel)
	return s, nil
}

func stopping() error {
	return shoal.E("mcpapi", shoal.Busy, "The server is stopping. Try again in a moment.")
}

// shut ends a stream of open.
func (a *API) shut(s *stream) {
	defer a.leave()
	s.unwatch()
	s.end()
	a.Limits.Close(s.request.Principal)
}
