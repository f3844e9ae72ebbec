package house_test

import (
	"go/ast"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The patterns of the Makefile that select tests name tests that exist: a test that was renamed
// would otherwise not run at all, or with the race detector only.
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
		t.Fatalf("the Makefile has %d patterns of tests, want SEEDED, ALONE and QUICK", len(patterns))
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
