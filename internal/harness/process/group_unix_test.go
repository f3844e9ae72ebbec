//go:build unix

package process

import (
	"errors"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// exists reports whether a process or, with a negative number, a process group exists.
func exists(number int) bool { return !errors.Is(syscall.Kill(number, 0), syscall.ESRCH) }

// until waits until so is true.
func until(t *testing.T, what string, so func() bool) {
	t.Helper()
	again := time.NewTicker(time.Millisecond)
	defer again.Stop()
	for deadline := time.Now().Add(30 * time.Second); !so(); <-again.C {
		if time.Now().After(deadline) {
			t.Fatal(what)
		}
	}
}

// As long as signals are sent to a group, its number is nobody else's: also when its leader has ended
// and was waited for. A number that is free can be that of a foreign group.
func TestTheNumberOfAGroupIsReserved(t *testing.T) {
	for _, command := range [][]string{{"true"}, {"sh", "-c", "sleep 300 & exit 3"}} {
		cmd := exec.Command(command[0], command[1:]...)
		var g group
		g.prepare(cmd)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		leader := cmd.Process.Pid
		if err := g.add(cmd.Process); err != nil {
			t.Fatalf("%q: %v", command, err)
		}
		_ = cmd.Wait() // with any status
		if exists(leader) {
			t.Errorf("%q: the leader %d is there after it was waited for", command, leader)
		}
		for range 2 {
			if !exists(-leader) {
				t.Errorf("%q: the number %d is free although it is going to be killed", command, leader)
			}
			g.terminate()
			g.kill()
		}
		g.release()
		until(t, "members of the group are left", func() bool { return !exists(-leader) })
	}
}

// A group that has ended is not signaled any more.
func TestAnEndedGroupIsNotSignaled(t *testing.T) {
	foreign := exec.Command("sleep", "300")
	foreign.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := foreign.Start(); err != nil {
		t.Fatal(err)
	}
	p, err := Start([]string{"true"}, t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	_ = p.Stdout.Close() // it may be closed
	if p.group.id != 0 {
		t.Errorf("the group %d can be signaled after its end", p.group.id)
	}
	p.Kill()
	p.Stop()
	p.group.terminate()
	p.group.kill()
	if err := foreign.Process.Kill(); err != nil {
		t.Error(err)
	}
	var exit *exec.ExitError
	if err := foreign.Wait(); !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Errorf("the foreign process ended with %v", err)
	}
}
