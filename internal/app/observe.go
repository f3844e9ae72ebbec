package app

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/limit"
	"github.com/shoal-dev/shoal/internal/logs"
	"github.com/shoal-dev/shoal/internal/metrics"
	"github.com/shoal-dev/shoal/internal/modelenv"
)

// secrets are what the server knows itself and must not log: the database's
// password, the keys of model vendors, and what agent configs refer to.
func (c *Config) secrets() *logs.Secrets {
	s := &logs.Secrets{}
	if at, err := url.Parse(c.Database); err == nil {
		password, _ := at.User.Password()
		s.Add(password, at.Query().Get("password"))
	}
	for _, name := range modelenv.Secrets() {
		s.Add(c.Keys(name))
	}
	s.Add(c.Keys(secretVariable))
	for _, value := range c.otlpSecrets() {
		s.Add(value)
	}
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
		_ = s.metrics.Write(w) // the client may have disconnected
	})
	s.figures = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 16 << 10}
	s.figuresAt = listener.Addr().String()
	go func() { _ = s.figures.Serve(listener) }() // ends with Stop
	return nil
}

// MetricsURL returns the URL of the metrics that requires no key, "" if there is none.
func (s *Server) MetricsURL() string {
	if s.figuresAt == "" {
		return ""
	}
	return "http://" + s.figuresAt + "/metrics"
}
