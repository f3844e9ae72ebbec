package oauth

import (
	_ "embed"
	"net/http"
	"net/url"
	"strings"
)

// Pages of this package: on loginPage a person decides whether a program acts as themselves, and codePage
// shows the code to a person whose browser does not reach the program.
const (
	loginPage = Path + "login"
	codePage  = Path + "code"
)

var (
	//go:embed login.html
	loginHTML []byte
	//go:embed login.js
	loginJS []byte
	//go:embed login.css
	loginCSS []byte
)

// pages adds the pages of this package. They show nothing that was not asked for with the sign-in of the
// browser, so that everybody may have them.
func (s *Server) pages(mux *http.ServeMux) {
	mux.HandleFunc("GET "+loginPage, static("text/html; charset=utf-8", loginHTML))
	mux.HandleFunc("GET "+codePage, static("text/html; charset=utf-8", loginHTML))
	mux.HandleFunc("GET "+loginPage+".js", static("text/javascript; charset=utf-8", loginJS))
	mux.HandleFunc("GET "+loginPage+".css", static("text/css; charset=utf-8", loginCSS))
}

func static(kind string, text []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		h := w.Header()
		h.Set("Content-Type", kind)
		h.Set("Cache-Control", "no-store")
		h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("X-Content-Type-Options", "nosniff")
		_, _ = w.Write(text) // an error means that the client has disconnected
	}
}

// isAPI reports whether a resource is the whole API, with the rights of a person.
func isAPI(resource string) bool { return strings.HasSuffix(resource, apiResource) }

// isLogin reports whether the client wants to act as the person, and not as an agent.
func (q *request) isLogin() bool { return isAPI(q.resource) }

// showsCode reports whether a request for a login leads the browser to the page that shows the code.
// No client has to register that address: it is of this server.
func showsCode(issuer string, in url.Values) bool {
	resource, ours := resourceOf(issuer, in.Get("resource"))
	return ours && isAPI(resource) && in.Get("redirect_uri") == issuer+codePage
}

// loopback reports whether a redirect URI leads to a program on the machine of the browser that listens there.
func loopback(uri string) bool {
	u, valid := parseRedirect(uri)
	return valid && u.Scheme == "http"
}

// ownPage returns the page on which people decide about a request with a query.
func (q *request) ownPage(issuer, query string) string {
	at := page
	if q.isLogin() {
		at = loginPage
	}
	return issuer + at + "?request=" + url.QueryEscape(query)
}
