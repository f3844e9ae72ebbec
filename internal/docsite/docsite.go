// Package docsite serves the pages of docs/ as Markdown, for agents and other programs
// that read: /docs/PAGE.md, and /llms.txt, which lists them in the format of llmstxt.org.
//
//	site, err := docsite.New()
//	if err != nil { … }
//	mux.Handle("/", site.Or(others))
//
// No key is needed: the pages are the same in every copy of the program. Links between
// pages are as in the repository; a link to a file that is not a page leads to the
// repository.
package docsite

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"regexp"
	"strings"
	"time"

	"github.com/shoal-dev/shoal/docs"
)

// Repository is where files are that are not pages.
const Repository = "https://github.com/shoal-dev/shoal/blob/main/"

// Media types of the answers.
const (
	markdown  = "text/markdown; charset=utf-8"
	plainText = "text/plain; charset=utf-8"
)

// aliases are further paths of pages.
var aliases = map[string]string{"/docs/setup.md": "/docs/setup-for-agents.md"}

// writeWithin is how long a client may take for a page.
const writeWithin = 30 * time.Second

// Site is the pages by their paths in a URL. It is safe for concurrent use.
type Site struct {
	pages map[string]page
}

type page struct {
	mediaType, tag string
	text           []byte
}

// New reads the pages that the program holds.
func New() (*Site, error) {
	s := &Site{pages: map[string]page{}}
	titles := map[string]string{}
	err := fs.WalkDir(docs.Files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || path.Ext(name) != ".md" {
			return err
		}
		text, err := fs.ReadFile(docs.Files, name)
		if err != nil {
			return err
		}
		first, _, _ := strings.Cut(string(text), "\n")
		title, is := strings.CutPrefix(first, "# ")
		if !is {
			return fmt.Errorf("docs/%s does not begin with a title", name)
		}
		titles["/docs/"+name] = title
		s.add("/docs/"+name, markdown, absolute(name, string(text)))
		return nil
	})
	if err != nil {
		return nil, err
	}
	for alias, name := range aliases {
		s.pages[alias] = s.pages[name]
	}
	list, err := fs.ReadFile(docs.Files, "llms.txt")
	if err != nil {
		return nil, err
	}
	s.add("/llms.txt", plainText, withAll(string(list), titles))
	return s, nil
}

func (s *Site) add(at, mediaType, text string) {
	sum := sha256.Sum256([]byte(text))
	s.pages[at] = page{mediaType: mediaType, tag: `"` + hex.EncodeToString(sum[:16]) + `"`, text: []byte(text)}
}

// link is the end of a link in Markdown: its target.
var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// absolute makes links of a page that leave the pages lead to the repository.
func absolute(name, text string) string {
	return link.ReplaceAllStringFunc(text, func(found string) string {
		target := found[len("](") : len(found)-1]
		file, anchor, _ := strings.Cut(target, "#")
		if file == "" || strings.Contains(target, ":") || strings.HasPrefix(target, "/") || strings.ContainsAny(target, `"'`) {
			return found
		}
		inside := path.Join("docs", path.Dir(name), file)
		if below, is := strings.CutPrefix(inside, "docs/"); is && path.Ext(file) == ".md" {
			if _, err := fs.Stat(docs.Files, below); err == nil {
				return found
			}
		}
		if anchor != "" {
			inside += "#" + anchor
		}
		return "](" + Repository + inside + ")"
	})
}

// Or answers with the page that a path names; everything else is for others.
func (s *Site) Or(others http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p, found := s.pages[r.URL.Path]
		if !found || r.Method != http.MethodGet && r.Method != http.MethodHead {
			others.ServeHTTP(w, r)
			return
		}
		// An error is that of a broken connection, which writing reports as well.
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeWithin))
		h := w.Header()
		h.Set("Content-Type", p.mediaType)
		h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cache-Control", "no-cache")
		h.Set("ETag", p.tag)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(p.text))
	})
}
