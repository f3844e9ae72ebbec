package oidc_test

import (
	"crypto/rand"
	"crypto/rsa"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/oidc"
)

var root = shoal.Principal{Role: shoal.RoleAdmin, KeyID: "root"}

func (w *world) ann() shoal.Entity {
	w.Helper()
	e, err := w.hub.Entities.Get(w.Context(), root, shoal.DefaultSession, "ann-lee")
	if err != nil {
		w.Fatal(err)
	}
	return e
}

// The first sign-in creates the person, later ones find the same one, also under another name.
func TestAPersonSignsIn(t *testing.T) {
	w := newWorld(t)
	b := w.browser()
	at, state := b.start()
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	for name, want := range map[string]string{
		"response_type": "code", "client_id": clientID, "scope": "openid profile email", "code_challenge_method": "S256",
		"redirect_uri": w.server.URL + "/console/oidc/callback", "state": state,
	} {
		if q.Get(name) != want {
			t.Errorf("%s is %q, not %q", name, q.Get(name), want)
		}
	}
	if len(q.Get("nonce")) < 40 || len(q.Get("code_challenge")) != 43 || len(state) < 40 {
		t.Errorf("the address is %s", at)
	}
	a := b.post("/console/oidc/finish", map[string]string{"code": w.issuer.authorize(at), "state": state})
	if a.status != http.StatusOK || a.body["entityId"] != "ann-lee" || a.body["role"] != "entity" || a.body["sessionId"] != "default" || a.body["signIn"] == "" {
		t.Fatalf("the answer is %d %v", a.status, a.body)
	}
	if names := slices.Collect(maps.Keys(b.cookies)); len(names) != 1 || strings.Contains(names[0], "oidc") {
		t.Errorf("the browser keeps %v", names)
	}
	ann := w.ann()
	if ann.Kind != shoal.Human || ann.Name != "Ann Lee" || ann.SessionRole != shoal.SessionMember || ann.ExternalID == nil || *ann.ExternalID != w.issuer.URL+"|sub-1" {
		t.Errorf("the person is %+v", ann)
	}
	w.issuer.change = func(c map[string]any) { c["name"] = "Ann Lee-Kim" }
	if a := w.browser().signIn(); a.body["entityId"] != "ann-lee" {
		t.Errorf("the second sign-in answers %d %v", a.status, a.body)
	}
	w.issuer.change = func(c map[string]any) { c["sub"] = "sub-2" }
	if a := w.browser().signIn(); a.body["entityId"] != "ann-lee-2" {
		t.Errorf("another account of the same name answers %d %v", a.status, a.body)
	}
	if log := w.log.String(); strings.Contains(log, "eyJ") || strings.Contains(log, secret) || strings.Contains(log, state) {
		t.Errorf("the log reveals a secret: %s", log)
	}
}

// Nothing leads from the account of an erased person to what was erased: with it they are somebody new,
// with none of the rights and the spaces that they had.
func TestAnErasedPersonIsSomebodyNew(t *testing.T) {
	w := newWorld(t)
	first := w.browser().signIn()
	owner := shoal.SessionOwner
	if _, err := w.hub.Entities.Update(t.Context(), root, shoal.DefaultSession, "ann-lee", shoal.EntityChange{SessionRole: &owner}); err != nil {
		t.Fatal(err)
	}
	if err := w.hub.Erasures.Erase(t.Context(), root, shoal.DefaultSession, "ann-lee"); err != nil {
		t.Fatal(err)
	}
	again := w.browser().signIn()
	if first.body["entityId"] != "ann-lee" || again.status != http.StatusOK || again.body["entityId"] != "ann-lee-2" {
		t.Errorf("the sign-ins answer %v, then %d %v", first.body, again.status, again.body)
	}
	made, err := w.hub.Entities.Get(t.Context(), root, shoal.DefaultSession, "ann-lee-2")
	if err != nil || made.SessionRole != shoal.SessionMember || made.ExternalID == nil || *made.ExternalID != w.issuer.URL+"|sub-1" {
		t.Errorf("the new person is %+v, %v", made, err)
	}
	if third := w.browser().signIn(); third.body["entityId"] != "ann-lee-2" {
		t.Errorf("the next sign-in answers %v", third.body)
	}
}

