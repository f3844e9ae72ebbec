package oauth_test

import (
	"cmp"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/app"
	"github.com/shoal-dev/shoal/internal/shoaltest/oauthtest"
	"github.com/shoal-dev/shoal/internal/shoaltest/tlstest"
)

// publisher serves metadata documents over TLS at addresses of this machine, and counts how often each
// path is read.
type publisher struct {
	*httptest.Server
	mu    sync.Mutex
	pages map[string]http.HandlerFunc
	reads map[string]int
}

// publish starts a publisher at an address. The server under test has to trust the certificate.
func publish(t *testing.T, pair *tlstest.Pair, ip string) *publisher {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", ip+":0")
	if err != nil {
		t.Fatal(err)
	}
	p := &publisher{pages: map[string]http.HandlerFunc{}, reads: map[string]int{}}
	p.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		p.reads[r.URL.Path]++
		page := p.pages[r.URL.Path]
		p.mu.Unlock()
		if page == nil {
			page = http.NotFound
		}
		page(w, r)
	}))
	_ = p.Listener.Close() // of httptest
	p.Listener = l
	p.TLS = &tls.Config{Certificates: []tls.Certificate{pair.Certificate}}
	p.StartTLS()
	t.Cleanup(p.Close)
	return p
}

// document publishes members of a document at a path and returns its address, which is its client_id
// unless the members have another one.
func (p *publisher) document(path, members string, headers ...string) (id string) {
	id = p.URL + path
	text := fmt.Sprintf(`{"client_id":%q,%s}`, id, members)
	if strings.Contains(members, `"client_id"`) {
		text = "{" + members + "}"
	}
	p.page(path, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for i := 1; i < len(headers); i += 2 {
			w.Header().Set(headers[i-1], headers[i])
		}
		_, _ = w.Write([]byte(text))
	})
	return id
}

func (p *publisher) page(path string, page http.HandlerFunc) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pages[path] = page
}

func (p *publisher) read(path string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.reads[path]
}

const local = `"redirect_uris":["http://127.0.0.1/callback"]`

// A client whose id is the address of a document joins without registering, and its document is read for
// a person only, once for a while. What strangers publish is refused with a reason, and leads nowhere.
func TestClientsThatDescribeThemselves(t *testing.T) {
	pair := tlstest.New(t, "127.0.0.1", "127.0.0.2")
	t.Setenv("SSL_CERT_FILE", pair.CertFile) // read at the first connection over TLS
	w := startWith(t, app.Config{ClientDocuments: "on", AllowPrivate: []string{"127.0.0.1/32"}})
	p, private := publish(t, pair, "127.0.0.1"), publish(t, pair, "127.0.0.2")
	if got := w.does("GET", "/.well-known/oauth-authorization-server", ""); got.Body["client_id_metadata_document_supported"] != true {
		t.Errorf("the metadata: %s", got.Text)
	}
	w.joinsByDocument(p)
	w.readsAgain(p)
	w.refusesDocuments(p, private)
}

// readsAgain shows what becomes of documents that were read long ago.
func (w *world) readsAgain(p *publisher) {
	w.Helper()
	moved, gone := p.document("/moved-on", `"client_name":"New","redirect_uris":["https://app.example/new"]`), p.URL+"/gone"
	for _, id := range []string{moved, gone} {
		if _, err := w.server.Hub.Grants.Remember(w.Context(), shoal.Principal{Role: shoal.RoleAdmin}, id, "Old", []string{"https://app.example/old"}, nil, -time.Minute); err != nil {
			w.Fatal(err)
		}
	}
	for what, c := range map[string]struct{ id, redirect, says string }{
		"a document that has changed":   {moved, "https://app.example/new", `"client":"New"`},
		"what it does not list anymore": {moved, "https://app.example/old", "has not registered"},
		"one that is gone":              {gone, "https://app.example/old", "status 404"},
	} {
		if got := w.bob.Post("/oauth/request", map[string]any{"query": w.query(c.id, "redirect_uri", c.redirect)}); !strings.Contains(got.Text, c.says) {
			w.Errorf("%s: %d %s, want %q", what, got.Status, got.Text, c.says)
		}
	}
}

// A server on a loopback address reads no documents by itself, says so, and calls nobody.
func TestWithoutDocuments(t *testing.T) {
	w := startWith(t, app.Config{})
	if got := w.does("GET", "/.well-known/oauth-authorization-server", ""); got.Body["client_id_metadata_document_supported"] != false {
		t.Errorf("the metadata: %s", got.Text)
	}
	query := w.query("https://nowhere.invalid/client")
	if got := w.does("GET", "/oauth/authorize?"+query, ""); got.Status != 422 || !strings.Contains(got.Text, "does not know the program") {
		t.Errorf("a document: %d %s", got.Status, got.Text)
	}
}

