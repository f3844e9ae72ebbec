package oidc_test

import (
	"maps"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/oidc"
)

const audience = "https://shoal.example"

// tokens recognises people by tokens of the world's issuer.
func (w *world) tokens(change ...func(*oidc.Options)) *oidc.Tokens {
	w.Helper()
	o := oidc.Options{People: w.hub.Entities, Issuer: w.issuer.URL, Session: shoal.DefaultSession, Domains: []string{"example.com"}, Client: w.issuer.Client()}
	for _, c := range change {
		c(&o)
	}
	t, err := oidc.NewTokens(o, audience)
	if err != nil {
		w.Fatal(err)
	}
	return t
}

// token is one of ann, with other claims; nil leaves a claim out.
func (w *world) token(changes map[string]any) string {
	now := time.Now().Unix()
	c := map[string]any{"iss": w.issuer.URL, "aud": audience, "sub": "sub-1", "iat": now, "exp": now + 300, "name": "Ann Lee", "email": "ann@example.com", "email_verified": true, "groups": []string{"staff"}}
	maps.Copy(c, changes)
	maps.DeleteFunc(c, func(_ string, v any) bool { return v == nil })
	w.issuer.mu.Lock()
	defer w.issuer.mu.Unlock()
	return w.issuer.sign(c)
}

func (w *world) recognises(t *oidc.Tokens, token string) (shoal.EntityID, error) {
	w.Helper()
	_, id, _, err := t.Recognise(w.Context(), token)
	return id, err
}

// A token of the issuer for this server is the person of its subject, as a sign-in is.
func TestTokensOfPeople(t *testing.T) {
	w := newWorld(t)
	roles := func(o *oidc.Options) { o.Roles = []oidc.GroupRole{{Group: "bosses", Role: shoal.SessionOwner}} }
	tokens := w.tokens(roles)
	session, id, ends, err := tokens.Recognise(t.Context(), w.token(map[string]any{"aud": []string{"other", audience}}))
	if err != nil || session != shoal.DefaultSession || id != "ann-lee" || time.Until(ends.Time) < 4*time.Minute || time.Until(ends.Time) > 7*time.Minute {
		t.Fatalf("ann is %s in %s until %v, %v", id, session, ends, err)
	}
	if ann := w.ann(); *ann.ExternalID != w.issuer.URL+"|sub-1" || ann.Kind != shoal.Human || ann.SessionRole != shoal.SessionMember {
		t.Errorf("the person is %+v", ann)
	}
	if a := w.browser().signIn(); a.body["entityId"] != "ann-lee" {
		t.Errorf("in a browser she is %v", a.body)
	}
	if id, err := w.recognises(tokens, w.token(map[string]any{"groups": []string{"bosses"}})); id != "ann-lee" || err != nil || w.ann().SessionRole != shoal.SessionOwner {
		t.Errorf("as a boss she is %s, %v, %s", id, err, w.ann().SessionRole)
	}
	if err := w.hub.Entities.Delete(t.Context(), root, shoal.DefaultSession, "ann-lee"); err != nil {
		t.Fatal(err)
	}
	if id, err := w.recognises(tokens, w.token(nil)); shoal.KindOf(err) != shoal.Unauthenticated || !strings.Contains(err.Error(), "was removed") {
		t.Errorf("after she was removed: %s, %v", id, err)
	}
	back := w.browser().signIn()
	if id, err := w.recognises(tokens, w.token(nil)); back.status != http.StatusOK || string(id) != back.body["entityId"] || err != nil {
		t.Errorf("after she has come back as %v: %s, %v", back.body, id, err)
	}
}

