package house_test

import (
	"path"
	"regexp"
	"strings"
	"testing"
)

var quotedPath = regexp.MustCompile("`([a-zA-Z0-9_*./-]+/[a-zA-Z0-9_*./-]+|[a-z]+\\.go|[A-Z]+\\.md)`")

// The table of common changes in CONTRIBUTING.md names files and directories that exist.
func TestContributingNamesRealFiles(t *testing.T) {
	files, dirs := []string{}, map[string]bool{}
	for _, f := range repoFiles(t) {
		files = append(files, f.path)
		for dir := path.Dir(f.path); dir != "."; dir = path.Dir(dir) {
			dirs[dir] = true
		}
	}
	_, rest, found := strings.Cut(string(readFile(t, "CONTRIBUTING.md")), "| change | files |")
	table, _, ended := strings.Cut(rest, "\n\n")
	if !found || !ended {
		t.Fatal("CONTRIBUTING.md has no table with the columns change and files")
	}
	named := 0
	for _, m := range quotedPath.FindAllStringSubmatch(table, -1) {
		named++
		exists := dirs[m[1]]
		for _, file := range files {
			matched, err := path.Match(m[1], file)
			if err != nil {
				t.Fatalf("%s: %v", m[1], err)
			}
			exists = exists || matched
		}
		if !exists {
			t.Errorf("CONTRIBUTING.md names %s, which does not exist", m[1])
		}
	}
	if rows := strings.Count(table, "\n| ") - 1; rows < 10 || named < 3*rows {
		t.Errorf("read %d paths in %d changes; the table is not written as this test reads it", named, rows)
	}
}
