package app

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"sync/atomic"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/limit"
	"github.com/shoal-dev/shoal/internal/logs"
	"github.com/shoal-dev/shoal/internal/metrics"
)

// secrets are what the server knows itself and must not log: the database's
// password, the keys of model vendors, and what agent configs refer to.
func (c *Config) secrets() *logs.Secrets {
	s := &logs.Secrets{}
	if at, err := url.Parse(c.Database); err == nil {
		password, _ := at.User.Password()
		s.Add(password, at.Query().Get("password"))
	}
	for _, v := range vendors {
		for _, name := range v.keys {
			s.Add(c.Keys(name))
		}
	}
	s.Add(c.Keys("OPENROUTER_API_KEY"))
	for _, name := range c.AllowEnv {
		s.Add(os.Getenv(name))
	}
	return s
}

// bounds are the limits of callers.
func (c *Config) bounds() limit.Bounds {
	b := limit.DefaultBounds
	b.CallsPerSecond, b.Streams = float64(c.MaxCallsPerSecond), c.MaxStreams
	return b
}

// connections bounds the connections of a listener, so that some of the files that
// the process may open are left for the database and the calls of tools. One more
// is closed as soon as it comes. It counts them, too.
type connections struct {
	net.Listener
	most    int64 // 0: no limit
	open    atomic.Int64
	refused *metrics.Number
}

// spareFiles are those that are not for connections.
const spareFiles = 256

// bounded bounds a listener by how many files the process may open.
func bounded(l net.Listener, m *metrics.Set) *connections {
	c := &connections{Listener: l, refused: m.Counter("shoal_connections_refused_total", "Connections that were closed because the process may not open more files.")}
	if files := metrics.MaxFiles(); files > 2*spareFiles {
		c.most = int64(files) - spareFiles
	}
	m.GaugeFunc("shoal_connections_open", "Connections of clients.", func() float64 { return float64(c.open.Load()) })
	return c
}

// Accept implements [net.Listener].
func (c *connections) Accept() (net.Conn, error) {
	for {
		conn, err := c.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if c.most == 0 || c.open.Load() < c.most {
			c.open.Add(1)
			return conn, nil
		}
		c.refused.Add(1)
		_ = conn.Close() // there is no place to tell anything
	}
}

// ended notes what net/http tells of a connection: one that is parked goes on.
func (c *connections) ended(_ net.Conn, state http.ConnState) {
	if state == http.StateClosed {
		c.closed()
	}
}

// closed counts one connection less.
func (c *connections) closed() { c.open.Add(-1) }

// showMetrics opens the listener that wants no key, if there is to be one.
func (s *Server) showMetrics() error {
	if s.config.MetricsAddr == "" {
		return nil
	}
	listener, err := net.Listen("tcp", s.config.MetricsAddr)
	if err != nil {
		return shoal.E("app.Start", shoal.Conflict, fmt.Sprintf("The address %s cannot be used for metrics (%v). Choose another with --metrics-addr.", s.config.MetricsAddr, err))
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", metrics.ContentType)
		_ = s.metrics.Write(w) // who has gone does not learn of it
	})
	s.figures = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 16 << 10}
	s.figuresAt = listener.Addr().String()
	go func() { _ = s.figures.Serve(listener) }() // ends with Stop
	return nil
}

// MetricsURL is where the metrics can be read without a key, "" if nowhere.
func (s *Server) MetricsURL() string {
	if s.figuresAt == "" {
		return ""
	}
	return "http://" + s.figuresAt + "/metrics"
}
