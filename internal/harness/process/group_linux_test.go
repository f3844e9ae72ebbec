package process

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// The guard outlives what a program sends to its own group, and ends it with this process.
func TestTheGuardStaysWhenItsGroupIsSignaled(t *testing.T) {
	cmd := exec.Command("sh", "-c", "trap '' TERM INT HUP; read _; kill -TERM 0; kill -INT 0; kill -HUP 0; read _")
	var g group
	g.prepare(cmd)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := g.add(cmd.Process); err != nil {
		t.Fatal(err)
	}
	until(t, "the program does not ignore signals", func() bool { return ignoresTerm(cmd.Process.Pid) })
	until(t, "the guard does not ignore signals", func() bool { return ignoresTerm(g.guard.Process.Pid) })
	if _, err := io.WriteString(in, "go on\n"); err != nil {
		t.Fatal(err)
	}
	g.terminate()
	_ = g.alive.Close() // as the kernel does when this process ends
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Errorf("the program ended with %v, want that its guard kills it", err)
	}
	_ = in.Close() // it has ended
	g.release()
}

// ignoresTerm reports whether a process ignores SIGTERM.
func ignoresTerm(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	_, rest, _ := strings.Cut(string(text), "SigIgn:")
	mask := uint64(0)
	_, scanned := fmt.Sscanf(rest, "%x", &mask)
	return err == nil && scanned == nil && mask>>(syscall.SIGTERM-1)&1 == 1
}
