// Package pages runs the programs that the pages in docs show, word for word.
package pages

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shoal-dev/shoal/internal/apptest"
	"github.com/shoal-dev/shoal/internal/shoaltest/program"
)

// shoalBinary is the program that the pages install.
var shoalBinary *program.Shoal

func TestMain(m *testing.M) {
	code, err := program.WithShoal(func(built *program.Shoal) int { shoalBinary = built; return m.Run() })
	if err != nil {
		fmt.Fprintln(os.Stderr, "test/pages:", err)
		code = 1
	}
	os.Exit(code)
}

// programOf returns the text of the program that a page shows under a file name.
func programOf(t *testing.T, page, file string) string {
	t.Helper()
	return program.PrintedText(t, page, file)
}

// start runs a program as the agent scout until the test ends.
func start(t *testing.T, s *apptest.Server, dir, file, text string, interpreter ...string) {
	t.Helper()
	path := filepath.Join(dir, file)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	command := exec.CommandContext(ctx, interpreter[0], append(slices.Clone(interpreter[1:]), path)...)
	command.Env = append(os.Environ(), "SHOAL_URL="+s.URL, "SHOAL_KEY="+s.Agent("scout"))
	var output strings.Builder
	command.Stdout, command.Stderr, command.WaitDelay = &output, &output, 10*time.Second
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		if err := command.Wait(); t.Failed() {
			t.Logf("%s ended with %v:\n%s", file, err, output.String())
		}
	})
}

// find returns the path of an interpreter, or fails with the command that installs it.
func find(t *testing.T, name, install string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if errors.Is(err, exec.ErrNotFound) {
		t.Fatalf("%s is missing: %s", name, install)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestProgramsOfThePagesAnswer(t *testing.T) {
	for _, c := range []struct{ name, page, file, interpreter, install, answer string }{
		{"Python over REST", "python.md", "scout_rest.py", "python3", "apt-get install python3", "You said: Hello scout"},
		{"JavaScript over REST", "typescript.md", "scout.mjs", "node", "apt-get install nodejs", "You said: Hello scout"},
		{"JavaScript over MCP", "typescript.md", "scout-mcp.mjs", "node", "apt-get install nodejs", "I read you."},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			interpreter := find(t, c.interpreter, c.install)
			s := apptest.Start(t)
			start(t, s, directory(t, c.file), c.file, programOf(t, c.page, c.file), interpreter)
			answers(t, s, c.answer)
		})
	}
}

// answers checks that scout answers.
func answers(t *testing.T, s *apptest.Server, want string) {
	t.Helper()
	done := make(chan string, 1)
	go func() { done <- s.Ask("scout", "Hello scout") }()
	select {
	case got := <-done:
		if got != want {
			t.Errorf("scout answered %q, want %q", got, want)
		}
	case <-time.After(30 * time.Second):
		t.Error("scout did not answer within 30 s")
	}
}

// directory returns a directory for a program, below that of the SDK if it needs it.
func directory(t *testing.T, file string) string {
	t.Helper()
	if !strings.Contains(file, "mcp") {
		return t.TempDir()
	}
	sdk, err := filepath.Abs(filepath.Join("..", "mcp-ts"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(sdk, "node_modules", "@modelcontextprotocol", "sdk")); err != nil {
		t.Fatalf("%v: run `make setup`", err)
	}
	dir, err := os.MkdirTemp(sdk, "page-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}
