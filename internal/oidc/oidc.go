// Package oidc signs people in to the console with their accounts at an OpenID provider: the
// authorization code flow with PKCE, state and nonce. [Tokens] recognises them by access tokens.
//
//	p, err := oidc.New(oidc.Options{…})
//	p.Check(ctx)                            // says in the log if the provider does not answer
//	mux.Handle(oidc.Path, p.Handler())
//
// A page of the console begins the sign-in, and the same page ends it: between the two, the browser
// keeps a sealed cookie, and the page the state. The server stores nothing until a person is known,
// so a sign-in may begin at one server and end at another.
//
// Guarantees:
//   - A code of the provider counts only in the browser that began the sign-in, together with its
//     state, and once.
//   - An ID token counts only if the provider signed it with an asymmetric key, for this server, for
//     this sign-in, now.
//   - The handler redirects to pages of the console only.
//   - A provider that does not answer keeps nobody else from signing in, and is asked again.
package oidc

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	gooidc "github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/access"
)

// Path is where the handler is mounted.
const Path = "/console/oidc/"

const (
	callbackPath = Path + "callback"
	// patience is how long the provider may take for an answer.
	patience = 10 * time.Second
	// pause is how long a provider that did not answer is not asked again.
	pause = 3 * time.Second
	// maxAnswer bounds an answer of the provider.
	maxAnswer = 1 << 20
)

// People creates and finds people, and Browsers signs them in; the hub's entities and the
// authenticator are these.
type (
	People interface {
		EnsurePerson(ctx context.Context, session shoal.SessionID, p access.Person) (person shoal.Entity, created bool, err error)
	}
	Browsers interface {
		SignInPerson(w http.ResponseWriter, r *http.Request, session shoal.SessionID, person shoal.EntityID, logoutToken string) (caller shoal.Principal, pageHalf string, err error)
		Origin(r *http.Request) string
	}
	Pages interface {
		OwnPage(r *http.Request) bool
		Secure(r *http.Request) bool
	}
)

// Options configure a [Provider]. People, Browsers, Pages, Issuer, ClientID and Session are required.
type Options struct {
	People   People
	Browsers Browsers
	Pages    Pages
	// Issuer is the provider's, a URL; ClientID and Secret are what this server is registered
	// with there. Servers that share a database must have the same secret; without one a sign-in
	// ends at the server where it began.
	Issuer, ClientID, Secret string
	// Name is how people call the provider, its host if empty.
	Name string
	// PublicURL is the origin under which browsers reach the server, empty for that of each request.
	PublicURL string
	// Session is where people are created, as members of Spaces.
	Session shoal.SessionID
	Spaces  []shoal.SpaceID
	// Domains are those of verified e-mail addresses that may sign in; "*" admits every account.
	// Groups are those whose members may sign in.
	Domains, Groups []string
	// GroupsClaim names the claim with the groups of a person, "groups" if empty.
	GroupsClaim string
	// Roles give session roles to groups; the first one that fits counts.
	Roles []GroupRole
	// Scopes are requested besides openid, profile and email.
	Scopes []string
	// Client calls the provider; nil means one with a limit of 10 s.
	Client *http.Client
	// Log receives every sign-in and refusal; nil discards them.
	Log *slog.Logger
}

// GroupRole is the session role of the members of a group.
type GroupRole struct {
	Group string
	Role  shoal.SessionRole
}

// Provider signs people in. It is safe for concurrent use and holds nothing that must be closed.
type Provider struct {
	Options
	seal   seal
	client *http.Client

	asking sync.Mutex
	found  *metadata // nil until the provider has answered
	wrong  error     // why it has not, and since when
	since  time.Time

	mu   sync.Mutex
	used map[string]time.Time // the states that came back, until they would have expired
}

// metadata is what the provider says about itself.
type metadata struct {
	provider *gooidc.Provider
	verifier *gooidc.IDTokenVerifier
	more     struct {
		EndSession  string   `json:"end_session_endpoint"`
		Keys        string   `json:"jwks_uri"`
		Methods     []string `json:"token_endpoint_auth_methods_supported"`
		NamesItself bool     `json:"authorization_response_iss_parameter_supported"`
	}
}

