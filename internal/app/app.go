// Package app assembles a server: configuration, database, hub, executor of runs and
// listener, in this order. Stop stops them in reverse order.
//
//	s, err := app.Start(ctx, app.Config{Data: dir, Addr: "127.0.0.1:0"})
//	if err != nil { … }
//	defer s.Stop()
//	fmt.Println(s.URL())
//
// Guarantees:
//   - When Start returns, the server accepts requests, and DATA/admin.key holds a
//     valid admin key.
//   - Stop refuses new connections, ends waits as timed out, ends streams, closes the
//     database, and returns within five seconds.
//   - The first start of a data directory creates a person, an agent that answers, and
//     two spaces for them. Later starts do not restore what was deleted.
//   - If PostgreSQL continues on another timeline, Run returns ErrTimeline: data that
//     this process has read may be lost there.
//   - If a newer server migrates the database so that this one does not fit it, Run returns
//     ErrOutdated.
//   - If the disk fails a commit, Run returns ErrDisk: the state of the database is
//     unknown until it is opened again.
package app

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/auditlog"
	"github.com/shoal-dev/shoal/internal/auth"
	"github.com/shoal-dev/shoal/internal/background"
	"github.com/shoal-dev/shoal/internal/clusterbus"
	"github.com/shoal-dev/shoal/internal/console"
	"github.com/shoal-dev/shoal/internal/detach"
	"github.com/shoal-dev/shoal/internal/guard"
	"github.com/shoal-dev/shoal/internal/hub"
	"github.com/shoal-dev/shoal/internal/limit"
	"github.com/shoal-dev/shoal/internal/mcpapi"
	"github.com/shoal-dev/shoal/internal/metrics"
	"github.com/shoal-dev/shoal/internal/oauth"
	"github.com/shoal-dev/shoal/internal/oidc"
	"github.com/shoal-dev/shoal/internal/otlp"
	"github.com/shoal-dev/shoal/internal/remoterun"
	"github.com/shoal-dev/shoal/internal/run"
	"github.com/shoal-dev/shoal/internal/sqlstore"
	"github.com/shoal-dev/shoal/internal/tool"
	"github.com/shoal-dev/shoal/internal/webpush"
)

// ErrDisk is the error of a server whose disk failed a commit.
var ErrDisk = errors.New("the disk failed a commit; start the server again to recover")

// ErrTimeline is the error of a server whose database continued on another timeline, for
// example after a failover to a standby.
var ErrTimeline = errors.New("the database went on from another point of its history, where the last messages may be missing; start the server again")

// ErrOutdated is the error of a server on whose database a newer one has been started that this one
// cannot work beside.
var ErrOutdated = errors.New("a newer server has migrated the database, and this one cannot work beside it; start the newer version here, too")

// Server is a running server.
type Server struct {
	Hub *hub.Hub

	config    Config
	network   *tool.Network
	executor  *run.Executor
	telemetry *otlp.Telemetry // nil without --otlp
	remote    *remoterun.Server
	push      *webpush.Sender
	store     *sqlstore.Store
	auditLog  *auditlog.File  // nil without a file
	bus       *clusterbus.Bus // nil if there can be only one server
	ready     readiness
	guard     *guard.Guard
	auth      *auth.Authenticator
	mcp       *mcpapi.API
	console   *console.Console
	oauth     *oauth.Server
	provider  *oidc.Provider // nil without an OpenID provider
	tokens    *oidc.Tokens   // nil without an issuer of access tokens
	listener  net.Listener
	transport transport
	pool      *detach.Pool
	metrics   *metrics.Set
	limits    *limit.Principals
	// figures serves only the metrics, if MetricsAddr is set.
	figures   *http.Server
	figuresAt string
	http      *http.Server
	// announcement describes this server to `shoal up` and `shoal down`.
	announcement *background.Announcement
	announced    bool

	cut    context.CancelFunc
	served chan error
	failed chan error
}

// Run starts a server and stops it when ctx ends, or when it fails.
func Run(ctx context.Context, c Config) error {
	c.announce = true
	s, err := Start(ctx, c)
	if err != nil {
		return err
	}
	s.greet(ctx)
	tuning, enough := context.WithCancel(ctx)
	tuned := make(chan struct{})
	go func() {
		defer close(tuned)
		tuneHeap(tuning)
	}()
	defer func() {
		enough()
		<-tuned
	}()
	select {
	case <-ctx.Done():
		s.config.Log.Info("stopping", "cause", context.Cause(ctx))
		s.drain()
	case err = <-s.failed:
	case err = <-s.served:
	}
	s.Stop()
	return err
}

// Start opens the database, recovers, and serves. ctx applies to the start only.
func Start(ctx context.Context, c Config) (_ *Server, err error) {
	if c, err = c.complete(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(c.Data, 0o700); err != nil {
		return nil, shoal.E("app.Start", shoal.InvalidArgument, "The data directory cannot be created: "+err.Error())
	}
	s := &Server{config: c, failed: make(chan error, 1), served: make(chan error, 1), metrics: metrics.New(), announcement: new(background.Announcement)}
	s.announce(ctx)
	s.metrics.Process(c.Version)
	s.limits = limit.NewPrincipals(c.bounds(), s.metrics)
	defer func() {
		if err != nil {
			s.Stop()
		}
	}()
	if err := s.openTransport(); err != nil {
		return nil, err
	}
	if err := s.open(ctx); err != nil {
		return nil, s.explain(err)
	}
	if err := s.execute(ctx); err != nil {
		return nil, s.explain(err)
	}
	if err := s.listen(); err != nil {
		return nil, err
	}
	go func() { s.served <- s.http.Serve(s.transport.wrap(s.listener)) }() // ends with Stop
	go func() { _ = s.http.Serve(s.pool) }()                               // ends with the other
	s.transport.start()
	s.notify()
	s.announce(ctx)
	return s, nil
}

// explain adds to an error of the start what an operator can do about the database.
func (s *Server) explain(err error) error {
	if s.store == nil {
		return err
	}
	return s.store.Explain(err)
}

// fail ends Run after a fatal error of the store.
func (s *Server) fail(err error) {
	why, what := ErrDisk, "the disk failed a commit"
	if errors.Is(err, sqlstore.ErrTimeline) {
		why, what = ErrTimeline, "the database went on from another point of its history; the server stops, and has to be started again"
	}
	if errors.Is(err, sqlstore.ErrOutdated) {
		why, what = ErrOutdated, "a newer server has migrated the database; this one stops"
	}
	s.config.Log.Error(what, "error", err)
	select {
	case s.failed <- why:
	default: // it has failed before
	}
}

// URL returns the address of the server.
func (s *Server) URL() string { return s.transport.scheme() + "://" + s.listener.Addr().String() }