// A token counts only if the issuer has made it for this server and for now.
func TestTokensThatDoNotCount(t *testing.T) {
	w := newWorld(t)
	tokens := w.tokens()
	now := time.Now().Unix()
	for name, c := range map[string]struct {
		change map[string]any
		kind   shoal.Kind
		says   string
	}{
		"expired":            {map[string]any{"exp": now - 120}, shoal.Unauthenticated, "it expired at"},
		"without an end":     {map[string]any{"exp": nil}, shoal.Unauthenticated, "it expired at"},
		"not yet valid":      {map[string]any{"nbf": now + 3600}, shoal.Unauthenticated, "nbf"},
		"issued later":       {map[string]any{"iat": now + 3600}, shoal.Unauthenticated, "in the future"},
		"another audience":   {map[string]any{"aud": "https://else.example"}, shoal.Unauthenticated, "audience"},
		"an ID token":        {map[string]any{"aud": clientID}, shoal.Unauthenticated, "audience"},
		"no audience":        {map[string]any{"aud": nil}, shoal.Unauthenticated, "audience"},
		"another issuer":     {map[string]any{"iss": "https://else.example"}, shoal.Unauthenticated, "different provider"},
		"no subject":         {map[string]any{"sub": nil}, shoal.Unauthenticated, "no subject"},
		"larger than 16 KiB": {map[string]any{"more": strings.Repeat("x", oidc.MaxToken)}, shoal.Unauthenticated, "larger than 16 KiB"},
		"another domain":     {map[string]any{"email": "ann@else.example"}, shoal.Forbidden, "its domain is not among"},
		"not verified":       {map[string]any{"email_verified": false}, shoal.Forbidden, "not verified"},
	} {
		if id, err := w.recognises(tokens, w.token(c.change)); shoal.KindOf(err) != c.kind || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %s, %v", name, id, err)
		}
	}
	for _, alg := range []string{"none", "HS256"} {
		w.issuer.alg = alg
		if id, err := w.recognises(tokens, w.token(nil)); shoal.KindOf(err) != shoal.Unauthenticated {
			t.Errorf("%s: %s, %v", alg, id, err)
		}
	}
	w.issuer.alg = "RS256"
	signed := w.token(nil)
	head, rest, _ := strings.Cut(signed, ".")
	body, sig, _ := strings.Cut(rest, ".")
	other := w.token(map[string]any{"sub": "sub-2"})
	_, otherRest, _ := strings.Cut(other, ".")
	otherBody, _, _ := strings.Cut(otherRest, ".")
	for name, forged := range map[string]string{
		"the body of another":     head + "." + otherBody + "." + sig,
		"no signature":            head + "." + body + ".",
		"another kind of key":     text([]byte(`{"alg":"PS256","kid":"key-1"}`)) + "." + body + "." + sig,
		"an unknown kid":          text([]byte(`{"alg":"RS256","kid":"key-9"}`)) + "." + body + "." + sig,
		"its key in its head":     text([]byte(`{"alg":"RS256","jwk":{"kty":"RSA","n":"AQAB","e":"AQAB"}}`)) + "." + body + "." + sig,
		"not a token":             "eyJ.a.b",
		"an encrypted one":        head + "." + body + "." + sig + ".a.b",
		"a body that is not JSON": head + "." + text([]byte("x")) + "." + sig,
		"a head that is not JSON": text([]byte("x")) + "." + body + "." + sig,
		"critical things unknown": text([]byte(`{"alg":"RS256","kid":"key-1","crit":["x"],"x":1}`)) + "." + body + "." + sig,
	} {
		if id, err := w.recognises(tokens, forged); shoal.KindOf(err) != shoal.Unauthenticated || strings.Contains(err.Error(), sig) && sig != "" {
			t.Errorf("%s: %s, %v", name, id, err)
		}
	}
	if id, err := w.recognises(tokens, signed); id != "ann-lee" || err != nil {
		t.Errorf("the true one: %s, %v", id, err)
	}
}

// Keys are fetched anew when a token names an unknown one, at a bounded rate, and the known ones count
// while the issuer is away.
func TestKeysOfAnIssuer(t *testing.T) {
	w := newWorld(t)
	var asked atomic.Int32
	w.issuer.asked = func() { asked.Add(1) }
	tokens := w.tokens()
	fine := func(what, token string) {
		t.Helper()
		if id, err := w.recognises(tokens, token); id != "ann-lee" || err != nil {
			t.Errorf("%s: %s, %v", what, id, err)
		}
	}
	before := w.token(nil)
	fine("the first key", before)
	fine("again", w.token(map[string]any{"jti": "2"}))
	if n := asked.Load(); n != 1 {
		t.Errorf("the keys were fetched %d times for one", n)
	}
	w.issuer.rotate(t, "key-2")
	fine("a key that is new", w.token(map[string]any{"jti": "3"}))
	if id, err := w.recognises(tokens, before); shoal.KindOf(err) != shoal.Unauthenticated {
		t.Errorf("a token of the key that was withdrawn: %s, %v", id, err)
	}
	w.issuer.signs, w.issuer.stranger = "key-9", w.issuer.keys["key-2"]
	for range 50 {
		if _, err := w.recognises(tokens, w.token(nil)); shoal.KindOf(err) != shoal.Unauthenticated {
			t.Fatalf("an unknown key: %v", err)
		}
	}
	if n := asked.Load(); n > 6 {
		t.Errorf("strangers have made the server fetch the keys %d times", n)
	}
	w.issuer.signs, w.issuer.stranger = "key-2", nil
	w.issuer.down.Store(true)
	fine("while the issuer is away", w.token(map[string]any{"jti": "4"}))
	if id, err := w.recognises(w.tokens(), w.token(nil)); shoal.KindOf(err) != shoal.Busy {
		t.Errorf("a server that has never had the keys: %s, %v", id, err)
	}
}
