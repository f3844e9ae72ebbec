package oidc

import (
	"bytes"
	"crypto/subtle"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	gooidc "github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/guard"
	"github.com/shoal-dev/shoal/internal/scopes"
)

const (
	maxStates = 10_000
	maxParam  = 4096
	// maxLogoutToken bounds the ID token that is stored for the sign-out.
	maxLogoutToken = 16 << 10
)

// Handler serves [Path]: what the sign-in page shows, the start of a sign-in, the address that the
// provider sends browsers back to, and the end of the sign-in.
func (p *Provider) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+Path+"{$}", p.answered(p.describe))
	mux.HandleFunc("POST "+Path+"start", p.answered(p.start))
	mux.HandleFunc("POST "+Path+"finish", p.answered(p.finish))
	mux.HandleFunc("GET "+callbackPath, p.callback)
	mux.HandleFunc(Path, p.answered(func(http.ResponseWriter, *http.Request) (any, error) {
		return nil, shoal.E("oidc", shoal.NotFound, "Path not found. Open the console to sign in.")
	}))
	return mux
}

// None returns the handler of [Path] for a server without a provider: the sign-in page then shows none.
func None() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		protect(w.Header())
		if r.URL.Path == Path && r.Method == http.MethodGet {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		guard.WriteProblem(w, shoal.E("oidc", shoal.NotFound, "This server has no OpenID provider to sign in with: its operator can set --oidc-issuer."))
	})
}

func protect(h http.Header) {
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
}

