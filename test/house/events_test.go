package house_test

import (
	"go/ast"
	"path"
	"strconv"
	"strings"
	"testing"
)

// An event kind that the console or the page about REST does not know was added in
// half: followers of the console would pass over it without a word.
func TestEveryEventKindIsHandledAndDocumented(t *testing.T) {
	kinds := map[string]string{}
	for _, f := range goFiles(t) {
		if f.dir() != "." || f.isTest() {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || !isIdent(spec.Type, "EventType") || len(spec.Values) != 1 {
				return true
			}
			if lit, ok := spec.Values[0].(*ast.BasicLit); ok {
				kind, err := strconv.Unquote(lit.Value)
				if err != nil {
					t.Fatal(err)
				}
				kinds[kind] = f.position(spec)
			}
			return true
		})
	}
	var console strings.Builder
	for _, f := range repoFiles(t) {
		if (strings.HasPrefix(f.path, "web/src/") || strings.HasPrefix(f.path, "clients/typescript/src/")) && path.Base(f.path) != "schema.ts" && !strings.Contains(f.path, ".test.") {
			console.Write(f.text)
		}
	}
	page := string(readFile(t, "docs/rest.md"))
	for kind, at := range kinds {
		if !strings.Contains(console.String(), strconv.Quote(kind)) {
			t.Errorf("%s: the console does not know the event %q: handle it in clients/typescript/src or name it where events are ignored", at, kind)
		}
		if !strings.Contains(page, kind) {
			t.Errorf("%s: docs/rest.md does not list the event %q", at, kind)
		}
	}
	if len(kinds) < 30 {
		t.Errorf("found %d event kinds; they are not declared as this test reads them", len(kinds))
	}
}
