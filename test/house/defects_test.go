package house_test

import (
	"path"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var (
	defectRow  = regexp.MustCompile(`(?m)^\| D(\d+) \|.*\|$`)
	defectHeld = regexp.MustCompile("`([a-z/]+)\\.(Test\\w+)`|`([a-z/]+/testdata/[a-z/-]+\\.txt)`")
	testFunc   = regexp.MustCompile(`(?m)^func (Test\w+)\(`)
)

// docs/defects.md has a row for each known defect, and each of them names tests and
// scenarios that exist.
func TestEveryDefectIsHeld(t *testing.T) {
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
	rows := map[int]int{}
	for _, row := range defectRow.FindAllStringSubmatch(document, -1) {
		n, err := strconv.Atoi(row[1])
		if err != nil {
			t.Fatal(err)
		}
		rows[n]++
		held := defectHeld.FindAllStringSubmatch(row[0], -1)
		if len(held) != strings.Count(row[0], "`")/2 || len(held) == 0 {
			t.Errorf("D%d names no tests, or something else: %s", n, row[0])
		}
		for _, m := range held {
			if test := m[1] + "." + m[2]; m[2] != "" && !tests[test] {
				t.Errorf("D%d is held by %s, which is not there", n, test)
			}
			if m[3] != "" && !files[m[3]] {
				t.Errorf("D%d is held by %s, which is not there", n, m[3])
			}
		}
	}
	for n := 1; n <= 30; n++ {
		if rows[n] != 1 {
			t.Errorf("D%d has %d rows, want 1", n, rows[n])
		}
	}
	if len(rows) != 30 {
		t.Errorf("%d defects have rows, want 30", len(rows))
	}
}
