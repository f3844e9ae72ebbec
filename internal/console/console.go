package console

import (
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"slices"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/auth"
	"github.com/shoal-dev/shoal/internal/guard"
)

// Options are the dependencies of a [Console]. All but Log and Logout are required; the caller keeps
// ownership of them.
type Options struct {
	Auth  *auth.Authenticator
	Guard *guard.Guard
	// Pages are the files of the build, with index.html among them.
	Pages fs.FS
	// Else answers requests that are not for the console.
	Else http.Handler
	// Open means that no sign-in is required.
	Open bool
	// Logout returns where a person who was signed in with this token of an identity provider ends that
	// sign-in, too; nil without such a provider. The browser comes back to origin.
	Logout func(ctx context.Context, logoutToken, origin string) string
	// Log receives every internal error once, and every sign-in; nil discards both.
	Log *slog.Logger
}

// Console serves the console. It is safe for concurrent use and holds nothing
// that must be closed.
type Console struct {
	Options
	pages map[string]*page
	codes codes
}

// New returns a Console, or an error if its pages are not a build.
func New(o Options) (*Console, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	pages, err := readPages(o.Pages)
	if err != nil {
		return nil, fmt.Errorf("the console's pages: %w", err)
	}
	return &Console{Options: o, pages: pages}, nil
}

// Handler returns the handler of every path that no other transport serves.
func (c *Console) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /console/login", c.answered(c.login))
	mux.HandleFunc("POST /console/join", c.answered(c.join))
	mux.HandleFunc("POST /console/logout", c.answered(c.logout))
	mux.HandleFunc("POST /console/links", c.answered(c.makeLink))
	mux.HandleFunc("/", c.show)
	return mux
}

// show answers with the file that a path names, or with index.html where a browser
// asks for one of the pages' own paths.
func (c *Console) show(w http.ResponseWriter, r *http.Request) {
	read := r.Method == http.MethodGet || r.Method == http.MethodHead
	switch file := c.pages[r.URL.Path]; {
	case read && file != nil:
		file.serve(w, r)
	case read && (r.URL.Path == "/" || wantsPage(r)):
		c.pages["/"+index].serve(w, r)
	default:
		c.Else.ServeHTTP(w, r)
	}
}

// othersRoots are the first segments of paths that never name a page.
var othersRoots = []string{"v1", "mcp", "sse", "agui", "docs", "healthz", "readyz", "metrics", "console", "assets"}

// wantsPage reports whether a browser goes to a path that the pages know, or may
// know.
func wantsPage(r *http.Request) bool {
	root, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	accept := r.Header.Get("Accept")
	return !slices.Contains(othersRoots, root) && accepts(accept, "text/html") && weight(accept, "text/html") >= weight(accept, "application/json")
}

// answered turns what do returns into an answer: a status and a body, or a
// problem.
func (c *Console) answered(do func(w http.ResponseWriter, r *http.Request) (int, any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		protect(w.Header())
		w.Header().Set("Cache-Control", "no-store")
		allowTime(w, 0)
		status, body, err := do(w, r)
		var text []byte
		if err == nil && body != nil {
			text, err = shoal.EncodeJSON(body)
		}
		if err != nil {
			c.refuse(w, r, err)
			return
		}
		if text != nil {
			w.Header().Set("Content-Type", "application/json")
		}
		w.WriteHeader(status)
		_, _ = w.Write(text) // an error means that the client has disconnected
	}
}

func (c *Console) refuse(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil {
		err = shoal.E("console", shoal.Busy, "The server is stopping. Repeat the call in a moment.")
	}
	guard.LogInternal(c.Log, r, guard.RequestID(w), err)
	guard.WriteProblem(w, err)
}
