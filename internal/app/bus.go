package app

import (
	"context"
	"os"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/clusterbus"
	"github.com/shoal-dev/shoal/internal/clusterbus/natscore"
	"github.com/shoal-dev/shoal/internal/clusterbus/pgnotify"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/localbus"
	"github.com/shoal-dev/shoal/internal/naming"
)

// The values of Config.Bus besides URLs.
const (
	busAuto     = "auto"
	busMemory   = "memory"
	busPostgres = "postgres"
)

// usesPostgres reports whether the database can have several servers.
func (c Config) usesPostgres() bool { return !strings.HasPrefix(c.Database, "sqlite://") }

// busKind returns what carries notifications between servers: busMemory, busPostgres, or the URLs
// of NATS servers.
func (c Config) busKind() string {
	switch {
	case c.Bus != busAuto:
		return c.Bus
	case c.usesPostgres():
		return busPostgres
	}
	return busMemory
}

// checkBus refuses unknown buses and those that do not fit the database.
func (c Config) checkBus() error {
	nats := strings.HasPrefix(c.Bus, "nats://") || strings.HasPrefix(c.Bus, "tls://")
	switch {
	case c.Bus == busAuto || c.Bus == busMemory:
		return nil
	case c.Bus != busPostgres && !nats:
		return shoal.E("app.Config", shoal.InvalidArgument, "--bus is not valid: use auto, memory, postgres or nats://HOST:PORT.")
	case !c.usesPostgres():
		return shoal.E("app.Config", shoal.InvalidArgument, "--bus connects servers that share a PostgreSQL database, and a SQLite database has one server only: set --database postgres://USER:PASSWORD@HOST/NAME, or leave --bus out.")
	}
	_, err := c.transport()
	return err
}

// transport returns the transport between servers, or nil if there is one server only.
func (c Config) transport() (clusterbus.Transport, error) {
	switch kind := c.busKind(); kind {
	case busMemory:
		return nil, nil
	case busPostgres:
		return pgnotify.New(c.Database)
	default:
		return natscore.New(kind, c.Log)
	}
}

// openBus creates the bus of the server. It works within the server until connect.
func (s *Server) openBus() (core.Bus, error) {
	transport, err := s.config.transport()
	if err != nil {
		return nil, err
	}
	if transport == nil {
		return localbus.New(), nil
	}
	s.bus = clusterbus.New(clusterbus.Options{Transport: transport, Name: s.config.Node, Version: s.config.Version, Log: s.config.Log, Metrics: s.metrics})
	return s.bus, nil
}

// connectBus connects the bus to the other servers, if there can be any.
func (s *Server) connectBus(ctx context.Context) error {
	if s.bus == nil {
		return nil
	}
	return s.bus.Start(ctx, s.Hub.Nodes)
}

// drainFor is how long a server that stops still serves while it is not ready, so that a load
// balancer that asks every two seconds sends no more calls.
const drainFor = 2500 * time.Millisecond

// drain makes the server not ready and waits, if there are other servers that can take its
// callers.
func (s *Server) drain() {
	if s.bus == nil || len(s.bus.State().Nodes) < 2 {
		return
	}
	s.ready.draining.Store(true)
	<-time.After(drainFor)
}

// busState returns "up" or "down", or "" if there can be only one server.
func (s *Server) busState() string {
	switch {
	case s.bus == nil:
		return ""
	case s.bus.State().Problem == "":
		return "up"
	}
	return "down"
}

// nodeName returns the name of this machine, which is the default name of its server.
func nodeName() string {
	name, err := os.Hostname()
	if err != nil || naming.Check("node", name) != nil {
		return "server"
	}
	return name
}
