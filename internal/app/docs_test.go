package app_test

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal/internal/app"
	"github.com/shoal-dev/shoal/internal/docsite"
)

var (
	markdownLink = regexp.MustCompile(`\]\(([^)\s"]+)\)`)
	heading      = regexp.MustCompile(`(?m)^#+ (.*)$`)
	fenced       = regexp.MustCompile("(?s)```.*?```")
)

// anchors are the names that headings of a page have, as GitHub makes them.
func anchors(text string) map[string]bool {
	found := map[string]bool{}
	for _, h := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
		name := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r > 127:
				return r
			}
			return -1
		}, strings.ToLower(h[1]))
		found[name] = true
	}
	return found
}

// An agent that starts at /llms.txt reaches every page, and no link on its way is dead:
// neither to a page and its heading, nor to the server, nor to a file of the repository.
func TestEveryLinkOfThePagesLeadsSomewhere(t *testing.T) {
	s, err := app.Start(t.Context(), app.Config{Data: t.TempDir(), Addr: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Stop()
	texts := map[string]string{}
	read := func(path, from string) string {
		if text, seen := texts[path]; seen {
			return text
		}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL()+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		if err = errors.Join(err, res.Body.Close()); err != nil || res.StatusCode != http.StatusOK {
			t.Errorf("%s links to %s: %s, %v", from, path, res.Status, err)
		}
		texts[path] = string(body)
		return string(body)
	}
	next, checked := []string{"/llms.txt"}, map[string]bool{"/llms.txt": true}
	for len(next) > 0 {
		from := next[0]
		next = next[1:]
		at, err := url.Parse(from)
		if err != nil {
			t.Fatal(err)
		}
		for _, link := range markdownLink.FindAllStringSubmatch(fenced.ReplaceAllString(read(from, from), ""), -1) {
			if file, is := strings.CutPrefix(link[1], docsite.Repository); is {
				file, _, _ = strings.Cut(file, "#")
				if _, err := os.Stat(filepath.Join("../..", filepath.FromSlash(file))); err != nil {
					t.Errorf("%s links to %s: %v", from, link[1], err)
				}
				continue
			}
			to, err := at.Parse(link[1])
			if err != nil {
				t.Errorf("%s links to %s: %v", from, link[1], err)
				continue
			}
			if to.Host != "" {
				if to.Scheme != "https" {
					t.Errorf("%s links to %s, without TLS", from, to)
				}
				continue // of others, and not here
			}
			text := read(to.Path, from)
			if to.Fragment != "" && !anchors(text)[to.Fragment] {
				t.Errorf("%s links to %s, which has no such heading", from, to)
			}
			if strings.HasSuffix(to.Path, ".md") && !checked[to.Path] {
				checked[to.Path] = true
				next = append(next, to.Path)
			}
		}
	}
	if len(checked) < 50 {
		t.Errorf("only %d pages were reached", len(checked))
	}
}
