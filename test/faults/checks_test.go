package faults

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var checkRow = regexp.MustCompile(`(?m)^\| (W\d) \| (.*) \| (.*) \| (.*) \|$`)

// The table of docs/reliability.md says of each check of agents that are woken which tests show it and which
// planted bugs they find. All of them exist, and it has every planted bug of that kind.
func TestEveryCheckOfAgentsIsReal(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs", "reliability.md"))
	if err != nil {
		t.Fatal(err)
	}
	missing := slices.Concat(names(coderBugs), names(terminalBugs), names(agentBugs))
	rows := checkRow.FindAllStringSubmatch(string(text), -1)
	for _, row := range rows {
		for name := range strings.SplitSeq(row[3], ", ") {
			dir, test, _ := strings.Cut(strings.Trim(name, "`"), ".")
			if !hasTest(t, dir, test) {
				t.Errorf("%s names %s, which does not exist", row[1], name)
			}
		}
		if row[4] == "-" {
			continue
		}
		for bug := range strings.SplitSeq(row[4], "; ") {
			if !slices.Contains(names(bugs), bug) {
				t.Errorf("%s names the planted bug %q, which does not exist", row[1], bug)
			}
			missing = slices.DeleteFunc(missing, func(name string) bool { return name == bug })
		}
	}
	if len(rows) != 9 || len(missing) > 0 {
		t.Errorf("the table has %d checks, want 9, and not the planted bugs %q", len(rows), missing)
	}
}

// hasTest reports whether a directory has a test.
func hasTest(t *testing.T, dir, test string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(path.Clean(dir)), "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(files, func(file string) bool {
		text, err := os.ReadFile(file)
		return err == nil && strings.Contains(string(text), "\nfunc "+test+"(t *testing.T)")
	})
}
