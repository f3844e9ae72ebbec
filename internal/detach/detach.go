// Package detach takes connections out of a net/http server while a call on them
// waits for long, and hands them back for the next one. A blocked handler keeps about
// twenty KiB of buffers and stack that it does not need meanwhile; a parked call keeps
// its connection and two small goroutines.
//
//	lot := detach.New(detach.Options{After: time.Second, Idle: 2 * time.Minute})
//	go server.Serve(listener)
//	go server.Serve(lot) // the connections that come back
//
// In a handler, when it is known that there is no answer yet:
//
//	if p, ok := lot.Park(w, r); ok {
//		p.Go(func() { answer(p, waitOn(p.Context())) })
//		return
//	}
//
// What holds:
//   - p.Context() ends when the client goes away, and when the lot is cut off;
//   - the answer is written whole by one flush, with the headers that the handler had
//     set before; who reads it sees no difference to one of net/http;
//   - a request that comes behind it, also before it (pipelining), is served by the
//     server of [Lot.Accept];
//   - [Lot.Stop] returns when no goroutine of the lot runs any more.
//
// Only HTTP/1.1 connections that stay open can be parked; others wait as they are.
package detach

import (
	"bufio"
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"
)

// Options say when connections are parked.
type Options struct {
	// After is how long a call should have waited before it is parked: parking and
	// handing back cost about as much as a small call.
	After time.Duration
	// Idle is how long a connection may stay without another request behind an answer.
	Idle time.Duration
	// Closed is called for each connection that ends while it is parked, which
	// net/http does not tell. nil is allowed.
	Closed func(net.Conn)
	// Answered is called for each connection whose parked call has ended: it is idle
	// now, until it comes back or ends. nil is allowed.
	Answered func(net.Conn)
}

// Lot holds the parked connections. It is safe for concurrent use, and a
// [net.Listener] for those that come back.
type Lot struct {
	after, idle time.Duration
	closed      func(net.Conn)
	answered    func(net.Conn)
	back        chan net.Conn
	stopping    chan struct{} // closed when nothing comes back any more
	ctx         context.Context
	cut         context.CancelCauseFunc
	running     sync.WaitGroup

	mu     sync.Mutex     // held to close stopping, too
	parked map[*Call]bool // whether it is answered
}

var (
	errGone = errors.New("the client has gone")
	errCut  = errors.New("the server has stopped")
)

// New returns an empty lot. Stop it in the end.
func New(o Options) *Lot {
	l := &Lot{after: o.After, idle: o.Idle, closed: o.Closed, answered: o.Answered, back: make(chan net.Conn), stopping: make(chan struct{}), parked: map[*Call]bool{}}
	if l.closed == nil {
		l.closed = func(net.Conn) {}
	}
	if l.answered == nil {
		l.answered = func(net.Conn) {}
	}
	l.ctx, l.cut = context.WithCancelCause(context.Background())
	return l
}

// After is how long a call waits before it is parked.
func (l *Lot) After() time.Duration { return l.after }

// Accept returns a connection that comes back. It blocks until there is one, and
// returns [net.ErrClosed] when the lot is closed.
func (l *Lot) Accept() (net.Conn, error) {
	select {
	case c := <-l.back:
		return c, nil
	case <-l.stopping:
		return nil, net.ErrClosed
	}
}

// Close lets no connection come back any more: those without a call end, and each
// other one behind its answer. It may be repeated.
func (l *Lot) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stopped() {
		return nil
	}
	close(l.stopping)
	for c, answered := range l.parked {
		if answered {
			c.interrupt()
		}
	}
	return nil
}

func (l *Lot) stopped() bool {
	select {
	case <-l.stopping:
		return true
	default:
		return false
	}
}

// Addr is that of no network: nobody connects to a lot.
func (l *Lot) Addr() net.Addr { return addr{} }

type addr struct{}

func (addr) Network() string { return "parking" }
func (addr) String() string  { return "parking" }

// Stop closes the lot and waits for the calls that are parked. When ctx ends it cuts
// them off: their contexts end, and their connections.
func (l *Lot) Stop(ctx context.Context) {
	_ = l.Close() // which never fails
	defer context.AfterFunc(ctx, func() {
		l.cut(errCut)
		l.mu.Lock()
		defer l.mu.Unlock()
		for c := range l.parked {
			_ = c.conn.Close() // nobody is there to tell
		}
	})()
	l.running.Wait()
	l.cut(errCut)
}

// Parked is how many calls are parked and not answered.
func (l *Lot) Parked() (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, answered := range l.parked {
		if !answered {
			n++
		}
	}
	return n
}

// Park takes the connection of a call out of its server. From then on w and r belong
// to nobody: the handler gives the call to [Call.Go] and returns. ok is false where
// that cannot be, and everything is as before.
func (l *Lot) Park(w http.ResponseWriter, r *http.Request) (_ *Call, ok bool) {
	if r.ProtoMajor != 1 || r.ProtoMinor != 1 || r.Close {
		return nil, false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stopped() {
		return nil, false
	}
	header := w.Header()
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return nil, false
	}
	c := &Call{lot: l, header: header, answered: make(chan struct{})}
	c.conn, c.ahead = unwrap(conn), ahead(buffered.Reader)
	c.ctx, c.cancel = context.WithCancelCause(l.ctx)
	l.parked[c] = false
	l.running.Add(2)
	return c, true
}

// ahead is what has been read of the next request already.
func ahead(r *bufio.Reader) []byte {
	if r.Buffered() == 0 {
		return nil
	}
	b, _ := r.Peek(r.Buffered()) // it has them
	return append([]byte(nil), b...)
}

// returned is a connection that has come back, with what was read from it.
type returned struct {
	net.Conn
	ahead []byte
}

// unwrap leaves out what has been read by now.
func unwrap(c net.Conn) net.Conn {
	if r, ok := c.(*returned); ok && len(r.ahead) == 0 {
		return r.Conn
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
