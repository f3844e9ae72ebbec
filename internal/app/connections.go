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

// connections bounds the connections of a listener, so that some of the files that the
// process may open are left for the database and the calls of tools.
//
// Connections on which nothing is answered cost their owner nothing: idle ones, those
// that send their headers slowly, and those of calls that were parked and answered.
// Where there is no room, they end, first those of the address with the most, of these
// the ones that were idle longest. A new connection is therefore refused only where
// answers are under way on nearly all, which other bounds divide among callers: calls,
// waits, streams and uploads. Then the rule of all bounds holds for addresses, with the
// reserve of admins for this machine's own. The address of a trusted proxy speaks for
// many clients and has no share.
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

// connection is an open one. It may end for another while it is not busy.
type connection struct {
	net.Conn
	from   netip.Addr
	parked bool
	calls  int       // that are answered on it; guarded by mu of connections
	idle   time.Time // since when there are none
}

func (c *connection) busy() bool { return c.parked || c.calls > 0 }

const (
	// mostConnections bounds connections where the system does not bound files.
	mostConnections = 100_000
	// endedAtOnce is which part of all connections ends when there is no room: each
	// search goes through all.
	endedAtOnce = 64
)

// maxConnections is how many connections a process may have that may open so many
// files, 0 for no known bound: a quarter of them, at most 1,024, are for other things.
func maxConnections(files int64) int64 {
	if files <= 0 {
		return mostConnections
	}
	return min(max(files-min(files/4, 1024), 1), mostConnections)
}

// bounded bounds a listener.
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
		_ = conn.Close() // there is no place to tell anything
	}
}

// enter counts a connection, if there is room or some can be made.
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
	c.forget(key) // of a connection that has gone, which nobody has said yet
	c.open[key] = &connection{Conn: conn, from: from, idle: time.Now()}
	c.from[from]++
	return true
}

// fits must be called with mu held.
func (c *connections) fits(from netip.Addr) bool {
	mine, own := c.from[from], from.IsLoopback()
	if c.trusted(from) {
		mine, own = 0, false
	}
	return limit.Fits(c.most, int64(len(c.open)), mine, 1, own)
}

// makeRoom ends connections on which nothing is answered. mu must be held.
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

// forget must be called with mu held.
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

// change changes what is known of a connection.
func (c *connections) change(address string, do func(*connection)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if o := c.open[address]; o != nil {
		do(o)
	}
}

// state notes what net/http says of a connection: one that is parked goes on.
func (c *connections) state(conn net.Conn, state http.ConnState) {
	switch state {
	case http.StateClosed:
		c.closed(conn)
	case http.StateHijacked:
		c.change(conn.RemoteAddr().String(), func(o *connection) { o.parked = true })
	default:
	}
}

// closed counts one connection less.
func (c *connections) closed(conn net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forget(conn.RemoteAddr().String())
}

// answered notes that the parked call of a connection has ended.
func (c *connections) answered(conn net.Conn) {
	c.change(conn.RemoteAddr().String(), func(o *connection) { o.parked, o.idle = false, time.Now() })
}

// count notes on which connections something is answered.
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

// network is what has a share: an address, or the network of 64 bits that one client of
// IPv6 has for itself.
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
