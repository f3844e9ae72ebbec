package oauth_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal/internal/shoaltest/oauthtest"
)

const cursor = "cursor://anysphere.cursor-mcp/oauth/callback"

// An app of the desktop that receives the browser by a scheme of its own joins, and the person reads that
// it is a program on this machine. Its redirect URI is compared as a text.
func TestAppsWithASchemeOfTheirOwn(t *testing.T) {
	w := start(t)
	client := w.register("Cursor", cursor, "com.example.app:/back")
	query := w.query(client, "redirect_uri", cursor)
	shown := w.ann.Post("/oauth/request", map[string]any{"query": query})
	if shown.Body["host"] != "cursor:" || shown.Body["local"] != true {
		t.Errorf("the page shows %s", shown.Text)
	}
	decided := w.ann.Consent(query)
	back := oauthtest.Back(t, decided)
	if !strings.HasPrefix(decided.Value("url"), cursor+"?") || back.Get("state") != "s-1" || back.Get("iss") != w.at {
		t.Fatalf("the browser is led to %s", decided.Text)
	}
	w.failed("another app", w.redeem(client, back.Get("code"), "redirect_uri", "com.example.app:/back"), 400, "invalid_grant")
	if got := w.redeem(client, back.Get("code"), "redirect_uri", cursor); got.Status != 200 || !w.works(got) {
		t.Errorf("the exchange: %d %s", got.Status, got.Text)
	}
	if got := w.ann.Consent(w.query(client, "redirect_uri", "com.example.app:/back")); !strings.HasPrefix(got.Value("url"), "com.example.app:/back?") {
		t.Errorf("a scheme without a host: %d %s", got.Status, got.Text)
	}
	led := w.does("GET", "/oauth/authorize?"+w.query(client, "redirect_uri", cursor, "response_type", "token"), "")
	if u, err := url.Parse(led.Header.Get("Location")); err != nil || led.Status != 303 || u.Scheme != "cursor" || u.Query().Get("error") != "unsupported_response_type" {
		t.Errorf("an error: %d %s", led.Status, led.Header.Get("Location"))
	}
	for _, uri := range []string{"cursor://anysphere.cursor-mcp/oauth/callback/", "cursor://anysphere.cursor-mcp:80/oauth/callback", "cursor://evil/oauth/callback", "cursors://anysphere.cursor-mcp/oauth/callback", "CURSOR://anysphere.cursor-mcp/oauth/callback", "cursor://anysphere.cursor-mcp/oauth/callback?x=1"} {
		if got := w.ann.Consent(w.query(client, "redirect_uri", uri)); got.Status != 422 || got.Body["url"] != nil {
			t.Errorf("%s: %d %s", uri, got.Status, got.Text)
		}
	}
}

// Nobody registers a scheme with which a browser or a system does something by itself.
func TestSchemesThatNoAppHas(t *testing.T) {
	w := start(t)
	for _, uri := range []string{
		"javascript:alert(1)", "javascript://app.example/%0aalert(1)", "JavaScript://app.example/%0aalert(1)", "vbscript://x/y", "data:text/html,<script>", "data://x/y", "file:///etc/passwd", "file://host/share",
		"filesystem:https://app.example/", "filesystem://x/y", "blob:https://app.example/1", "blob://x/y", "about://blank/", "view-source://app.example/", "jar://x/y", "chrome://settings/", "chrome-extension://abc/x", "moz-extension://abc/x",
		"intent://x/#Intent;end", "intent://x/y", "content://x/y", "ms-msdt://x/y", "ms-settings://x/y", "search-ms://x/y", "x-apple.systempreferences:/x", "web+app://x/y",
		"http://app.example/cb", "http://127.0.0.1.evil.example/", "http:///cb", "ws://127.0.0.1/", "wss://app.example/", "ftp://app.example/", "mailto:a@app.example", "smb://host/share", "ssh://host/x",
		"app:cb", "app:/cb", "c:/windows", "a://x/y", "com.example.app:cb", "com.example.app:/", "com.example.app:", "app://ann@x/y", "app://x/y#z", "app://x/ y", "://x/y",
	} {
		got := w.does("POST", "/oauth/register", fmt.Sprintf(`{"client_name":"x","redirect_uris":[%q]}`, uri), "Content-Type", "application/json")
		w.failed("registering "+uri, got, 400, "invalid_redirect_uri")
	}
}
