package httpapi

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"path"
	"slices"
	"sync"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/agentconfig"
	"github.com/shoal-dev/shoal/internal/auth"
	"github.com/shoal-dev/shoal/internal/detach"
	"github.com/shoal-dev/shoal/internal/httpapi/openapi"
	"github.com/shoal-dev/shoal/internal/hub"
	"github.com/shoal-dev/shoal/internal/limit"
	"github.com/shoal-dev/shoal/internal/metrics"
)

// Options say what an [API] stands on. Hub and Auth are required and stay the
// caller's.
type Options struct {
	Hub  *hub.Hub
	Auth *auth.Authenticator
	// Log receives every internal error once, and at debug level a line for each
	// call; nil discards both.
	Log *slog.Logger
	// Version is what the server says it is.
	Version string
	// Env lists the names of the environment that agent configs may refer to; nil
	// means none. It must be safe for concurrent use.
	Env func() []string
	// Check says what of an agent config that reads well cannot be made, with the
	// path of each field; nil takes every one.
	Check func(*agentconfig.Config) error
	// Preview returns what the model would be sent at the beginning of a run, see
	// run.Executor; nil for a server that executes none.
	Preview func(ctx context.Context, draft hub.StoredRun, c *agentconfig.Config) (shoal.AgentPreview, error)
	// Conversation returns runs of a conversation as people read them, see
	// run.Conversation, which is required where agents are hosted.
	Conversation func(hub.StoredConversation, []hub.Block) ([]shoal.ConversationRun, error)
	// Spool is the directory for exports on their way; empty is the system's for
	// temporary files.
	Spool string
	// Limits bounds the calls and streams of principals, together with those of the
	// other faces; nil gives this face limit.DefaultBounds of its own.
	Limits *limit.Principals
	// Pool takes the connections of calls that wait for long; nil leaves them where they
	// are. It must not be stopped before the hub.
	Pool *detach.Pool
	// Metrics counts calls, and is what GET /metrics shows; nil is allowed.
	Metrics *metrics.Set
	// Ready tells why the server cannot serve now; nil means that it always can.
	// It must be safe for concurrent use.
	Ready func() error
	// Heartbeat is how often a stream gets a comment line and its key is looked
	// at again, 15 s if zero.
	Heartbeat time.Duration
	// Patience is how long a client may take nothing of what is written to it
	// before it is cut off, 10 s if zero.
	Patience time.Duration
}

// API serves the routes of this package. It is safe for concurrent use and holds
// nothing that must be closed: streams and waits end when the hub stops.
type API struct {
	Options
	mux     *http.ServeMux
	metrics callMetrics
	docs    func() ([]byte, error)
}

// New returns an API over these options.
func New(o Options) *API {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	o.Heartbeat = cmp.Or(o.Heartbeat, 15*time.Second)
	o.Patience = cmp.Or(o.Patience, 10*time.Second)
	if o.Limits == nil {
		o.Limits = limit.NewPrincipals(limit.DefaultBounds, nil)
	}
	a := &API{Options: o, mux: http.NewServeMux(), metrics: newCallMetrics(o.Metrics)}
	a.docs = sync.OnceValues(func() ([]byte, error) { return openapi.Reference(o.Version) })
	byPath := map[string]methods{}
	for _, rt := range routes() {
		if byPath[rt.path] == nil {
			byPath[rt.path] = methods{}
		}
		rt.label = rt.method + " " + rt.path
		byPath[rt.path][rt.method] = &rt
	}
	for pattern, m := range byPath {
		a.mux.Handle(pattern, a.handle(m))
	}
	a.mux.Handle("/", a.handle(nil))
	return a
}

// Handler returns the handler of all routes. Whatever else it is asked for, it
// answers with a problem document: 404, or 405 where another method would do.
func (a *API) Handler() http.Handler {
	unknown := a.handle(nil)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// The mux would answer such a path with a redirect, and a client that
		// follows it would repeat a POST as a GET.
		if p := r.URL.Path; p != "/" && path.Clean(p) != p {
			unknown(w, r)
			return
		}
		a.mux.ServeHTTP(w, r)
	})
}

// Route is one operation: its method and its path in the form of
// [http.ServeMux].
type Route struct{ Method, Pattern string }

// Routes lists all operations, in the order of the OpenAPI document.
func (a *API) Routes() []Route {
	var out []Route
	for _, rt := range routes() {
		out = append(out, Route{rt.method, rt.path})
	}
	return out
}

// routes is the one table of everything that the API does.
func routes() []route {
	return slices.Concat(
		sessionRoutes(), entityRoutes(), waitRoutes(), spaceRoutes(), messageRoutes(), eventRoutes(), searchRoutes(),
		agentRoutes(), agentNoteRoutes(), conversationRoutes(), planRoutes(), runRoutes(), pendingRoutes(), usageRoutes(), exportRoutes(), fileRoutes(), rendererRoutes(),
		keyRoutes(), healthRoutes(), documentRoutes(), documentConfigRoutes(),
	)
}
