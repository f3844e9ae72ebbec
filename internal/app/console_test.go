package app_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/app"
)

// greeted is a running server with the lines that it has greeted with.
type greeted struct {
	*testing.T
	url   string
	lines []string
	log   *quietLog
}

// quietLog is what was logged, at every level.
type quietLog struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements [io.Writer].
func (l *quietLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *quietLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// said takes the one thing that a server says.
type said chan string

// Write implements [io.Writer].
func (s said) Write(p []byte) (int, error) {
	s <- string(p)
	return len(p), nil
}

// greet runs a server until the test ends, and reads its greeting.
func greet(t *testing.T, c app.Config) *greeted {
	t.Helper()
	g := &greeted{T: t, log: &quietLog{}}
	greeting := make(said, 1)
	c.Keys, c.Out, c.Command = func(string) string { return "" }, greeting, "shoal"
	c.Log = slog.New(slog.NewTextHandler(g.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- app.Run(ctx, c) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		http.DefaultClient.CloseIdleConnections()
	})
	select {
	case text := <-greeting:
		g.lines = strings.Split(text, "\n")
	case err := <-ended:
		ended <- nil
		t.Fatal(err)
	}
	_, g.url, _ = strings.Cut(g.lines[0], " is up on ")
	return g
}

// browser keeps cookies, as one does, and calls as the server's own pages do.
type browser struct {
	*greeted
	http *http.Client
	half string // of its sign-in, as the page keeps it
}

func (g *greeted) browser() *browser {
	g.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		g.Fatal(err)
	}
	return &browser{greeted: g, http: &http.Client{Jar: jar}}
}

