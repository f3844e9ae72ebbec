package oauth_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/app"
	"github.com/shoal-dev/shoal/internal/apptest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a server with a person, ann, whose agent is scout, and another one, bob.
type world struct {
	*testing.T
	at       string
	server   *app.Server
	adminKey string
	ann, bob *browser
}

// reply is what came back.
type reply struct {
	status int
	header http.Header
	text   string
	body   map[string]any
}

func start(t *testing.T) *world {
	t.Helper()
	running, key := apptest.Run(t, app.Config{})
	w := &world{T: t, at: running.URL(), server: running, adminKey: key}
	w.ann, w.bob = w.person("ann"), w.person("bob")
	w.api("POST", "/v1/sessions/default/entities", `{"id":"scout","kind":"agent"}`, 201, "X-Shoal-Entity", "ann")
	w.api("PATCH", "/v1/sessions/default/entities/scout", `{"ownerId":"ann"}`, 200)
	w.api("POST", "/v1/sessions/default/spaces", `{"id":"yard","name":"yard","members":["ann"]}`, 201, "X-Shoal-Entity", "ann")
	return w
}

// person creates a person and a browser in which they are signed in.
func (w *world) person(id shoal.EntityID) *browser {
	w.Helper()
	return w.signIn(apptest.PersonKey(w.T, w.server, id, shoal.DoorInvite))
}

func (w *world) signIn(key string) *browser {
	w.Helper()
	b := &browser{world: w}
	in := b.posts("/console/login", map[string]any{"key": key})
	if in.status != 200 {
		w.Fatalf("the sign-in: %d %s", in.status, in.text)
	}
	b.cookie, _, _ = strings.Cut(in.header.Get("Set-Cookie"), ";")
	b.half, _ = in.body["signIn"].(string)
	return b
}

