package house_test

import (
	"go/ast"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The patterns of the Makefile that select tests name tests that exist: a test that was renamed
// would otherwise run where it should not, or not at all.
func TestMakefileNamesTestsThatExist(t *testing.T) {
	var tests []string
	for _, f := range goFiles(t) {
		for _, d := range f.ast.Decls {
			if fn, is := d.(*ast.FuncDecl); is && f.isTest() && fn.Recv == nil {
				tests = append(tests, fn.Name.Name)
			}
		}
	}
	patterns := regexp.MustCompile(`(?m)^(\w+) := \^Test\(([\w|]+)\)(\$\$)?$`).FindAllStringSubmatch(string(readFile(t, "Makefile")), -1)
	if len(patterns) != 3 {
		t.Fatalf("the Makefile has %d patterns of tests, want ALONE, QUICK and REPEATED", len(patterns))
	}
	for _, p := range patterns {
		for name := range strings.SplitSeq(p[2], "|") {
			if !slices.ContainsFunc(tests, func(test string) bool {
				return test == "Test"+name || p[3] == "" && strings.HasPrefix(test, "Test"+name)
			}) {
				t.Errorf("%s of the Makefile selects Test%s, which does not exist", p[1], name)
			}
		}
	}
}

// What `make test` leaves to `make prove` exists: a package or a file of stories that was renamed
// would otherwise run in the first and not in the second.
func TestMakefileNamesLongTestsThatExist(t *testing.T) {
	names := regexp.MustCompile(`(?m)^(LONG|STORIES) +:= .*\(([a-z|]+)\)\$\$$`).FindAllStringSubmatch(string(readFile(t, "Makefile")), -1)
	if len(names) != 2 {
		t.Fatalf("the Makefile has %d lists of long tests, want LONG and STORIES", len(names))
	}
	for _, list := range names {
		for name := range strings.SplitSeq(list[2], "|") {
			path := map[string]string{"LONG": "test/" + name, "STORIES": "test/console/" + name + ".test.mjs"}[list[1]]
			if _, err := os.Stat(path); err != nil {
				t.Errorf("%s of the Makefile: %v", list[1], err)
			}
		}
	}
}
