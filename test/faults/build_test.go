package faults

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/shoal-dev/shoal/internal/shoaltest/program"
)

// plant is a change of the program's source: with replaces anchor, which must occur
// exactly once in file.
type plant struct{ file, anchor, with string }

// builtPrograms holds the binaries that were built for this run of the tests.
var builtPrograms struct {
	dir                                       string
	productBinary, plantedBinary, clockBinary build
}

// build is a binary that is built once, on first use.
type build struct {
	once   sync.Once
	made   *program.Shoal
	failed error
}

// path returns the path of the binary. The first call builds it, with the overlay that
// more writes into a directory.
func (b *build) path(t *testing.T, name string, more func(dir string) (list string, err error)) string {
	t.Helper()
	b.once.Do(func() {
		path, flags := filepath.Join(builtPrograms.dir, name), []string(nil)
		if more != nil {
			list, err := more(path + "-overlay")
			if b.failed = err; err != nil {
				return
			}
			flags = []string{"-overlay", list}
		}
		b.made, b.failed = program.Build(path, flags...)
	})
	if b.failed != nil {
		t.Fatal(b.failed)
	}
	return b.made.Path()
}

// productBinary returns the binary without changes.
func productBinary(t *testing.T) string {
	t.Helper()
	return builtPrograms.productBinary.path(t, "shoal", nil)
}

// plantedBinary returns the binary with all points and bugs. Each of them is active only
// if the environment of the process names it.
func plantedBinary(t *testing.T) string {
	t.Helper()
	return builtPrograms.plantedBinary.path(t, "shoal-planted", func(dir string) (string, error) { return overlay(dir, plants()) })
}

// buildTest builds the tests of a package with all points and bugs, once, and returns the path
// of the program.
func buildTest(dir string) (string, error) {
	build, _ := testBuilds.LoadOrStore(dir, sync.OnceValues(func() (string, error) {
		path := filepath.Join(builtPrograms.dir, filepath.Base(dir)+"-planted.test")
		list, err := overlay(path+"-overlay", plants())
		if err != nil {
			return "", err
		}
		build := exec.Command("go", "test", "-c", "-o", path, "-overlay", list, "./"+dir)
		build.Dir = root
		if out, err := build.CombinedOutput(); err != nil {
			return "", fmt.Errorf("go test -c ./%s: %w\n%s", dir, err, out)
		}
		return path, nil
	}))
	return build.(func() (string, error))()
}

// testBuilds has the result of buildTest for each package.
var testBuilds sync.Map

var root = func() string {
	dir, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		panic(err)
	}
	return dir
}()

// overlay writes the changed copies of source files, and one file with the functions of
// points and bugs for each package. It returns the path of the -overlay file that lists
// them.
func overlay(dir string, plants []plant) (string, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	sources, packages := map[string]string{}, map[string]bool{}
	var missing []error
	for _, p := range plants {
		text, read := sources[p.file]
		if !read {
			b, err := os.ReadFile(filepath.Join(root, p.file))
			if err != nil {
				return "", err
			}
			text = string(b)
		}
		if n := strings.Count(text, p.anchor); n != 1 {
			missing = append(missing, fmt.Errorf("%s contains this text %d times, want once: update test/faults/plants_test.go to match the source:\n%s", p.file, n, p.anchor))
		}
		sources[p.file] = strings.Replace(text, p.anchor, p.with, 1)
		if strings.Contains(p.with, "rig") {
			packages[filepath.Dir(p.file)] = true
		}
	}
	if len(missing) > 0 {
		return "", errors.Join(missing...)
	}
	for dir := range packages {
		name := filepath.Base(dir)
		sources[filepath.Join(dir, "rig.go")] = "package " + name + "\n" + rigSource
		if more := rigExtra[name]; more != "" {
			sources[filepath.Join(dir, "rigextra.go")] = more
		}
	}
	replace := map[string]string{}
	for file, text := range sources {
		copied := filepath.Join(dir, strings.ReplaceAll(filepath.ToSlash(file), "/", "_"))
		if err := os.WriteFile(copied, []byte(text), 0o600); err != nil {
			return "", err
		}
		replace[filepath.Join(root, file)] = copied
	}
	return overlayOf(dir, replace)
}

// overlayOf writes the file for -overlay that replaces sources by other files, and returns
// its path.
func overlayOf(dir string, replace map[string]string) (list string, err error) {
	b, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	list = filepath.Join(dir, "overlay.json")
	return list, os.WriteFile(list, b, 0o600)
}

// Every anchor of the table exists in its source, and the table contains every point and
// bug that a test names.
func TestPlantAnchorsExist(t *testing.T) {
	if _, err := overlay(t.TempDir(), plants()); err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for _, p := range plants() {
		text.WriteString(p.with)
	}
	for _, name := range slices.Concat(names(points), names(bugs)) {
		if !strings.Contains(text.String(), `("`+name+`")`) {
			t.Errorf("no plant implements %q", name)
		}
	}
}

func TestOverlayRefusesMissingAnchors(t *testing.T) {
	for anchor, want := range map[string]string{"no such text": "0 times", "\n": "times"} {
		_, err := overlay(t.TempDir(), []plant{{"internal/hub/hub.go", anchor, ""}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("anchor %q: got error %v, want one with %q", anchor, err, want)
		}
	}
}
