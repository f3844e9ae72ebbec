package openaiapi

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/auth"
	"github.com/shoal-dev/shoal/internal/guard"
	"github.com/shoal-dev/shoal/internal/hub"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/limit"
)

// Path is where the API is served. The base URL of a client is that without the slash at its end.
const Path = "/openai/v1/"

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
	// before it is disconnected, 10 s if zero.
	WriteTimeout time.Duration
}

// API serves chat completions. It is safe for concurrent use and holds nothing that must
// be closed: streams end when the hub stops.
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

// Handler serves everything below [Path]. Unknown paths get an error object.
func (a *API) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+Path+"models", a.serve((*call).listModels))
	mux.HandleFunc("GET "+Path+"models/{model}", a.serve((*call).getModel))
	mux.HandleFunc("POST "+Path+"chat/completions", a.serve((*call).complete))
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		a.refuse(w, r, shoal.E("openaiapi", shoal.NotFound, "Shoal serves GET "+Path+"models and POST "+Path+"chat/completions, not "+r.Method+" "+r.URL.Path+"."))
	})
	return mux
}

// call is a request of a caller that is known.
type call struct {
	*API
	w       http.ResponseWriter
	r       *http.Request
	who     shoal.Principal
	session shoal.SessionID
}

// serve returns a handler that checks the key of the request before f.
func (a *API) serve(f func(*call) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c, err := a.call(w, r)
		if err == nil {
			err = f(c)
		}
		if err != nil {
			a.refuse(w, r, err)
		}
	}
}

// call identifies the caller of a request.
func (a *API) call(w http.ResponseWriter, r *http.Request) (*call, error) {
	who, err := a.Auth.Bearer(r)
	if err != nil {
		return nil, err
	}
	switch {
	case who.EntityID != "":
	case who.Admin():
		return nil, shoal.E("openaiapi", shoal.EntityRequired, "Name the entity that you act as in the header X-Shoal-Entity, or use an entity key.")
	default:
		return nil, shoal.E("openaiapi", shoal.Forbidden, "A service acts as no entity; use an entity key.")
	}
	if err := a.Limits.Call(who); err != nil {
		return nil, err
	}
	session := cmp.Or(who.SessionID, shoal.SessionID(r.Header.Get("X-Shoal-Session")), shoal.DefaultSession)
	a.Auth.RecordCall(who, session)
	return &call{API: a, w: w, r: r.WithContext(limit.As(r.Context(), who)), who: who, session: session}, nil
}

// refuse answers with an error object.
func (a *API) refuse(w http.ResponseWriter, r *http.Request, err error) {
	w.Header().Set("Cache-Control", "no-store")
	guard.WriteOpenAIError(w, a.report(w, r, err))
}

// report returns an error as the client sees it, and logs an internal one.
func (a *API) report(w http.ResponseWriter, r *http.Request, err error) error {
	stopped := r.Context().Err() != nil || errors.Is(err, core.ErrStopping) || errors.Is(err, context.Canceled)
	if stopped && shoal.KindOf(err) == shoal.Internal {
		return shoal.E("openaiapi", shoal.Busy, "The server is stopping. The agent goes on when it is back.")
	}
	if guard.Status(shoal.KindOf(err)) == http.StatusInternalServerError {
		a.Log.Error("a chat completion failed", "request", guard.RequestID(w), "path", r.URL.Path, "error", err)
	}
	return err
}