func (w *world) joinsByDocument(p *publisher) {
	w.Helper()
	id := p.document("/codex.json", `"client_name":"Codex",`+local, "Cache-Control", "max-age=600")
	led := w.does("GET", "/oauth/authorize?"+w.query(id), "")
	if led.Status != 303 || !strings.HasPrefix(led.Header.Get("Location"), w.at+"/join?request=") || p.read("/codex.json") != 0 {
		w.Errorf("before anybody is signed in: %d %s, and the document is read %d times", led.Status, led.Header.Get("Location"), p.read("/codex.json"))
	}
	w.failed("tokens before a consent", w.redeem(id, "code"), 401, "invalid_client")
	shown := w.ann.Post("/oauth/request", map[string]any{"query": w.query(id)})
	if shown.Body["client"] != "Codex" || shown.Body["document"] != strings.TrimPrefix(p.URL, "https://") || shown.Body["local"] != true || shown.Body["agent"] != "codex" {
		w.Errorf("the page shows %s", shown.Text)
	}
	tokens := w.granted(id)
	if second := w.refresh(id, tokens); second.Status != 200 || !w.works(second) {
		w.Errorf("renewed: %d %s", second.Status, second.Text)
	}
	if got := p.read("/codex.json"); got != 1 {
		w.Errorf("the document is read %d times, want once", got)
	}
	if keys := w.api("GET", "/v1/keys?limit=200", "", 200); strings.Count(keys.Text, `"name":"Codex"`) != 1 {
		w.Errorf("the keys: %s", keys.Text)
	}
	if got := strings.Join(w.acts(), ", "); !strings.HasPrefix(got, "client.register by ann, consent.give by ann") {
		w.Errorf("the audit log has %s", got)
	}
}

func (w *world) refusesDocuments(p, private *publisher) {
	w.Helper()
	p.page("/moved", http.RedirectHandler(p.document("/target", local), http.StatusFound).ServeHTTP)
	p.page("/html", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) })
	p.page("/json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`["a"]`))
	})
	p.page("/slow", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte("{"))
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	for what, c := range map[string]struct{ id, redirect, says string }{
		"the id of another document":   {p.document("/copied", `"client_id":"https://claude.ai/oauth/client",`+local), "", "client_id is another one"},
		"its id in other letters":      {p.document("/case", `"client_id":"`+p.URL+`/Case",`+local), "", "client_id is another one"},
		"a redirect to another host":   {p.document("/mine", `"redirect_uris":["https://app.example/back"]`), "https://evil.example/back", "has not registered"},
		"a redirect with another path": {p.document("/path", local), "http://127.0.0.1:4711/other", "has not registered"},
		"a script":                     {p.document("/script", `"redirect_uris":["javascript:alert(1)"]`), "javascript:alert(1)", "no redirect URI to which"},
		"a script beside a good one":   {p.document("/both", `"redirect_uris":["javascript:alert(1)","https://app.example/back"]`), "javascript:alert(1)", "has not registered"},
		"no redirect":                  {p.document("/none", `"client_name":"x"`), "", "no redirect URI"},
		"a secret":                     {p.document("/secret", `"client_secret":"s",`+local), "", "token_endpoint_auth_method none only"},
		"a key of its own":             {p.document("/key", `"token_endpoint_auth_method":"private_key_jwt",`+local), "", "token_endpoint_auth_method none only"},
		"another grant type":           {p.document("/grant", `"grant_types":["client_credentials"],`+local), "", "authorization_code"},
		"too large":                    {p.document("/large", `"client_name":"`+strings.Repeat("x", 10<<10)+`",`+local), "", "larger than 10 KiB"},
		"too many redirects":           {p.document("/many", `"redirect_uris":["`+strings.Repeat(`https://app.example/","`, 50)+`https://app.example/"]`), "", "more than 50"},
		"a fetch that is led on":       {p.URL + "/moved", "", "status 302"},
		"nothing there":                {p.URL + "/nothing", "", "status 404"},
		"a page":                       {p.URL + "/html", "", "Content-Type must be"},
		"another JSON value":           {p.URL + "/json", "", "not the JSON object"},
		"a private address":            {private.document("/inside", local), "", "cannot be fetched"},
		"a name that is not there":     {"https://nowhere.invalid/client", "", "cannot be fetched"},
		"a server that is slow":        {p.URL + "/slow", "", "within 5 s"},
		"no path":                      {p.URL + "/", "", "not the address"},
		"a path with dots":             {p.URL + "/a/../codex.json", "", "not the address"},
		"a fragment":                   {p.URL + "/codex.json#x", "", "not the address"},
		"a user name":                  {strings.Replace(p.URL, "https://", "https://ann@", 1) + "/codex.json", "", "not the address"},
		"plain HTTP":                   {strings.Replace(p.URL, "https:", "http:", 1) + "/codex.json", "", "does not know the program"},
	} {
		query := w.query(c.id, "redirect_uri", cmp.Or(c.redirect, oauthtest.Callback))
		got := w.ann.Post("/oauth/request", map[string]any{"query": query})
		if got.Status != 422 || !strings.Contains(got.Text, c.says) || got.Body["url"] != nil {
			w.Errorf("%s: %d %s, want 422 and %q", what, got.Status, got.Text, c.says)
		}
	}
	carl := w.person("carl")
	if p.read("/target") > 0 || private.read("/inside") > 0 {
		w.Error("the server follows a redirect, or calls a private address")
	}
	for i := range 21 {
		got := carl.Post("/oauth/request", map[string]any{"query": w.query(fmt.Sprint(p.URL, "/unknown-", i))})
		if limited := got.Status == 429 && got.Header.Get("Retry-After") != ""; limited != (i == 20) {
			w.Errorf("document %d of a person: %d %s", i+1, got.Status, got.Text)
		}
	}
	query := w.query(p.URL + "/mine")
	if got := w.ann.Consent(query); got.Status != 422 || got.Body["url"] != nil {
		w.Errorf("a consent for another redirect: %d %s", got.Status, got.Text)
	}
}
