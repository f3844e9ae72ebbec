// Package e2e plays whole conversations between the real binary and clients that
// others wrote: the official MCP SDKs in TypeScript (both majors) and Go, MCP
// Inspector, a shell. What they are told is compared word for word with the
// contract.
//
// The TypeScript clients live in test/mcp-ts; `make setup` installs what they
// need.
package e2e_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// patience is how long a test waits for what must come. It only ends a test
// that has failed anyway, so it is long enough for a machine that is busy.
const patience = 40 * time.Second

// shoalBinary is the command line as `make build` makes it.
var shoalBinary string

// nodeDir is where the TypeScript clients are.
const nodeDir = "../mcp-ts"

func TestMain(m *testing.M) {
	code, err := prepared(m.Run)
	if err != nil {
		fmt.Fprintln(os.Stderr, "test/e2e:", err)
		code = 1
	}
	os.Exit(code)
}

// prepared runs with a built binary and refuses to without what the clients
// need.
func prepared(run func() int) (code int, err error) {
	if _, err := exec.LookPath("node"); err != nil {
		return 0, fmt.Errorf("%w; run `make setup`", err)
	}
	if _, err := os.Stat(filepath.Join(nodeDir, "node_modules", "@modelcontextprotocol")); err != nil {
		return 0, fmt.Errorf("%w; run `make setup`", err)
	}
	dir, err := os.MkdirTemp("", "shoal-e2e-")
	if err != nil {
		return 0, err
	}
	defer func() { _ = os.RemoveAll(dir) }() // what is left lies in the system's folder for such things
	shoalBinary = filepath.Join(dir, "shoal")
	build := exec.CommandContext(context.Background(), "go", "build", "-trimpath", "-o", shoalBinary, "../../cmd/shoal")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("%v: %w\n%s", build.Args, err, out)
	}
	return run(), nil
}

// bounded returns a context that ends with the test, and at the latest when its
// patience does.
func bounded(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), patience)
	t.Cleanup(cancel)
	return ctx
}

// contains reports whether text holds all parts.
func contains(text string, parts ...string) bool {
	for _, part := range parts {
		if !strings.Contains(text, part) {
			return false
		}
	}
	return true
}

// The lock file works with every registry, so it names the downloads of none.
func TestLockFileNamesNoRegistry(t *testing.T) {
	t.Parallel()
	lock, err := os.ReadFile(filepath.Join(nodeDir, "package-lock.json"))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(lock), `"resolved"`) {
		t.Errorf("test/mcp-ts/package-lock.json holds download addresses; delete it and run `npm install` in that folder, whose .npmrc leaves them out")
	}
}
