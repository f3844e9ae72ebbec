package oauth

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/guard"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

const (
	maxState     = 4096
	challengeLen = 43 // of a SHA-256 in base64url
)

// request is what a client asks a person for.
type request struct {
	client      storage.OAuthClient
	redirectURI string
	state       string
	challenge   string
	resource    string
	scopes      []string // those of scopeWords that it asks for
}

// parse reads a request as it is in the address of the authorization endpoint. An error of kind
// InvalidArgument must not lead the browser anywhere; a *failure does, to the redirect URI. find returns
// the client with an id.
func (s *Server) parse(issuer, query string, find func(id string) (storage.OAuthClient, error)) (q request, err error) {
	in, err := url.ParseQuery(query)
	if err != nil {
		return q, invalid("The address of the request cannot be read.")
	}
	id, uri := in["client_id"], in["redirect_uri"]
	if len(id) != 1 || len(uri) > 1 {
		return q, invalid("The program did not say which client it is. Start again in the program.")
	}
	q.client, err = find(id[0])
	if errors.Is(err, shoal.NotFound) {
		return q, invalid("This server does not know the program that sent you here. Remove its sign-in for this server there, and connect it again.")
	}
	if err != nil {
		return q, err
	}
	switch {
	case len(uri) == 1:
		q.redirectURI = uri[0]
	case len(q.client.RedirectURIs) == 1:
		q.redirectURI = q.client.RedirectURIs[0]
	}
	if !registered(q.client, q.redirectURI) && !showsCode(issuer, in) {
		return q, invalid("The program wants you to return to an address that it has not registered. Do not continue if you did not start it yourself.")
	}
	return q, q.check(issuer, in)
}

// check reads what a redirect can answer for.
func (q *request) check(issuer string, in url.Values) error {
	q.state = in.Get("state")
	if len(q.state) > maxState {
		q.state = ""
		return refuse(badRequest, "state is longer than 4096 bytes.")
	}
	for name, values := range in {
		if len(values) > 1 {
			return refuse(badRequest, name+" is given more than once.")
		}
	}
	switch {
	case in.Get("response_type") != "code":
		return refuse("unsupported_response_type", "response_type must be code.")
	case in.Get("code_challenge_method") != "S256":
		return refuse(badRequest, "code_challenge_method must be S256.")
	case !isChallenge(in.Get("code_challenge")):
		return refuse(badRequest, "code_challenge must be the SHA-256 of the verifier, in base64url.")
	}
	q.challenge = in.Get("code_challenge")
	var ours bool
	if q.resource, ours = resourceOf(issuer, in.Get("resource")); !ours {
		return wrongResource(issuer)
	}
	if q.isLogin() && !showsCode(issuer, in) && !loopback(q.redirectURI) {
		return refuse(badRequest, "A program is signed in as a person on the person's machine only: redirect_uri must be http:// with a loopback address, or "+issuer+codePage+".")
	}
	for word := range strings.FieldsSeq(in.Get("scope")) {
		if slices.Contains(scopeWords, word) && !slices.Contains(q.scopes, word) {
			q.scopes = append(q.scopes, word)
		}
	}
	return nil
}

func isChallenge(text string) bool {
	return len(text) == challengeLen && !strings.ContainsFunc(text, func(r rune) bool {
		return (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '_'
	})
}

// resourceOf returns the resource that a client means, and whether it is one of this server. A client of
// an older revision names none.
func resourceOf(issuer, asked string) (string, bool) {
	switch strings.TrimSuffix(asked, "/") {
	case "", issuer, issuer + mcpResource, issuer + "/sse":
		return issuer + mcpResource, true
	case issuer + apiResource:
		return issuer + apiResource, true
	}
	return "", false
}

func wrongResource(issuer string) error {
	return refuse(badTarget, "resource must be "+issuer+mcpResource+", or "+issuer+apiResource+" for a program that acts as a person.")
}

// authorize is the authorization endpoint: it leads a browser on to the page of the console, or back with
// an error.
func (s *Server) authorize(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	onward := s.issuer(r) + page + "?request=" + url.QueryEscape(r.URL.RawQuery)
	if s.Documents != nil && isDocument(r.URL.Query().Get("client_id")) {
		// Nobody may be signed in: the page asks for what the document says.
		h.Set("Location", onward)
		w.WriteHeader(http.StatusSeeOther)
		return
	}
	q, err := s.parse(s.issuer(r), r.URL.RawQuery, func(id string) (storage.OAuthClient, error) { return s.Grants.Client(r.Context(), id) })
	var wrong *failure
	switch {
	case errors.As(err, &wrong):
		h.Set("Location", q.back(s.issuer(r), "error", wrong.Code, "error_description", wrong.About))
	case err != nil:
		guard.LogInternal(s.Log, r, guard.RequestID(w), err)
		guard.WriteText(w, err)
		return
	default:
		h.Set("Location", onward)
	}
	w.WriteHeader(http.StatusSeeOther)
}

// back returns the address at which the client gets an answer: names and values.
func (q *request) back(issuer string, answer ...string) string {
	u, err := url.Parse(q.redirectURI)
	if err != nil {
		panic(err) // it was registered
	}
	params := u.Query()
	for i := 1; i < len(answer); i += 2 {
		params.Set(answer[i-1], answer[i])
	}
	if q.state != "" {
		params.Set("state", q.state)
	}
	params.Set("iss", issuer)
	u.RawQuery = params.Encode()
	return u.String()
}

func invalid(why string) error { return shoal.E("oauth.authorize", shoal.InvalidArgument, why) }
