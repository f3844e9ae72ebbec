package oidc_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"log/slog"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/auth"
	"github.com/shoal-dev/shoal/internal/guard"
	"github.com/shoal-dev/shoal/internal/hub"
	"github.com/shoal-dev/shoal/internal/localbus"
	"github.com/shoal-dev/shoal/internal/oidc"
	"github.com/shoal-dev/shoal/internal/shoaltest"
)

const (
	clientID = "shoal-test"
	secret   = "the client's secret"
)

// issuer is a provider of which each answer can be made wrong. test/console has a real one.
type issuer struct {
	*httptest.Server
	mu       sync.Mutex
	keys     map[string]*rsa.PrivateKey
	signs    string                                  // the id of the key that signs
	stranger *rsa.PrivateKey                         // signs instead, and is not published
	alg      string                                  // RS256, HS256 or none
	change   func(claims map[string]any)             // of the next tokens
	info     map[string]any                          // of userinfo
	token    func(w http.ResponseWriter) (done bool) // instead of a token
	extra    map[string]any                          // in the metadata
	codes    map[string]url.Values                   // given, with the request that each belongs to
	asked    func()                                  // for the keys
	down     atomic.Bool                             // nothing is answered
}

func newIssuer(t testing.TB) *issuer {
	t.Helper()
	i := &issuer{keys: map[string]*rsa.PrivateKey{}, alg: "RS256", change: func(map[string]any) {}, asked: func() {}, codes: map[string]url.Values{}}
	i.rotate(t, "key-1")
	mux := http.NewServeMux()
	mux.HandleFunc("/.well-known/openid-configuration", i.metadata)
	mux.HandleFunc("/jwks", i.jwks)
	mux.HandleFunc("/token", i.exchange)
	mux.HandleFunc("/userinfo", func(w http.ResponseWriter, _ *http.Request) {
		i.mu.Lock()
		defer i.mu.Unlock()
		write(w, i.info)
	})
	i.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if i.down.Load() {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(i.Close)
	return i
}

func write(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // the client has disconnected otherwise
}

func fail(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	write(w, map[string]string{"error": code})
}

// rotate signs with a new key from now on; the old ones are published no more.
func (i *issuer) rotate(t testing.TB, id string) {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.keys, i.signs = map[string]*rsa.PrivateKey{id: key}, id
}

func (i *issuer) metadata(w http.ResponseWriter, _ *http.Request) {
	m := map[string]any{
		"issuer": i.URL, "authorization_endpoint": i.URL + "/authorize", "token_endpoint": i.URL + "/token", "jwks_uri": i.URL + "/jwks", "userinfo_endpoint": i.URL + "/userinfo",
		"end_session_endpoint": i.URL + "/logout?tenant=1", "response_types_supported": []string{"code"}, "subject_types_supported": []string{"public"},
		"id_token_signing_alg_values_supported": []string{"RS256", "HS256", "none"},
	}
	for k, v := range i.extra {
		m[k] = v
	}
	write(w, m)
}

func (i *issuer) jwks(w http.ResponseWriter, _ *http.Request) {
	i.asked()
	i.mu.Lock()
	defer i.mu.Unlock()
	var keys []map[string]string
	for id, key := range i.keys {
		keys = append(keys, map[string]string{"kty": "RSA", "kid": id, "use": "sig", "alg": "RS256", "n": text(key.N.Bytes()), "e": text(big.NewInt(int64(key.E)).Bytes())})
	}
	write(w, map[string]any{"keys": keys})
}

func text(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// authorize plays the person at the provider, and returns the code for the address to which the
// console has sent the browser.
func (i *issuer) authorize(at string) string {
	u, _ := url.Parse(at)
	code := text(big.NewInt(time.Now().UnixNano()).Bytes())
	i.mu.Lock()
	defer i.mu.Unlock()
	i.codes[code] = u.Query()
	return code
}

// exchange gives a token for a code, once, to the client that proves that it has begun the sign-in.
func (i *issuer) exchange(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.token != nil && i.token(w) {
		return
	}
	_ = r.ParseForm() // a form that does not parse has no code
	asked, given := i.codes[r.Form.Get("code")]
	delete(i.codes, r.Form.Get("code"))
	sum := sha256.Sum256([]byte(r.Form.Get("code_verifier")))
	_, sent, _ := r.BasicAuth()
	if sent == "" {
		sent = r.Form.Get("client_secret")
	}
	unescaped, _ := url.QueryUnescape(sent)
	switch {
	case unescaped != secret:
		fail(w, http.StatusUnauthorized, "invalid_client")
		return
	case !given || asked.Get("code_challenge") != text(sum[:]) || asked.Get("code_challenge_method") != "S256" || r.Form.Get("redirect_uri") != asked.Get("redirect_uri"):
		fail(w, http.StatusBadRequest, "invalid_grant")
		return
	}
	now := time.Now().Unix()
	claims := map[string]any{
		"iss": i.URL, "aud": clientID, "sub": "sub-1", "iat": now, "exp": now + 300, "nonce": asked.Get("nonce"),
		"name": "Ann Lee", "email": "ann@example.com", "email_verified": true, "groups": []string{"staff"},
	}
	i.change(claims)
	write(w, map[string]any{"access_token": "access", "token_type": "Bearer", "expires_in": 300, "id_token": i.sign(claims)})
}

// sign makes an ID token with the algorithm of the issuer.
func (i *issuer) sign(claims map[string]any) string {
	key := i.keys[i.signs]
	if i.stranger != nil {
		key = i.stranger
	}
	head, _ := json.Marshal(map[string]string{"alg": i.alg, "kid": i.signs, "typ": "JWT"})
	body, _ := json.Marshal(claims)
	signed := text(head) + "." + text(body)
	sum := sha256.Sum256([]byte(signed))
	switch i.alg {
	case "none":
		return signed + "."
	case "HS256": // with the public key as the secret, which a careless verifier would accept
		der, _ := x509.MarshalPKIXPublicKey(&key.PublicKey)
		mac := hmac.New(sha256.New, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
		mac.Write([]byte(signed))
		return signed + "." + text(mac.Sum(nil))
	}
	sig, _ := rsa.SignPKCS1v15(rand.Reader, key, 5, sum[:]) // 5 is crypto.SHA256
	return signed + "." + text(sig)
}

// world is a server with a provider.
type world struct {
	*testing.T
	issuer *issuer
	hub    *hub.Hub
	auth   *auth.Authenticator
	server *httptest.Server
	log    *bytes.Buffer
	p      *oidc.Provider
}

func newWorld(t *testing.T, change ...func(*oidc.Options)) *world {
	t.Helper()
	w := &world{T: t, issuer: newIssuer(t), log: &bytes.Buffer{}}
	w.hub = hub.New(hub.Options{Store: shoaltest.OpenSQLite(t), Bus: localbus.New()})
	if err := w.hub.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.hub.Stop)
	g, err := guard.New(guard.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w.auth = auth.New(w.hub, auth.Options{Guard: g})
	o := oidc.Options{
		People: w.hub.Entities, Browsers: w.auth, Pages: g, Issuer: w.issuer.URL, ClientID: clientID, Secret: secret, Name: "Keys & Co",
		Session: shoal.DefaultSession, Domains: []string{"example.com"}, Log: slog.New(slog.NewTextHandler(&lines{to: w.log}, nil)), Client: w.issuer.Client(),
	}
	for _, c := range change {
		c(&o)
	}
	if w.p, err = oidc.New(o); err != nil {
		t.Fatal(err)
	}
	w.server = httptest.NewServer(g.Wrap(w.p.Handler()))
	t.Cleanup(w.server.Close)
	return w
}

type lines struct {
	mu sync.Mutex
	to *bytes.Buffer
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.to.Write(b)
}

// browser is one that comes to the sign-in page.
type browser struct {
	w       *world
	cookies map[string]string
}

func (w *world) browser() *browser { return &browser{w, map[string]string{}} }

type answer struct {
	status int
	header http.Header
	body   map[string]any
}

// post sends what a page of the console sends.
func (b *browser) post(path string, body any, headers ...string) answer {
	b.w.Helper()
	sent, _ := json.Marshal(body)
	r, err := http.NewRequestWithContext(b.w.Context(), http.MethodPost, b.w.server.URL+path, bytes.NewReader(sent))
	if err != nil {
		b.w.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Origin", b.w.server.URL)
	return b.do(r, headers...)
}

func (b *browser) do(r *http.Request, headers ...string) (out answer) {
	b.w.Helper()
	for name, value := range b.cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
		if headers[i+1] == "" {
			r.Header.Del(headers[i])
		}
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(r)
	if err != nil {
		b.w.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	_ = json.NewDecoder(res.Body).Decode(&out.body) // some answers have no body
	for _, c := range res.Cookies() {
		if b.cookies[c.Name] = c.Value; c.MaxAge < 0 {
			delete(b.cookies, c.Name)
		}
		if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "/" || c.Domain != "" {
			b.w.Errorf("the cookie is %v", c)
		}
	}
	out.status, out.header = res.StatusCode, res.Header
	return out
}

// start begins a sign-in, and returns where the browser goes and the state.
func (b *browser) start() (at, state string) {
	b.w.Helper()
	a := b.post("/console/oidc/start", struct{}{})
	if a.status != http.StatusOK {
		b.w.Fatalf("the start answers %d %v", a.status, a.body)
	}
	return a.body["url"].(string), a.body["state"].(string)
}

// signIn signs in and returns the answer to the page.
func (b *browser) signIn() answer {
	b.w.Helper()
	at, state := b.start()
	return b.post("/console/oidc/finish", map[string]string{"code": b.w.issuer.authorize(at), "state": state})
}

// refused checks that an answer is an error with these words and signs nobody in.
func (b *browser) refused(a answer, status int, words ...string) {
	b.w.Helper()
	detail, _ := a.body["detail"].(string)
	if a.status != status {
		b.w.Errorf("the answer is %d %v, not %d", a.status, a.body, status)
	}
	for _, word := range words {
		if !strings.Contains(detail, word) {
			b.w.Errorf("%q does not contain %q", detail, word)
		}
	}
	for _, hidden := range []string{secret, "oidc:", "eyJ"} {
		if strings.Contains(detail, hidden) {
			b.w.Errorf("%q reveals %q", detail, hidden)
		}
	}
	for name := range b.cookies {
		if !strings.HasPrefix(name, "shoal-oidc") {
			b.w.Errorf("the browser has the cookie %s", name)
		}
	}
}
