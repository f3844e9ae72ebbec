package console_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/shoal-dev/shoal/internal/console"
)

const (
	likeBrowser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
	elses       = "This is somebody else's."
)

// Files are served as they are, the pages' own paths with index.html, and the rest
// by others. A file that is missing never turns into a page.
func TestPaths(t *testing.T) {
	w := newWorld(t, false)
	for _, c := range []struct {
		method, path, accept string
		status               int
		says                 string
	}{
		{"GET", "/", likeBrowser, 200, "<title>Shoal"},
		{"GET", "/", "*/*", 200, "<title>Shoal"},
		{"GET", "/?x=1", "", 200, "<title>Shoal"},
		{"GET", "/index.html", likeBrowser, 200, "<title>Shoal"},
		{"GET", "/spaces/welcome", likeBrowser, 200, "<title>Shoal"},
		{"GET", "/agents/shop-agent", "text/html", 200, "<title>Shoal"},
		{"GET", "/a/page/that/only/the/pages/know", likeBrowser, 200, "<title>Shoal"},
		{"GET", "/spaces/welcome", "application/json", 404, elses},
		{"GET", "/spaces/welcome", "application/json, text/html;q=0.5", 404, elses},
		{"GET", "/spaces/welcome", "text/html;q=0", 404, elses},
		{"GET", "/spaces/welcome", "*/*", 404, elses},
		{"POST", "/spaces/welcome", likeBrowser, 404, elses},
		{"POST", "/", likeBrowser, 404, elses},
		{"GET", "/favicon.svg", "image/*", 200, "<svg"},
		{"GET", "/sw.js", "*/*", 200, "addEventListener"},
		{"GET", "/assets/app-1a2b.js", "*/*", 200, "console.log"},
		{"GET", "/assets/app-0000.js", likeBrowser, 404, elses},
		{"GET", "/assets/", likeBrowser, 404, elses},
		{"GET", "/assets", likeBrowser, 404, elses},
		{"GET", "/../index.html", likeBrowser, 307, ""},
		{"GET", "/v1", likeBrowser, 404, elses},
		{"GET", "/v1/nothing", likeBrowser, 404, elses},
		{"GET", "/mcp", likeBrowser, 404, elses},
		{"GET", "/sse/x", likeBrowser, 404, elses},
		{"GET", "/agui/x", likeBrowser, 404, elses},
		{"GET", "/docs", likeBrowser, 404, elses},
		{"GET", "/healthz", likeBrowser, 404, elses},
		{"GET", "/readyz", likeBrowser, 404, elses},
		{"GET", "/metrics", likeBrowser, 404, elses},
		{"GET", "/console/login", likeBrowser, 404, elses},
		{"GET", "/console", likeBrowser, 404, elses},
	} {
		t.Run(c.method+" "+c.path+" "+c.accept, func(t *testing.T) {
			w.T = t
			w.browser().does(c.method, c.path, "", "Accept", c.accept).wants(c.status, c.says)
		})
	}
}

// Every answer of the console forbids what the console does not do.
func TestPolicy(t *testing.T) {
	w := newWorld(t, false)
	b := w.browser()
	for name, got := range map[string]answer{
		"a page":                  b.does("GET", "/", ""),
		"its head":                b.does("HEAD", "/", ""),
		"a page's service worker": b.does("GET", "/sw.js", ""),
		"a script":                b.does("GET", "/assets/app-1a2b.js", ""),
		"a picture":               b.does("GET", "/assets/ink-5e6f.png", ""),
		"a refusal":               b.does("POST", "/console/login", `{"code": "nonsense"}`).wants(401, ""),
		"a mistake":               b.does("POST", "/console/login", `{}`).wants(422, ""),
		"a sign-in":               b.does("POST", "/console/login", `{"code": "`+w.code()+`"}`).wants(200, ""),
		"a link":                  b.does("POST", "/console/links", "").wants(201, ""),
		"the end":                 b.does("POST", "/console/logout", "").wants(204, ""),
	} {
		policy := got.header.Get("Content-Security-Policy")
		for _, want := range []string{
			"default-src 'none';", "script-src 'self';", "style-src 'self';", "connect-src 'self';", "frame-ancestors 'none';",
			"base-uri 'none';", "form-action 'self';", "require-trusted-types-for 'script'",
		} {
			if !strings.Contains(policy, want) {
				t.Errorf("%s: the policy lacks %q: %s", name, want, policy)
			}
		}
		for _, never := range []string{"unsafe", "http:", "https:", "*"} {
			if strings.Contains(policy, never) {
				t.Errorf("%s: the policy has %q: %s", name, never, policy)
			}
		}
		for header, want := range map[string]string{
			"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cross-Origin-Opener-Policy": "same-origin",
			"Cross-Origin-Resource-Policy": "same-origin",
		} {
			if got.header.Get(header) != want {
				t.Errorf("%s: %s is %q, want %q", name, header, got.header.Get(header), want)
			}
		}
		kept := got.header.Get("Cache-Control")
		if page := strings.HasPrefix(name, "a page") || name == "its head"; page && kept != "no-cache" {
			t.Errorf("%s is kept: %q", name, kept)
		}
		if file := name == "a script" || name == "a picture"; file && kept != "public, max-age=31536000, immutable" {
			t.Errorf("%s is not kept: %q", name, kept)
		} else if !file && strings.Contains(kept, "max-age") {
			t.Errorf("%s is kept: %q", name, kept)
		}
	}
}

