package faults

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/shoal-dev/shoal/internal/shoaltest/program"
)

// inject makes system calls of a running process fail or slow, with strace, until stop is
// called or the process ends.
func inject(t *testing.T, pid int, calls, what string) (stop func()) {
	t.Helper()
	path, err := exec.LookPath("strace")
	if err != nil {
		t.Fatal("strace is missing; install it with `apt-get install --yes strace`, or run scripts/setup.sh")
	}
	trace := exec.CommandContext(t.Context(), path, "-f", "-p", strconv.Itoa(pid), "-o", os.DevNull, "-e", "trace="+calls, "-e", "inject="+calls+":"+what)
	output, err := trace.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := trace.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(output)
	if !lines.Scan() || !strings.Contains(lines.Text(), "attached") {
		t.Fatalf("strace cannot attach: %s", lines.Text())
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for lines.Scan() {
		}
		_ = trace.Wait() // ends with the process, or with stop
	}()
	return func() {
		// If strace detaches during a call that it has changed, the call fails with
		// ENOSYS, which a disk never returns. So the process is stopped meanwhile.
		_ = syscall.Kill(pid, syscall.SIGSTOP)   // the process and strace may have ended
		defer syscall.Kill(pid, syscall.SIGCONT) //nolint:errcheck // see above
		<-time.After(50 * time.Millisecond)
		_ = trace.Process.Signal(syscall.SIGINT)
		select {
		case <-ended:
		case <-time.After(10 * time.Second):
			_ = trace.Process.Kill()
			<-ended
		}
	}
}

// mayTrace reports whether processes can be traced here. If not, it reports the test as
// skipped.
func mayTrace(t *testing.T, fault string) bool {
	t.Helper()
	idle := exec.CommandContext(t.Context(), "sleep", "60")
	if err := idle.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = idle.Process.Kill()
		_ = idle.Wait() // reports that it was killed
	}()
	out, err := exec.CommandContext(t.Context(), "timeout", "--signal=INT", "1", "strace", "-p", strconv.Itoa(idle.Process.Pid), "-o", os.DevNull).CombinedOutput()
	if strings.Contains(string(out), "not permitted") {
		skipped(t, fault, "tracing is not allowed here: "+strings.TrimSpace(string(out)))
		return false
	}
	if !strings.Contains(string(out), "attached") {
		t.Fatalf("strace (apt-get install --yes strace): %v %s", err, out)
	}
	return true
}

const syncs = "fsync,fdatasync"

const (
	// exitDisk is the exit code of a server after a commit failed on the disk.
	exitDisk = 70
	// endLimit is the time within which it must exit. It must not wait for work that
	// cannot complete any more.
	endLimit = 2 * time.Second
)

// The disk fails to flush: the server reports it, exits immediately, and starts again like
// after a kill.
func TestDiskFails(t *testing.T) {
	const fault = "fsync fails with EIO"
	seed := randomSeed(t)
	if !mayTrace(t, fault) {
		return
	}
	s, slowest := program.NewServer(t, productBinary(t)), time.Duration(0)
	o, w := play(t, s, round{rounds: times(t, "SHOAL_DISK_ERRORS", 2), agents: 1, seed: seed, uncounted: true, strike: func(int) (wrong []string) {
		stop := inject(t, s.Process.Process.Pid, syncs, "error=EIO")
		defer stop()
		began := time.Now()
		if code := s.Died(15 * time.Second); code != exitDisk {
			wrong = append(wrong, fmt.Sprintf("end: the server exited with %d, want %d", code, exitDisk))
			s.Kill()
		}
		took := time.Since(began)
		if slowest = max(slowest, took); took > endLimit {
			wrong = append(wrong, fmt.Sprintf("slow: the server exited %v after its disk had failed, want at most %v", took, endLimit))
		}
		return wrong
	}})
	o.fault, o.note = fault, fmt.Sprintf("exit code %d each time, at most %v later, %v", exitDisk, slowest.Round(time.Millisecond), w.Harm())
	report(t, o)
}

// System calls that write fail with ENOSPC for some time.
func TestNoRoom(t *testing.T) {
	const fault = "pwrite64 fails with ENOSPC"
	seed := randomSeed(t)
	if !mayTrace(t, fault) {
		return
	}
	s := program.NewServer(t, productBinary(t))
	s.Start(t)
	w := newWorld(t, s, seed, 0)
	w.Uncounted = true
	rounds, slowest := times(t, "SHOAL_NO_ROOM", 2), time.Duration(0)
	for range rounds {
		l := w.live(t, 300*time.Millisecond, func() {
			stop := inject(t, s.Process.Process.Pid, "pwrite64", "error=ENOSPC")
			w.Found = append(w.Found, w.whileFull(t)...)
			stop()
			took, wrong := w.untilPosted(t)
			w.Found, slowest = append(w.Found, wrong...), max(slowest, took)
		})
		if l.died {
			w.Found = append(w.Found, fmt.Sprintf("end: the server exited by itself: %v", s.Process.ProcessState))
		}
		if !w.Check(t, false) {
			break
		}
	}
	w.finish(t)
	report(t, outcome{
		fault: fault, count: rounds, operations: w.Operations(), found: w.Found, slowest: s.Slowest,
		note: fmt.Sprintf("posts succeed again after at most %v", slowest.Round(time.Millisecond)),
	})
}

// The disk is slow to flush: calls take longer, and nothing is lost.
func TestSlowDisk(t *testing.T) {
	seed := randomSeed(t)
	for _, c := range []struct {
		delay time.Duration
		life  time.Duration
	}{{20 * time.Millisecond, 3 * time.Second}, {2 * time.Second, 9 * time.Second}} {
		fault := fmt.Sprintf("fsync takes %v", c.delay)
		if !mayTrace(t, fault) {
			continue
		}
		s := program.NewServer(t, productBinary(t))
		s.Start(t)
		w := newWorld(t, s, seed, 1)
		rounds := times(t, "SHOAL_SLOW_DISKS", 1)
		for range rounds {
			l := w.live(t, 300*time.Millisecond, func() {
				stop := inject(t, s.Process.Process.Pid, syncs, fmt.Sprintf("delay_enter=%d", c.delay.Microseconds()))
				before := w.Answers.Load()
				select {
				case <-time.After(c.life):
				case <-s.Ended:
				}
				stop()
				if w.Answers.Load() == before {
					w.Found = append(w.Found, fmt.Sprintf("slow: no response in %v", c.life))
				}
			})
			if l.died || s.Died(0) >= 0 {
				w.Found = append(w.Found, fmt.Sprintf("end: the server exited by itself: %v", s.Process.ProcessState))
				break
			}
			if !w.Check(t, false) {
				break
			}
		}
		slowest := time.Duration(0)
		for _, x := range w.Writers {
			for _, p := range x.Posts {
				slowest = max(slowest, p.Acked-p.Sent)
			}
		}
		if slowest < c.delay {
			w.Found = append(w.Found, fmt.Sprintf("rig: the slowest post took %v, so the disk was not slow", slowest))
		}
		w.finish(t)
		report(t, outcome{
			fault: fault, count: rounds, operations: w.Operations(), found: w.Found, slowest: s.Slowest,
			note: fmt.Sprintf("slowest post %v", slowest.Round(time.Millisecond)),
		})
	}
}
