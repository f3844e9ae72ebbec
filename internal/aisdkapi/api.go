package aisdkapi

import (
	"net/http"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/chatapi"
	"github.com/shoal-dev/shoal/internal/guard"
)

// Path is where the API is served. A chat is at Path + SESSION/SPACE.
const Path = "/ai-sdk/"

// API serves UI message streams. It is safe for concurrent use and holds nothing that must be
// closed: streams end when the hub stops.
type API struct {
	chatapi.Options
}

// New returns an API over these options.
func New(o chatapi.Options) *API { return &API{o.WithDefaults()} }

// Handler serves everything below [Path]. Refusals are sentences, which clients show.
func (a *API) Handler() http.Handler {
	mux := http.NewServeMux()
	const space = Path + "{session}/{space}"
	mux.HandleFunc("POST "+space, a.serve((*call).send))
	mux.HandleFunc("GET "+space, a.serve((*call).history))
	mux.HandleFunc("GET "+space+"/stream", a.serve((*call).resume))
	mux.HandleFunc("GET "+space+"/{chat}/stream", a.serve((*call).resume))
	mux.HandleFunc("POST "+space+"/stop", a.serve((*call).stop))
	mux.HandleFunc("POST "+space+"/{chat}/stop", a.serve((*call).stop))
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		a.refuse(w, r, shoal.E("aisdkapi", shoal.NotFound, r.Method+" "+r.URL.Path+" not found. Chats are at "+Path+"SESSION/SPACE."))
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
	space   shoal.SpaceID
}

// serve returns a handler that checks the key of the request before f.
func (a *API) serve(f func(*call) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		caller, err := a.Caller(r)
		if err == nil {
			session := shoal.SessionID(r.PathValue("session"))
			a.Auth.RecordCall(caller, session)
			err = f(&call{API: a, w: w, r: r.WithContext(a.Auth.Context(r.Context(), r, guard.RequestID(w), caller)), caller: caller, session: session, space: shoal.SpaceID(r.PathValue("space"))})
		}
		if err != nil {
			a.refuse(w, r, err)
		}
	}
}

// refuse answers with a sentence.
func (a *API) refuse(w http.ResponseWriter, r *http.Request, err error) {
	guard.WriteText(w, a.report(w, r, err))
}

// report returns an error as the client sees it, and logs an internal one.
func (a *API) report(w http.ResponseWriter, r *http.Request, err error) error {
	return a.Report(w, r, err, "a UI message stream failed", "The server is stopping. The agent goes on when it is back.")
}
