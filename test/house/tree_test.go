package house_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// The tests of this package hold the rules of the repository. They read the files
// themselves instead of asking git or the compiler, so they also judge a tree
// that is not committed yet, and `go test` notices every change of a file.

// enterRoot makes the root of the repository the working directory. Tests call it
// and not TestMain: the go command records which files a test reads, and in which
// directory, only from the start of the first test.
var enterRoot = sync.OnceFunc(func() {
	if err := os.Chdir(filepath.FromSlash("../..")); err != nil {
		panic(err)
	}
})

const (
	modulePath = "github.com/shoal-dev/shoal"
	shoaltest  = "internal/shoaltest"

	linesWanted = 300 // above: logged
	linesLimit  = 500 // above: a failure
)

// repoFile is one text file of the repository.
type repoFile struct {
	path string // relative to the root, with slashes
	text []byte
}

// goFile is one parsed Go file outside testdata.
type goFile struct {
	repoFile
	fset *token.FileSet
	ast  *ast.File
}

func (f goFile) dir() string       { return path.Dir(f.path) }
func (f goFile) isTest() bool      { return strings.HasSuffix(f.path, "_test.go") }
func (f goFile) servesTests() bool { return f.isTest() || within(f.dir(), shoaltest) }

func (f goFile) position(n ast.Node) string {
	return fmt.Sprintf("%s:%d", f.path, f.fset.Position(n.Pos()).Line)
}

// localName returns the name under which the file uses the package that it imports
// from importPath; empty if it does not import it.
func (f goFile) localName(importPath string) string {
	for _, spec := range f.ast.Imports {
		if unquote(spec.Path) != importPath {
			continue
		}
		if spec.Name != nil {
			return spec.Name.Name
		}
		return path.Base(importPath)
	}
	return ""
}

func unquote(lit *ast.BasicLit) string {
	text, err := strconv.Unquote(lit.Value)
	if err != nil {
		panic(err) // the parser lets only valid literals through
	}
	return text
}

var readRepo = sync.OnceValues(func() ([]repoFile, error) {
	var files []repoFile
	err := filepath.WalkDir(".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if ignoredDir(name, entry.Name()) {
				return filepath.SkipDir
			}
			return nil
		}
		if !entry.Type().IsRegular() || name == ".git" { // which is a file in a worktree
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if bytes.IndexByte(text, 0) < 0 {
			files = append(files, repoFile{filepath.ToSlash(name), text})
		}
		return nil
	})
	return files, err
})

// ignoredDir reports directories that .gitignore names, hidden ones, and what is built
// from other sources here.
func ignoredDir(name, base string) bool {
	switch {
	case name == "." || name == ".ci":
		return false
	case name == "bin", name == "dist", name == filepath.FromSlash("clients/typescript/dist"), name == filepath.FromSlash("clients/react/dist"), name == filepath.FromSlash("internal/console/dist"), base == "node_modules":
		return true
	}
	return strings.HasPrefix(base, ".")
}

func repoFiles(t *testing.T) []repoFile {
	t.Helper()
	enterRoot()
	files, err := readRepo()
	if err != nil {
		t.Fatalf("reading the repository: %v", err)
	}
	return files
}

func goFiles(t *testing.T) []goFile {
	t.Helper()
	var files []goFile
	for _, f := range repoFiles(t) {
		if !strings.HasSuffix(f.path, ".go") || strings.Contains("/"+f.path, "/testdata/") {
			continue
		}
		files = append(files, parseGo(t, f))
	}
	return files
}