// answered writes what do returns, or its error.
func (p *Provider) answered(do func(w http.ResponseWriter, r *http.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		protect(w.Header())
		body, err := do(w, r)
		var text []byte
		if err == nil {
			text, err = shoal.EncodeJSON(body)
		}
		if err != nil {
			if r.URL.Path != Path && r.Method == http.MethodPost {
				p.Log.Warn("a sign-in with the OpenID provider failed", "provider", p.Name, "request", guard.RequestID(w), "error", cause(err))
			}
			guard.WriteProblem(w, err)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(text) // an error means that the client has disconnected
	}
}

// describe says what the sign-in page shows.
func (p *Provider) describe(http.ResponseWriter, *http.Request) (any, error) {
	return struct {
		Name string `json:"name"`
	}{p.Name}, nil
}

// start begins a sign-in, and returns the address at the provider to which the page goes.
func (p *Provider) start(w http.ResponseWriter, r *http.Request) (any, error) {
	if !p.Pages.OwnPage(r) {
		return nil, notOwnPage()
	}
	if at := r.Header.Get("Origin"); p.PublicURL != "" && at != "" && at != p.PublicURL {
		return nil, shoal.E("oidc.start", shoal.InvalidArgument, "Signing in with "+p.Name+" works at "+p.PublicURL+" only. Open the console there.")
	}
	m, err := p.discover(r.Context())
	if err != nil {
		return nil, err
	}
	a := attempt{
		State: randomText(), Nonce: randomText(), Verifier: oauth2.GenerateVerifier(),
		Redirect: p.origin(p.Browsers.Origin(r)) + callbackPath, Until: time.Now().Add(attemptLife),
	}
	sealed, err := p.seal.close(attemptUse, a)
	if err != nil {
		return nil, err
	}
	http.SetCookie(w, p.cookie(r, sealed, int(attemptLife/time.Second)))
	return struct {
		URL   string `json:"url"`
		State string `json:"state"`
	}{p.oauth(m, a.Redirect).AuthCodeURL(a.State, gooidc.Nonce(a.Nonce), oauth2.S256ChallengeOption(a.Verifier)), a.State}, nil
}

// answers are the parameters with which the provider sends a browser back.
var answers = []string{"code", "state", "iss", "error", "error_description"}

// callback leads a browser that comes back from the provider to a page of the console, which gets
// what the provider says in the fragment, and finishes the sign-in.
func (p *Provider) callback(w http.ResponseWriter, r *http.Request) {
	protect(w.Header())
	got, pass := r.URL.Query(), url.Values{}
	for _, name := range answers {
		if v := got.Get(name); v != "" && len(v) <= maxParam {
			pass.Set(name, v)
		}
	}
	w.Header().Set("Location", "/s/"+url.PathEscape(string(p.Session))+"#oidc="+url.QueryEscape(pass.Encode()))
	w.WriteHeader(http.StatusSeeOther)
}

// finishing is what the page sends of what the provider says.
type finishing struct {
	Code  string `json:"code"`
	State string `json:"state"`
	Iss   string `json:"iss"`
	Error string `json:"error"`
	About string `json:"error_description"`
}

// signedIn is the response to a sign-in, as that of the console's other sign-ins.
type signedIn struct {
	shoal.Caller
	SignIn string `json:"signIn"`
}

// finish ends a sign-in: it exchanges the code, and signs the browser in as the person.
func (p *Provider) finish(w http.ResponseWriter, r *http.Request) (any, error) {
	if !p.Pages.OwnPage(r) {
		return nil, notOwnPage()
	}
	var in finishing
	d := json.NewDecoder(bytes.NewReader(guard.Body(r)))
	d.DisallowUnknownFields()
	if err := d.Decode(&in); err != nil {
		return nil, &shoal.Error{Op: "oidc.finish", Kind: shoal.InvalidArgument, Err: err, Msg: `Send {"code": CODE, "state": STATE} with what the provider returned.`}
	}
	a, err := p.take(w, r, in.State)
	if err != nil {
		return nil, err
	}
	if in.Error != "" {
		return nil, p.refusedBy(in.Error, in.About)
	}
	who, token, err := p.identify(r.Context(), a, in)
	if err != nil {
		return nil, err
	}
	person, created, err := p.admit(r.Context(), who, false)
	if err != nil {
		return nil, err
	}
	logoutToken := ""
	if len(token) <= maxLogoutToken {
		if logoutToken, err = p.seal.close(logoutUse, token); err != nil {
			return nil, err
		}
	}
	caller, half, err := p.Browsers.SignInPerson(w, r, p.Session, person.ID, logoutToken)
	if err != nil {
		return nil, err
	}
	p.Log.Info("a person has signed in with the OpenID provider", "provider", p.Name, "session", p.Session, "entity", person.ID, "created", created, "key", caller.KeyID)
	return signedIn{scopes.Describe(caller), half}, nil
}

// take returns the attempt that the browser keeps, if it is the one with this state, and forgets it:
// no state counts twice.
func (p *Provider) take(w http.ResponseWriter, r *http.Request, state string) (a attempt, err error) {
	kept, err := r.Cookie(p.cookieName(r))
	if err != nil || state == "" {
		return a, stale("This browser has not begun a sign-in, or another window of it has begun one since.", err)
	}
	http.SetCookie(w, p.cookie(r, "", -1))
	if err := p.seal.open(attemptUse, kept.Value, &a); err != nil {
		return a, stale("This sign-in was begun before the server was started, or elsewhere.", err)
	}
	if subtle.ConstantTimeCompare([]byte(a.State), []byte(state)) != 1 {
		return a, stale("This is the answer to another sign-in than the one that this browser has begun last.", nil)
	}
	now := time.Now()
	if now.After(a.Until) {
		return a, stale("This sign-in took longer than ten minutes.", nil)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, found := p.used[state]; found {
		return a, stale("This sign-in was finished already.", nil)
	}
	if len(p.used) >= maxStates {
		for s, until := range p.used {
			if now.After(until) {
				delete(p.used, s)
			}
		}
		if len(p.used) >= maxStates {
			return a, &shoal.Error{Op: "oidc.take", Kind: shoal.RateLimited, RetryAfter: time.Minute, Msg: "Too many people sign in now. Try again in a minute."}
		}
	}
	p.used[state] = a.Until
	return a, nil
}

// cookie is the one with the attempt. Only the console's own pages have it sent, and no script
// reads it.
func (p *Provider) cookie(r *http.Request, value string, maxAge int) *http.Cookie {
	return &http.Cookie{
		Name: p.cookieName(r), Value: value, Path: "/", MaxAge: maxAge,
		HttpOnly: true, Secure: p.Pages.Secure(r), SameSite: http.SameSiteStrictMode,
	}
}

func (p *Provider) cookieName(r *http.Request) string {
	if p.Pages.Secure(r) {
		return "__Host-shoal-oidc"
	}
	port := "80"
	if i := strings.LastIndexByte(r.Host, ':'); i > strings.LastIndexByte(r.Host, ']') {
		port = r.Host[i+1:]
	}
	return "shoal-oidc-" + port
}