// does makes a call that must be answered with a status, and returns the answer.
func (b *browser) does(method, path, body string, status int, headers ...string) (string, http.Header) {
	b.Helper()
	req, err := http.NewRequestWithContext(b.Context(), method, b.url+path, strings.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	if method != http.MethodGet {
		req.Header.Set("Origin", b.url)
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	req.Header.Set("X-Shoal-Sign-In", b.half)
	res, err := b.http.Do(req)
	if err != nil {
		b.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		b.Fatal(err)
	}
	if res.StatusCode != status {
		b.Errorf("%s %s = %d %s, want %d", method, path, res.StatusCode, text, status)
	}
	var in struct{ SignIn string }
	if err := json.Unmarshal(text, &in); err == nil && in.SignIn != "" {
		b.half = in.SignIn
	}
	return string(text), res.Header
}

var link = regexp.MustCompile(`^  (http://127\.0\.0\.1:\d+)/#login=([A-Za-z0-9_-]{43})$`)

// The greeting of a server begins with a single-use link that opens the console. The
// browser then has the rights of an admin there, but not in the other APIs.
func TestConsoleFromTheGreeting(t *testing.T) {
	data := t.TempDir()
	g := greet(t, app.Config{Addr: "127.0.0.1:0", Data: data, Terminal: true})
	found := link.FindStringSubmatch(g.lines[3])
	if found == nil || found[1] != g.url || g.lines[4] != "  shoal --url "+g.url+" console --admin" {
		t.Fatalf("the greeting begins\n%s", strings.Join(g.lines, "\n"))
	}
	b := g.browser()
	if page, header := b.does("GET", "/", "", 200); !strings.Contains(page, "<title>") || !strings.Contains(header.Get("Content-Security-Policy"), "script-src 'self'") {
		t.Errorf("the page is %q under %q", page, header.Get("Content-Security-Policy"))
	}
	b.does("GET", "/spaces/welcome", "", 200, "Accept", "text/html")
	b.does("GET", "/v1/me", "", 401)
	b.does("POST", "/console/login", `{"code": "`+found[2]+`"}`, 200)
	if me, _ := b.does("GET", "/v1/me", "", 200, "X-Shoal-Entity", "operator"); !strings.Contains(me, `"role":"admin","sessionId":null,"entityId":"operator"`) {
		t.Errorf("the browser is %s", me)
	}
	b.does("POST", "/v1/sessions/default/spaces/welcome/messages", `{"text": "hello", "triggerAgents": false}`, 201, "X-Shoal-Entity", "operator")
	b.does("PUT", "/v1/sessions/default/renderers/ProductCard", "<p>card", 201, "Content-Type", "text/html")
	if page, header := b.does("GET", "/console/renderers/default/ProductCard/1", "", 200, "Sec-Fetch-Site", "same-origin", "Sec-Fetch-Dest", "iframe"); page != "<p>card" ||
		!strings.HasPrefix(header.Get("Content-Security-Policy"), "sandbox allow-scripts; default-src 'none'; ") {
		t.Errorf("the renderer is %q under %q", page, header.Get("Content-Security-Policy"))
	}

	b.does("POST", "/mcp", `{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}`, 401, "Accept", "application/json, text/event-stream")
	b.does("GET", "/sse", "", 401)
	b.does("POST", "/agui/default/welcome", `{"threadId": "t", "runId": "r", "messages": [], "tools": [], "context": []}`, 401)
	b.does("DELETE", "/v1/sessions/default/entities/scout", "", 403, "Origin", "https://evil.example")
	b.does("GET", "/v1/nothing", "", 404, "Accept", "text/html")
	b.does("GET", "/assets/nothing.js", "", 404, "Accept", "text/html")
	b.does("POST", "/nowhere", "", 404)
	b.does("GET", "/docs", "", 200)
	b.does("GET", "/healthz", "", 200)

	g.browser().does("POST", "/console/login", `{"code": "`+found[2]+`"}`, 401)
	b.does("POST", "/console/logout", "", 204)
	b.does("GET", "/v1/me", "", 401)
	if log := g.log.String(); strings.Contains(log, found[2]) || !strings.Contains(log, "signed in to the console") {
		t.Errorf("the log says\n%s", log)
	}

	key, err := app.ReadAdminKey(data)
	if err != nil {
		t.Fatal(err)
	}
	admin, err := client.New(client.Options{URL: g.url, Key: key, HTTP: http.DefaultClient})
	if err != nil {
		t.Fatal(err)
	}
	another, err := admin.ConsoleLink(t.Context())
	if err != nil || link.FindStringSubmatch("  "+another.URL) == nil || another.ExpiresAt == nil {
		t.Errorf("another link is %+v, %v", another, err)
	}
}

// What is written to a file or a log has no link that signs in, but the command that
// makes one.
func TestGreetingIntoALogHasNoLink(t *testing.T) {
	g := greet(t, app.Config{Addr: "127.0.0.1:0", Data: t.TempDir()})
	all := strings.Join(g.lines, "\n") + g.log.String()
	if strings.Contains(all, "#login=") || !strings.Contains(all, "  shoal --url "+g.url+" console --admin") {
		t.Errorf("the greeting is\n%s", all)
	}
}

// A stream of a browser ends when its key is revoked, or it signs out elsewhere.
func TestConsoleStreamEndsWithItsKey(t *testing.T) {
	g := greet(t, app.Config{Addr: "127.0.0.1:0", Data: t.TempDir(), Terminal: true})
	b := g.browser()
	b.does("POST", "/console/login", `{"code": "`+link.FindStringSubmatch(g.lines[3])[2]+`"}`, 200)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, g.url+"/v1/sessions/default/events", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Shoal-Sign-In", b.half)
	res, err := b.http.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	stream := bufio.NewReader(res.Body)
	if first, err := stream.ReadString('\n'); err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("the stream is %d %s %v", res.StatusCode, first, err)
	}
	b.does("POST", "/console/logout", "", 204)
	if _, err := io.Copy(io.Discard, stream); err != nil {
		t.Errorf("the stream ends with %v", err)
	}
}

// Where nobody has to sign in, the greeting says the plain address, and a browser
// may go on at once.
func TestConsoleWithoutSigningIn(t *testing.T) {
	g := greet(t, app.Config{Addr: "127.0.0.1:0", Data: t.TempDir(), Auth: "off"})
	if g.lines[3] != "  "+g.url+"/" {
		t.Errorf("the greeting begins\n%s", strings.Join(g.lines, "\n"))
	}
	if me, _ := g.browser().does("GET", "/v1/me", "", 200, "X-Shoal-Entity", string(shoal.Operator)); !strings.Contains(me, `"entityId":"operator"`) {
		t.Errorf("the browser is %s", me)
	}
}

// A server that listens everywhere is reached as localhost from its own machine.
func TestConsoleOfAPublicServer(t *testing.T) {
	g := greet(t, app.Config{Addr: "0.0.0.0:0", Insecure: true, Data: t.TempDir(), Terminal: true})
	if !regexp.MustCompile(`^  http://localhost:\d+/#login=`).MatchString(g.lines[3]) {
		t.Errorf("the greeting begins\n%s", strings.Join(g.lines, "\n"))
	}
}
