package program_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/shoal-dev/shoal/internal/shoaltest/program"
)

// Concurrent builds each get a complete program, which is linked only once.
func TestBuild(t *testing.T) {
	const name = "shoal-of-this-test"
	kept := filepath.Join("..", "..", "..", ".cache", "test", name)
	t.Cleanup(func() { _ = os.Remove(kept) })
	dirs := []string{t.TempDir(), t.TempDir(), t.TempDir()}

	var together sync.WaitGroup
	for _, dir := range dirs[:2] {
		together.Go(func() {
			built, err := program.Build(filepath.Join(dir, name))
			if err != nil {
				t.Error(err)
				return
			}
			if out, err := exec.Command(built.Path(), "version").CombinedOutput(); err != nil || !strings.Contains(string(out), "go1.") {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
	together.Wait()

	before, err := os.Stat(kept)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := program.Build(filepath.Join(dirs[2], name)); err != nil {
		t.Fatal(err)
	}
	after, err := os.Stat(kept)
	if err != nil {
		t.Fatal(err)
	}
	// A different content means that a source has changed meanwhile.
	if !os.SameFile(before, after) && bytes.Equal(read(t, filepath.Join(dirs[1], name)), read(t, filepath.Join(dirs[2], name))) {
		t.Error("the same program was linked twice")
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// Embedded files are sources of shoal, files of its tests are not.
func TestSources(t *testing.T) {
	files, err := program.Sources()
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Join(files, "\n")
	for part, want := range map[string]bool{
		"cmd/shoal/main.go": true, "internal/console/dist/index.html": true, "go.mod": true,
		"_test.go": false, "internal/shoaltest": false,
	} {
		if strings.Contains(filepath.ToSlash(all), part) != want {
			t.Errorf("Sources contains %s = %v", part, !want)
		}
	}
}

func TestServeWithoutOutput(t *testing.T) {
	script := filepath.Join(t.TempDir(), "mute.mjs")
	if err := os.WriteFile(script, []byte("process.stdout.write('nowhere\\n')"), 0o600); err != nil {
		t.Fatal(err)
	}
	var said struct{ URL string }
	if _, err := program.Serve(script, &said); err == nil || !strings.Contains(err.Error(), `invalid first line "nowhere\n"`) {
		t.Errorf("got URL %q, error %v, want an error with the invalid line", said.URL, err)
	}
}
