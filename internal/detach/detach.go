// Package detach removes connections from a net/http server while a call on them waits for a
// long time, and returns them for the next request. A blocked handler keeps about twenty KiB of
// buffers and stack that it does not need during the wait; a detached call keeps its connection
// and one small goroutine, and on systems without epoll another one.
//
//	pool := detach.New(detach.Options{After: time.Second, Idle: 2 * time.Minute})
//	go server.Serve(listener)
//	go server.Serve(pool) // the returned connections
//
// In a handler, when it is known that the call has to wait:
//
//	if p, ok := pool.Detach(w, r); ok {
//		p.Go(func() { answer(p, waitOn(p.Context())) })
//		return
//	}
//
// A call whose response has already started as a stream uses [Pool.DetachStream] in place of
// Detach, and each flush sends what was written since the one before.
//
// Guarantees:
//   - p.Context() ends when the client disconnects, and when the pool cancels its calls;
//   - the response is written completely by one flush, with the headers that the handler had
//     set before; a stream ends when the function of its call returns; clients see no
//     difference to a response of net/http;
//   - a following request, including a pipelined one that arrives before the response, is
//     served by the server of [Pool.Accept];
//   - [Pool.Stop] returns when no goroutine of the pool is running.
//
// Only persistent HTTP/1.1 connections can be detached, over TLS too; other calls, such as those over
// HTTP/2, wait in their handlers.
package detach

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"math"
	"net"
	"net/http"
	"sync"
	"time"
)

// Options configure a pool.
type Options struct {
	// After is how long a call should wait before it is detached: detaching and returning
	// cost about as much as a small call.
	After time.Duration
	// Idle is the maximum time between a response and the next request on its connection.
	Idle time.Duration
	// Closed is called for each connection that is closed while it is detached, which
	// net/http does not report. It may be nil.
	Closed func(net.Conn)
	// Answered is called for each connection whose detached call has ended: the connection
	// is idle until it returns or is closed. It may be nil.
	Answered func(net.Conn)
}

// Pool contains the detached connections. It is safe for concurrent use, and a [net.Listener]
// for the connections that return. A nil Pool detaches nothing.
type Pool struct {
	after, idle time.Duration
	closed      func(net.Conn)
	answered    func(net.Conn)
	back        chan net.Conn
	stopping    chan struct{} // closed when no more connections return
	ctx         context.Context
	cut         context.CancelCauseFunc
	running     sync.WaitGroup
	poller      *poller // nil if each connection has a goroutine

	mu    sync.Mutex     // also held to close stopping
	calls map[*Call]bool // true when the response was written
}

var (
	errGone = errors.New("the client has disconnected")
	errCut  = errors.New("the server has stopped")
)

// New returns an empty pool. The caller must call Stop.
func New(o Options) *Pool {
	l := &Pool{after: o.After, idle: o.Idle, closed: o.Closed, answered: o.Answered, back: make(chan net.Conn), stopping: make(chan struct{}), calls: map[*Call]bool{}, poller: newPoller()}
	if l.closed == nil {
		l.closed = func(net.Conn) {}
	}
	if l.answered == nil {
		l.answered = func(net.Conn) {}
	}
	l.ctx, l.cut = context.WithCancelCause(context.Background())
	return l
}

// After returns how long a call should wait before it is detached; of a nil pool, longer than
// any call.
func (l *Pool) After() time.Duration {
	if l == nil {
		return math.MaxInt64
	}
	return l.after
}

// Accept blocks until a connection returns, and returns it. After Close the error is
// [net.ErrClosed].
func (l *Pool) Accept() (net.Conn, error) {
	select {
	case c := <-l.back:
		return c, nil
	case <-l.stopping:
		return nil, net.ErrClosed
	}
}

// Close stops the return of connections: those without a call are closed, and the others after
// their response. It may be called repeatedly.
func (l *Pool) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stopped() {
		return nil
	}
	close(l.stopping)
	for c, answered := range l.calls {
		if answered {
			c.interrupt()
		}
	}
	return nil
}

func (l *Pool) stopped() bool {
	select {
	case <-l.stopping:
		return true
	default:
		return false
	}
}

// Addr returns a placeholder, because clients do not connect to a pool.
func (l *Pool) Addr() net.Addr { return addr{} }

type addr struct{}

func (addr) Network() string { return "detach" }
func (addr) String() string  { return "detach" }

