package openaiapi

import (
	"cmp"
	"net/http"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/chatapi"
	"github.com/shoal-dev/shoal/internal/guard"
)

// Path is where the API is served. The base URL of a client is that without the slash at its end.
const Path = "/openai/v1/"

// API serves chat completions and responses. It is safe for concurrent use and holds nothing that must
// be closed: streams end when the hub stops.
type API struct {
	chatapi.Options
}

// New returns an API over these options.
func New(o chatapi.Options) *API { return &API{o.WithDefaults()} }

// Handler serves everything below [Path]. Unknown paths get an error object.
func (a *API) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+Path+"models", a.serve((*call).listModels))
	mux.HandleFunc("GET "+Path+"models/{model}", a.serve((*call).getModel))
	mux.HandleFunc("POST "+Path+"chat/completions", a.serve((*call).complete))
	mux.HandleFunc("POST "+Path+"responses", a.serve((*call).respond))
	mux.HandleFunc("GET "+Path+"responses/{response}", a.serve((*call).retrieve))
	mux.HandleFunc("POST "+Path+"responses/{response}/cancel", a.serve((*call).stop))
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		a.refuse(w, r, shoal.E("openaiapi", shoal.NotFound, "Shoal serves GET "+Path+"models, POST "+Path+"chat/completions, POST "+Path+"responses, GET "+Path+"responses/{id} and POST "+Path+"responses/{id}/cancel, not "+r.Method+" "+r.URL.Path+"."))
	})
	return mux
}

// call is a request of a caller that is known.
type call struct {
	*API
	w       http.ResponseWriter
	r       *http.Request
	caller  shoal.Principal
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
	caller, err := a.Caller(r)
	if err != nil {
		return nil, err
	}
	session := cmp.Or(caller.SessionID, shoal.SessionID(r.Header.Get("X-Shoal-Session")), shoal.DefaultSession)
	a.Auth.RecordCall(caller, session)
	return &call{API: a, w: w, r: r.WithContext(a.Auth.Context(r.Context(), r, guard.RequestID(w), caller)), caller: caller, session: session}, nil
}

// refuse answers with an error object.
func (a *API) refuse(w http.ResponseWriter, r *http.Request, err error) {
	w.Header().Set("Cache-Control", "no-store")
	guard.WriteOpenAIError(w, a.report(w, r, err))
}

// report returns an error as the client sees it, and logs an internal one.
func (a *API) report(w http.ResponseWriter, r *http.Request, err error) error {
	return a.Report(w, r, err, "an answer of an agent failed", "The server is stopping. The agent goes on when it is back.")
}
