package console_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"go.uber.org/goleak"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/auth"
	"github.com/shoal-dev/shoal/internal/console"
	"github.com/shoal-dev/shoal/internal/guard"
	"github.com/shoal-dev/shoal/internal/hub"
	"github.com/shoal-dev/shoal/internal/localbus"
	"github.com/shoal-dev/shoal/internal/shoaltest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var root = shoal.Principal{Role: shoal.RoleAdmin, KeyID: "root"}

// pages are a build as the handler sees one.
var pages = fstest.MapFS{
	"index.html":          {Data: []byte("<!doctype html><title>Shoal</title>" + strings.Repeat("<p>A page.</p>", 50))},
	"favicon.svg":         {Data: []byte("<svg xmlns='http://www.w3.org/2000/svg'/>")},
	"sw.js":               {Data: []byte("addEventListener('fetch', () => {});")},
	"assets/app-1a2b.js":  {Data: []byte(strings.Repeat("console.log('here');", 100))},
	"assets/app-3c4d.css": {Data: []byte(strings.Repeat("p { color: red }", 100))},
	"assets/ink-5e6f.png": {Data: []byte(strings.Repeat("0", 1000))},
}

// world is a console with its dependencies. It needs no network: requests go directly to
// the handler, so that it works in a synctest bubble.
type world struct {
	*testing.T
	console *console.Console
	handler http.Handler
	auth    *auth.Authenticator
	hub     *hub.Hub
	log     *logText
}

// logText is what was logged, at every level.
type logText struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements [io.Writer].
func (l *logText) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func newWorld(t *testing.T, open bool) *world {
	t.Helper()
	w := &world{T: t, log: &logText{}}
	log := slog.New(slog.NewTextHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	w.hub = hub.New(hub.Options{Store: shoaltest.OpenSQLite(t), Bus: localbus.New(), Log: log})
	if err := w.hub.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.hub.Stop)
	g, err := guard.New(guard.Options{AllowHosts: []string{"shoal.example"}, AllowOrigins: []string{"https://shoal.example"}})
	if err != nil {
		t.Fatal(err)
	}
	w.auth = auth.New(w.hub, auth.Options{Off: open, Guard: g})
	w.console, err = console.New(console.Options{
		Auth: w.auth, Guard: g, Pages: pages, Open: open, Log: log,
		Else: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			guard.WriteProblem(w, shoal.E("else", shoal.NotFound, "This is somebody else's."))
		}),
	})
	if err != nil {
		t.Fatal(err)
	}
	w.handler = g.Wrap(w.console.Handler())
	return w
}

// createKey creates a key and returns its id and secret.
func (w *world) createKey(n shoal.NewKey) (shoal.KeyID, string) {
	w.Helper()
	key, err := w.auth.CreateKey(context.Background(), root, n, "")
	if err != nil {
		w.Fatal(err)
	}
	return key.ID, *key.Secret
}

// code returns the code of a new link.
func (w *world) code() string {
	w.Helper()
	_, code, found := strings.Cut(w.console.Link("http://"+here).URL, "#login=")
	if !found {
		w.Fatal("the link has no code")
	}
	return code
}

const here = "127.0.0.1:7462"

// browser stores cookies as a browser does, and sends them to one host.
type browser struct {
	*world
	host string
	kept map[string]string
	half string // of its sign-in, as the page keeps it
}

func (w *world) browser() *browser { return &browser{world: w, host: here, kept: map[string]string{}} }

// answer is what came back.
type answer struct {
	*testing.T
	status int
	header http.Header
	body   string
}

// does makes a request as a page of the server's own does, with headers in pairs;
// an empty value leaves a header out.
func (b *browser) does(method, path, body string, headers ...string) answer {
	b.Helper()
	var content io.Reader = http.NoBody
	if body != "" {
		content = strings.NewReader(body)
	}
	r := httptest.NewRequest(method, path, content)
	r.Host = b.host
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if method == http.MethodPost {
		r.Header.Set("Origin", "http://"+b.host)
	}
	for i := 0; i < len(headers); i += 2 {
		if r.Header.Set(headers[i], headers[i+1]); headers[i+1] == "" {
			r.Header.Del(headers[i])
		}
	}
	for name, value := range b.kept {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	r.Header.Set("X-Shoal-Sign-In", b.half)
	w := &recorder{ResponseRecorder: httptest.NewRecorder()}
	b.handler.ServeHTTP(w, r)
	var in struct{ SignIn string }
	if err := json.Unmarshal(w.Body.Bytes(), &in); err == nil && in.SignIn != "" {
		b.half = in.SignIn
	}
	for _, c := range w.Result().Cookies() {
		if b.kept[c.Name] = c.Value; c.MaxAge < 0 {
			delete(b.kept, c.Name)
		}
	}
	return answer{b.T, w.Code, w.Header(), w.Body.String()}
}

// recorder is a connection that takes deadlines.
type recorder struct{ *httptest.ResponseRecorder }

// SetReadDeadline implements what http.ResponseController looks for.
func (*recorder) SetReadDeadline(time.Time) error { return nil }

// SetWriteDeadline implements what http.ResponseController looks for.
func (*recorder) SetWriteDeadline(time.Time) error { return nil }

// wants checks the status and what the body says.
func (a answer) wants(status int, says string) answer {
	a.Helper()
	if a.status != status || !strings.Contains(a.body, says) {
		a.Errorf("the answer is %d %s, want %d with %q", a.status, a.body, status, says)
	}
	return a
}

// is returns the identity of the browser on the server.
func (b *browser) is() string {
	b.Helper()
	r := httptest.NewRequest(http.MethodGet, "/v1/me", http.NoBody)
	r.Host = b.host
	for name, value := range b.kept {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	r.Header.Set("X-Shoal-Sign-In", b.half)
	caller, err := b.auth.Principal(r)
	if err != nil {
		return string(shoal.KindOf(err))
	}
	return fmt.Sprint(caller.Role, " ", caller.EntityID)
}
