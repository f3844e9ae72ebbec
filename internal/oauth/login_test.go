package oauth_test

import (
	"strings"
	"testing"

	"github.com/shoal-dev/shoal/internal/shoaltest/oauthtest"
)

// loginQuery is a request of a client to act as the person, with other parameters in pairs.
func (w *world) loginQuery(client string, changes ...string) string {
	return w.query(client, append([]string{"resource", w.at + "/v1"}, changes...)...)
}

// logsIn decides about a request as the page for logins does.
func logsIn(b *oauthtest.Browser, query string) oauthtest.Reply {
	return b.Post("/oauth/decision", map[string]any{"query": query, "login": true, "approve": true, "session": "default"})
}

// A program that is signed in as a person is that person at every door, and is listed beside their browsers.
func TestLoginsArePersons(t *testing.T) {
	w := start(t)
	client := w.register("Command line on lab")
	code := oauthtest.Back(t, logsIn(w.ann, w.loginQuery(client))).Get("code")
	w.failed("another resource", w.redeem(client, code), 400, "invalid_target")
	got := w.redeem(client, code, "resource", w.at+"/v1")
	token := got.Value("access_token")
	me := w.does("GET", "/v1/me", "", "Authorization", "Bearer "+token)
	if me.Status != 200 || me.Body["entityId"] != "ann" || me.Body["role"] != "entity" || got.Body["expires_in"] != 3600.0 || got.Body["scope"] != nil {
		t.Fatalf("the tokens are %s, and they are of %s", got.Text, me.Text)
	}
	if tool := w.tool(token, "send_message", `{"threadId":"yard","content":"hello"}`); tool.Status != 200 || strings.Contains(tool.Text, `"isError":true`) {
		t.Errorf("a message over MCP: %d %s", tool.Status, tool.Text)
	}
	listed := w.does("GET", "/v1/keys?signIns=true", "", "Authorization", "Bearer "+token)
	if strings.Count(listed.Text, `"device":"Command line on lab"`) != 1 {
		t.Errorf("the sign-ins are %s", listed.Text)
	}
	renewed := w.refresh(client, got, "resource", w.at+"/v1")
	if at := w.does("GET", "/v1/me", "", "Authorization", "Bearer "+renewed.Value("access_token")); renewed.Status != 200 || at.Body["keyId"] != me.Body["keyId"] {
		t.Errorf("renewed: %s, %s", renewed.Text, at.Text)
	}
	if end := w.does("DELETE", "/v1/keys/"+me.Body["keyId"].(string), "", "Authorization", "Bearer "+renewed.Value("access_token")); end.Status != 204 {
		t.Errorf("ann ends it: %d %s", end.Status, end.Text)
	}
	w.failed("after that", w.refresh(client, renewed), 400, "invalid_grant")
	if acts := strings.Join(w.acts(), ", "); !strings.Contains(acts, "consent.give by ann, token.issue by ann, token.refresh by ann") {
		t.Errorf("the audit log has %s", acts)
	}
}

// Nobody gets more than the page has shown, and nobody lends more than they are.
func TestLoginsOfOthers(t *testing.T) {
	w := start(t)
	client := w.register("codex", "http://127.0.0.1/callback", "https://app.example/back", "cursor://app/back")
	if got := w.ann.Consent(w.loginQuery(client)); got.Status != 422 || got.Body["url"] != nil {
		t.Errorf("the page for agents approves a login: %d %s", got.Status, got.Text)
	}
	if got := logsIn(w.ann, w.query(client)); got.Status != 422 || got.Body["url"] != nil {
		t.Errorf("the page for logins approves an agent: %d %s", got.Status, got.Text)
	}
	if got := w.ann.Post("/oauth/request", map[string]any{"query": w.query(client), "login": true}); !strings.HasPrefix(got.Value("url"), w.at+"/join?request=") {
		t.Errorf("the page for logins shows an agent: %s", got.Text)
	}
	for _, uri := range []string{"https://app.example/back", "cursor://app/back"} {
		if got := logsIn(w.ann, w.loginQuery(client, "redirect_uri", uri)); got.Status != 422 || got.Body["url"] != nil {
			t.Errorf("a login leads to %s: %d %s", uri, got.Status, got.Text)
		}
	}
	for _, query := range []string{w.query(client, "redirect_uri", w.at+"/oauth/code"), w.loginQuery(client, "redirect_uri", "https://else.example/oauth/code"), w.loginQuery(client, "redirect_uri", w.at+"/oauth/code/")} {
		if got := logsIn(w.ann, query); got.Status != 422 || got.Body["url"] != nil {
			t.Errorf("a code is shown for %s: %d %s", query, got.Status, got.Text)
		}
	}
	if got := logsIn(w.ann, w.loginQuery(client, "redirect_uri", w.at+"/oauth/code")); !strings.HasPrefix(got.Value("url"), w.at+"/oauth/code?") {
		t.Errorf("the page with the code: %d %s", got.Status, got.Text)
	}
	for uri, local := range map[string]bool{w.at + "/oauth/code": false, oauthtest.Callback: true} {
		if got := w.ann.Post("/oauth/request", map[string]any{"query": w.loginQuery(client, "redirect_uri", uri), "login": true}); got.Body["local"] != local {
			t.Errorf("the page shows for %s: %s", uri, got.Text)
		}
	}
	limited := w.signIn(w.api("POST", "/v1/keys", `{"role":"entity","entityId":"bob","scopes":["read","post"]}`, 201).Body["key"].(string))
	agent := w.signIn(w.api("POST", "/v1/keys", `{"role":"entity","entityId":"scout"}`, 201).Body["key"].(string))
	for what, b := range map[string]*oauthtest.Browser{"an admin": w.signIn(w.adminKey), "a key with scopes": limited, "an agent": agent} {
		if got := logsIn(b, w.loginQuery(client)); got.Status != 403 || got.Body["url"] != nil {
			t.Errorf("%s signs a program in: %d %s", what, got.Status, got.Text)
		}
	}

	// What a login makes ends no later than the key that its person has signed in with.
	w.api("PATCH", "/v1/sessions/default/entities/bob", `{"sessionRole":"owner"}`, 200)
	for key, want := range map[string]int{`{"role":"entity","entityId":"bob"}`: 201, `{"role":"entity","entityId":"bob","expiresAt":"2099-01-01T00:00:00.000Z"}`: 403} {
		bob := w.signIn(w.api("POST", "/v1/keys", key, 201).Body["key"].(string))
		token := w.redeem(client, oauthtest.Back(t, logsIn(bob, w.loginQuery(client))).Get("code"), "resource", w.at+"/v1").Value("access_token")
		if got := w.does("POST", "/v1/keys", `{"role":"entity","entityId":"scout"}`, "Authorization", "Bearer "+token, "Content-Type", "application/json"); got.Status != want {
			t.Errorf("a login with %s makes a key: %d %s", key, got.Status, got.Text)
		}
	}
}