// does makes a request as a program does, with headers in pairs.
func (w *world) does(method, path, body string, headers ...string) (out reply) {
	w.Helper()
	r, err := http.NewRequestWithContext(w.Context(), method, w.at+path, strings.NewReader(body))
	if err != nil {
		w.Fatal(err)
	}
	for i := 1; i < len(headers); i += 2 {
		r.Header.Set(headers[i-1], headers[i])
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Do(r)
	if err != nil {
		w.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		w.Fatal(err)
	}
	out = reply{answer.StatusCode, answer.Header, string(text), map[string]any{}}
	_ = json.Unmarshal(text, &out.body) // not every body is an object
	return out
}

// api makes a call as an admin, which has to succeed.
func (w *world) api(method, path, body string, want int, headers ...string) reply {
	w.Helper()
	got := w.does(method, path, body, append(headers, "Authorization", "Bearer "+w.adminKey, "Content-Type", "application/json")...)
	if got.status != want {
		w.Fatalf("%s %s: %d %s", method, path, got.status, got.text)
	}
	return got
}

func (w *world) form(path string, params ...string) reply {
	w.Helper()
	return w.does("POST", path, values(params...).Encode(), "Content-Type", "application/x-www-form-urlencoded")
}

func values(pairs ...string) url.Values {
	out := url.Values{}
	for i := 1; i < len(pairs); i += 2 {
		out.Set(pairs[i-1], pairs[i])
	}
	return out
}

// browser is that of a person who is signed in.
type browser struct {
	*world
	cookie, half string
}

// posts makes a call as a page of the console does, unless headers in pairs say otherwise; an empty
// value leaves a header out.
func (b *browser) posts(path string, body any, headers ...string) reply {
	b.Helper()
	var text bytes.Buffer
	if err := json.NewEncoder(&text).Encode(body); err != nil {
		b.Fatal(err)
	}
	all := append([]string{"Content-Type", "application/json", "Origin", b.at, "Sec-Fetch-Site", "same-origin", "Cookie", b.cookie, "X-Shoal-Sign-In", b.half}, headers...)
	return b.does("POST", path, text.String(), all...)
}

const verifier = "a-verifier-of-more-than-forty-three-characters-0123456789"

func challengeOf(verifier string) string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

const callback = "http://127.0.0.1:4711/callback"

// register registers a client and returns its id.
func (w *world) register(name string, redirects ...string) string {
	w.Helper()
	if len(redirects) == 0 {
		redirects = []string{"http://127.0.0.1/callback"}
	}
	body, err := json.Marshal(map[string]any{"client_name": name, "redirect_uris": redirects, "token_endpoint_auth_method": "client_secret_basic"})
	if err != nil {
		w.Fatal(err)
	}
	got := w.does("POST", "/oauth/register", string(body), "Content-Type", "application/json")
	id, _ := got.body["client_id"].(string)
	if got.status != 201 || id == "" {
		w.Fatalf("the registration: %d %s", got.status, got.text)
	}
	return id
}

// query is a request of a client, with other parameters in pairs; an empty one is left out.
func (w *world) query(client string, changes ...string) string {
	q := values("response_type", "code", "client_id", client, "redirect_uri", callback, "state", "s-1", "code_challenge", challengeOf(verifier), "code_challenge_method", "S256", "resource", w.at+"/mcp")
	for i := 1; i < len(changes); i += 2 {
		if changes[i] == "" {
			q.Del(changes[i-1])
		} else {
			q.Set(changes[i-1], changes[i])
		}
	}
	return q.Encode()
}

// consents approves a request as a person does who chooses scout, with other members in pairs.
func (b *browser) consents(query string, changes ...any) reply {
	b.Helper()
	body := map[string]any{"query": query, "approve": true, "session": "default", "agent": "scout", "name": "", "spaces": []string{"yard"}, "scopes": []string{}}
	for i := 1; i < len(changes); i += 2 {
		body[changes[i-1].(string)] = changes[i]
	}
	return b.posts("/oauth/decision", body)
}

// code is what the client finds in the address to which a decision leads.
func (w *world) code(decided reply) url.Values {
	w.Helper()
	at, _ := decided.body["url"].(string)
	u, err := url.Parse(at)
	if err != nil || decided.status != 200 || !strings.HasPrefix(at, callback+"?") {
		w.Fatalf("the decision: %d %s", decided.status, decided.text)
	}
	return u.Query()
}

// redeem exchanges a code, with other parameters in pairs.
func (w *world) redeem(client, code string, changes ...string) reply {
	w.Helper()
	params := append([]string{"grant_type", "authorization_code", "client_id", client, "code", code, "redirect_uri", callback, "code_verifier", verifier, "resource", w.at + "/mcp"}, changes...)
	return w.form("/oauth/token", params...)
}

func (w *world) refresh(client string, tokens reply, changes ...string) reply {
	w.Helper()
	return w.form("/oauth/token", append([]string{"grant_type", "refresh_token", "client_id", client, "refresh_token", tokens.body["refresh_token"].(string)}, changes...)...)
}

// granted is a client with its tokens.
func (w *world) granted(client string) reply {
	w.Helper()
	got := w.redeem(client, w.code(w.ann.consents(w.query(client))).Get("code"))
	if got.status != 200 {
		w.Fatalf("the exchange: %d %s", got.status, got.text)
	}
	return got
}

// tool calls a tool with a token, and returns the status and the text.
func (w *world) tool(token, name, arguments string) reply {
	w.Helper()
	return w.does("POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+name+`","arguments":`+arguments+`}}`,
		"Authorization", "Bearer "+token, "Content-Type", "application/json", "Accept", "application/json, text/event-stream")
}

func (w *world) works(tokens reply) bool {
	w.Helper()
	return w.tool(tokens.body["access_token"].(string), "list_threads", `{}`).status == 200
}

// failed reports an answer that is not an OAuth error with a code.
func (w *world) failed(what string, got reply, status int, code string) {
	w.Helper()
	if got.status != status || got.body["error"] != code {
		w.Errorf("%s: %d %s, want %d %s", what, got.status, got.text, status, code)
	}
}

// acts returns the acts of the audit logs of the server and the session, the oldest first.
func (w *world) acts() (out []string) {
	w.Helper()
	for _, path := range []string{"/v1/audit", "/v1/sessions/default/audit"} {
		var page struct {
			Items []struct {
				Act, EntityID string
				Details       map[string]string
			}
		}
		if err := json.Unmarshal([]byte(w.api("GET", path+"?act=client,consent,token&limit=200", "", 200).text), &page); err != nil {
			w.Fatal(err)
		}
		for i := len(page.Items) - 1; i >= 0; i-- {
			r := page.Items[i]
			line := r.Act
			if r.EntityID != "" {
				line += " by " + r.EntityID
			}
			if why := r.Details["why"]; why != "" {
				line += ": " + why
			}
			out = append(out, line)
		}
	}
	return out
}