// Text is compressed for clients that accept it, pictures are not; files that the browser
// has are not sent again.
func TestCompression(t *testing.T) {
	w := newWorld(t, false)
	b := w.browser()
	script := pages["assets/app-1a2b.js"].Data
	plain := b.does("GET", "/assets/app-1a2b.js", "").wants(200, string(script))
	zipped := b.does("GET", "/assets/app-1a2b.js", "", "Accept-Encoding", "br, gzip;q=0.8").wants(200, "")
	if plain.header.Get("Content-Encoding") != "" || zipped.header.Get("Content-Encoding") != "gzip" || len(zipped.body) > len(script)/5 {
		t.Errorf("%q and %q of %d bytes", plain.header.Get("Content-Encoding"), zipped.header.Get("Content-Encoding"), len(zipped.body))
	}
	r, err := gzip.NewReader(strings.NewReader(zipped.body))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, script) {
		t.Errorf("it unfolds to %q, %v", got, err)
	}
	for _, a := range []answer{plain, zipped} {
		if !slices.Equal(a.header.Values("Vary"), []string{"Origin", "Accept-Encoding"}) || a.header.Get("Content-Type") != "text/javascript; charset=utf-8" {
			t.Errorf("Vary %q, type %q", a.header.Values("Vary"), a.header.Get("Content-Type"))
		}
	}
	if plain.header.Get("ETag") == zipped.header.Get("ETag") {
		t.Error("both forms have the same ETag")
	}
	again := b.does("GET", "/assets/app-1a2b.js", "", "Accept-Encoding", "gzip", "If-None-Match", zipped.header.Get("ETag")).wants(304, "")
	if again.body != "" {
		t.Errorf("304 with %q", again.body)
	}
	b.does("GET", "/assets/app-1a2b.js", "", "If-None-Match", zipped.header.Get("ETag")).wants(200, string(script))
	for _, refused := range []string{"", "br", "gzip;q=0", "gzip;q=nonsense"} {
		if got := b.does("GET", "/assets/app-1a2b.js", "", "Accept-Encoding", refused); got.header.Get("Content-Encoding") != "" {
			t.Errorf("Accept-Encoding %q got encoding %s", refused, got.header.Get("Content-Encoding"))
		}
	}
	if got := b.does("GET", "/assets/ink-5e6f.png", "", "Accept-Encoding", "gzip").wants(200, "000"); got.header.Get("Content-Encoding") != "" {
		t.Error("a picture is compressed again")
	}
	head := b.does("HEAD", "/assets/app-1a2b.js", "").wants(200, "")
	if head.body != "" || head.header.Get("Content-Length") != plain.header.Get("Content-Length") {
		t.Errorf("HEAD: %q, %s bytes", head.body, head.header.Get("Content-Length"))
	}
}

// Pages that are not a build are an error at the start, not at the first request.
func TestNoBuild(t *testing.T) {
	for name, c := range map[string]struct {
		pages fstest.MapFS
		says  string
	}{
		"nothing":         {fstest.MapFS{}, "index.html"},
		"an unknown file": {fstest.MapFS{"index.html": {}, "assets/a.exe": {}}, "assets/a.exe"},
	} {
		if _, err := console.New(console.Options{Pages: c.pages}); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The build that the program holds is whole: what its page names is there, and
// nothing in it is of another host.
func TestBuilt(t *testing.T) {
	built := console.Built()
	if _, err := console.New(console.Options{Pages: built}); err != nil {
		t.Fatal(err)
	}
	page, err := fs.ReadFile(built, "index.html")
	if err != nil {
		t.Fatal(err)
	}
	for _, found := range regexp.MustCompile(`(?:src|href)="([^"]*)"`).FindAllSubmatch(page, -1) {
		name := string(found[1])
		if name == "/docs" {
			continue
		}
		if _, err := fs.Stat(built, strings.TrimPrefix(name, "/")); err != nil || !strings.HasPrefix(name, "/") {
			t.Errorf("index.html names %s: %v", name, err)
		}
	}
	for _, never := range []string{"<style", "style=", "onload=", "onclick=", "javascript:"} {
		if bytes.Contains(page, []byte(never)) {
			t.Errorf("index.html has %q, which its policy forbids", never)
		}
	}
	if regexp.MustCompile(`<script[^>]*>[^<]`).Match(page) {
		t.Error("index.html has a script in it, which its policy forbids")
	}
}
