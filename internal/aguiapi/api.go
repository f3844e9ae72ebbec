package aguiapi

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/auth"
	"github.com/shoal-dev/shoal/internal/eventstream"
	"github.com/shoal-dev/shoal/internal/guard"
	"github.com/shoal-dev/shoal/internal/hub"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/limit"
)

// Options are the dependencies and limits of an [API]. Hub and Auth are required; the
// caller keeps ownership of them.
type Options struct {
	Hub  *hub.Hub
	Auth *auth.Authenticator
	// Log receives every internal error once; nil discards them.
	Log *slog.Logger
	// Limits bounds the calls and streams of principals, together with those of the
	// other transports; nil gives the API its own limit.DefaultBounds.
	Limits *limit.Principals
	// Heartbeat is how often a stream gets a comment line and its key is checked
	// again, 15 s if zero.
	Heartbeat time.Duration
	// WriteTimeout is how long a client may take nothing of what is written to it
	// before it is cut off, 10 s if zero.
	WriteTimeout time.Duration
}

// API serves runs of the AG-UI protocol. It is safe for concurrent use and holds
// nothing that must be closed: streams end when the hub stops.
type API struct {
	Options
}

// New returns an API over these options.
func New(o Options) *API {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	o.Heartbeat = cmp.Or(o.Heartbeat, 15*time.Second)
	o.WriteTimeout = cmp.Or(o.WriteTimeout, 10*time.Second)
	if o.Limits == nil {
		o.Limits = limit.NewPrincipals(limit.DefaultBounds, nil)
	}
	return &API{Options: o}
}

// Handler serves /agui/{session}/{space}. Whatever else it is asked for, it answers
// with a problem document.
func (a *API) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /agui/{session}/{space}", a.serve)
	mux.HandleFunc("/agui/{session}/{space}", func(w http.ResponseWriter, _ *http.Request) {
		guard.WriteMethodNotAllowed(w, http.MethodPost, "Only POST is served here.")
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		a.refuse(w, r, shoal.E("aguiapi", shoal.NotFound, "There is nothing here. AG-UI clients send their runs to /agui/SESSION/SPACE."))
	})
	return mux
}

// serve does one run of the protocol.
func (a *API) serve(w http.ResponseWriter, r *http.Request) {
	x, err := a.prepare(r)
	if err != nil {
		a.refuse(w, r, err)
		return
	}
	defer a.Limits.Close(x.Who)
	defer x.Close()
	r = r.WithContext(limit.As(r.Context(), x.Who))
	if err := x.ask(r.Context()); err != nil {
		a.refuse(w, r, err)
		return
	}
	x.out = eventstream.New(w, a.WriteTimeout)
	defer x.out.Close()
	if err := x.show(r); err != nil && r.Context().Err() == nil && !errors.Is(err, eventstream.ErrGone) {
		if guard.Status(shoal.KindOf(err)) == http.StatusInternalServerError && !errors.Is(err, core.ErrStopping) {
			a.Log.Error("a stream failed", "request", guard.RequestID(w), "path", r.URL.Path, "error", err)
		}
		x.fail(err)
	}
}

// refuse answers with a problem document.
func (a *API) refuse(w http.ResponseWriter, r *http.Request, err error) {
	stopped := r.Context().Err() != nil || errors.Is(err, core.ErrStopping) || errors.Is(err, context.Canceled)
	if stopped && shoal.KindOf(err) == shoal.Internal {
		err = shoal.E("aguiapi", shoal.Busy, "The server is stopping. Repeat the run in a moment.")
	}
	if guard.Status(shoal.KindOf(err)) == http.StatusInternalServerError {
		a.Log.Error("a run of the protocol failed", "request", guard.RequestID(w), "path", r.URL.Path, "error", err)
	}
	w.Header().Set("Cache-Control", "no-store")
	guard.WriteProblem(w, err)
}
