// Package faultproxy stands between a client and a server and does to their
// connections what networks do: delay, thirst, silence, a reset in the middle.
//
//	p := faultproxy.New(t, "tcp", server.Addr)
//	p.Harm(faultproxy.Fault{}, faultproxy.Fault{Gate: faultproxy.After(1000)})
//	get("http://" + p.Addr())   // is reset behind 1000 bytes of the answer
//	p.Heal()
//
// Guarantees:
//   - what it passes on is what it was given, in order, up to where it cuts;
//   - a cut is a reset: whoever is cut off does not take it for the end;
//   - a fault holds for connections that are open, too, from the next piece on;
//   - a slow or silent connection fills no memory here: what is not passed on is
//     not read either;
//   - when the test is over, all connections and goroutines have ended.
package faultproxy

import (
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Proxy carries the connections that it is given to one server. It is safe for
// concurrent use.
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

// Fault is what happens to one direction of every connection. The zero Fault is
// none.
type Fault struct {
	// Delay passes before each piece is passed on.
	Delay time.Duration
	// Rate is how many bytes a second are passed on; 0 is no limit. Connections that
	// are opened with it have a small window, so that the sender feels it soon.
	Rate int
	// Silent passes nothing on and tells nobody: the other side seems to think.
	Silent bool
	// Gate makes what looks at the bytes of one connection; nil lets all pass.
	Gate func() Gate
}

// Gate is given all pieces of one direction of one connection. It returns how many
// bytes of a piece may pass, and whether the connection is reset behind them;
// without a reset the whole piece passes.
type Gate func(piece []byte) (pass int, cut bool)

// faults are those of both directions at one time.
type faults struct {
	requests, answers Fault
	refuse            bool
	over              chan struct{} // closed when others take their place
}

// window is the buffer of a connection with a Rate.
const window = 8 << 10

// New starts a proxy on a free port of the loopback address to a server on network,
// tcp or unix, that lives until the test is over.
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

// Harm puts these faults in the place of the earlier ones: what clients send
// suffers from requests, what the server sends from answers.
func (p *Proxy) Harm(requests, answers Fault) {
	p.set(&faults{requests: requests, answers: answers})
}

// Heal ends all faults. Silent connections go on with what was held back.
func (p *Proxy) Heal() { p.set(&faults{}) }

// Cut resets all connections and refuses further ones until Harm or Heal.
func (p *Proxy) Cut() {
	p.set(&faults{refuse: true})
	p.Reset()
}

func (p *Proxy) set(f *faults) {
	f.over = make(chan struct{})
	close(p.faults.Swap(f).over)
}

// Reset resets all connections and returns how many there were.
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
	_ = p.listener.Close() // nobody comes any more
	p.Reset()
	p.running.Wait()
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return // it was closed
		}
		p.running.Go(func() { p.carry(client) })
	}
}

// carry carries one connection until it ends.
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
		c.cut() // it came while everything was cut
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

// reset closes a connection in such a way that the other side learns of it as an
// error.
func reset(c net.Conn) {
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // it may be closed already
	}
	_ = c.Close()
}

func narrow(c net.Conn) {
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetReadBuffer(window) // with a larger one the sender feels it later
	}
}