// Stop closes the pool and waits for the detached calls. When ctx ends it cancels their
// contexts and closes their connections.
func (l *Pool) Stop(ctx context.Context) {
	_ = l.Close() // Close never fails
	defer context.AfterFunc(ctx, func() {
		l.cut(errCut)
		l.mu.Lock()
		defer l.mu.Unlock()
		for c := range l.calls {
			// A connection over TLS would first wait until its client accepts the end of it.
			_ = socket(c.conn).Close() // an error concerns nobody any more
		}
	})()
	l.running.Wait()
	l.poller.stop()
	l.cut(errCut)
}

// Count returns the number of detached calls without a response.
func (l *Pool) Count() (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, answered := range l.calls {
		if !answered {
			n++
		}
	}
	return n
}

// Detach removes the connection of a call from its server. Afterwards w and r must not be used:
// the handler passes the call to [Call.Go] and returns. If the connection cannot be detached,
// ok is false and nothing has changed.
func (l *Pool) Detach(w http.ResponseWriter, r *http.Request) (_ *Call, ok bool) {
	return l.detach(w, r, false)
}

// DetachStream is like Detach for a call whose response has started: the handler has set no
// Content-Length, has written, and has flushed everything that it wrote.
func (l *Pool) DetachStream(w http.ResponseWriter, r *http.Request) (_ *Call, ok bool) {
	return l.detach(w, r, true)
}

func (l *Pool) detach(w http.ResponseWriter, r *http.Request, stream bool) (_ *Call, ok bool) {
	if l == nil || r.ProtoMajor != 1 || r.ProtoMinor != 1 || r.Close {
		return nil, false
	}
	if !l.reserve() {
		return nil, false
	}
	header := w.Header()
	// Without the lock: a server that closes its listeners, and the pool with them, keeps its
	// connections meanwhile.
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		l.running.Add(-2)
		return nil, false
	}
	c := &Call{pool: l, header: header, stream: stream, answered: make(chan struct{})}
	c.conn, c.ahead = unwrap(conn), ahead(buffered.Reader)
	c.ctx, c.cancel = context.WithCancelCause(l.ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls[c] = false
	if l.ctx.Err() != nil { // Stop has closed the others
		_ = socket(c.conn).Close()
	}
	return c, true
}

// reserve counts the goroutines of a call that is about to be detached, unless the pool is closed.
func (l *Pool) reserve() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stopped() {
		return false
	}
	l.running.Add(2)
	return true
}

// ahead returns the bytes of the next request that were already read.
func ahead(r *bufio.Reader) []byte {
	if r.Buffered() == 0 {
		return nil
	}
	b, _ := r.Peek(r.Buffered()) // buffered bytes are always available
	return append([]byte(nil), b...)
}

// returned is a connection that has returned, with the bytes that were read from it.
type returned struct {
	net.Conn
	ahead []byte
}

// secured is a connection over TLS that has returned. Its server learns from it what TLS has agreed.
type secured struct {
	returned
	over *tls.Conn
}

// ConnectionState returns what TLS has agreed. [http.Server] asks for it.
func (s *secured) ConnectionState() tls.ConnectionState { return s.over.ConnectionState() }

// back returns a connection with the bytes that were read from it.
func back(c net.Conn, ahead []byte) net.Conn {
	r := returned{c, ahead}
	switch over := c.(type) {
	case *tls.Conn:
		return &secured{r, over}
	case *secured:
		return &secured{r, over.over}
	}
	return &r
}

// unwrap removes wrappers whose bytes were read completely.
func unwrap(c net.Conn) net.Conn {
	switch r := c.(type) {
	case *returned:
		if len(r.ahead) == 0 {
			return r.Conn
		}
	case *secured:
		if len(r.ahead) == 0 {
			return r.Conn
		}
	}
	return c
}

// socket returns the connection below TLS.
func socket(c net.Conn) net.Conn {
	switch over := c.(type) {
	case *tls.Conn:
		return over.NetConn()
	case *secured:
		return over.over.NetConn()
	}
	return c
}

// Read implements [net.Conn].
func (r *returned) Read(b []byte) (int, error) {
	if len(r.ahead) == 0 {
		return r.Conn.Read(b)
	}
	n := copy(b, r.ahead)
	if r.ahead = r.ahead[n:]; len(r.ahead) == 0 {
		r.ahead = nil
	}
	return n, nil
}
