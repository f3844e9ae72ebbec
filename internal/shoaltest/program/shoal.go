package program

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
)

// Shoal is a binary that Build has built. It is safe for concurrent use.
type Shoal struct {
	path    string
	sources []string
	looked  sync.Once
}

// Build builds shoal from the current sources, with the flags of `make build`, and writes it
// to path. more are additional flags of `go build`, such as -overlay.
//
//   - All tests build with the same flags, so nothing is compiled twice. The
//     linked binary is cached in .cache under the name of path, until a source
//     changes.
//   - The file at path belongs to the caller. Later builds do not change it, and any
//     number of tests may build concurrently.
func Build(path string, more ...string) (*Shoal, error) {
	root, err := repository()
	if err != nil {
		return nil, err
	}
	kept := filepath.Join(root, ".cache", "test", filepath.Base(path))
	// MkdirAll would stat these directories, and every build changes the second one, so
	// the go command would cache no test result.
	for _, dir := range []string{filepath.Join(root, ".cache"), filepath.Dir(kept)} {
		if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
	}
	sources, err := Sources()
	if err != nil {
		return nil, err
	}
	build := append([]string{"go", "build", "-trimpath", "-buildvcs=false", "-o", kept}, more...)
	// The go command links in GOTMPDIR and moves the program from there. Within a
	// directory this is an atomic rename.
	if _, err := output(root, []string{"CGO_ENABLED=0", "GOTMPDIR=" + filepath.Dir(kept)}, append(build, "./cmd/shoal")...); err != nil {
		return nil, err
	}
	// Another process copies the file: a process forked meanwhile would inherit the file
	// open for writing, and such a file cannot be executed.
	if _, err := output(root, nil, "cp", kept, path); err != nil {
		return nil, err
	}
	return &Shoal{path: path, sources: sources}, nil
}

// Path returns the path of the binary. A test must call it whenever it starts the program:
// then the go command, which caches test results, runs the test again when a source of
// shoal has changed.
func (s *Shoal) Path() string {
	s.looked.Do(func() {
		// The go command does not see which files another process reads. It sees the
		// files that the test itself stats, once its tests have started.
		for _, file := range s.sources {
			_, _ = os.Stat(file) // a removed source is a change, too
		}
	})
	return s.path
}

// Sources returns the absolute paths of the files of this repository that shoal is built
// from, including embedded files and go.mod.
func Sources() ([]string, error) {
	const format = `{{with .Module}}{{if or .Main .Replace}}{{range $.GoFiles}}{{$.Dir}}/{{.}}{{"\n"}}{{end}}{{range $.EmbedFiles}}{{$.Dir}}/{{.}}{{"\n"}}{{end}}{{end}}{{end}}`
	root, err := repository()
	if err != nil {
		return nil, err
	}
	listed, err := output(root, []string{"CGO_ENABLED=0"}, "go", "list", "-buildvcs=false", "-deps", "-f", format, "./cmd/shoal")
	files := []string{filepath.Join(root, "go.mod"), filepath.Join(root, "go.sum")}
	for file := range strings.Lines(listed) {
		files = append(files, filepath.FromSlash(strings.TrimSuffix(file, "\n")))
	}
	return files, err
}

// output runs a command in a directory, with additional environment variables, and returns
// its output.
func output(dir string, env []string, command ...string) (string, error) {
	c := exec.Command(command[0], command[1:]...)
	c.Dir, c.Env = dir, append(os.Environ(), env...)
	var said strings.Builder
	c.Stderr = &said
	out, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w\n%s", strings.Join(command, " "), err, said.String())
	}
	return string(out), nil
}

// WithShoal builds shoal, calls run with it, removes it, and returns the result of run. It
// is for TestMain.
func WithShoal(run func(built *Shoal) int) (code int, err error) {
	dir, err := os.MkdirTemp("", "shoal-test-")
	if err != nil {
		return 0, err
	}
	defer func() { _ = os.RemoveAll(dir) }() // remains are in the system's temporary directory
	built, err := Build(filepath.Join(dir, "shoal"))
	if err != nil {
		return 0, err
	}
	return run(built), nil
}
