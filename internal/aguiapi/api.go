package aguiapi

import (
	"context"
	"errors"
	"net/http"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/chatapi"
	"github.com/shoal-dev/shoal/internal/eventstream"
	"github.com/shoal-dev/shoal/internal/guard"
	"github.com/shoal-dev/shoal/internal/hub/core"
)

// API serves runs of the AG-UI protocol. It is safe for concurrent use and holds
// nothing that must be closed: streams end when the hub stops.
type API struct {
	chatapi.Options
}

// New returns an API over these options.
func New(o chatapi.Options) *API { return &API{o.WithDefaults()} }

// Handler serves /agui/{session}/{space} and /agui/{session}/{space}/connect. Whatever
// else it is asked for, it answers with a problem document.
func (a *API) Handler() http.Handler {
	mux := http.NewServeMux()
	for path, ask := range map[string]func(*protocolRun, context.Context) error{
		"/agui/{session}/{space}":         (*protocolRun).ask,
		"/agui/{session}/{space}/connect": (*protocolRun).connect,
	} {
		mux.HandleFunc("POST "+path, func(w http.ResponseWriter, r *http.Request) { a.serve(w, r, ask) })
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			guard.WriteMethodNotAllowed(w, http.MethodPost, "Only POST is served here.")
		})
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		a.refuse(w, r, shoal.E("aguiapi", shoal.NotFound, "There is nothing here. AG-UI clients send their runs to /agui/SESSION/SPACE."))
	})
	return mux
}

// serve does one run of the protocol, for which ask does what the client wants.
func (a *API) serve(w http.ResponseWriter, r *http.Request, ask func(*protocolRun, context.Context) error) {
	x, err := a.prepare(r)
	if err != nil {
		a.refuse(w, r, err)
		return
	}
	defer x.end()
	r = r.WithContext(a.Auth.Context(r.Context(), r, guard.RequestID(w), x.Who))
	if err := ask(x, r.Context()); err != nil {
		a.refuse(w, r, err)
		return
	}
	x.r, x.out = r, eventstream.New(w, a.WriteTimeout)
	defer x.out.Close()
	if err := x.show(r.Context()); err != nil && r.Context().Err() == nil && !errors.Is(err, eventstream.ErrGone) {
		if guard.Status(shoal.KindOf(err)) == http.StatusInternalServerError && !errors.Is(err, core.ErrStopping) {
			a.Log.Error("a stream failed", "request", guard.RequestID(w), "path", r.URL.Path, "error", err)
		}
		x.fail(err)
	}
}

// refuse answers with a problem document.
func (a *API) refuse(w http.ResponseWriter, r *http.Request, err error) {
	err = a.Report(w, r, err, "a run of the protocol failed", "The server is stopping. Repeat the run in a moment.")
	w.Header().Set("Cache-Control", "no-store")
	guard.WriteProblem(w, err)
}