// An ID token counts only if the provider has made it for this sign-in.
func TestTokensThatProveNothing(t *testing.T) {
	w := newWorld(t)
	now := time.Now().Unix()
	for name, c := range map[string]struct {
		change func(map[string]any)
		words  string
	}{
		"of another audience":   {func(c map[string]any) { c["aud"] = "other" }, "not valid"},
		"of two audiences":      {func(c map[string]any) { c["aud"] = []string{clientID, "other"} }, "another client"},
		"of another party":      {func(c map[string]any) { c["azp"] = "other" }, "another client"},
		"of another issuer":     {func(c map[string]any) { c["iss"] = "https://evil.example" }, "not valid"},
		"of another sign-in":    {func(c map[string]any) { c["nonce"] = "other" }, "nonce"},
		"without a nonce":       {func(c map[string]any) { delete(c, "nonce") }, "nonce"},
		"without a subject":     {func(c map[string]any) { delete(c, "sub") }, "not valid"},
		"that has expired":      {func(c map[string]any) { c["exp"] = now - 3600 }, "clocks"},
		"that is not valid yet": {func(c map[string]any) { c["nbf"] = now + 3600 }, "clocks"},
		"from the future":       {func(c map[string]any) { c["iat"] = now + 3600 }, "clocks"},
		"of another access":     {func(c map[string]any) { c["at_hash"] = "other" }, "not valid"},
	} {
		w.issuer.change = c.change
		b := w.browser()
		t.Log(name)
		b.refused(b.signIn(), http.StatusUnauthorized, c.words)
	}
	w.issuer.change = func(map[string]any) {}
	for _, alg := range []string{"none", "HS256"} {
		w.issuer.alg = alg
		b := w.browser()
		b.refused(b.signIn(), http.StatusUnauthorized, "not valid")
	}
	w.issuer.alg = "RS256"
	if a := w.browser().signIn(); a.status != http.StatusOK {
		t.Errorf("a token that is right is answered with %d %v", a.status, a.body)
	}
}

// A key that the provider has begun to use since is fetched; one that it does not publish proves nothing.
func TestKeysAreRotated(t *testing.T) {
	w := newWorld(t)
	var err error
	if a := w.browser().signIn(); a.status != http.StatusOK {
		t.Fatalf("the answer is %d %v", a.status, a.body)
	}
	b := w.browser()
	at, state := b.start()
	w.issuer.rotate(t, "key-2")
	if a := b.post("/console/oidc/finish", map[string]string{"code": w.issuer.authorize(at), "state": state}); a.status != http.StatusOK {
		t.Errorf("with a new key the answer is %d %v", a.status, a.body)
	}
	if w.issuer.stranger, err = rsa.GenerateKey(rand.Reader, 2048); err != nil {
		t.Fatal(err)
	}
	b = w.browser()
	b.refused(b.signIn(), http.StatusUnauthorized, "not valid")
}

