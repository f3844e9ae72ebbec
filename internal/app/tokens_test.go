package app_test

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/shoal-dev/shoal/internal/app"
	"github.com/shoal-dev/shoal/internal/apptest"
)

// issuer signs access tokens, and publishes its key.
func issuer(t *testing.T) (at string, sign func(subject string, lives time.Duration) string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: private}, (&jose.SignerOptions{}).WithHeader("kid", "one"))
	if err != nil {
		t.Fatal(err)
	}
	var server *httptest.Server
	server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		var said any = jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: private.Public(), KeyID: "one", Algorithm: "ES256", Use: "sig"}}}
		if strings.HasSuffix(r.URL.Path, "openid-configuration") {
			said = map[string]any{"issuer": server.URL, "authorization_endpoint": server.URL + "/a", "token_endpoint": server.URL + "/t", "jwks_uri": server.URL + "/jwks"}
		}
		_ = json.NewEncoder(w).Encode(said) // the server has gone otherwise
	}))
	t.Cleanup(server.Close)
	return server.URL, func(subject string, lives time.Duration) string {
		now := time.Now()
		claims, err := json.Marshal(map[string]any{"iss": server.URL, "aud": "https://shoal.example", "sub": subject, "iat": now.Unix(), "exp": now.Add(lives).Unix(), "name": subject})
		if err != nil {
			t.Fatal(err)
		}
		signed, err := signer.Sign(claims)
		if err != nil {
			t.Fatal(err)
		}
		token, err := signed.CompactSerialize()
		if err != nil {
			t.Fatal(err)
		}
		return token
	}
}

// A program with a token of the issuer is the person of the token at every door, and what it has open ends within five
// seconds when the person is removed, or the token ends.
func TestTokensOfAnIssuer(t *testing.T) {
	at, sign := issuer(t)
	server, key := apptest.Run(t, app.Config{JWTIssuer: at, JWTAudience: "https://shoal.example", OIDCDomains: []string{"*"}, OIDCSpaces: []string{"welcome"}})
	do := func(token, method, path, body string) (int, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, server.URL()+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer.StatusCode, string(text)
	}
	ann, bob := sign("ann", time.Hour), sign("bob", 5*time.Second-time.Minute) // which counts for a minute more
	for path, want := range map[string]string{"/v1/me": `"entityId":"ann"`, "/v1/sessions/default/spaces": `"id":"welcome"`} {
		if status, text := do(ann, http.MethodGet, path, ""); status != 200 || !strings.Contains(text, want) {
			t.Errorf("%s: %d %s", path, status, text)
		}
	}
	post := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"send_message","arguments":{"threadId":"welcome","content":"hello"}}}`
	if status, text := do(ann, http.MethodPost, "/mcp", post); status != 200 || strings.Contains(text, `"isError":true`) {
		t.Errorf("over MCP: %d %s", status, text)
	}
	if status, text := do(ann+"x", http.MethodPost, "/mcp", post); status != 401 || !strings.Contains(text, "does not count here") {
		t.Errorf("a token that was changed: %d %s", status, text)
	}
	if status, text := do(key, http.MethodGet, "/v1/keys?signIns=true", ""); strings.Count(text, `"device":"Token of 127.0.0.1`) != 1 {
		t.Errorf("the sign-ins are %d %s", status, text)
	}

	// What is open when a right ends.
	open := func(who, token string) (stream, wait <-chan time.Time) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL()+"/v1/sessions/default/spaces/welcome/events", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+token)
		answer, err := http.DefaultClient.Do(r)
		if err != nil || answer.StatusCode != http.StatusOK {
			t.Fatalf("the stream: %v %v", answer, err)
		}
		lines := bufio.NewReader(answer.Body)
		if _, err := lines.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		return ends(func() {
				_, _ = io.Copy(io.Discard, lines) // until the server ends it
				_ = answer.Body.Close()
			}), ends(func() {
				do(token, http.MethodPost, "/v1/sessions/default/entities/"+who+"/wait", `{"kind":"mentions","timeoutMs":60000}`)
			})
	}
	within := func(what string, since time.Time, limit time.Duration, done ...<-chan time.Time) {
		t.Helper()
		for _, d := range done {
			if took := (<-d).Sub(since); took > limit {
				t.Errorf("%s takes %v", what, took)
			}
		}
	}
	stream, wait := open("bob", bob)
	began := time.Now()
	within("the end of a token", began, 5*time.Second+5*time.Second, stream, wait)
	if status, text := do(bob, http.MethodGet, "/v1/me", ""); status != 401 || !strings.Contains(text, "has expired") {
		t.Errorf("after its end: %d %s", status, text)
	}
	stream, wait = open("ann", ann)
	if status, text := do(key, http.MethodDelete, "/v1/sessions/default/entities/ann", ""); status != 204 {
		t.Fatalf("removing ann: %d %s", status, text)
	}
	within("removing a person", time.Now(), 5*time.Second, stream, wait)
	for what, token := range map[string]string{"the same token": ann, "a new one": sign("ann", time.Hour)} {
		if status, text := do(token, http.MethodGet, "/v1/me", ""); status != 401 {
			t.Errorf("%s after she was removed: %d %s", what, status, text)
		}
	}
	for range 130 {
		var status int
		if status, _ = do(sign("eve", time.Hour), http.MethodGet, "/v1/me", ""); status == 429 {
			return
		}
		if status != 200 {
			t.Fatalf("eve: %d", status)
		}
	}
	t.Error("a program with a new token for each request goes on")
}

// ends returns when do has ended.
func ends(do func()) <-chan time.Time {
	done := make(chan time.Time, 1)
	go func() {
		do()
		done <- time.Now()
	}()
	return done
}
