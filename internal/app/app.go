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
	"cmp"
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/aguiapi"
	"github.com/shoal-dev/shoal/internal/aisdkapi"
	"github.com/shoal-dev/shoal/internal/auditlog"
	"github.com/shoal-dev/shoal/internal/auth"
	"github.com/shoal-dev/shoal/internal/background"
	"github.com/shoal-dev/shoal/internal/calendar"
	"github.com/shoal-dev/shoal/internal/chatapi"
	"github.com/shoal-dev/shoal/internal/clusterbus"
	"github.com/shoal-dev/shoal/internal/console"
	"github.com/shoal-dev/shoal/internal/detach"
	"github.com/shoal-dev/shoal/internal/docsite"
	"github.com/shoal-dev/shoal/internal/guard"
	"github.com/shoal-dev/shoal/internal/history"
	"github.com/shoal-dev/shoal/internal/httpapi"
	"github.com/shoal-dev/shoal/internal/httpapi/bodies"
	"github.com/shoal-dev/shoal/internal/hub"
	"github.com/shoal-dev/shoal/internal/limit"
	"github.com/shoal-dev/shoal/internal/mcpapi"
	"github.com/shoal-dev/shoal/internal/metrics"
	"github.com/shoal-dev/shoal/internal/oidc"
	"github.com/shoal-dev/shoal/internal/openaiapi"
	"github.com/shoal-dev/shoal/internal/remoterun"
	"github.com/shoal-dev/shoal/internal/run"
	"github.com/shoal-dev/shoal/internal/sqlstore"
	"github.com/shoal-dev/shoal/internal/tool"
)

// ErrDisk is the error of a server whose disk failed a commit.
var ErrDisk = errors.New("the disk failed a commit; start the server again to recover")

// ErrTimeline is the error of a server whose database continued on another timeline, for
// example after a failover to a standby.
var ErrTimeline = errors.New("the database went on from another point of its history, where the last messages may be missing; start the server again")

// ErrOutdated is the error of a server on whose database a newer one has been started that this one
// cannot work beside.
var ErrOutdated = errors.New("a newer server has migrated the database, and this one cannot work beside it; start the newer version here, too")

// failuresPerSecond is the sustained rate of invalid keys that one address may send.
const failuresPerSecond = 10

// stopWithin is how long Stop waits for handlers before it cancels them.
const stopWithin = 4 * time.Second

const (
	// idleTimeout is how long a connection may stay without a call.
	idleTimeout = 2 * time.Minute
	// detachAfter is how long a wait blocks before its connection is detached.
	detachAfter = 100 * time.Millisecond
)

