package oauth_test

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/app"
	"github.com/shoal-dev/shoal/internal/apptest"
	"github.com/shoal-dev/shoal/internal/shoaltest/oauthtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a server with a person, ann, whose agent is scout, and another one, bob.
type world struct {
	*testing.T
	at       string
	server   *app.Server
	adminKey string
	ann, bob *oauthtest.Browser
}

func start(t *testing.T) *world {
	t.Helper()
	return startWith(t, app.Config{})
}

func startWith(t *testing.T, config app.Config) *world {
	t.Helper()
	running, key := apptest.Run(t, config)
	w := &world{T: t, at: running.URL(), server: running, adminKey: key}
	w.ann, w.bob = w.person("ann"), w.person("bob")
	w.api("POST", "/v1/sessions/default/entities", `{"id":"scout","kind":"agent"}`, 201, "X-Shoal-Entity", "ann")
	w.api("PATCH", "/v1/sessions/default/entities/scout", `{"ownerId":"ann"}`, 200)
	w.api("POST", "/v1/sessions/default/spaces", `{"id":"yard","name":"yard","members":["ann"]}`, 201, "X-Shoal-Entity", "ann")
	return w
}

// person creates a person and a browser in which they are signed in.
func (w *world) person(id shoal.EntityID) *oauthtest.Browser {
	w.Helper()
	return w.signIn(apptest.PersonKey(w.T, w.server, id, shoal.DoorInvite))
}

func (w *world) signIn(key string) *oauthtest.Browser {
	w.Helper()
	return oauthtest.SignIn(w, w.at, key)
}

// does makes a request as a program does, with headers in pairs.
func (w *world) does(method, path, body string, headers ...string) oauthtest.Reply {
	w.Helper()
	return oauthtest.Do(w, method, w.at+path, body, headers...)
}

// api makes a call as an admin, which has to succeed.
func (w *world) api(method, path, body string, want int, headers ...string) oauthtest.Reply {
	w.Helper()
	got := w.does(method, path, body, append(headers, "Authorization", "Bearer "+w.adminKey, "Content-Type", "application/json")...)
	if got.Status != want {
		w.Fatalf("%s %s: %d %s", method, path, got.Status, got.Text)
	}
	return got
}

// register registers a client and returns its id.
func (w *world) register(name string, redirects ...string) string {
	w.Helper()
	return oauthtest.Register(w, w.at, name, redirects...).ID
}

// query is a request of a client, with other parameters in pairs; an empty one is left out.
func (w *world) query(client string, changes ...string) string {
	return oauthtest.Known(w, client).Query(w.at, changes...)
}

// code is what the client finds in the address to which a decision leads.
func (w *world) code(decided oauthtest.Reply) url.Values {
	w.Helper()
	if at := decided.Value("url"); !strings.HasPrefix(at, oauthtest.Callback+"?") {
		w.Fatalf("the decision: %d %s", decided.Status, decided.Text)
	}
	return oauthtest.Back(w, decided)
}

// redeem exchanges a code, with other parameters in pairs.
func (w *world) redeem(client, code string, changes ...string) oauthtest.Reply {
	w.Helper()
	return oauthtest.Known(w, client).Redeem(w.at, code, append([]string{"resource", w.at + "/mcp"}, changes...)...)
}

func (w *world) refresh(client string, tokens oauthtest.Reply, changes ...string) oauthtest.Reply {
	w.Helper()
	return oauthtest.Known(w, client).Refresh(w.at, tokens, changes...)
}

// granted is a client with its tokens.
func (w *world) granted(client string) oauthtest.Reply {
	w.Helper()
	got := w.redeem(client, w.code(w.ann.Consent(w.query(client))).Get("code"))
	if got.Status != 200 {
		w.Fatalf("the exchange: %d %s", got.Status, got.Text)
	}
	return got
}

// tool calls a tool with a token, and returns the status and the text.
func (w *world) tool(token, name, arguments string) oauthtest.Reply {
	w.Helper()
	return oauthtest.Tool(w, w.at, token, name, arguments)
}

func (w *world) works(tokens oauthtest.Reply) bool {
	w.Helper()
	return oauthtest.Works(w, w.at, tokens)
}

// failed reports an answer that is not an OAuth error with a code.
func (w *world) failed(what string, got oauthtest.Reply, status int, code string) {
	w.Helper()
	if got.Status != status || got.Body["error"] != code {
		w.Errorf("%s: %d %s, want %d %s", what, got.Status, got.Text, status, code)
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
		if err := json.Unmarshal([]byte(w.api("GET", path+"?act=client,consent,token&limit=200", "", 200).Text), &page); err != nil {
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