func parseGo(t *testing.T, f repoFile) goFile {
	t.Helper()
	fset := token.NewFileSet()
	parsed, err := parser.ParseFile(fset, f.path, f.text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return goFile{f, fset, parsed}
}

// A reader finds what a package is for in one place, never in none or in two.
func TestEveryPackageHasOnePackageComment(t *testing.T) {
	comments := map[string][]string{}
	for _, f := range goFiles(t) {
		if f.isTest() {
			continue
		}
		found := comments[f.dir()]
		if f.ast.Doc != nil {
			found = append(found, f.path)
			if name := f.ast.Name.Name; name != "main" && !strings.HasPrefix(f.ast.Doc.Text(), "Package "+name+" ") {
				t.Errorf("%s: the package comment must begin with %q", f.path, "Package "+name+" ")
			}
		}
		comments[f.dir()] = found
	}
	for dir, found := range comments {
		if len(found) != 1 {
			t.Errorf("package %s has %d package comments, want exactly one: %v", dir, len(found), found)
		}
	}
}

// A file that nobody can hold in his head is two files.
func TestFilesAreShort(t *testing.T) {
	for _, f := range goFiles(t) {
		lines := bytes.Count(f.text, []byte("\n"))
		switch {
		case f.isTest() || ast.IsGenerated(f.ast):
		case lines > linesLimit:
			t.Errorf("%s has %d lines; split it, the limit is %d", f.path, lines, linesLimit)
		case lines > linesWanted:
			t.Logf("%s has %d lines; %d would be nicer", f.path, lines, linesWanted)
		}
	}
}

// packageLimit is how many lines the files of one package may have, without its tests.
// agent may have more: programs import it as one package.
const packageLimit = 3500

func TestPackagesAreSmall(t *testing.T) {
	lines := map[string]int{}
	for _, f := range goFiles(t) {
		if !f.isTest() {
			lines[filepath.Dir(f.path)] += bytes.Count(f.text, []byte("\n"))
		}
	}
	for dir, n := range lines {
		if n > packageLimit && dir != "agent" {
			t.Errorf("%s has %d lines; move an idea to a package of its own, the limit is %d", dir, n, packageLimit)
		}
	}
}

// A test that sleeps is slow on a good day and wrong on a bad one.
func TestTestsDoNotSleep(t *testing.T) {
	for _, f := range goFiles(t) {
		clock := f.localName("time")
		if !f.servesTests() || clock == "" {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok && sel.Sel.Name == "Sleep" && isIdent(sel.X, clock) {
				t.Errorf("%s: time.Sleep; wait for the event itself, or use testing/synctest and receive from time.After in its bubble", f.position(n))
			}
			return true
		})
	}
}

// A skipped test proves nothing, and nobody reads that it was skipped. -short makes a test repeat
// less; [TestShortenedTestsAreProvedWhole] sees that it runs whole, too.
func TestTestsDoNotSkip(t *testing.T) {
	for _, f := range goFiles(t) {
		if !f.servesTests() {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			switch sel.Sel.Name {
			case "Skip", "Skipf", "SkipNow":
				t.Errorf("%s: %s; a missing part fails with the command that installs it", f.position(n), sel.Sel.Name)
			}
			return true
		})
	}
}

func isIdent(x ast.Expr, name string) bool {
	id, ok := x.(*ast.Ident)
	return ok && id.Name == name
}

// The words are put together here so that this file does not find itself.
var unfinished = regexp.MustCompile(`\b(` + "TO" + "DO|FIX" + "ME|X" + "XX|HA" + "CK" + `)\b`)

// What is not done belongs in the tracker, where somebody sees it.
func TestNothingIsMarkedUnfinished(t *testing.T) {
	for _, f := range repoFiles(t) {
		switch path.Ext(f.path) {
		case ".go", ".py", ".ts", ".tsx", ".mts", ".js", ".mjs", ".sql", ".sh":
			for n, line := range lines(f.text) {
				if mark := unfinished.Find(line); mark != nil {
					t.Errorf("%s:%d: %s; do it now or open an issue", f.path, n, mark)
				}
			}
		}
	}
}

// machinePath finds absolute paths below somebody's home or work directory;
// the same words inside a URL or a relative path are fine.
var machinePath = regexp.MustCompile(`(^|[^\w.~/}\])-]|//)/(work|root|home/\w+|Users/\w+)(/|\b)`)

func TestMachinePath(t *testing.T) {
	for text, want := range map[string]bool{
		"cd /" + "work/shoal":                       true,
		`"/` + `home/ann/x"`:                        true,
		"(/" + "root/.npmrc)":                       true,
		"file:///" + "Users/ann/y":                  true,
		"PATH=/" + "root":                           true,
		"/var/lib/shoal":                            false,
		"https://shop.example/work/1":               false,
		"./" + "work/x ~/" + "work/x internal/root": false,
		"/workers /roots":                           false,
	} {
		if got := machinePath.MatchString(text); got != want {
			t.Errorf("machinePath in %q = %v, want %v", text, got, want)
		}
	}
}

// The tree works on every machine, so it names nobody's.
func TestNoFileNamesSomebodysMachine(t *testing.T) {
	for _, f := range repoFiles(t) {
		for n, line := range lines(f.text) {
			if machinePath.Match(line) {
				t.Errorf("%s:%d: path of one machine: %s", f.path, n, bytes.TrimSpace(line))
			}
		}
	}
}

// lines yields the lines of text with their numbers, from 1.
func lines(text []byte) func(yield func(int, []byte) bool) {
	return func(yield func(int, []byte) bool) {
		n := 0
		for line := range bytes.Lines(text) {
			if n++; !yield(n, line) {
				return
			}
		}
	}
}

// goList runs `go list` with the given environment and answers its words.
func goList(t *testing.T, env string, args ...string) []string {
	t.Helper()
	enterRoot()
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"list", "-buildvcs=false"}, args...)...)
	cmd.Env = append(os.Environ(), env)
	var problem strings.Builder
	cmd.Stderr = &problem
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", env, cmd.Args, err, &problem)
	}
	return strings.Fields(string(out))
}
