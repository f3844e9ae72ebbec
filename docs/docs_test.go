package docs_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

var target = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// readme.md is the README with links that lead from this directory. `make generate` sets
// SHOAL_GENERATE, which writes it.
func TestTheReadmeIsCopied(t *testing.T) {
	const name = "readme.md"
	original, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	want := target.ReplaceAllStringFunc(string(original), func(link string) string {
		path := link[len("](") : len(link)-1]
		switch below, is := strings.CutPrefix(path, "docs/"); {
		case is:
			return "](" + below + ")"
		case strings.Contains(path, "://") || strings.HasPrefix(path, "#"):
			return link
		}
		return "](../" + path + ")"
	})
	if os.Getenv("SHOAL_GENERATE") != "" {
		if err := os.WriteFile(name, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got, err := os.ReadFile(name); err != nil || string(got) != want {
		t.Errorf("docs/%s does not say what README.md says (%v); run `make generate`", name, err)
	}
}
