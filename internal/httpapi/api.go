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
	"github.com/shoal-dev/shoal/internal/httpapi/callmetrics"
	"github.com/shoal-dev/shoal/internal/httpapi/openapi"
	"github.com/shoal-dev/shoal/internal/hub"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/limit"
	"github.com/shoal-dev/shoal/internal/metrics"
	"github.com/shoal-dev/shoal/internal/remoterun"
)

// Options are the dependencies and settings of an [API]. Hub and Auth are required; the caller
// remains their owner.
type Options struct {
	Hub  *hub.Hub
	Auth *auth.Authenticator
	// Log receives every internal error once, and at debug level a line for each
	// call; nil discards both.
	Log *slog.Logger
	// Version is the version of the server in responses and documents.
	Version string
	// Env lists the environment variables that agent configurations may refer to; nil
	// means none. It must be safe for concurrent use.
	Env func() []string
	// Check returns an error for a valid agent configuration that this server cannot execute,
	// with the path of each field; nil accepts every configuration.
	Check func(*agentconfig.Config) error
	// Preview returns what the model would receive at the start of a run, see
	// run.Executor; nil for a server that executes no runs.
	Preview func(ctx context.Context, draft storage.Run, c *agentconfig.Config) (shoal.AgentPreview, error)
	// Conversation converts the stored runs of a conversation for display, see
	// run.Conversation. It is required where agents are hosted.
	Conversation func(storage.Conversation, []storage.Block) ([]shoal.ConversationRun, error)
	// Remote accepts the work of programs that execute runs; it is required where agents are
	// hosted.
	Remote *remoterun.Server
	// Spool is the directory for exports that are being sent; empty means the system's
	// directory for temporary files.
	Spool string
	// Limits bounds the calls and streams of principals, shared with the other
	// transports; nil means separate limits of limit.DefaultBounds.
	Limits *limit.Principals
	// Pool takes over the connections of long waits; with nil they stay with their HTTP
	// handlers. It must not be stopped before the hub.
	Pool *detach.Pool
	// Metrics counts calls, and GET /metrics returns it; nil is allowed.
	Metrics *metrics.Set
	// Ready returns the reason why the server cannot serve now; nil means that it always can.
	// It must be safe for concurrent use.
	Ready func() error
	// Bus returns "up" or "down" for a server that shares its database with others, and ""
	// for one that does not; nil is the same as "".
	Bus func() string
	// Heartbeat is the interval at which a stream gets a comment line and its key is
	// checked again, 15 s if zero.
	Heartbeat time.Duration
	// WriteTimeout is how long a client may accept no data before it is disconnected,
	// 10 s if zero.
	WriteTimeout time.Duration
}

// API serves the routes of this package. It is safe for concurrent use and needs no Close:
// streams and waits end when the hub stops.
type API struct {
	Options
	mux     *http.ServeMux
	metrics callmetrics.Metrics
	docs    func() ([]byte, error)
}

// New returns an API with these options.
func New(o Options) *API {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	o.Heartbeat = cmp.Or(o.Heartbeat, 15*time.Second)
	o.WriteTimeout = cmp.Or(o.WriteTimeout, 10*time.Second)
	if o.Limits == nil {
		o.Limits = limit.NewPrincipals(limit.DefaultBounds, nil)
	}
	a := &API{Options: o, mux: http.NewServeMux(), metrics: callmetrics.New(o.Metrics)}
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

// Handler returns the handler of all routes. It answers every other path with the problem
// document 404, and a wrong method with 405.
func (a *API) Handler() http.Handler {
	unknown := a.handle(nil)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// The mux would redirect such a path, and a client that follows the redirect
		// would repeat a POST as a GET.
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

// routes returns the table of all operations.
func routes() []route {
	return slices.Concat(
		sessionRoutes(), entityRoutes(), waitRoutes(), spaceRoutes(), messageRoutes(), eventRoutes(), searchRoutes(),
		agentRoutes(), agentNoteRoutes(), conversationRoutes(), planRoutes(), runRoutes(), remoteRoutes(), runnerRoutes(), pendingRoutes(), usageRoutes(), exportRoutes(), fileRoutes(), rendererRoutes(),
		keyRoutes(), inviteRoutes(), pushRoutes(), auditRoutes(), nodeRoutes(), healthRoutes(), documentRoutes(), documentConfigRoutes(),
	)
}
