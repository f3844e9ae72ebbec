// Package oauth is the authorization server of this server: an MCP client joins as an agent after a person
// has consented in the console, the command line is signed in as the person, and nobody copies a key.
//
//	o := oauth.New(oauth.Options{Grants: h.Grants, Auth: a, Guard: g})
//	mux.Handle(oauth.Path, o.Handler())
//	mux.Handle(oauth.WellKnown, o.Handler())
//
// Guarantees:
//   - An access token is a key with scopes that ends after an hour. It is listed, revoked, limited and
//     audited as every key, and works at /mcp and /sse only. One for the resource /v1 is a key of the
//     person, without scopes, and works everywhere; only programs on the person's machine get it, or
//     those into which the person types the code.
//   - A code works once, for two minutes, and only with the verifier of its S256 challenge, for the same
//     client, redirect URI and resource. A second use revokes what the first one has given.
//   - A refresh token works once. A second use revokes the grant.
//   - A browser is led only to a redirect URI that its client has registered: HTTPS, this machine at any
//     port, or the scheme of an app, never one that browsers or systems interpret themselves. Anything
//     wrong with client or URI is shown here instead.
//   - A person consents on a page of this server, which no other page frames, with a call that needs both
//     halves of the sign-in.
//   - Clients, codes and tokens are rows: every server on the database knows them.
//   - A client registers, or its id is the address of a document that describes it. The document is read
//     only for a signed-in person, over HTTPS, from a public address, in bounded time and size.
//   - Whatever a client says of itself is shown as unverified.
//
// Decision 106 says why this is not a library.
package oauth

import (
	"log/slog"
	"net/http"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/auth"
	"github.com/shoal-dev/shoal/internal/guard"
	"github.com/shoal-dev/shoal/internal/hub/access"
	"github.com/shoal-dev/shoal/internal/limit"
	"github.com/shoal-dev/shoal/internal/roles"
)

// Where the handler is mounted.
const (
	Path      = "/oauth/"
	WellKnown = "/.well-known/"
)

const (
	resourceMetadata = WellKnown + "oauth-protected-resource"
	// mcpResource and apiResource are the resources, below the issuer: the tools of an agent, and all that
	// a person can do.
	mcpResource    = "/mcp"
	apiResource    = "/v1"
	serverMetadata = WellKnown + "oauth-authorization-server"
	// page is that of the console on which people consent.
	page = "/join"
)

// Rates of registrations from one address, and of documents that are read for one person: so many at
// once, then one in a minute.
const (
	mostRegistrations = 20
	addresses         = 10_000
)

// Options configure a [Server]. Grants, Auth and Guard are required.
type Options struct {
	Grants *access.Grants
	Auth   *auth.Authenticator
	Guard  *guard.Guard
	// Documents fetches the metadata documents of clients, whose addresses strangers choose: it must refuse
	// what is not public. nil means that clients have to register.
	Documents *http.Client
	// PublicURL is the origin under which clients reach the server, empty for that of each request.
	PublicURL string
	// Off answers every request with NotFound: nobody signs in to a server without authentication.
	Off bool
	// Log receives every internal error once; nil discards them.
	Log *slog.Logger
}

// Server is the authorization server. It is safe for concurrent use and holds nothing that must be closed.
type Server struct {
	Options
	registrations *limit.Rates[string]
	reads         *limit.Rates[person] // of documents
}

// person identifies the signed-in person for whom a document is read.
type person struct {
	session shoal.SessionID
	id      shoal.EntityID
}

// New returns a Server.
func New(o Options) *Server {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Documents != nil {
		client := *o.Documents
		client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		o.Documents = &client
	}
	return &Server{Options: o, registrations: limit.NewRates[string](1.0/60, mostRegistrations, addresses), reads: limit.NewRates[person](1.0/60, mostRegistrations, addresses)}
}

// Accept returns the media types that a request below [Path] may have besides JSON. It is for
// guard.Options.Accept.
func Accept(r *http.Request) []string {
	switch r.URL.Path {
	case Path + "token", Path + "revoke":
		return []string{"application/x-www-form-urlencoded"}
	}
	return nil
}

