package httpapi

import (
	"regexp"
	"strings"
	"testing"
)

// The reference shows every operation and every shape, its links lead
// somewhere, and it loads nothing but its own style.
func TestReferencePage(t *testing.T) {
	w := newWorld(t)
	a := w.do("", "GET", "/docs", nil).wants(200)
	page := string(a.body)
	if got := a.header.Get("Content-Security-Policy"); got != docsPolicy || !strings.Contains(got, "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'") {
		t.Errorf("Content-Security-Policy: %q", got)
	}
	if !strings.HasPrefix(a.header.Get("Content-Type"), "text/html") || !strings.Contains(page, "Server test") {
		t.Errorf("the page is %s %.200s", a.header.Get("Content-Type"), page)
	}
	for _, rt := range routes() {
		if rt.tag != "" && !strings.Contains(page, `id="`+rt.id+`"`) {
			t.Errorf("the page does not show %s", rt.id)
		}
	}
	for name := range document().Components.Schemas {
		if !strings.Contains(page, `id="schema-`+name+`"`) {
			t.Errorf("the page does not show %s", name)
		}
	}
	for _, link := range regexp.MustCompile(`(?:href|src)="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		switch target := link[1]; {
		case strings.HasPrefix(target, "#"):
			if !strings.Contains(page, `id="`+target[1:]+`"`) {
				t.Errorf("the link %s leads nowhere", target)
			}
		case target == "/docs/style.css" || target == "/v1/openapi.json":
			w.do("", "GET", target, nil).wants(200)
		default:
			t.Errorf("the page refers to %s", target)
		}
	}
	if strings.Contains(page, "<script") || strings.Contains(page, "style=") {
		t.Error("the page has a script or a style of its own, which its policy forbids")
	}
	if style := w.do("", "GET", "/docs/style.css", nil).wants(200); !strings.HasPrefix(style.header.Get("Content-Type"), "text/css") ||
		strings.Contains(string(style.body), "url(") || strings.Contains(string(style.body), "@import") {
		t.Error("the style sheet is missing, or loads something")
	}
}