// New returns a Provider. It calls nobody.
func New(o Options) (*Provider, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Name == "" {
		if u, err := url.Parse(o.Issuer); err == nil {
			o.Name = u.Host
		}
	}
	if o.GroupsClaim == "" {
		o.GroupsClaim = "groups"
	}
	sealed, err := newSeal(o.Secret)
	if err != nil {
		return nil, err
	}
	p := &Provider{Options: o, seal: sealed, client: o.Client, used: map[string]time.Time{}}
	if p.client == nil {
		p.client = &http.Client{Timeout: patience, Transport: bounded{http.DefaultTransport}}
	}
	return p, nil
}

// Check asks the provider who it is, and says in the log if it does not answer as it must. Sign-ins
// ask again.
// It takes three seconds at most.
func (p *Provider) Check(ctx context.Context) {
	p.asking.Lock()
	p.wrong = nil
	p.asking.Unlock()
	if _, err := p.discoverWithin(ctx, pause); err != nil {
		p.Log.Warn("nobody can sign in with the OpenID provider now; the server asks it again at each sign-in", "provider", p.Name, "issuer", p.Issuer, "error", cause(err))
		return
	}
	p.Log.Info("people can sign in with the OpenID provider", "provider", p.Name, "issuer", p.Issuer)
}

// discover returns what the provider says about itself, from memory once it has answered.
func (p *Provider) discover(ctx context.Context) (*metadata, error) {
	return p.discoverWithin(ctx, patience)
}

func (p *Provider) discoverWithin(ctx context.Context, limit time.Duration) (*metadata, error) {
	p.asking.Lock()
	defer p.asking.Unlock()
	if p.found != nil {
		return p.found, nil
	}
	if p.wrong != nil && time.Since(p.since) < pause {
		return nil, p.wrong
	}
	// A browser that goes away does not count against the provider.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	provider, err := gooidc.NewProvider(gooidc.ClientContext(ctx, p.client), p.Issuer)
	if err != nil {
		p.wrong, p.since = p.unreachable(err), time.Now()
		return nil, p.wrong
	}
	m := &metadata{provider: provider}
	if err := provider.Claims(&m.more); err != nil {
		p.wrong, p.since = p.unreachable(err), time.Now()
		return nil, p.wrong
	}
	m.verifier = provider.Verifier(&gooidc.Config{ClientID: p.ClientID, Now: func() time.Time { return time.Now().Add(-leeway) }})
	p.found, p.wrong = m, nil
	return m, nil
}

// oauth returns the client of the provider for a redirect URI.
func (p *Provider) oauth(m *metadata, redirect string) *oauth2.Config {
	endpoint := m.provider.Endpoint()
	// Named, because a trial of both would use up the code.
	endpoint.AuthStyle = oauth2.AuthStyleInHeader
	if p.Secret == "" || len(m.more.Methods) > 0 && !slices.Contains(m.more.Methods, "client_secret_basic") {
		endpoint.AuthStyle = oauth2.AuthStyleInParams
	}
	return &oauth2.Config{
		ClientID: p.ClientID, ClientSecret: p.Secret, Endpoint: endpoint, RedirectURL: redirect,
		Scopes: append([]string{gooidc.ScopeOpenID, "profile", "email"}, p.Scopes...),
	}
}

// LogoutURL returns where a browser ends its sign-in at the provider as well, which then sends it
// back to origin; empty if the provider has no such address. logoutToken is what SignInPerson was given.
func (p *Provider) LogoutURL(ctx context.Context, logoutToken, origin string) string {
	if logoutToken == "" {
		return ""
	}
	m, err := p.discover(ctx)
	if err != nil || m.more.EndSession == "" {
		return ""
	}
	u, err := url.Parse(m.more.EndSession)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" {
		return ""
	}
	q := u.Query()
	q.Set("client_id", p.ClientID)
	q.Set("post_logout_redirect_uri", p.origin(origin)+"/")
	var token string
	if p.seal.open(logoutUse, logoutToken, &token) == nil {
		q.Set("id_token_hint", token)
	}
	u.RawQuery = q.Encode()
	return u.String()
}

func (p *Provider) origin(of string) string {
	if p.PublicURL != "" {
		return p.PublicURL
	}
	return of
}
