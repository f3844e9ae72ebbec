package house_test

import (
	"path"
	"regexp"
	"strings"
	"testing"
)

var (
	defectRow  = regexp.MustCompile(`(?m)^\| ([A-Z]\d+) \|.*\|$`)
	defectHeld = regexp.MustCompile("`([a-z0-9/-]+)\\.(Test\\w+|Fuzz\\w+)`|`([a-z0-9/-]+\\.(?:txt|txtar|test\\.mjs))`")
	testFunc   = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
)

// docs/defects.md names for each known defect the tests and scenarios that fail when
// it comes back, and all of them exist.
func TestEveryDefectHasATest(t *testing.T) {
	tests, files, document := map[string]bool{}, map[string]bool{}, ""
	for _, f := range repoFiles(t) {
		files[f.path] = true
		if f.path == "docs/defects.md" {
			document = string(f.text)
		}
		if strings.HasSuffix(f.path, "_test.go") {
			for _, m := range testFunc.FindAllSubmatch(f.text, -1) {
				tests[path.Dir(f.path)+"."+string(m[1])] = true
			}
		}
	}
	rows := map[string]bool{}
	for _, row := range defectRow.FindAllStringSubmatch(document, -1) {
		id := row[1]
		if rows[id] {
			t.Errorf("%s has more than one row", id)
		}
		rows[id] = true
		cells := strings.Split(strings.Trim(row[0], "|"), "|")
		column := cells[len(cells)-1]
		held := defectHeld.FindAllStringSubmatch(column, -1)
		if len(held) != strings.Count(column, "`")/2 || len(held) == 0 {
			t.Errorf("%s: the last column must list tests and scenario files only: %s", id, column)
		}
		for _, m := range held {
			if test := m[1] + "." + m[2]; m[2] != "" && !tests[test] {
				t.Errorf("%s names %s, which does not exist", id, test)
			}
			if m[3] != "" && !files[m[3]] {
				t.Errorf("%s names %s, which does not exist", id, m[3])
			}
		}
	}
	if len(rows) == 0 {
		t.Error("docs/defects.md has no rows, or they are not written as this test reads them")
	}
}
