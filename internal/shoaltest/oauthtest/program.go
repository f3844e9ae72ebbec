package oauthtest

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"testing"
)

// Verifier is that of every request of a [Program], and Callback its redirect URI.
const (
	Verifier = "a-verifier-of-more-than-forty-three-characters-0123456789"
	Callback = "http://127.0.0.1:4711/callback"
)

// Challenge returns the S256 challenge of a verifier.
func Challenge(verifier string) string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// Program is a client of the authorization server. ID is its client_id.
type Program struct {
	t  testing.TB
	ID string
}

// Register registers a program with a server, by default with the address of [Callback] at any port.
func Register(t testing.TB, at, name string, redirects ...string) *Program {
	t.Helper()
	if len(redirects) == 0 {
		redirects = []string{"http://127.0.0.1/callback"}
	}
	body, err := json.Marshal(map[string]any{"client_name": name, "redirect_uris": redirects, "token_endpoint_auth_method": "client_secret_basic"})
	if err != nil {
		t.Fatal(err)
	}
	got := Do(t, http.MethodPost, at+"/oauth/register", string(body), "Content-Type", "application/json")
	if got.Status != http.StatusCreated || got.Value("client_id") == "" {
		t.Fatalf("the registration: %d %s", got.Status, got.Text)
	}
	return &Program{t, got.Value("client_id")}
}

// Known returns a program that has an id already.
func Known(t testing.TB, id string) *Program { return &Program{t, id} }

// Query returns the query of a request for the resource of a server, with other parameters in pairs; an
// empty value leaves a parameter out.
func (p *Program) Query(at string, changes ...string) string {
	q := values([]string{"response_type", "code", "client_id", p.ID, "redirect_uri", Callback, "state", "s-1", "code_challenge", Challenge(Verifier), "code_challenge_method", "S256", "resource", at + "/mcp"})
	for i := 1; i < len(changes); i += 2 {
		if changes[i] == "" {
			q.Del(changes[i-1])
		} else {
			q.Set(changes[i-1], changes[i])
		}
	}
	return q.Encode()
}

// Redeem exchanges a code, with other parameters in pairs.
func (p *Program) Redeem(at, code string, changes ...string) Reply {
	p.t.Helper()
	params := []string{"grant_type", "authorization_code", "client_id", p.ID, "code", code, "redirect_uri", Callback, "code_verifier", Verifier}
	return Form(p.t, at+"/oauth/token", slices.Concat(params, changes)...)
}

// Refresh exchanges the refresh token of an answer, with other parameters in pairs.
func (p *Program) Refresh(at string, tokens Reply, changes ...string) Reply {
	p.t.Helper()
	params := []string{"grant_type", "refresh_token", "client_id", p.ID, "refresh_token", tokens.Value("refresh_token")}
	return Form(p.t, at+"/oauth/token", slices.Concat(params, changes)...)
}

// Revoke revokes a token.
func (p *Program) Revoke(at, token string) Reply {
	p.t.Helper()
	return Form(p.t, at+"/oauth/revoke", "client_id", p.ID, "token", token)
}
