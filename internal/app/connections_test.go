package app

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/shoal-dev/shoal/internal/metrics"
)

// door is a server with a bound of connections. Calls of /slow last until release.
type door struct {
	t       *testing.T
	open    *connections
	reached chan struct{}
	release chan struct{}
	metrics *metrics.Set
}

func newDoor(t *testing.T, most int64, trusted func(netip.Addr) bool) *door {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	d := &door{t: t, reached: make(chan struct{}, 100), release: make(chan struct{}), metrics: metrics.New()}
	d.open = bounded(l, trusted, d.metrics)
	d.open.most = most
	server := &http.Server{ConnState: d.open.state, ReadHeaderTimeout: time.Minute, Handler: d.open.count(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			d.reached <- struct{}{}
			<-d.release
		}
		_, _ = io.WriteString(w, "here")
	}))}
	served := make(chan error, 1)
	go func() { served <- server.Serve(d.open) }()
	t.Cleanup(func() {
		_ = server.Close()
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	return d
}

func none(netip.Addr) bool { return false }

func (d *door) dial() net.Conn {
	d.t.Helper()
	conn, err := net.Dial("tcp", d.open.Addr().String())
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(time.Minute)) // a read from a closed connection returns an error
	return conn
}

func ask(conn net.Conn) string {
	_, _ = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	return answerOf(conn)
}

// answerOf is the body of the next answer, "" if the connection ends.
func answerOf(conn net.Conn) string {
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return ""
	}
	defer res.Body.Close()
	body, _ := io.ReadAll(res.Body)
	return string(body)
}

// Where there is no room for one more, the connections end that were idle longest, and
// those that never send a request; those on which something is answered go on.
func TestIdleConnectionsMakeRoom(t *testing.T) {
	d := newDoor(t, 4, none)
	busy := d.dial()
	if _, err := io.WriteString(busy, "GET /slow HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	<-d.reached
	oldest := d.dial()
	if ask(oldest) != "here" {
		t.Fatal("within the bound")
	}
	young := d.dial()
	if ask(young) != "here" {
		t.Fatal("within the bound")
	}
	for i := range 20 {
		mute := d.dial()
		_, _ = io.WriteString(mute, "GET / HT") // and no more
		if got := ask(d.dial()); got != "here" {
			t.Fatalf("connection %d is not served beside idle ones: %q", i, got)
		}
	}
	if got := ask(oldest); got != "" {
		t.Errorf("the connection that was idle longest still answers %q", got)
	}
	close(d.release)
	if got := answerOf(busy); got != "here" {
		t.Errorf("a connection with a call under way ended: %q", got)
	}
	d.open.mu.Lock()
	defer d.open.mu.Unlock()
	if n := len(d.open.open); n > 4 {
		t.Errorf("%d connections are open, of at most 4", n)
	}
}

// Where answers are under way on all connections, one more is closed as it comes; when
// one of them ends there is room again.
func TestConnectionsAreBounded(t *testing.T) {
	d := newDoor(t, 2, none)
	busy := []net.Conn{d.dial(), d.dial()}
	for _, conn := range busy {
		_, _ = io.WriteString(conn, "GET /slow HTTP/1.1\r\nHost: x\r\n\r\n")
		<-d.reached
	}
	if got := ask(d.dial()); got != "" {
		t.Errorf("beyond the bound: %q, want the connection closed", got)
	}
	close(d.release)
	for _, conn := range busy {
		if got := answerOf(conn); got != "here" {
			t.Errorf("those that are open suffer for it: %q", got)
		}
	}
	if got := ask(d.dial()); got != "here" {
		t.Errorf("there is no room although all are idle: %q", got)
	}
	var text strings.Builder
	if err := d.metrics.Write(&text); err != nil || !strings.Contains(text.String(), "shoal_connections_refused_total 1\n") || strings.Contains(text.String(), "shoal_connections_ended_total 0\n") {
		t.Errorf("%v, refusal and end are not counted:\n%s", err, text.String())
	}
}

// conn is a connection from an address, of no network.
type conn struct {
	net.Conn
	from   string
	closed bool
}

func (c *conn) RemoteAddr() net.Addr {
	return net.TCPAddrFromAddrPort(netip.MustParseAddrPort(c.from))
}
func (c *conn) Close() error { c.closed = true; return nil }

// Of the connections of all, one address that keeps calls under way on its own leaves
// others a quarter and this machine the last ones; a trusted proxy speaks for many.
func TestConnectionsAreSharedByAddress(t *testing.T) {
	proxy := netip.MustParseAddr("10.0.0.9")
	const most = 400
	take := func(c *connections, address string, busy bool) (n int) {
		for port := 1; port <= most; port++ {
			one := &conn{from: netip.AddrPortFrom(netip.MustParseAddr(address), uint16(port)).String()}
			if !c.enter(one) {
				continue
			}
			n++
			if busy {
				c.change(one.from, func(o *connection) { o.calls++ })
			}
		}
		return n
	}
	fresh := func() *connections {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() })
		c := bounded(l, func(a netip.Addr) bool { return a == proxy }, metrics.New())
		c.most = most
		return c
	}
	c := fresh()
	for address, want := range map[string]int{"203.0.113.1": 300} {
		if n := take(c, address, true); n != want {
			t.Errorf("%s has %d connections, want %d", address, n, want)
		}
	}
	if n := take(c, "203.0.113.2", true); n != 50 { // an eighth
		t.Errorf("a second one has %d", n)
	}
	if n := take(c, "203.0.113.3", true); n != 42 { // and 2 % are left
		t.Errorf("a third one has %d", n)
	}
	if n := take(c, "127.0.0.1", true); n != 8 {
		t.Errorf("this machine has %d", n)
	}
	c = fresh()
	if n := take(c, proxy.String(), true); n != 392 {
		t.Errorf("a trusted proxy has %d", n)
	}
	c = fresh()
	if n := take(c, "2001:db8::1", true) + take(c, "2001:db8::2", true); n != 300 {
		t.Errorf("one network of IPv6 has %d", n)
	}
	// Idle connections of the address with the most are closed for others, and for its own.
	c = fresh()
	take(c, "203.0.113.1", false)
	if n := take(c, "203.0.113.2", true); n != 300 {
		t.Errorf("beside idle ones another address has %d", n)
	}
}

// The bound is below what the process may open.
func TestConnectionsLeaveFiles(t *testing.T) {
	for files, want := range map[int64]int64{0: mostConnections, 64: 48, 256: 192, 1024: 768, 4096: 3072, 20_000: 18_976, 1 << 20: mostConnections} {
		if got := maxConnections(files); got != want {
			t.Errorf("of %d files %d are for connections, want %d", files, got, want)
		}
	}
	if files := metrics.MaxFiles(); files > 0 {
		if got := maxConnections(int64(files)); got >= int64(files) {
			t.Errorf("of %d files %d are for connections", files, got)
		}
	}
}
