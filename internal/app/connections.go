package app

import (
	"cmp"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/shoal-dev/shoal/internal/limit"
	"github.com/shoal-dev/shoal/internal/metrics"
)

// connections limits the connections of a listener, so that some of the files that the
// process may open remain for the database and tool calls.
//
// A connection without a response in progress can be closed at no cost to its owner: an
// idle one, one that sends its headers slowly, or one whose detached call has been
// answered. When there is no room, such connections are closed, starting with the
// address that has the most, and there with those idle longest. A new connection is
// therefore refused only if nearly all connections are busy, and other limits divide
// busy connections among callers: calls, waits, streams and uploads. Then the rule of
// all limits applies to addresses, with the admins' reserve for this machine. The
// address of a trusted proxy represents many clients and has no share.
type connections struct {
	net.Listener
	most    int64
	trusted func(netip.Addr) bool
	refused *metrics.Number
	ended   *metrics.Number

	mu   sync.Mutex
	open map[string]*connection // by remote address and port
	from map[netip.Addr]int64
}

// connection is an open connection. It may be closed to make room unless it is busy.
type connection struct {
	net.Conn
	from     netip.Addr
	detached bool
	calls    int       // calls in progress; guarded by mu of connections
	idle     time.Time // when the last call ended
}

func (c *connection) busy() bool { return c.detached || c.calls > 0 }

const (
	// mostConnections is the limit if the system does not limit open files.
	mostConnections = 100_000
	// endedAtOnce is the divisor of the number of connections that are closed when
	// there is no room: each search visits all connections.
	endedAtOnce = 64
)

// maxConnections returns the limit of connections for a process that may open so many
// files, 0 if unknown: a quarter of them, at most 1,024, is reserved for other uses.
func maxConnections(files int64) int64 {
	if files <= 0 {
		return mostConnections
	}
	return min(max(files-min(files/4, 1024), 1), mostConnections)
}

// bounded wraps a listener with a limit.
func bounded(l net.Listener, trusted func(netip.Addr) bool, m *metrics.Set) *connections {
	c := &connections{
		Listener: l, most: maxConnections(int64(metrics.MaxFiles())), trusted: trusted,
		refused: m.Counter("shoal_connections_refused_total", "Connections that were closed as they came because there may not be more."),
		ended:   m.Counter("shoal_connections_ended_total", "Idle connections that ended to make room for others."),
		open:    map[string]*connection{}, from: map[netip.Addr]int64{},
	}
	m.GaugeFunc("shoal_connections_open", "Connections of clients.", func() float64 {
		c.mu.Lock()
		defer c.mu.Unlock()
		return float64(len(c.open))
	})
	return c
}

// Accept implements [net.Listener].
func (c *connections) Accept() (net.Conn, error) {
	for {
		conn, err := c.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if c.enter(conn) {
			return conn, nil
		}
		c.refused.Add(1)
		_ = conn.Close() // no response can be sent
	}
}

// enter adds a connection if there is room or room can be made, and reports whether it
// did.
func (c *connections) enter(conn net.Conn) bool {
	from := network(conn.RemoteAddr())
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.fits(from) {
		c.makeRoom()
		if !c.fits(from) {
			return false
		}
	}
	key := conn.RemoteAddr().String()
	c.forget(key) // an earlier connection whose end was not reported yet
	c.open[key] = &connection{Conn: conn, from: from, idle: time.Now()}
	c.from[from]++
	return true
}

// fits reports whether one more connection of an address fits. mu must be held.
func (c *connections) fits(from netip.Addr) bool {
	mine, own := c.from[from], from.IsLoopback()
	if c.trusted(from) {
		mine, own = 0, false
	}
	return limit.Fits(c.most, int64(len(c.open)), mine, 1, own)
}

// makeRoom closes connections without a call in progress. mu must be held.
func (c *connections) makeRoom() {
	var idle []string
	for key, o := range c.open {
		if !o.busy() {
			idle = append(idle, key)
		}
	}
	slices.SortFunc(idle, func(a, b string) int {
		x, y := c.open[a], c.open[b]
		if x.from != y.from {
			if more := cmp.Compare(c.from[y.from], c.from[x.from]); more != 0 {
				return more
			}
		}
		return x.idle.Compare(y.idle)
	})
	for _, key := range idle[:min(len(idle), int(max(1, c.most/endedAtOnce)))] {
		_ = c.open[key].Close() // its server notices
		c.forget(key)
		c.ended.Add(1)
	}
}

// forget removes a connection. mu must be held.
func (c *connections) forget(key string) {
	o := c.open[key]
	if o == nil {
		return
	}
	delete(c.open, key)
	if c.from[o.from]--; c.from[o.from] == 0 {
		delete(c.from, o.from)
	}
}

// change calls do with the connection of an address, if it is open.
func (c *connections) change(address string, do func(*connection)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if o := c.open[address]; o != nil {
		do(o)
	}
}

// state records a state that net/http reports: a hijacked connection is detached and
// stays open.
func (c *connections) state(conn net.Conn, state http.ConnState) {
	switch state {
	case http.StateClosed:
		c.closed(conn)
	case http.StateHijacked:
		c.change(conn.RemoteAddr().String(), func(o *connection) { o.detached = true })
	default:
	}
}

// closed removes a connection that was closed.
func (c *connections) closed(conn net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forget(conn.RemoteAddr().String())
}

// answered records that the detached call of a connection has ended.
func (c *connections) answered(conn net.Conn) {
	c.change(conn.RemoteAddr().String(), func(o *connection) { o.detached, o.idle = false, time.Now() })
}

// count counts the calls in progress on each connection.
func (c *connections) count(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.change(r.RemoteAddr, func(o *connection) { o.calls++ })
		defer c.change(r.RemoteAddr, func(o *connection) {
			o.calls--
			o.idle = time.Now()
		})
		next.ServeHTTP(w, r)
	})
}

// proxy reports whether an address is that of a trusted proxy.
func (s *Server) proxy(a netip.Addr) bool {
	return slices.ContainsFunc(s.config.proxies, func(p netip.Prefix) bool { return p.Contains(a) })
}

// network returns the unit that has a share: an IPv4 address, or the /64 network of an
// IPv6 client.
func network(a net.Addr) netip.Addr {
	at, err := netip.ParseAddrPort(a.String())
	if err != nil {
		return netip.Addr{}
	}
	ip := at.Addr().Unmap().WithZone("")
	if ip.Is4() || ip.IsLoopback() {
		return ip
	}
	p, _ := ip.Prefix(64) // which an address of IPv6 has
	return p.Addr()
}
