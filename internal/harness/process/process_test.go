//go:build unix

package process_test

import (
	"bufio"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/shoal-dev/shoal/internal/harness/process"
)

// asRunner makes the test's own program one that starts a process and is killed.
const asRunner = "SHOAL_TEST_RUNNER"

func TestMain(m *testing.M) {
	if os.Getenv(asRunner) != "" {
		p, err := process.Start([]string{"sh", "-c", "echo $$; sleep 300 </dev/null & echo $!; wait"}, ".", os.Environ())
		if err != nil {
			panic(err)
		}
		_, _ = io.Copy(os.Stdout, p.Stdout) // it is killed meanwhile
		return
	}
	goleak.VerifyTestMain(m)
}

// start starts a shell script and returns its first line, a process number.
func start(t *testing.T, script string) (p *process.Process, out *bufio.Reader, child int) {
	t.Helper()
	p, err := process.Start([]string{"sh", "-c", script}, t.TempDir(), os.Environ())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.Stop()
		if err := p.Stdout.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
			t.Error(err)
		}
	})
	out = bufio.NewReader(p.Stdout)
	return p, out, number(t, out)
}

func number(t *testing.T, in *bufio.Reader) int {
	t.Helper()
	text, err := in.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// alive reports whether a process runs; one that has ended and waits for its parent does not.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	state, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && !strings.Contains(string(state), ") Z ")
}

// untilDead waits for the end of a process.
func untilDead(t *testing.T, pid int) {
	t.Helper()
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	for deadline := time.Now().Add(30 * time.Second); alive(pid); <-again.C {
		if time.Now().After(deadline) {
			t.Fatalf("process %d still runs", pid)
		}
	}
}

// A wrapper that dies takes the program along that it has started, and the output ends.
func TestChildrenEndWithTheirWrapper(t *testing.T) {
	p, out, child := start(t, `sleep 300 & echo $!; read line; exit 3`)
	if _, err := io.WriteString(p.Stdin, "go\n"); err != nil {
		t.Fatal(err)
	}
	if rest, err := io.ReadAll(out); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) || len(rest) > 0 {
		t.Errorf("the output ends with %q, %v", rest, err)
	}
	<-p.Done()
	if e := p.ExitError(); e.Reason != "exit status 3" {
		t.Errorf("it ended with %+v", e)
	}
	untilDead(t, child)
}

// A program that ends when its input ends needs no signal.
func TestStopEndsTheInputFirst(t *testing.T) {
	p, _, _ := start(t, `echo $$; trap 'echo signal >&2' TERM; read line; echo bye >&2`)
	p.Stop()
	if e := p.ExitError(); strings.TrimSpace(e.Stderr) != "bye" {
		t.Errorf("it ended with %+v", e)
	}
}

// A program that ignores everything is killed, with what it has started.
func TestStopKills(t *testing.T) {
	p, _, child := start(t, `trap '' TERM; (trap '' TERM; while :; do sleep 1; done) & echo $!; while :; do sleep 1; done`)
	p.Stop()
	if e := p.ExitError(); e.Reason != "signal: killed" {
		t.Errorf("it ended with %+v", e)
	}
	untilDead(t, child)
}

// The end of what a program has complained about is kept, and not more.
func TestTheEndOfTheErrorsIsKept(t *testing.T) {
	p, _, _ := start(t, `echo $$; i=0; while [ $i -lt 3000 ]; do echo "complaint number $i of a program that talks" >&2; i=$((i+1)); done; exit 1`)
	<-p.Done()
	e := p.ExitError()
	if len(e.Stderr) != 64<<10 || !strings.HasSuffix(e.Stderr, "complaint number 2999 of a program that talks\n") {
		t.Errorf("%d bytes, which end with %q", len(e.Stderr), e.Stderr[max(0, len(e.Stderr)-80):])
	}
}

// A program that cannot be started is an error, and leaves nothing open.
func TestStartFails(t *testing.T) {
	for _, command := range [][]string{nil, {"/no/such/program"}} {
		if p, err := process.Start(command, t.TempDir(), nil); err == nil {
			t.Errorf("%v was started: %v", command, p)
		}
	}
}
