package oauth_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal/internal/shoaltest/oauthtest"
)

// A client that only knows the address of the server joins as an agent: it finds the authorization
// server, registers, gets a code from a person, and calls tools with the token; the token is a key.
func TestAClientJoins(t *testing.T) {
	w := start(t)
	refused := w.does("POST", "/mcp", `{}`, "Content-Type", "application/json")
	want := `Bearer resource_metadata="` + w.at + `/.well-known/oauth-protected-resource/mcp"`
	if got := refused.Header.Get("WWW-Authenticate"); refused.Status != 401 || got != want {
		t.Errorf("without a token: %d %s", refused.Status, got)
	}
	if got := w.does("GET", "/sse", "", "Authorization", "Bearer nothing").Header.Get("WWW-Authenticate"); got != `Bearer error="invalid_token", resource_metadata="`+w.at+`/.well-known/oauth-protected-resource/sse"` {
		t.Errorf("with a wrong token: %s", got)
	}
	for path, resource := range map[string]string{"/mcp": w.at + "/mcp", "/sse": w.at + "/sse", "": w.at} {
		got := w.does("GET", "/.well-known/oauth-protected-resource"+path, "")
		if got.Status != 200 || got.Body["resource"] != resource || fmt.Sprint(got.Body["authorization_servers"]) != "["+w.at+"]" {
			t.Errorf("the metadata of %q: %d %s", path, got.Status, got.Text)
		}
	}
	about := w.does("GET", "/.well-known/oauth-authorization-server", "")
	if about.Body["issuer"] != w.at || fmt.Sprint(about.Body["code_challenge_methods_supported"]) != "[S256]" || about.Body["authorization_response_iss_parameter_supported"] != true {
		t.Errorf("the metadata of the server: %d %s", about.Status, about.Text)
	}

	client := w.register("Claude  Code\n")
	led := w.does("GET", "/oauth/authorize?"+w.query(client), "", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document")
	page, err := url.Parse(led.Header.Get("Location"))
	if err != nil || led.Status != http.StatusSeeOther || page.Path != "/join" || page.Query().Get("request") != w.query(client) {
		t.Fatalf("the browser is led to %d %s", led.Status, led.Header)
	}
	shown := w.ann.Post("/oauth/request", map[string]any{"query": page.Query().Get("request")})
	if shown.Body["client"] != "Claude Code" || shown.Body["host"] != "127.0.0.1:4711" || shown.Body["local"] != true || shown.Body["agent"] != "claude-code" {
		t.Errorf("the page shows %s", shown.Text)
	}
	back := w.code(w.ann.Consent(w.query(client), "agent", "claude-code", "name", "Claude Code", "scopes", []string{"read", "post"}))
	if back.Get("state") != "s-1" || back.Get("iss") != w.at || back.Get("code") == "" {
		t.Fatalf("the client gets %v", back)
	}
	tokens := w.redeem(client, back.Get("code"))
	if tokens.Status != 200 || tokens.Body["token_type"] != "Bearer" || tokens.Body["expires_in"] != 3600.0 || tokens.Body["scope"] != "read post" || tokens.Header.Get("Cache-Control") != "no-store" {
		t.Fatalf("the tokens: %d %s", tokens.Status, tokens.Text)
	}
	token := tokens.Body["access_token"].(string)
	if got := w.tool(token, "send_message", `{"threadId":"yard","content":"hello"}`); got.Status != 200 || strings.Contains(got.Text, `"isError":true`) {
		t.Errorf("a message: %d %s", got.Status, got.Text)
	}
	if got := w.tool(token, "create_thread", `{"threadName":"x"}`); !strings.Contains(got.Text, "takes a key without scopes") {
		t.Errorf("what the scopes leave out: %d %s", got.Status, got.Text)
	}
	agent := w.api("GET", "/v1/sessions/default/entities/claude-code", "", 200)
	if agent.Body["kind"] != "agent" || agent.Body["ownerId"] != "ann" {
		t.Errorf("the agent: %s", agent.Text)
	}
	if keys := w.api("GET", "/v1/keys?limit=200", "", 200); strings.Count(keys.Text, `"name":"Claude Code"`) != 1 || strings.Contains(keys.Text, token) {
		t.Errorf("the keys: %s", keys.Text)
	}
	for _, path := range []string{"/v1/me", "/v1/sessions/default/events", "/openai/v1/models"} {
		if got := w.does("GET", path, "", "Authorization", "Bearer "+token); got.Status != 401 {
			t.Errorf("the token at %s: %d %s", path, got.Status, got.Text)
		}
	}
	denied := w.code(w.bob.Consent(w.query(client), "approve", false))
	if denied.Get("error") != "access_denied" || denied.Get("state") != "s-1" || denied.Get("iss") != w.at || denied.Has("code") {
		t.Errorf("a person who denies: %v", denied)
	}
	if got := strings.Join(w.acts(), ", "); got != "client.register, consent.give by ann, token.issue by claude-code, consent.deny by bob" {
		t.Errorf("the audit log has %s", got)
	}
}

// Tokens are renewed under the same key, which everything that is open goes on with, and end with it.
func TestTokensAreRenewedAndEnd(t *testing.T) {
	w := start(t)
	client := w.register("codex")
	first := w.granted(client)
	second := w.refresh(client, first)
	if second.Status != 200 || !w.works(second) || w.works(first) {
		t.Fatalf("renewed: %d %s, works %v, the first one %v", second.Status, second.Text, w.works(second), w.works(first))
	}
	w.failed("another client", w.refresh(w.register("other"), second), 400, "invalid_grant")
	w.failed("an unknown client", w.refresh("client_none", second), 401, "invalid_client")
	w.failed("another resource", w.refresh(client, second, "resource", "https://else.example/mcp"), 400, "invalid_target")
	if !w.works(second) {
		t.Error("refusals end a grant")
	}
	w.failed("a refresh token that was used", w.refresh(client, first), 400, "invalid_grant")
	if w.works(second) {
		t.Error("the copy of a refresh token was used, and the grant goes on")
	}
	w.failed("the newest one after that", w.refresh(client, second), 400, "invalid_grant")

	for what, end := range map[string]func(tokens oauthtest.Reply){
		"its access token revoked": func(g oauthtest.Reply) {
			oauthtest.Known(w, client).Revoke(w.at, g.Value("access_token"))
		},
		"its refresh token revoked": func(g oauthtest.Reply) {
			oauthtest.Known(w, client).Revoke(w.at, g.Value("refresh_token"))
		},
		"its key revoked": func(oauthtest.Reply) {
			keys := w.api("GET", "/v1/keys?limit=200", "", 200)
			for _, k := range keys.Body["items"].([]any) {
				if key := k.(map[string]any); key["name"] == "codex" {
					if got := w.does("POST", "/v1/keys/"+key["id"].(string)+"/rotate", `{}`, "Authorization", "Bearer "+w.adminKey, "Content-Type", "application/json"); got.Status != 409 {
						t.Errorf("it is rotated: %d %s", got.Status, got.Text)
					}
					w.api("DELETE", "/v1/keys/"+key["id"].(string), "", 204)
				}
			}
		},
		"another client revokes it": nil,
	} {
		g := w.granted(client)
		if end == nil {
			oauthtest.Register(w, w.at, "else").Revoke(w.at, g.Value("access_token"))
			if !w.works(g) {
				t.Error(what)
			}
			continue
		}
		end(g)
		if w.works(g) {
			t.Errorf("%s, and the client goes on", what)
		}
		w.failed(what, w.refresh(client, g), 400, "invalid_grant")
	}
	acts := w.acts()
	for _, want := range []string{"token.refresh by scout", "token.revoke by scout: a refresh token was used twice", "token.revoke by scout: by the client"} {
		if !slices.Contains(acts, want) {
			t.Errorf("the audit log has no %s: %v", want, acts)
		}
	}
}

// A code works once, for who asked for it.
func TestCodesOfOthers(t *testing.T) {
	w := start(t)
	client, other := w.register("codex"), w.register("evil")
	code := w.code(w.ann.Consent(w.query(client))).Get("code")
	for what, c := range map[string]struct {
		client string
		change []string
		status int
		code   string
	}{
		"another client":             {other, nil, 400, "invalid_grant"},
		"no verifier":                {client, []string{"code_verifier", ""}, 400, "invalid_request"},
		"another verifier":           {client, []string{"code_verifier", oauthtest.Verifier + "x"}, 400, "invalid_grant"},
		"the challenge as verifier":  {client, []string{"code_verifier", oauthtest.Challenge(oauthtest.Verifier)}, 400, "invalid_grant"},
		"another redirect URI":       {client, []string{"redirect_uri", "http://127.0.0.1:4712/callback"}, 400, "invalid_grant"},
		"another resource":           {client, []string{"resource", "https://else.example/mcp"}, 400, "invalid_target"},
		"another code":               {client, []string{"code", code + "x"}, 400, "invalid_grant"},
		"another grant type":         {client, []string{"grant_type", "password"}, 400, "unsupported_grant_type"},
		"a client that is not known": {"client_x", nil, 401, "invalid_client"},
	} {
		w.failed(what, w.redeem(c.client, code, c.change...), c.status, c.code)
	}
	if got := w.does("POST", "/oauth/token", `{"grant_type":"authorization_code"}`, "Content-Type", "application/json"); got.Status != 400 {
		t.Errorf("JSON: %d %s", got.Status, got.Text)
	}
	w.failed("a parameter twice", w.does("POST", "/oauth/token", "grant_type=x&grant_type=y", "Content-Type", "application/x-www-form-urlencoded"), 400, "invalid_request")
	tokens := w.redeem(client, code)
	if tokens.Status != 200 || !w.works(tokens) {
		t.Fatalf("after that the code is not exchanged: %d %s", tokens.Status, tokens.Text)
	}
	w.failed("the code again", w.redeem(client, code), 400, "invalid_grant")
	if w.works(tokens) {
		t.Error("a code was used twice, and its token works")
	}
}

// A browser is led to addresses that the client has registered, and to no other.
func TestRequestsThatLeadNowhere(t *testing.T) {
	w := start(t)
	client := w.register("codex", "http://127.0.0.1/callback", "https://app.example/back?tenant=1")
	for _, uri := range []string{
		"https://evil.example/callback", "http://127.0.0.1:4711/callback/", "http://127.0.0.1:4711/callback?x=1", "http://127.0.0.1.evil.example/callback", "http://127.0.0.1:4711@evil.example/callback",
		"https://127.0.0.1:4711/callback", "http://localhost:4711/callback", "https://app.example:8443/back?tenant=1", "https://app.example/back", "//evil.example", "javascript:alert(1)", "",
	} {
		query := w.query(client, "redirect_uri", uri)
		if got := w.does("GET", "/oauth/authorize?"+query, ""); got.Status != 422 || got.Header.Get("Location") != "" {
			t.Errorf("%q: %d %s", uri, got.Status, got.Header.Get("Location"))
		}
		if got := w.ann.Consent(query); got.Status != 422 || got.Body["url"] != nil {
			t.Errorf("a consent for %q: %d %s", uri, got.Status, got.Text)
		}
	}
	for _, query := range []string{"", w.query("client_none"), w.query(client) + "&client_id=" + w.register("x"), w.query(client) + "&redirect_uri=https://evil.example"} {
		if got := w.does("GET", "/oauth/authorize?"+query, ""); got.Status != 422 || got.Header.Get("Location") != "" || !strings.Contains(got.Header.Get("Content-Security-Policy"), "frame-ancestors 'none'") {
			t.Errorf("%q: %d %s", query, got.Status, got.Header)
		}
	}
	for code, query := range map[string]string{
		"invalid_request no method":         w.query(client, "code_challenge_method", ""),
		"invalid_request plain":             w.query(client, "code_challenge_method", "plain"),
		"invalid_request no challenge":      w.query(client, "code_challenge", ""),
		"invalid_request a short challenge": w.query(client, "code_challenge", "abc"),
		"invalid_request twice":             w.query(client) + "&state=other",
		"unsupported_response_type token":   w.query(client, "response_type", "token"),
		"invalid_target another server":     w.query(client, "resource", "https://else.example/mcp"),
	} {
		code, what, _ := strings.Cut(code, " ")
		got := w.does("GET", "/oauth/authorize?"+query, "")
		u, err := url.Parse(got.Header.Get("Location"))
		if err != nil || got.Status != 303 || !strings.HasPrefix(u.String(), oauthtest.Callback+"?") || u.Query().Get("error") != code || u.Query().Get("state") != "s-1" || u.Query().Get("iss") != w.at {
			t.Errorf("%s: %d %s", what, got.Status, got.Header.Get("Location"))
		}
		if got := w.ann.Consent(query); got.Status != 422 {
			t.Errorf("a consent with %s: %d %s", what, got.Status, got.Text)
		}
	}
	for _, uri := range []string{"http://app.example/cb", "ftp://127.0.0.1/", "https://", "https://user@app.example/", "https://app.example/#x", "https://app.example/ x", `https://app.example\@evil.example/`, "/callback"} {
		w.failed("registering "+uri, w.does("POST", "/oauth/register", fmt.Sprintf(`{"client_name":"x","redirect_uris":[%q]}`, uri), "Content-Type", "application/json"), 400, "invalid_redirect_uri")
	}
}

// Nobody but a person on the console's own page consents, and only for what is theirs.
func TestConsentsOfOthers(t *testing.T) {
	w := start(t)
	client := w.register("codex")
	query := w.query(client)
	body := map[string]any{"query": query, "approve": true, "session": "default", "agent": "scout", "name": "", "spaces": []string{}, "scopes": []string{}}
	for what, headers := range map[string][]string{
		"another site":               {"Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site"},
		"another port of the host":   {"Origin", "http://127.0.0.1:1", "Sec-Fetch-Site", "same-site"},
		"no origin":                  {"Origin", "", "Sec-Fetch-Site", ""},
		"a form":                     {"Content-Type", "application/x-www-form-urlencoded"},
		"the cookie alone":           {"X-Shoal-Sign-In", ""},
		"the page's half alone":      {"Cookie", ""},
		"a key instead of a sign-in": {"Cookie", "", "X-Shoal-Sign-In", "", "Authorization", "Bearer " + w.adminKey},
	} {
		for _, path := range []string{"/oauth/decision", "/oauth/request"} {
			if got := w.ann.Post(path, body, headers...); got.Status < 400 || got.Body["url"] != nil {
				t.Errorf("%s at %s: %d %s", what, path, got.Status, got.Text)
			}
		}
	}
	w.api("PATCH", "/v1/sessions/default/entities/scout", `{"sessionRole":"owner"}`, 200)
	agentOf := w.signIn(w.api("POST", "/v1/keys", `{"role":"entity","entityId":"scout"}`, 201).Body["key"].(string))
	guest := w.person("gus")
	w.api("PATCH", "/v1/sessions/default/entities/gus", `{"sessionRole":"guest"}`, 200)
	limited := w.signIn(w.api("POST", "/v1/keys", `{"role":"entity","entityId":"bob","scopes":["read","post"]}`, 201).Body["key"].(string))
	for what, c := range map[string]struct {
		by      *oauthtest.Browser
		changes []any
		status  int
	}{
		"an agent of somebody else":       {w.bob, []any{"spaces", []string{}}, 403},
		"an agent that may more":          {w.ann, nil, 403},
		"a person":                        {w.ann, []any{"agent", "bob"}, 403},
		"oneself":                         {w.ann, []any{"agent", "ann"}, 403},
		"an agent that the server runs":   {w.signIn(w.adminKey), []any{"agent", "shop-agent"}, 409},
		"a space of others":               {w.bob, []any{"agent", "b1", "name", "B1"}, 404},
		"a new agent with a taken id":     {w.bob, []any{"agent", "scout", "name", "Scout", "spaces", []string{}}, 409},
		"a new agent called like Shoal":   {w.bob, []any{"agent", "b2", "name", "Admin", "spaces", []string{}}, 422},
		"a scope that is not known":       {w.bob, []any{"agent", "b3", "name", "B3", "spaces", []string{}, "scopes", []string{"everything"}}, 422},
		"another session":                 {w.bob, []any{"agent", "b4", "name", "B4", "spaces", []string{}, "session", "else"}, 404},
		"an agent that consents":          {agentOf, []any{"agent", "b5", "name", "B5", "spaces", []string{}}, 403},
		"a guest":                         {guest, []any{"agent", "b6", "name", "B6", "spaces", []string{}}, 403},
		"a person whose key has scopes":   {limited, []any{"agent", "b7", "name", "B7", "spaces", []string{}}, 403},
		"more than the client asked for":  {w.bob, []any{"query", w.query(client, "scope", "read"), "agent", "b8", "name", "B8", "spaces", []string{}, "scopes", []string{"read", "post"}}, 422},
		"everything where it asked for 1": {w.bob, []any{"query", w.query(client, "scope", "read offline_access"), "agent", "b9", "name", "B9", "spaces", []string{}}, 422},
	} {
		if got := c.by.Consent(query, c.changes...); got.Status != c.status || got.Body["url"] != nil {
			t.Errorf("%s: %d %s, want %d", what, got.Status, got.Text, c.status)
		}
	}
	for _, id := range []string{"b1", "b4", "b6", "b8"} {
		if got := w.does("GET", "/v1/sessions/default/entities/"+id, "", "Authorization", "Bearer "+w.adminKey); got.Status != 404 {
			t.Errorf("a consent that was refused has created %s", id)
		}
	}
	short := w.signIn(w.api("POST", "/v1/keys", `{"role":"entity","entityId":"bob","expiresAt":"2099-01-01T00:00:00.000Z"}`, 201).Body["key"].(string))
	if got := short.Consent(query, "agent", "b10", "name", "B10", "spaces", []string{}); got.Status != 200 {
		t.Errorf("a person whose key ends: %d %s", got.Status, got.Text)
	}
}

// Clients register at a bounded rate, under names that people can read.
func TestRegistrationsAreBounded(t *testing.T) {
	w := start(t)
	names := map[string]string{"": "Unnamed program", "Shoal": "Unnamed program", "a\u202eb": "Unnamed program", "  Claude\t Code ": "Claude Code", strings.Repeat("x", 500): strings.Repeat("x", 59) + "…"}
	for given, want := range names {
		got := w.ann.Post("/oauth/request", map[string]any{"query": w.query(w.register(given))})
		if got.Body["client"] != want {
			t.Errorf("%q is shown as %s", given, got.Text)
		}
	}
	for range 20 - len(names) {
		w.register("more")
	}
	if got := w.does("POST", "/oauth/register", `{"redirect_uris":["http://127.0.0.1/"]}`, "Content-Type", "application/json"); got.Status != 429 || got.Header.Get("Retry-After") == "" {
		t.Errorf("the 21st: %d %s", got.Status, got.Text)
	}
}
