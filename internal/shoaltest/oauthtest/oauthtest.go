// Package oauthtest plays the people and the programs of an OAuth sign-in against a running server.
//
//	ann := oauthtest.SignIn(t, server.URL(), key)
//	program := oauthtest.Register(t, server.URL(), "Codex")
//	back := oauthtest.Back(t, ann.Consent(program.Query(server.URL())))
//	tokens := program.Redeem(server.URL(), back.Get("code"))
//
// Each method takes the address of the server that it calls: a cluster has several.
package oauthtest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// Reply is what a server answered. Body is empty unless the text is a JSON object.
type Reply struct {
	Status int
	Header http.Header
	Text   string
	Body   map[string]any
}

// Value returns a member of the body that is a text, or "".
func (r Reply) Value(name string) string {
	text, _ := r.Body[name].(string)
	return text
}

// Do makes a request with headers in pairs, on a connection of its own, and follows no redirect. It ends
// the test if the server does not answer.
func Do(t testing.TB, method, address, body string, headers ...string) (out Reply) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 1; i < len(headers); i += 2 {
		r.Header.Set(headers[i-1], headers[i])
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	out = Reply{answer.StatusCode, answer.Header, string(text), map[string]any{}}
	_ = json.Unmarshal(text, &out.Body) // not every body is an object
	return out
}

// Form makes a request with parameters in pairs, of which the last one of a name counts.
func Form(t testing.TB, address string, params ...string) Reply {
	t.Helper()
	return Do(t, http.MethodPost, address, values(params).Encode(), "Content-Type", "application/x-www-form-urlencoded")
}

func values(pairs []string) url.Values {
	out := url.Values{}
	for i := 1; i < len(pairs); i += 2 {
		out.Set(pairs[i-1], pairs[i])
	}
	return out
}

// Tool calls a tool over MCP with an access token.
func Tool(t testing.TB, at, token, name, arguments string) Reply {
	t.Helper()
	return Do(t, http.MethodPost, at+"/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+name+`","arguments":`+arguments+`}}`,
		"Authorization", "Bearer "+token, "Content-Type", "application/json", "Accept", "application/json, text/event-stream")
}

// Works reports whether a server accepts the access token of an answer.
func Works(t testing.TB, at string, tokens Reply) bool {
	t.Helper()
	return Tool(t, at, tokens.Value("access_token"), "list_threads", `{}`).Status == http.StatusOK
}

// Browser is one in which a person is signed in to a server.
type Browser struct {
	t            testing.TB
	at           string
	cookie, half string
}

// SignIn opens the console of a server with a key.
func SignIn(t testing.TB, at, key string) *Browser {
	t.Helper()
	b := &Browser{t: t, at: at}
	in := b.Post("/console/login", map[string]any{"key": key})
	if in.Status != http.StatusOK {
		t.Fatalf("the sign-in: %d %s", in.Status, in.Text)
	}
	b.cookie, _, _ = strings.Cut(in.Header.Get("Set-Cookie"), ";")
	b.half = in.Value("signIn")
	return b
}

// Post makes a call as a page of the console does, unless headers in pairs say otherwise; an empty value
// leaves a header out.
func (b *Browser) Post(path string, body any, headers ...string) Reply {
	b.t.Helper()
	var text bytes.Buffer
	if err := json.NewEncoder(&text).Encode(body); err != nil {
		b.t.Fatal(err)
	}
	all := append([]string{"Content-Type", "application/json", "Origin", b.at, "Sec-Fetch-Site", "same-origin", "Cookie", b.cookie, "X-Shoal-Sign-In", b.half}, headers...)
	return Do(b.t, http.MethodPost, b.at+path, text.String(), all...)
}

// Consent approves a request as a person does who chooses the agent scout, adds it to the space yard, and
// allows it everything, with other members of the decision in pairs.
func (b *Browser) Consent(query string, changes ...any) Reply {
	b.t.Helper()
	body := map[string]any{"query": query, "approve": true, "session": "default", "agent": "scout", "name": "", "spaces": []string{"yard"}, "scopes": []string{}}
	for i := 1; i < len(changes); i += 2 {
		body[changes[i-1].(string)] = changes[i] //nolint:forcetypeassert // names come first
	}
	return b.Post("/oauth/decision", body)
}

// Back returns what the program finds in the address to which a decision leads.
func Back(t testing.TB, decided Reply) url.Values {
	t.Helper()
	u, err := url.Parse(decided.Value("url"))
	if err != nil || decided.Status != http.StatusOK || u.RawQuery == "" {
		t.Fatalf("the decision: %d %s", decided.Status, decided.Text)
	}
	return u.Query()
}