// Server is a running server.
type Server struct {
	Hub *hub.Hub

	config    Config
	network   *tool.Network
	executor  *run.Executor
	remote    *remoterun.Server
	store     *sqlstore.Store
	auditLog  *auditlog.File  // nil without a file
	bus       *clusterbus.Bus // nil if there can be only one server
	ready     readiness
	guard     *guard.Guard
	auth      *auth.Authenticator
	mcp       *mcpapi.API
	console   *console.Console
	provider  *oidc.Provider // nil without an OpenID provider
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

// open creates the store, the hub and the guard, and the initial entities and spaces.
func (s *Server) open(ctx context.Context) (err error) {
	alone := s.config.busKind() == busMemory
	s.store, err = sqlstore.Open(ctx, sqlstore.Options{URL: s.config.Database, Log: s.config.Log, Fatal: s.fail, Metrics: s.metrics, Alone: alone, Cluster: !alone})
	if err != nil {
		return fmt.Errorf("open the database: %w", err)
	}
	keep, err := keepFor(s.config.KeepRequests)
	if err != nil {
		return err
	}
	bus, err := s.openBus()
	if err != nil {
		return err
	}
	audit, err := s.openAuditLog()
	if err != nil {
		return err
	}
	s.Hub = hub.New(hub.Options{
		Audit:        audit,
		KeepRequests: keep,
		Store:        s.store, Bus: bus, Log: s.config.Log, MaxWaits: s.config.MaxWaits, MaxSpacesEach: s.config.MaxSpacesEach, MaxBytesEach: int64(s.config.MaxFileMiBEach) << 20, Metrics: s.metrics,
		NextTime: calendar.NextTime, FitsSchema: tool.CheckValue,
	})
	s.limits.Watch(s.Hub.Inbox.Waits(), s.store.Queued())
	if err := s.Hub.Start(ctx); err != nil {
		return err
	}
	if err := s.connectBus(ctx); err != nil {
		return err
	}
	if err := s.protect(); err != nil {
		return err
	}
	if err := s.openProvider(ctx); err != nil {
		return err
	}
	return s.first(ctx)
}

// protect creates the guard and the authenticator of the APIs.
func (s *Server) protect() (err error) {
	c := s.config
	host, _, _ := net.SplitHostPort(c.Addr)
	hosts := c.AllowHosts
	if Loopback(host) {
		hosts = slices.Concat(hosts, s.transport.names)
	}
	s.guard, err = guard.New(guard.Options{
		Public: !Loopback(host), AllowHosts: hosts, Origin: s.publicOrigin, AllowOrigins: c.AllowOrigins, MCPPaths: []string{"/mcp", "/sse"}, OpenAIPath: openaiapi.Path, TextPath: aisdkapi.Path,
		Accept: bodies.Types, Upload: bodies.UploadLimit, Metrics: s.metrics,
		Admit: s.admit,
	})
	if err != nil {
		return err
	}
	s.limits.Watch(s.guard.Bodies())
	s.auth = auth.New(s.Hub, auth.Options{Off: c.open(), Guard: s.guard, Failures: failuresPerSecond, Proxies: c.proxies, Metrics: s.metrics})
	return nil
}

// limitedPaths are where the APIs are whose calls count for the limit of their caller before the
// body is read.
var limitedPaths = []string{"/v1/", "/agui/", openaiapi.Path, aisdkapi.Path}

// admit returns the caller of a request, or why it is refused before its body is read. A call
// over MCP that is over a limit is refused with a result, which needs the id in its body.
func (s *Server) admit(r *http.Request) (limit.Caller, error) {
	caller, err := s.auth.Admit(r)
	if err == nil && slices.ContainsFunc(limitedPaths, func(path string) bool { return strings.HasPrefix(r.URL.Path, path) }) {
		err = s.limits.Peek(caller, bodies.Concurrent(r))
	}
	return caller, err
}

// listen listens on the address and builds the HTTP server.
func (s *Server) listen() error {
	c := s.config
	l, err := net.Listen("tcp", c.Addr)
	if err != nil {
		return shoal.E("app.Start", shoal.Conflict, fmt.Sprintf("The address %s cannot be used (%v). Is a server running already? Choose another with --addr.", c.Addr, err))
	}
	if _, readable := c.Transport(); readable {
		c.Log.Warn("other machines reach this address over plain HTTP, as --insecure allows: keys and messages can be read on the way", "addr", l.Addr().String())
	}
	open := bounded(l, s.proxy, s.metrics)
	s.listener = open
	s.pool = detach.New(detach.Options{After: cmp.Or(c.DetachAfter, detachAfter), Idle: idleTimeout, Closed: open.closed, Answered: open.answered})
	s.metrics.GaugeFunc("shoal_connections_parked", "Connections of calls that wait outside of their handlers.", func() float64 { return float64(s.pool.Count()) })
	apis, err := s.apis()
	if err == nil {
		err = s.showMetrics()
	}
	if err != nil {
		_ = open.Close() // nobody has been served
		return err
	}
	base, cut := context.WithCancel(context.Background())
	s.cut = cut
	s.http = &http.Server{
		Handler: open.count(s.transport.handler(s.guard.Wrap(apis))), ErrorLog: log.New(httpLog{c.Log}, "", 0), TLSConfig: s.transport.secure,
		ReadHeaderTimeout: 10 * time.Second, IdleTimeout: idleTimeout, MaxHeaderBytes: 64 << 10,
		BaseContext: func(net.Listener) context.Context { return base }, ConnState: open.state,
	}
	return nil
}

// apis builds the handler of all APIs, the console and the documentation.
func (s *Server) apis() (_ http.Handler, err error) {
	c := s.config
	s.mcp = mcpapi.New(mcpapi.Options{Hub: s.Hub, Auth: s.auth, Log: c.Log, Version: c.Version, Limits: s.limits, Pool: s.pool, Metrics: s.metrics, Remote: s.remote})
	s.ready.reachable, s.ready.refusing = s.store.Reachable, s.limits.Refusing
	rest := httpapi.New(httpapi.Options{
		Bus:   s.busState,
		Ready: s.ready.check,
		Hub:   s.Hub, Auth: s.auth, Log: c.Log, Limits: s.limits, Metrics: s.metrics, Version: c.Version, Spool: c.Data, Env: func() []string { return c.AllowEnv }, Check: s.executor.Check, Remote: s.remote, Preview: s.executor.Preview, Conversation: history.Public,
		Pool: s.pool,
	})
	s.console, err = console.New(console.Options{
		Auth: s.auth, Guard: s.guard, Pages: console.Built(), Else: rest.Handler(), Open: c.open(), Logout: s.signOutURL, Log: c.Log,
	})
	if err != nil {
		return nil, err
	}
	pages, err := docsite.New()
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("/mcp", s.mcp.Handler())
	mux.Handle("/sse", s.mcp.Handler())
	chats := chatapi.Options{Hub: s.Hub, Auth: s.auth, Log: c.Log, Limits: s.limits}
	mux.Handle("/agui/", aguiapi.New(chats).Handler())
	mux.Handle(openaiapi.Path, openaiapi.New(chats).Handler())
	mux.Handle(aisdkapi.Path, aisdkapi.New(chats).Handler())
	mux.Handle("/v1/", rest.Handler())
	mux.Handle(oidc.Path, s.providerHandler())
	mux.Handle("/", pages.Or(s.console.Handler()))
	return mux, nil
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

// Stop ends the server. It may be called once.
func (s *Server) Stop() {
	ctx, cancel := context.WithTimeout(context.Background(), stopWithin)
	defer cancel()
	s.transport.stop(false)
	shut := s.shutDown(ctx)
	s.stopExecuting(ctx)
	if s.Hub != nil {
		s.Hub.Stop()
	}
	if s.http != nil {
		s.mcp.Stop()
		<-shut
		s.pool.Stop(ctx)
		s.cut()
	}
	if s.figures != nil {
		_ = s.figures.Close() // its readers come back
	}
	s.ready.stop()
	if s.bus != nil {
		s.bus.Stop()
	}
	if s.store != nil {
		if err := s.store.Close(); err != nil {
			s.config.Log.Error("the database did not close cleanly; it recovers at the next start", "error", err)
		}
	}
	s.closeAuditLog()
	s.transport.stop(true)
	s.announcement.End()
}

// shutDown refuses new connections and closes the returned channel when all handlers
// have returned, which they do when the hub stops. It cancels handlers that are still
// running when ctx ends.
func (s *Server) shutDown(ctx context.Context) <-chan struct{} {
	done := make(chan struct{})
	if s.http == nil {
		close(done)
		return done
	}
	go func() {
		defer close(done)
		if s.http.Shutdown(ctx) != nil {
			s.cut()
			_ = s.http.Close() // nobody can handle the error
		}
	}()
	return done
}
