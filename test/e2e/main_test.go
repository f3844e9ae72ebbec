// Package e2e plays whole conversations between the real binary and clients that
// others wrote: the official MCP SDKs in TypeScript (both majors) and Go, MCP
// Inspector, a shell. What they receive is compared word for word with the
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

	"github.com/shoal-dev/shoal/internal/shoaltest/program"
)

// patience is how long a test waits for what must come. It only ends a test
// that has failed anyway, so it is long enough for a machine that is busy.
const patience = 40 * time.Second

// shoalBinary is the command line as `make build` makes it.
var shoalBinary *program.Shoal

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
	return program.WithShoal(func(built *program.Shoal) int { shoalBinary = built; return run() })
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

// The lock files work with every registry, so they name the downloads of none.
func TestLockFilesNameNoRegistry(t *testing.T) {
	t.Parallel()
	locks, err := filepath.Glob("../*/package-lock.json")
	if err != nil || len(locks) < 2 {
		t.Fatalf("lock files: %q, %v", locks, err)
	}
	for _, name := range locks {
		lock, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(lock), `"resolved"`) {
			t.Errorf("%s holds download addresses; delete it and run `npm install` in that folder, whose .npmrc leaves them out", name)
		}
	}
}
