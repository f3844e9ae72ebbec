package docsite

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal/docs"
)

func get(t *testing.T, method, path string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	site, err := New()
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequestWithContext(t.Context(), method, path, http.NoBody)
	if len(header) > 0 {
		r.Header.Set(header[0], header[1])
	}
	w := httptest.NewRecorder()
	site.Or(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })).ServeHTTP(w, r)
	return w
}

func TestPagesAreMarkdown(t *testing.T) {
	for path, want := range map[string]string{
		"/docs/cli.md": "# The command line", "/docs/readme.md": "# Shoal", "/docs/setup.md": "# Set yourself up", "/docs/setup-for-agents.md": "# Set yourself up",
		"/docs/decisions/0002-inbox.md": "# ", "/llms.txt": "# Shoal\n\n> ",
	} {
		w := get(t, http.MethodGet, path)
		media := "text/markdown; charset=utf-8"
		if path == "/llms.txt" {
			media = "text/plain; charset=utf-8"
		}
		if w.Code != 200 || w.Header().Get("Content-Type") != media || w.Header().Get("X-Content-Type-Options") != "nosniff" || !strings.HasPrefix(w.Body.String(), want) {
			t.Errorf("%s: %d %v %.80q", path, w.Code, w.Header(), w.Body)
		}
		if again := get(t, http.MethodGet, path, "If-None-Match", w.Header().Get("ETag")); again.Code != http.StatusNotModified {
			t.Errorf("%s again: %d", path, again.Code)
		}
		if head := get(t, http.MethodHead, path); head.Code != 200 || head.Body.Len() > 0 {
			t.Errorf("HEAD %s: %d %q", path, head.Code, head.Body)
		}
	}
}

// Whatever is not a page is for others, and no path leads out of the pages.
func TestOthersAnswerTheRest(t *testing.T) {
	for _, c := range [][2]string{{"GET", "/docs/"}, {"GET", "/docs/style.css"}, {"GET", "/docs/docs.go"}, {"GET", "/docs/llms.txt"}, {"GET", "/docs/nothing.md"}, {"POST", "/docs/cli.md"}} {
		if w := get(t, c[0], c[1]); w.Code != http.StatusTeapot {
			t.Errorf("%s %s: %d", c[0], c[1], w.Code)
		}
	}
}

func TestLinksThatLeaveThePages(t *testing.T) {
	for text, want := range map[string]string{
		"[a](cli.md#doctor)":                "[a](cli.md#doctor)",
		"[a](#here)":                        "[a](#here)",
		"[a](decisions/0002-inbox.md)":      "[a](decisions/0002-inbox.md)",
		"[a](../packaging/config.yaml)":     "[a](" + Repository + "packaging/config.yaml)",
		"[a](../CONTRIBUTING.md#tests)":     "[a](" + Repository + "CONTRIBUTING.md#tests)",
		"![a](pictures/space.png)":          "![a](" + Repository + "docs/pictures/space.png)",
		"[a](decisions)":                    "[a](" + Repository + "docs/decisions)",
		"[a](https://example.org/x.md)":     "[a](https://example.org/x.md)",
		`m["x"](result, "place", "Where.")`: `m["x"](result, "place", "Where.")`,
	} {
		if got := absolute("page.md", text); got != want {
			t.Errorf("%s becomes %s, want %s", text, got, want)
		}
	}
	if got := absolute("decisions/x.md", "[a](../agent.md) [b](0002-inbox.md)"); got != "[a](../agent.md) [b](0002-inbox.md)" {
		t.Errorf("a decision's links become %s", got)
	}
}

// The list names every page once, also those that nobody has put into a section.
func TestTheListIsComplete(t *testing.T) {
	list := get(t, http.MethodGet, "/llms.txt").Body.String()
	err := fs.WalkDir(docs.Files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(name, ".md") && strings.Count(list, "](/docs/"+name+")") != 1 {
			t.Errorf("%s is listed %d times", name, strings.Count(list, "](/docs/"+name+")"))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	got := withAll("# T\n\n## Optional\n\n- [a](/docs/a.md)\n", map[string]string{"/docs/a.md": "A", "/docs/new.md": "New [one]", "/docs/decisions/1.md": "1. One"})
	if want := "# T\n\n## More\n\n- [New (one)](/docs/new.md)\n\n## Optional\n\n- [a](/docs/a.md)\n- [1. One](/docs/decisions/1.md)\n"; got != want {
		t.Errorf("got\n%s", got)
	}
}
