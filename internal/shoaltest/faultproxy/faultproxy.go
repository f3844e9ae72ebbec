// Package faultproxy is a proxy between clients and a server that injects the faults of
// networks into their connections: delay, low rates, silence, a reset in the middle.
//
//	p := faultproxy.New(t, "tcp", server.Addr)
//	p.Harm(faultproxy.Fault{}, faultproxy.Fault{Gate: faultproxy.After(1000)})
//	get("http://" + p.Addr())   // is reset after 1000 bytes of the response
//	p.Heal()
//
// Guarantees:
//   - it passes on bytes unchanged and in order, up to the reset;
//   - a cut is a reset, so neither side mistakes it for the end of the data;
//   - a fault also applies to open connections, from the next piece on;
//   - a slow or silent connection uses no memory: bytes that are not passed on are not
//     read either;
//   - when the test ends, all connections and goroutines have ended.
package faultproxy

import (
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Proxy forwards connections to one server. It is safe for concurrent use.
type Proxy struct {
	network, target string
	listener        net.Listener
	faults          atomic.Pointer[faults]
	cuts            atomic.Int64
	running         sync.WaitGroup

	mu      sync.Mutex
	carried map[*carried]bool
	closed  bool
}

// Fault describes the faults of one direction of every connection. The zero Fault has no
// effect.
type Fault struct {
	// Delay is the time before each piece is passed on.
	Delay time.Duration
	// Rate is the limit in bytes per second; 0 means no limit. Connections that are
	// opened while it is set have a small window, so that it soon affects the sender.
	Rate int
	// Silent passes nothing on and keeps the connection open: the other side seems to
	// be busy.
	Silent bool
	// Gate returns the gate of one connection; if it is nil, all bytes pass.
	Gate func() Gate
}

// Gate is called with all pieces of one direction of one connection. It returns the number
// of bytes of a piece that may pass, and whether the connection is reset after them;
// without a reset the whole piece passes.
type Gate func(piece []byte) (pass int, cut bool)

// faults are the current faults of both directions.
type faults struct {
	requests, answers Fault
	refuse            bool
	over              chan struct{} // closed when other faults replace these
}

// window is the buffer of a connection with a Rate.
const window = 8 << 10

// New starts a proxy on a free port of the loopback address to a server on network,
// tcp or unix, that runs until the test ends.
func New(t testing.TB, network, target string) *Proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{network: network, target: target, listener: listener, carried: map[*carried]bool{}}
	p.faults.Store(&faults{over: make(chan struct{})})
	p.running.Go(p.accept)
	t.Cleanup(p.close)
	return p
}

// Addr is where the proxy listens, as host:port.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Harm replaces the current faults: requests applies to what clients send, answers to what
// the server sends.
func (p *Proxy) Harm(requests, answers Fault) {
	p.set(&faults{requests: requests, answers: answers})
}

// Heal ends all faults. Silent connections continue with the bytes that were held back.
func (p *Proxy) Heal() { p.set(&faults{}) }

// Cut resets all connections and refuses new ones until Harm or Heal is called.
func (p *Proxy) Cut() {
	p.set(&faults{refuse: true})
	p.Reset()
}

func (p *Proxy) set(f *faults) {
	f.over = make(chan struct{})
	close(p.faults.Swap(f).over)
}

// Reset resets all connections and returns their number.
func (p *Proxy) Reset() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.carried)
	for c := range p.carried {
		c.cut()
	}
	return n
}

// Open counts the connections that are open.
func (p *Proxy) Open() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.carried)
}

// Cuts counts the connections that gates have reset so far.
func (p *Proxy) Cuts() int64 { return p.cuts.Load() }

func (p *Proxy) close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	_ = p.listener.Close() // no new connections
	p.Reset()
	p.running.Wait()
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return // closed
		}
		p.running.Go(func() { p.carry(client) })
	}
}

// carry forwards one connection until it ends.
func (p *Proxy) carry(client net.Conn) {
	f := p.faults.Load()
	if f.refuse {
		reset(client)
		return
	}
	server, err := net.Dial(p.network, p.target)
	if err != nil {
		reset(client)
		return
	}
	if f.answers.Rate > 0 {
		narrow(server)
	}
	if f.requests.Rate > 0 {
		narrow(client)
	}
	c := &carried{proxy: p, client: client, server: server, ended: make(chan struct{})}
	p.mu.Lock()
	if p.closed || p.faults.Load().refuse {
		c.cut() // it was opened after Cut
	}
	p.carried[c] = true
	p.mu.Unlock()
	var both sync.WaitGroup
	both.Go(func() { c.pump(client, server, func(f *faults) Fault { return f.requests }) })
	both.Go(func() { c.pump(server, client, func(f *faults) Fault { return f.answers }) })
	both.Wait()
	p.mu.Lock()
	delete(p.carried, c)
	p.mu.Unlock()
}

// reset closes a connection so that the other side gets an error.
func reset(c net.Conn) {
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // it may be closed already
	}
	_ = c.Close()
}

func narrow(c net.Conn) {
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetReadBuffer(window) // a larger buffer would delay the effect on the sender
	}
}
