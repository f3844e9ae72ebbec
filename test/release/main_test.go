// Package release builds a release as `make release` does, for this machine's platform,
// installs it in each way that is possible here, in a root file system without Go,
// Node or a compiler, and does what a new user does first: order a laptop.
package release_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/shoal-dev/shoal/internal/shoaltest/program"
)

const (
	repository = "../.."
	version    = "1.2.3"

	// patience only ends a test that has failed anyway.
	patience = 5 * time.Minute
)

// built is the release that all tests share, and the program that wrote it.
var built struct{ dir, tool string }

func TestMain(m *testing.M) {
	code, err := withRelease(m.Run)
	if err != nil {
		fmt.Fprintln(os.Stderr, "test/release:", err)
		code = 1
	}
	os.Exit(code)
}

// withRelease runs with a release that was just built.
func withRelease(run func() int) (code int, err error) {
	scratch, err := os.MkdirTemp("", "shoal-release-")
	if err != nil {
		return 0, err
	}
	defer func() { _ = os.RemoveAll(scratch) }() // what is left is in the system's directory for such files
	// Unprivileged users of the roots read it.
	if err := os.Chmod(scratch, 0o755); err != nil {
		return 0, err
	}
	built.tool, built.dir = filepath.Join(scratch, "release"), filepath.Join(scratch, "dist")
	tool := exec.Command("go", "build", "-o", built.tool, "./release")
	tool.Dir, tool.Env = filepath.Join(repository, "build"), append(os.Environ(), "GOWORK=off")
	if out, err := tool.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("%w\n%s", err, out)
	}
	if out, err := releaseCommand(repository, built.dir).CombinedOutput(); err != nil {
		return 0, fmt.Errorf("%w\n%s", err, out)
	}
	return run(), nil
}

// releaseCommand builds a release of the files in root.
func releaseCommand(root, out string, more ...string) *exec.Cmd {
	args := []string{"-root", root, "-out", out, "-version", version, "-targets", runtime.GOOS + "/" + runtime.GOARCH, "-uncommitted"}
	return exec.Command(built.tool, append(args, more...)...)
}

// dist returns the directory of the release. A test that asks for it is run again
// when a file changes that the release is built from.
func dist(t *testing.T) string {
	t.Helper()
	sources, err := program.Sources()
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range sources {
		_, _ = os.Stat(file) // a file that is gone is a change, too
	}
	for _, dir := range []string{"build", "packaging"} {
		err := filepath.WalkDir(filepath.Join(repository, dir), func(name string, _ fs.DirEntry, err error) error {
			_, _ = os.Stat(name)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return built.dir
}

// artifact is an entry of release.json.
type artifact struct {
	File, Kind, OS, Arch, SHA256 string
	Size                         int64
}

// released returns what release.json says.
func released(t *testing.T) (m struct {
	Version, Commit, Date, BaseURL string
	Artifacts                      []artifact
},
) {
	t.Helper()
	if err := json.Unmarshal([]byte(read(t, filepath.Join(dist(t), "release.json"))), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// artifactOf returns the path of the only artifact of a kind for Linux.
func artifactOf(t *testing.T, kind string) string {
	t.Helper()
	var found []string
	for _, a := range released(t).Artifacts {
		if a.Kind == kind && a.OS == "linux" {
			found = append(found, filepath.Join(dist(t), a.File))
		}
	}
	if len(found) != 1 {
		t.Fatalf("the release has %q of the kind %s for Linux, want one", found, kind)
	}
	return found[0]
}

func read(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func write(t *testing.T, name, content string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(name, mode); err != nil { // whatever the umask is
		t.Fatal(err)
	}
}

// tool returns the path of a program of this machine.
func tool(t *testing.T, name, debianPackage string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatalf("%v; install it with: apt-get install %s (`make setup` does)", err, debianPackage)
	}
	return path
}

// ran runs a command and returns everything that it prints and its exit code.
func ran(t *testing.T, c *exec.Cmd) (printed string, code int) {
	t.Helper()
	out, err := c.CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return string(out), exit.ExitCode()
	}
	if err != nil {
		t.Fatalf("%v: %v", c.Args, err)
	}
	return string(out), 0
}

// must is ran for what has to succeed.
func must(t *testing.T, c *exec.Cmd) string {
	t.Helper()
	printed, code := ran(t, c)
	if code != 0 {
		t.Fatalf("%s exits with %d:\n%s", strings.Join(c.Args, " "), code, printed)
	}
	return printed
}

// bounded returns a context that ends with the test or with its patience.
func bounded(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), patience)
	t.Cleanup(cancel)
	return ctx
}