// A code counts once, in the browser that has begun the sign-in, with its state.
func TestAnswersOfOthersAreRefused(t *testing.T) {
	w := newWorld(t)
	victim, attacker := w.browser(), w.browser()
	at, state := attacker.start()
	code := w.issuer.authorize(at)
	victim.refused(victim.post("/console/oidc/finish", map[string]string{"code": code, "state": state}), http.StatusUnauthorized, "not begun a sign-in")
	victim.start()
	victim.refused(victim.post("/console/oidc/finish", map[string]string{"code": code, "state": state}), http.StatusUnauthorized, "another sign-in")
	_, own := victim.start()
	victim.refused(victim.post("/console/oidc/finish", map[string]string{"code": code, "state": own}), http.StatusUnauthorized, "used already")
	victim.refused(victim.post("/console/oidc/finish", map[string]string{"code": code, "state": own}), http.StatusUnauthorized, "not begun a sign-in")

	b := w.browser()
	at, state = b.start()
	begun := maps.Clone(b.cookies)
	code = w.issuer.authorize(at)
	if a := b.post("/console/oidc/finish", map[string]string{"code": code, "state": state}); a.status != http.StatusOK {
		t.Fatalf("the answer is %d %v", a.status, a.body)
	}
	again := w.browser()
	again.cookies = begun
	again.refused(again.post("/console/oidc/finish", map[string]string{"code": code, "state": state}), http.StatusUnauthorized, "finished already")

	forged := w.browser()
	_, state = forged.start()
	for name, value := range forged.cookies {
		forged.cookies[name] = value[:len(value)-2] + "AA"
	}
	forged.refused(forged.post("/console/oidc/finish", map[string]string{"code": "c", "state": state}), http.StatusUnauthorized, "elsewhere")
}

// Only pages of the console begin and end a sign-in: no other page signs a browser in as somebody else.
func TestOnlyOwnPagesSignIn(t *testing.T) {
	w := newWorld(t)
	for _, path := range []string{"start", "finish"} {
		for _, headers := range [][]string{{"Origin", ""}, {"Origin", "https://evil.example"}, {"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site", "Origin", ""}} {
			b := w.browser()
			if a := b.post("/console/oidc/"+path, map[string]string{"state": "s"}, headers...); a.status != http.StatusForbidden || len(b.cookies) != 0 {
				t.Errorf("%s with %v: %d %v", path, headers, a.status, a.body)
			}
		}
	}
}

// The address that the provider returns browsers to leads to the console, whatever it is called with.
func TestTheCallbackLeadsToTheConsoleOnly(t *testing.T) {
	w := newWorld(t)
	for _, query := range []string{"", "code=c&state=s", "return=https://evil.example&code=c", "code=https://evil.example%0d%0aLocation:%20x&state=//evil.example", "state=%22%3E%3Cscript%3E&error=%23x", "code=" + strings.Repeat("x", 9000)} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.server.URL+"/console/oidc/callback?"+query, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		a := w.browser().do(r, "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document")
		to := a.header.Get("Location")
		if a.status != http.StatusSeeOther || !strings.HasPrefix(to, "/s/default#oidc=") || len(to) > 8000 || strings.ContainsAny(to[len("/s/default#oidc="):], "#/\"<>\r\n:") {
			t.Errorf("%.80s leads with %d to %.200s", query, a.status, to)
		}
		if len(a.header.Values("Set-Cookie")) != 0 || a.header.Get("Referrer-Policy") != "no-referrer" || a.header.Get("Cache-Control") != "no-store" {
			t.Errorf("the headers are %v", a.header)
		}
	}
}

