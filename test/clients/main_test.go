// Package clients connects the real command lines of others with `shoal connect`
// and has them work: Claude Code, Codex and Gemini CLI, from their npm packages, and
// OpenCode, which only a runner drives.
// Their models are played by aimock (model.mjs), everything else is as it is at
// home: a real server, a real shoal, a home directory with settings in it. A proxy
// that lets nothing through separates them from every other machine.
package clients_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shoal-dev/shoal/internal/shoaltest/program"
)

// patience is how long a test waits for what must come. It only ends a test that
// has failed anyway.
const patience = 3 * time.Minute

var (
	// programs is a directory with shoal and the clients, the front of PATH.
	programs string
	built    *program.Shoal
	// model says where the models are: those of OpenAI, and all others.
	model struct{ URL, OpenAI string }
	// orderly says where the models are that do what a prompt orders.
	orderly struct{ URL string }
)

func TestMain(m *testing.M) {
	flag.Parse()
	code, err := prepared(m.Run)
	if err != nil {
		fmt.Fprintln(os.Stderr, "test/clients:", err)
		code = 1
	}
	os.Exit(code)
}

// prepared runs with all that the tests need, and refuses to without it.
func prepared(run func() int) (code int, err error) {
	if programs, err = os.MkdirTemp("", "shoal-clients-"); err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(programs)) }()
	arch := map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
	clients := map[string]string{
		"claude": "@anthropic-ai/claude-code-" + runtime.GOOS + "-" + arch + "/claude",
		"codex":  "@openai/codex/bin/codex.js",
		"gemini": "@google/gemini-cli/bundle/gemini.js",
	}
	if runtime.GOOS+"/"+runtime.GOARCH == "linux/amd64" { // package.json pins no other program of OpenCode
		clients["opencode"] = "opencode-linux-x64/bin/opencode"
	} else {
		coders = slices.DeleteFunc(coders, func(d driven) bool { return d.kind == "opencode" })
	}
	for name, path := range clients {
		path, err := filepath.Abs(filepath.Join("node_modules", filepath.FromSlash(path)))
		if err != nil {
			return 0, err
		}
		if _, err := os.Stat(path); err != nil {
			return 0, fmt.Errorf("%w; run `make setup`", err)
		}
		if err := os.Symlink(path, filepath.Join(programs, name)); err != nil {
			return 0, err
		}
	}
	if built, err = program.Build(filepath.Join(programs, "shoal")); err != nil {
		return 0, err
	}
	for script, at := range map[string]any{"model.mjs": &model, "harness-model.mjs": &orderly} {
		stop, err := program.Serve(script, at)
		if err != nil {
			return 0, err
		}
		defer func() { err = errors.Join(err, stop()) }()
	}
	return run(), nil
}

// machine is where a person works: a home directory, a project, and an
// environment that holds nothing else.
type machine struct {
	t             *testing.T
	home, project string
	env           []string
}

func newMachine(t *testing.T, serverURL, data string) *machine {
	t.Helper()
	m := &machine{t: t, home: t.TempDir(), project: t.TempDir()}
	nowhere := refuse(t)
	m.env = []string{
		"PATH=" + filepath.Dir(built.Path()) + string(os.PathListSeparator) + os.Getenv("PATH"),
		"HOME=" + m.home,
		"SHOAL_URL=" + serverURL,
		"SHOAL_DATA=" + data,
		"HTTP_PROXY=" + nowhere, "HTTPS_PROXY=" + nowhere, "ALL_PROXY=" + nowhere, "NO_PROXY=127.0.0.1",
		// Claude Code: the model, and no calls home.
		"ANTHROPIC_BASE_URL=" + model.URL, "ANTHROPIC_API_KEY=none",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1",
		// aimock's answers hold no thoughts, and its requests show all tools.
		"MAX_THINKING_TOKENS=0", "ENABLE_TOOL_SEARCH=false",
		// Codex: the key of the model provider in its settings.
		"AIMOCK_KEY=none",
		// Gemini CLI: the model, and a project that is trusted.
		"GOOGLE_GEMINI_BASE_URL=" + model.URL, "GEMINI_API_KEY=none", "GEMINI_CLI_TRUST_WORKSPACE=true",
		// OpenCode: no list of all models.
		"OPENCODE_DISABLE_MODELS_FETCH=1",
	}
	return m
}

// command is a program that the person starts in the project.
func (m *machine) command(name string, args ...string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(m.t.Context()), patience)
	m.t.Cleanup(cancel)
	path := filepath.Join(programs, name)
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = m.project, m.env, 5*time.Second
	return cmd
}

// runs runs a program to its end and returns what it printed.
func (m *machine) runs(name string, args ...string) string {
	m.t.Helper()
	cmd := m.command(name, args...)
	var out, notes bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &notes
	if err := cmd.Run(); err != nil {
		m.t.Fatalf("%s %s: %v\n%s%s", name, strings.Join(args, " "), err, &out, &notes)
	}
	m.t.Logf("%s %s\n%s%s", name, strings.Join(args, " "), &out, &notes)
	return out.String()
}

// file returns what a file in the home directory holds.
func (m *machine) file(name string) string {
	m.t.Helper()
	text, err := os.ReadFile(filepath.Join(m.home, name))
	if err != nil {
		m.t.Fatal(err)
	}
	return string(text)
}

// keeps writes a file in the home directory.
func (m *machine) keeps(name, text string) {
	m.t.Helper()
	path := filepath.Join(m.home, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		m.t.Fatal(err)
	}
}

// working is a client at work.
type working struct {
	name  string
	out   bytes.Buffer
	ended chan error
}

// works starts a client with a prompt. It is ended with the test.
func (m *machine) works(name string, args ...string) *working {
	m.t.Helper()
	w := &working{name: name, ended: make(chan error, 1)}
	cmd := m.command(name, args...)
	cmd.Stdout, cmd.Stderr = &w.out, &w.out
	if err := cmd.Start(); err != nil {
		m.t.Fatal(err)
	}
	var gone sync.WaitGroup
	gone.Go(func() { w.ended <- cmd.Wait() })
	m.t.Cleanup(func() {
		_ = cmd.Process.Kill() // it has ended if all went well
		gone.Wait()
		if m.t.Failed() {
			m.t.Logf("%s says:\n%s", name, &w.out)
		}
	})
	return w
}

// done waits until the client has ended well, and returns what it said.
func (w *working) done(t *testing.T) string {
	t.Helper()
	if err := <-w.ended; err != nil { // its command has an end
		t.Fatalf("%s: %v\n%s", w.name, err, &w.out)
	}
	return w.out.String()
}
