package mcpapi

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/shoal-dev/shoal/internal/auth"
	"github.com/shoal-dev/shoal/internal/detach"
	"github.com/shoal-dev/shoal/internal/hub"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/limit"
	"github.com/shoal-dev/shoal/internal/mcpapi/tasks"
	"github.com/shoal-dev/shoal/internal/mcpapi/tools"
	"github.com/shoal-dev/shoal/internal/metrics"
	"github.com/shoal-dev/shoal/internal/remoterun"
)

// Options are the dependencies and limits of an [API]. Hub and Auth are required; the
// caller keeps ownership of them.
type Options struct {
	Hub  *hub.Hub
	Auth *auth.Authenticator
	// Challenge returns the header WWW-Authenticate for a request without a key that works; nil means
	// "Bearer".
	Challenge func(r *http.Request) string
	// Log receives every internal error once, and every attempt to act as
	// somebody else; nil discards both.
	Log *slog.Logger
	// Version is what the server says it is.
	Version string
	// Limits bounds the calls and streams of principals, together with those of the
	// other transports; nil gives the API its own limit.DefaultBounds.
	Limits *limit.Principals
	// Pool takes over the connections of long waits; with nil they stay with their HTTP
	// handlers. It must not be stopped before the hub.
	Pool *detach.Pool
	// Remote executes what the tools of remote agents report; without it nobody is offered them. The
	// caller stops it, before the hub.
	Remote *remoterun.Server
	// Metrics counts calls of tools; nil is allowed.
	Metrics *metrics.Set
	// ProgressEvery is how often a wait sends a progress notification to a client that
	// requested them, 12 s if zero.
	ProgressEvery time.Duration
	// Heartbeat is how often a stream gets a comment line, 15 s if zero.
	Heartbeat time.Duration
	// WriteTimeout is how long a client may take nothing of what is written to it
	// before it is cut off, 10 s if zero.
	WriteTimeout time.Duration
	// MaxSessions bounds the sessions of the older era that are kept, 10,000 if
	// zero, and MaxSessionsEach those of one principal, 32 if zero. One more
	// ends the one that was unused the longest: of the principal's own or, at the total
	// limit, of the principal with the most. As many ended sessions are remembered.
	MaxSessions, MaxSessionsEach int
	// SessionIdle is how long a session is kept without a request, 30 min if
	// zero. One with an open stream is kept.
	SessionIdle time.Duration
}

// API serves MCP. It is safe for concurrent use.
type API struct {
	Options
	offer
	self     *mcp.Implementation
	versions []string // of the protocol, as the SDK knows them
	set      tools.Set
	tools    []*tools.Tool          // the table
	byName   map[string]*tools.Tool // those of the table that are called here
	listed   []*mcp.Tool            // the table as tools/list shows it, by name
	remote   []*mcp.Tool            // the same for remote agents

	ctx     context.Context // ends with Stop
	cancel  context.CancelCauseFunc
	mu      sync.Mutex // guards stopped
	stopped bool
	running sync.WaitGroup // what Stop waits for

	waits    openWaits
	tasks    tasks.Registry
	figures  figures
	peers    peers
	carriers carriers
	sessions sessions
	sse      sseSessions
}

// offer is what an API has to offer; how it is served does not depend on it.
type offer struct {
	// table returns the tools, in the order in which they are shown.
	table func(tools.Set) []*tools.Tool
	// server makes the SDK's server of one caller, with everything that is no
	// tool of the table.
	server func(*peer) *mcp.Server
}

// New returns an API over these options. The caller must Stop it.
func New(o Options) *API {
	return newAPI(o, offer{table: tools.Set.Tools, server: conversation})
}

func newAPI(o Options, has offer) *API {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Limits == nil {
		o.Limits = limit.NewPrincipals(limit.DefaultBounds, nil)
	}
	o.ProgressEvery = cmp.Or(o.ProgressEvery, 12*time.Second)
	o.Heartbeat = cmp.Or(o.Heartbeat, 15*time.Second)
	o.WriteTimeout = cmp.Or(o.WriteTimeout, 10*time.Second)
	o.MaxSessions = cmp.Or(o.MaxSessions, 10_000)
	o.MaxSessionsEach = cmp.Or(o.MaxSessionsEach, 32)
	o.SessionIdle = cmp.Or(o.SessionIdle, 30*time.Minute)
	a := &API{
		Options:  o,
		offer:    has,
		self:     &mcp.Implementation{Name: "shoal", Title: "Shoal", Version: o.Version},
		versions: mcp.SupportedProtocolVersions(),
		byName:   map[string]*tools.Tool{},
		set:      tools.Set{Hub: o.Hub, Log: o.Log, Remote: o.Remote},
		waits:    openWaits{open: map[waitKey][]*openWait{}},
		figures:  newFigures(o.Metrics),
		peers:    peers{open: map[caller]*peer{}},
		carriers: carriers{open: map[string]*carrier{}},
		sse:      sseSessions{open: map[string]*sseSession{}},
	}
	a.ctx, a.cancel = context.WithCancelCause(context.Background())
	a.sessions = sessions{api: a, byID: map[sessionKey]*session{}, each: map[caller]int{}, terminated: map[sessionKey]struct{}{}}
	a.tools = has.table(a.set)
	for _, t := range a.tools {
		if t.Run != nil {
			a.byName[t.Name] = t
		}
		if !t.Remote {
			a.listed = append(a.listed, described(t))
		}
		a.remote = append(a.remote, described(t))
	}
	for _, list := range [][]*mcp.Tool{a.listed, a.remote} {
		slices.SortFunc(list, func(x, y *mcp.Tool) int { return strings.Compare(x.Name, y.Name) })
	}
	return a
}

// Handler serves /mcp and /sse.
func (a *API) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/mcp", a.serveMCP)
	mux.HandleFunc("/sse", a.serveSSE)
	return mux
}

// Tools returns the names of the tools, in the order in which they are listed.
func (a *API) Tools() []string {
	names := make([]string, len(a.tools))
	for i, t := range a.tools {
		names[i] = t.Name
	}
	return names
}

// Stop ends every stream and subscription, then every session, and returns when
// everything that the API started has ended. Waits end when the hub stops, which
// must be before; Stop waits for the answers of those that a session carries, and
// of no others, since nothing that it ends carries them. It may be called once.
func (a *API) Stop() {
	a.mu.Lock()
	a.stopped = true
	a.mu.Unlock()
	a.tasks.Stop()
	a.cancel(core.ErrStopping)
	a.running.Wait()
	a.sessions.stop()
}

// enter makes Stop wait until leave is called. It is false once the API stops:
// then nothing may be started any more.
func (a *API) enter() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.stopped {
		a.running.Add(1)
	}
	return !a.stopped
}

func (a *API) leave() { a.running.Done() }
