// Package program provides the programs that tests start: shoal, built from its sources, and
// programs for Node, which `make setup` installs.
//
//	code, err := program.WithShoal(func(built *program.Shoal) int { shoal = built; return m.Run() })
//	server := program.NewServer(t, shoal.Path())
//	stop, err := program.Serve("model.mjs", &said)
//	client := exec.Command(program.Node(t), program.Installed(t, inspector))
package program

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Node returns the path of the Node in test/node, at least 22.19, for programs that require
// a newer version than that of the machine. It fails the test if it is not installed.
func Node(t testing.TB) string {
	t.Helper()
	return Installed(t, "test/node/node_modules/.bin/node")
}

// Installed returns the absolute path of a file that `make setup` installs in this
// repository, by its path below the root. It fails the test if the file does not exist.
func Installed(t testing.TB, name string) string {
	t.Helper()
	root, err := repository()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(root, filepath.FromSlash(name))
	if _, err := os.Stat(file); err != nil {
		t.Fatalf("%v; delete the node_modules on that path, if there is one, and run `make setup`", err)
	}
	return file
}

// Browser returns the path of a Chromium, by the names that it has on different systems. The one
// without windows is first: it takes half of the CPU time. CHROMIUM names another.
func Browser() (string, error) {
	if named := os.Getenv("CHROMIUM"); named != "" {
		return named, nil
	}
	for _, name := range []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("there is no chromium on PATH; run `make setup`, or set CHROMIUM to the program")
}

// repository returns the root of the repository in which the test runs.
func repository() (string, error) {
	root, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			return root, nil
		}
		if filepath.Dir(root) == root {
			return "", errors.New("the test does not run in the repository")
		}
		root = filepath.Dir(root)
	}
}

// Serve starts a script with the machine's Node and decodes its first line of output, in
// JSON, into said; it contains the address of the server. Its standard error is that of the
// test. The script ends when its input ends; stop closes the input and waits for the end.
func Serve(script string, said any) (stop func() error, err error) {
	if _, err := exec.LookPath("node"); err != nil {
		return nil, fmt.Errorf("%w; run `make setup`", err)
	}
	server := exec.Command("node", script)
	server.Stderr = os.Stderr
	alive, err := server.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := server.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := server.Start(); err != nil {
		return nil, err
	}
	stop = func() error { return errors.Join(alive.Close(), server.Wait()) }
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, said)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: invalid first line %q: %w", script, line, err), stop())
	}
	return stop, nil
}
