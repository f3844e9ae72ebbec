package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/aguiapi"
	"github.com/shoal-dev/shoal/internal/aisdkapi"
	"github.com/shoal-dev/shoal/internal/auth"
	"github.com/shoal-dev/shoal/internal/chatapi"
	"github.com/shoal-dev/shoal/internal/console"
	"github.com/shoal-dev/shoal/internal/detach"
	"github.com/shoal-dev/shoal/internal/docsite"
	"github.com/shoal-dev/shoal/internal/guard"
	"github.com/shoal-dev/shoal/internal/history"
	"github.com/shoal-dev/shoal/internal/httpapi"
	"github.com/shoal-dev/shoal/internal/httpapi/bodies"
	"github.com/shoal-dev/shoal/internal/limit"
	"github.com/shoal-dev/shoal/internal/mcpapi"
	"github.com/shoal-dev/shoal/internal/oauth"
	"github.com/shoal-dev/shoal/internal/oidc"
	"github.com/shoal-dev/shoal/internal/openaiapi"
	"github.com/shoal-dev/shoal/internal/tracecontext"
)

// failuresPerSecond is the sustained rate of invalid keys that one address may send.
const failuresPerSecond = 10

const (
	// idleTimeout is how long a connection may stay without a call.
	idleTimeout = 2 * time.Minute
	// detachAfter is how long a wait blocks before its connection is detached.
	detachAfter = 100 * time.Millisecond
)

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
		Challenge: func(r *http.Request) string { return s.oauth.Challenge(r) },
		Accept:    func(r *http.Request) []string { return append(oauth.Accept(r), bodies.Types(r)...) }, Upload: bodies.UploadLimit, Metrics: s.metrics,
		Shorten: aguiapi.Shorten, Admit: s.admit,
	})
	if err != nil {
		return err
	}
	s.limits.Watch(s.guard.Bodies())
	tokens, err := s.openTokens()
	if err != nil {
		return err
	}
	s.auth = auth.New(s.Hub, auth.Options{Tokens: tokens, Off: c.open(), Guard: s.guard, Failures: failuresPerSecond, Proxies: c.proxies, Metrics: s.metrics})
	clients := oauth.Options{Grants: s.Hub.Grants, Auth: s.auth, Guard: s.guard, PublicURL: c.PublicURL, Off: c.open(), Log: c.Log}
	// A program on the server's own machine registers without a call to the internet.
	if c.ClientDocuments == "on" || c.ClientDocuments != "off" && (!Loopback(host) || c.PublicURL != "") {
		clients.Documents = s.network.Client()
	}
	s.oauth = oauth.New(clients)
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
	if errors.Is(err, syscall.EADDRINUSE) {
		return shoal.E("app.Start", shoal.Conflict, fmt.Sprintf("Another process uses the address %s: possibly a server that is running already, which `shoal doctor` finds. Stop it, or choose another address with --addr.", c.Addr))
	}
	if err != nil {
		return shoal.E("app.Start", shoal.Conflict, fmt.Sprintf("The address %s cannot be used (%v). Choose another with --addr.", c.Addr, err))
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
		Handler: open.count(s.transport.handler(s.guard.Wrap(tracecontext.Handler(apis)))), ErrorLog: log.New(httpLog{c.Log}, "", 0), TLSConfig: s.transport.secure,
		ReadHeaderTimeout: 10 * time.Second, IdleTimeout: idleTimeout, MaxHeaderBytes: 64 << 10,
		BaseContext: func(net.Listener) context.Context { return base }, ConnState: open.state,
	}
	return nil
}

// apis builds the handler of all APIs, the console and the documentation.
func (s *Server) apis() (_ http.Handler, err error) {
	c := s.config
	s.mcp = mcpapi.New(mcpapi.Options{Hub: s.Hub, Auth: s.auth, Challenge: s.oauth.Challenge, Log: c.Log, Version: c.Version, Limits: s.limits, Pool: s.pool, Metrics: s.metrics, Remote: s.remote})
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
	mux.Handle(oauth.Path, s.oauth.Handler())
	mux.Handle(oauth.WellKnown, s.oauth.Handler())
	mux.Handle("/", pages.Or(s.console.Handler()))
	return mux, nil
}