// Who may sign in, and with which role.
func TestWhoMaySignIn(t *testing.T) {
	for name, c := range map[string]struct {
		options func(*oidc.Options)
		claims  map[string]any
		info    map[string]any
		words   string // of the refusal
		role    shoal.SessionRole
	}{
		"an address that is verified":             {role: shoal.SessionMember},
		"one that is verified in words":           {claims: map[string]any{"email_verified": "true", "email": "Ann@EXAMPLE.com"}, role: shoal.SessionMember},
		"one that is not verified":                {claims: map[string]any{"email_verified": false}, words: "not verified"},
		"one about which nothing is said":         {claims: map[string]any{"email_verified": nil}, words: "not verified"},
		"one of another domain":                   {claims: map[string]any{"email": "ann@example.com.evil.example"}, words: "may not sign in"},
		"one that only contains the domain":       {claims: map[string]any{"email": "ann@example.com@evil.example"}, words: "may not sign in"},
		"one that userinfo says":                  {claims: map[string]any{"email": nil, "email_verified": nil}, info: map[string]any{"sub": "sub-1", "email": "ann@example.com", "email_verified": true}, role: shoal.SessionMember},
		"one that userinfo says of somebody else": {claims: map[string]any{"email": nil}, info: map[string]any{"sub": "sub-2", "email": "ann@example.com", "email_verified": true}, words: "two people"},
		"a verification of another address":       {claims: map[string]any{"email_verified": nil}, info: map[string]any{"sub": "sub-1", "email": "x@evil.example", "email_verified": true}, words: "not verified"},
		"no address":                              {claims: map[string]any{"email": nil}, info: map[string]any{"sub": "sub-1"}, words: "does not say"},
		"every account":                           {options: func(o *oidc.Options) { o.Domains = []string{"*"} }, claims: map[string]any{"email": "x@evil.example", "email_verified": false}, role: shoal.SessionMember},
		"a group":                                 {options: func(o *oidc.Options) { o.Domains, o.Groups = nil, []string{"staff"} }, claims: map[string]any{"email_verified": false}, role: shoal.SessionMember},
		"none of the groups":                      {options: func(o *oidc.Options) { o.Domains, o.Groups = nil, []string{"board"} }, words: "none of the groups"},
		"a role by group": {options: func(o *oidc.Options) {
			o.Roles = []oidc.GroupRole{{"board", shoal.SessionAdmin}, {"staff", shoal.SessionOwner}}
		}, role: shoal.SessionOwner},
		"a role by another claim, which is a text": {options: func(o *oidc.Options) {
			o.GroupsClaim, o.Roles = "role", []oidc.GroupRole{{"chief", shoal.SessionAuditor}}
		}, claims: map[string]any{"role": "chief"}, role: shoal.SessionAuditor},
		"no role by group": {options: func(o *oidc.Options) { o.Roles = []oidc.GroupRole{{"board", shoal.SessionAdmin}} }, role: shoal.SessionMember},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, func(o *oidc.Options) {
				if c.options != nil {
					c.options(o)
				}
			})
			w.issuer.info = c.info
			if c.info == nil {
				w.issuer.info = map[string]any{"sub": "sub-1"}
			}
			w.issuer.change = func(claims map[string]any) {
				for k, v := range c.claims {
					if claims[k] = v; v == nil {
						delete(claims, k)
					}
				}
			}
			b := w.browser()
			a := b.signIn()
			if c.words != "" {
				if b.refused(a, a.status, c.words); a.status != http.StatusForbidden && a.status != http.StatusUnauthorized {
					t.Errorf("the answer is %d", a.status)
				}
				return
			}
			if a.status != http.StatusOK {
				t.Fatalf("the answer is %d %v", a.status, a.body)
			}
			if got := w.ann(); got.SessionRole != c.role {
				t.Errorf("the role is %s, not %s", got.SessionRole, c.role)
			}
		})
	}
}

// A mapped role follows the provider at each sign-in; without a mapping the session decides.
func TestRolesFollowTheProvider(t *testing.T) {
	w := newWorld(t, func(o *oidc.Options) { o.Roles = []oidc.GroupRole{{"chiefs", shoal.SessionOwner}} })
	for _, c := range []struct {
		group string
		want  shoal.SessionRole
	}{{"staff", shoal.SessionMember}, {"chiefs", shoal.SessionOwner}, {"staff", shoal.SessionMember}} {
		w.issuer.change = func(claims map[string]any) { claims["groups"] = []string{c.group} }
		if a := w.browser().signIn(); a.status != http.StatusOK {
			t.Fatalf("the answer is %d %v", a.status, a.body)
		}
		if got := w.ann().SessionRole; got != c.want {
			t.Errorf("in %s the role is %s", c.group, got)
		}
	}
	free := newWorld(t)
	free.browser().signIn()
	role := shoal.SessionOwner
	if _, err := free.hub.Entities.Update(t.Context(), root, shoal.DefaultSession, "ann-lee", shoal.EntityChange{SessionRole: &role}); err != nil {
		t.Fatal(err)
	}
	free.browser().signIn()
	if got := free.ann().SessionRole; got != shoal.SessionOwner {
		t.Errorf("the role is %s", got)
	}
}