// Handler serves [Path] and the metadata below [WellKnown].
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	nothing := func(w http.ResponseWriter, _ *http.Request) {
		guard.WriteProblem(w, shoal.E("oauth", shoal.NotFound, "Path not found."))
	}
	mux.HandleFunc("/", nothing)
	if s.Off {
		return mux
	}
	mux.HandleFunc("GET "+resourceMetadata, s.resource(""))
	mux.HandleFunc("GET "+resourceMetadata+mcpResource, s.resource(mcpResource))
	mux.HandleFunc("GET "+resourceMetadata+apiResource, s.resource(apiResource))
	mux.HandleFunc("GET "+resourceMetadata+"/sse", s.resource("/sse"))
	mux.HandleFunc("GET "+serverMetadata, s.metadata)
	mux.HandleFunc("GET "+Path+"authorize", s.authorize)
	mux.HandleFunc("POST "+Path+"token", s.protocol(s.token))
	mux.HandleFunc("POST "+Path+"register", s.protocol(s.register))
	mux.HandleFunc("POST "+Path+"revoke", s.protocol(s.revoke))
	s.pages(mux)
	mux.HandleFunc("POST "+Path+"request", s.ofPage(s.describe))
	mux.HandleFunc("POST "+Path+"decision", s.ofPage(s.decide))
	return mux
}

// issuer is the identifier of the authorization server for a request: the origin at which it was called.
func (s *Server) issuer(r *http.Request) string {
	if s.PublicURL != "" {
		return s.PublicURL
	}
	return s.Guard.Origin(r)
}

// Challenge returns the header WWW-Authenticate for a request to MCP that was not authenticated: it names
// the metadata of the resource, where clients begin. It is for guard.Options.Challenge.
func (s *Server) Challenge(r *http.Request) string {
	if s.Off {
		return "Bearer"
	}
	metadata := s.issuer(r) + resourceMetadata + r.URL.Path
	if r.Header.Get("Authorization") != "" {
		return `Bearer error="invalid_token", resource_metadata="` + metadata + `"`
	}
	return `Bearer resource_metadata="` + metadata + `"`
}

// resource serves the metadata of a protected resource (RFC 9728). It lists no scopes, because clients
// would then ask for all of them, and keys with scopes create no spaces: the person chooses.
func (s *Server) resource(path string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		write(w, http.StatusOK, struct {
			Resource string   `json:"resource"`
			Servers  []string `json:"authorization_servers"`
			Methods  []string `json:"bearer_methods_supported"`
			Name     string   `json:"resource_name"`
			Docs     string   `json:"resource_documentation"`
		}{s.issuer(r) + path, []string{s.issuer(r)}, []string{"header"}, "Shoal", s.issuer(r) + "/docs/mcp.md"})
	}
}

// scopeWords are the scopes that a client can ask for.
var scopeWords = []string{roles.ScopeRead, roles.ScopePost, roles.ScopeAnswer, roles.ScopeRun}

// metadata serves the metadata of the authorization server (RFC 8414).
func (s *Server) metadata(w http.ResponseWriter, r *http.Request) {
	at, none := s.issuer(r), []string{"none"}
	write(w, http.StatusOK, struct {
		Issuer        string   `json:"issuer"`
		Authorize     string   `json:"authorization_endpoint"`
		Token         string   `json:"token_endpoint"`
		Register      string   `json:"registration_endpoint"`
		Revoke        string   `json:"revocation_endpoint"`
		Responses     []string `json:"response_types_supported"`
		Modes         []string `json:"response_modes_supported"`
		Grants        []string `json:"grant_types_supported"`
		Challenges    []string `json:"code_challenge_methods_supported"`
		TokenMethods  []string `json:"token_endpoint_auth_methods_supported"`
		RevokeMethods []string `json:"revocation_endpoint_auth_methods_supported"`
		Scopes        []string `json:"scopes_supported"`
		NamesItself   bool     `json:"authorization_response_iss_parameter_supported"`
		Documents     bool     `json:"client_id_metadata_document_supported"`
	}{
		at, at + Path + "authorize", at + Path + "token", at + Path + "register", at + Path + "revoke",
		[]string{"code"},
		[]string{"query"},
		[]string{"authorization_code", "refresh_token"},
		[]string{"S256"},
		none, none, scopeWords, true, s.Documents != nil,
	})
}

func write(w http.ResponseWriter, status int, body any) {
	text, err := shoal.EncodeJSON(body)
	if err != nil {
		guard.WriteProblem(w, err)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(text) // an error means that the client has disconnected
}
