package house_test

import (
	"go/ast"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Every test that does less with -short is on the list of tests that `make prove` runs whole:
// nothing would run the rest of it otherwise.
func TestShortenedTestsAreProvedWhole(t *testing.T) {
	list := regexp.MustCompile(`(?m)^REPEATED := (\S+)\$\$$`).FindStringSubmatch(string(readFile(t, "Makefile")))
	if list == nil {
		t.Fatal("the Makefile has no list REPEATED")
	}
	proved := regexp.MustCompile(list[1] + "$")
	recipe := regexp.MustCompile(`(?m)-run='\$\(REPEATED\)' (.*) \|\|`).FindStringSubmatch(string(readFile(t, "Makefile")))
	if recipe == nil {
		t.Fatal("the Makefile does not run REPEATED")
	}
	packages := strings.Fields(recipe[1])
	shortened := 0
	for dir, names := range shortenedTests(t) {
		for _, name := range names {
			shortened++
			if !proved.MatchString(name) || !slices.Contains(packages, "./"+dir) {
				t.Errorf("%s of %s does less with -short, and `make prove` does not run it whole: add it to REPEATED in the Makefile", name, dir)
			}
		}
	}
	if shortened < 10 {
		t.Errorf("only %d tests do less with -short; is setting.Repeats found?", shortened)
	}
}

// shortenedTests returns, by directory, the tests that reach a call of setting.Repeats or
// testing.Short through the functions of their package.
func shortenedTests(t *testing.T) map[string][]string {
	uses := map[string]map[string][]string{} // by directory and function: the names that it uses
	for _, f := range goFiles(t) {
		if !f.isTest() {
			continue
		}
		of := uses[f.dir()]
		if of == nil {
			of = map[string][]string{}
			uses[f.dir()] = of
		}
		for _, d := range f.ast.Decls {
			fn, is := d.(*ast.FuncDecl)
			if !is || fn.Body == nil {
				continue
			}
			ast.Inspect(fn, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.Ident:
					of[fn.Name.Name] = append(of[fn.Name.Name], n.Name)
				case *ast.SelectorExpr:
					if x, is := n.X.(*ast.Ident); is && (x.Name+"."+n.Sel.Name == "setting.Repeats" || x.Name+"."+n.Sel.Name == "testing.Short") {
						of[fn.Name.Name] = append(of[fn.Name.Name], "-short")
					}
				}
				return true
			})
		}
	}
	found := map[string][]string{}
	for dir, of := range uses {
		for name := range of {
			if strings.HasPrefix(name, "Test") && reaches(of, name, "-short", map[string]bool{}) {
				found[dir] = append(found[dir], name)
			}
		}
	}
	return found
}

// reaches reports whether a function uses a name, itself or through others.
func reaches(uses map[string][]string, from, name string, seen map[string]bool) bool {
	if seen[from] {
		return false
	}
	seen[from] = true
	return slices.ContainsFunc(uses[from], func(used string) bool {
		return used == name || reaches(uses, used, name, seen)
	})
}