// What goes wrong at the provider is explained, and kept out of the answer.
func TestErrorsOfTheProvider(t *testing.T) {
	w := newWorld(t)
	for name, c := range map[string]struct {
		code, words string
		status      int
	}{
		"cancelled": {"access_denied", "cancelled", http.StatusForbidden},
		"busy":      {"temporarily_unavailable", "cannot be reached", http.StatusServiceUnavailable},
		"a scope":   {"invalid_scope", "operator", http.StatusForbidden},
	} {
		b := w.browser()
		_, state := b.start()
		t.Log(name)
		b.refused(b.post("/console/oidc/finish", map[string]string{"error": c.code, "error_description": "oidc: eyJ", "state": state}), c.status, c.words)
	}
	w.issuer.token = func(a http.ResponseWriter) bool { a.WriteHeader(http.StatusBadGateway); return true }
	b := w.browser()
	b.refused(b.signIn(), http.StatusServiceUnavailable, "cannot be reached")
	w.issuer.token = func(a http.ResponseWriter) bool {
		write(a, map[string]string{"access_token": "a", "token_type": "Bearer"})
		return true
	}
	b = w.browser()
	b.refused(b.signIn(), http.StatusUnauthorized, "no ID token")

	wrong := newWorld(t, func(o *oidc.Options) { o.Secret = "wrong" })
	b = wrong.browser()
	b.refused(b.signIn(), http.StatusForbidden, "client id or secret")

	b = w.browser()
	at, state := b.start()
	b.refused(b.post("/console/oidc/finish", map[string]string{"code": w.issuer.authorize(at), "state": state, "iss": "https://evil.example"}), http.StatusUnauthorized, "issuer")
}

// A provider that is away when the server starts is asked again.
func TestAProviderThatIsAway(t *testing.T) {
	w := newWorld(t)
	down := true
	client := &http.Client{Transport: trip(func(r *http.Request) (*http.Response, error) {
		if down {
			return nil, &url.Error{Op: "Get", URL: r.URL.String(), Err: http.ErrServerClosed}
		}
		return http.DefaultTransport.RoundTrip(r)
	})}
	late := newWorld(t, func(o *oidc.Options) { o.Issuer, o.Client = w.issuer.URL, client })
	late.p.Check(t.Context())
	if log := late.log.String(); !strings.Contains(log, "level=WARN") || !strings.Contains(log, w.issuer.URL) {
		t.Errorf("the log says %s", log)
	}
	b := late.browser()
	b.refused(b.post("/console/oidc/start", struct{}{}), http.StatusServiceUnavailable, "Keys & Co cannot be reached")
	down = false
	late.p.Check(t.Context())
	if at, _ := b.start(); !strings.HasPrefix(at, w.issuer.URL+"/authorize?") {
		t.Errorf("the sign-in begins at %s", at)
	}
}

type trip func(*http.Request) (*http.Response, error)

func (t trip) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }

// A proxy's address is that of the server: the redirect URI is under it, and only its pages sign in.
func TestBehindAProxy(t *testing.T) {
	w := newWorld(t, func(o *oidc.Options) { o.PublicURL = "https://shoal.example" })
	b := w.browser()
	b.refused(b.post("/console/oidc/start", struct{}{}), http.StatusUnprocessableEntity, "https://shoal.example")
	out := w.p.LogoutURL(t.Context(), "not ours", "http://127.0.0.1")
	u, err := url.Parse(out)
	if err != nil || u.Query().Get("post_logout_redirect_uri") != "https://shoal.example/" || u.Query().Get("client_id") != clientID || u.Query().Get("tenant") != "1" || u.Query().Has("id_token_hint") {
		t.Errorf("people sign out at %s", out)
	}
	if w.p.LogoutURL(t.Context(), "", "http://127.0.0.1") != "" {
		t.Error("a sign-in without a provider ends there")
	}
}
