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

// Shoal is a program that Build has built. It is safe for concurrent use.
type Shoal struct {
	path    string
	sources []string
	looked  sync.Once
}

// Build builds shoal from the sources as they are, with the flags of `make build`,
// and puts it at path. more are further flags of `go build`, such as -overlay.
//
//   - All tests build with the same flags, so nothing is compiled twice. What was
//     linked is kept in .cache under the name of path: as long as no source
//     changes, it is not linked again.
//   - The file at path is the caller's. It stays as it is, whatever is built later,
//     and any number of tests may build at a time.
func Build(path string, more ...string) (*Shoal, error) {
	root, err := repository()
	if err != nil {
		return nil, err
	}
	kept := filepath.Join(root, ".cache", "test", filepath.Base(path))
	// MkdirAll would look at them, and every build changes the second one: no result
	// would be remembered.
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
	// directory that is a rename: nobody finds half a program.
	if _, err := output(root, []string{"CGO_ENABLED=0", "GOTMPDIR=" + filepath.Dir(kept)}, append(build, "./cmd/shoal")...); err != nil {
		return nil, err
	}
	// Another process copies it: one that this process forks meanwhile would hold the
	// file open for writing, and nothing can execute such a file.
	if _, err := output(root, nil, "cp", kept, path); err != nil {
		return nil, err
	}
	return &Shoal{path: path, sources: sources}, nil
}

// Path returns where the program is. A test asks for it whenever it starts the
// program: the go command, which remembers results, then runs that test again when
// a source of shoal has changed.
func (s *Shoal) Path() string {
	s.looked.Do(func() {
		// The go command cannot see what another process has read. It sees what the
		// test itself looks at, once its tests have begun.
		for _, file := range s.sources {
			_, _ = os.Stat(file) // a source that is gone is a change, too
		}
	})
	return s.path
}

// Sources returns the files of this repository of which shoal is built, what it
// embeds and go.mod among them, as absolute paths.
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

// output runs a command in a directory, with more of an environment, and returns
// what it prints.
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

// WithShoal runs with a shoal that was just built, which is gone afterwards, and
// returns what run does. It is for TestMain.
func WithShoal(run func(built *Shoal) int) (code int, err error) {
	dir, err := os.MkdirTemp("", "shoal-test-")
	if err != nil {
		return 0, err
	}
	defer func() { _ = os.RemoveAll(dir) }() // what is left lies in the system's folder for such things
	built, err := Build(filepath.Join(dir, "shoal"))
	if err != nil {
		return 0, err
	}
	return run(built), nil
}
