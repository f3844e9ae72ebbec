package house_test

import (
	"go/ast"
	"path"
	"regexp"
	"strings"
	"testing"
)

var glossaryType = regexp.MustCompile("^`(?:([a-z/]+)\\.)?(\\w+)`$")

// Each type that the glossary names exists, and each term has a meaning.
func TestGlossary(t *testing.T) {
	types := map[string]bool{}
	for _, f := range goFiles(t) {
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok {
				types[path.Join(f.dir(), spec.Name.Name)] = true
			}
			return true
		})
	}
	terms := map[string]bool{}
	for n, line := range lines(readFile(t, "docs/glossary.md")) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(string(line)), "|"), "|")
		if len(cells) != 3 || strings.HasPrefix(strings.TrimSpace(cells[0]), "---") || strings.TrimSpace(cells[0]) == "term" {
			continue
		}
		term, meaning, carrier := strings.TrimSpace(cells[0]), strings.TrimSpace(cells[1]), strings.TrimSpace(cells[2])
		if terms[term] || meaning == "" {
			t.Errorf("docs/glossary.md:%d: %q is listed twice or has no meaning", n, term)
		}
		terms[term] = true
		if carrier == "" {
			continue
		}
		m := glossaryType.FindStringSubmatch(carrier)
		if m == nil || !types[path.Join(path.Clean(m[1]), m[2])] {
			t.Errorf("docs/glossary.md:%d: %s: the type %s does not exist", n, term, carrier)
		}
	}
	if len(terms) < 40 {
		t.Errorf("docs/glossary.md: read %d terms; the table is not written as this test reads it", len(terms))
	}
}
