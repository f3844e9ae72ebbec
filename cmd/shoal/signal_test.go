package main

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/cli"
)

// process is a running command.
type process struct {
	*exec.Cmd
	t     *testing.T
	lines *bufio.Scanner
	notes *strings.Builder
}

// start runs the binary. It ends with the test at the latest.
func start(t *testing.T, env []string, args ...string) *process {
	t.Helper()
	return startWith(t, nil, env, args...)
}

// startWith is start with a standard input.
func startWith(t *testing.T, in io.Reader, env []string, args ...string) *process {
	t.Helper()
	p := &process{Cmd: exec.CommandContext(t.Context(), "shoal", args...), t: t, notes: new(strings.Builder)}
	p.Env, p.Stdin, p.Stderr = append(os.Environ(), env...), in, p.notes
	out, err := p.StdoutPipe()
	if err == nil {
		err = p.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	p.lines = bufio.NewScanner(out)
	return p
}

// see reads lines until one contains text, and returns it.
func (p *process) see(text string) string {
	p.t.Helper()
	for p.lines.Scan() {
		if strings.Contains(p.lines.Text(), text) {
			return p.lines.Text()
		}
	}
	p.t.Fatalf("%v ended without %q: %s", p.Args, text, p.notes)
	return ""
}

// end sends a signal and returns the exit code.
func (p *process) end(signal os.Signal) int {
	p.t.Helper()
	if err := p.Process.Signal(signal); err != nil {
		p.t.Fatal(err)
	}
	for p.lines.Scan() {
		continue // so that nothing blocks on its output
	}
	err := p.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		p.t.Fatal(err)
	}
	return p.ProcessState.ExitCode()
}

// The server prints its URL, stores its key where the command line finds it, and shuts down
// within five seconds of a signal, even with a follower.
func TestServeAndItsEnd(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	server := start(t, nil, "serve", "--addr", "127.0.0.1:0", "--data", data)
	greeting := server.see(" is up on ")
	env := []string{"SHOAL_URL=" + greeting[strings.Index(greeting, "http"):], "SHOAL_DATA=" + data}
	raw, err := os.ReadFile(filepath.Join(data, "admin.key"))
	if err != nil || strings.Count(string(raw), "\n") != 1 || !strings.HasSuffix(string(raw), "\n") {
		t.Fatalf("admin.key holds %q, %v; want a key and a newline", raw, err)
	}
	if sent := start(t, env, "send", "welcome", "hello"); sent.see("welcome") == "" {
		t.Fatal("nothing was sent")
	}
	tail := start(t, env, "tail")
	tail.see("hello")

	began := time.Now()
	if code := server.end(syscall.SIGTERM); code != 0 || time.Since(began) > 15*time.Second {
		t.Errorf("the server ended with %d after %v: %s", code, time.Since(began), server.notes)
	}
	if code := tail.end(os.Interrupt); code != cli.Interrupted || strings.Contains(tail.notes.String(), "error:") {
		t.Errorf("tail ended with %d, want %d, and said %s", code, cli.Interrupted, tail.notes)
	}
}

// With --json, serve prints nothing to standard output.
func TestServeForPrograms(t *testing.T) {
	server := start(t, nil, "serve", "--addr", "127.0.0.1:0", "--data", filepath.Join(t.TempDir(), "data"), "--json")
	if err := server.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	for server.lines.Scan() {
		t.Errorf("standard output holds %q", server.lines.Text())
	}
	_ = server.Wait() // the signal may have ended it before it handled signals
}

// An interrupted wait is neither a failure nor a timeout.
func TestAnInterruptedWait(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	server, session := served(t, "127.0.0.1:0", data)
	defer server.Stop()
	env := []string{"SHOAL_URL=" + server.URL(), "SHOAL_DATA=" + data}
	var wait *process
	for e, err := range session.Follow(t.Context(), client.FollowOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Type == shoal.EventSnapshotEnd {
			wait = start(t, env, "wait", "--timeout", "1h", "--json")
		}
		if e.Type == shoal.EventEntityUpdated && strings.Contains(string(e.Data), `"state":"waiting"`) {
			break
		}
	}
	if code := wait.end(os.Interrupt); code != cli.Interrupted || wait.notes.String() != "" {
		t.Errorf("wait ended with %d and said %q", code, wait.notes)
	}
}
