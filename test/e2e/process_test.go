package e2e_test

import (
	"bufio"
	"bytes"
	"io"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// process is a program that runs beside the test. Its lines come over lines,
// which is closed at their end; stderr goes to the test's log when the test has
// failed. It is ended with the test.
type process struct {
	t     *testing.T
	cmd   *exec.Cmd
	stdin io.WriteCloser
	lines chan string
	ended chan struct{} // closed when the process is gone and err is set
	err   error

	mu    sync.Mutex
	notes bytes.Buffer
}

// start starts cmd in a process group of its own.
func start(t *testing.T, cmd *exec.Cmd) *process {
	t.Helper()
	p := &process{t: t, cmd: cmd, lines: make(chan string, 1024), ended: make(chan struct{})}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Stderr = p
	cmd.WaitDelay = 5 * time.Second
	var err error
	if p.stdin, err = cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, outEnd := io.Pipe()
	cmd.Stdout = outEnd
	if err := cmd.Start(); err != nil {
		t.Fatalf("%v: %v", cmd.Args, err)
	}
	var read sync.WaitGroup
	read.Go(func() {
		defer close(p.lines)
		scan := bufio.NewScanner(out)
		scan.Buffer(nil, 16<<20)
		for scan.Scan() {
			p.lines <- scan.Text()
		}
	})
	go func() {
		p.err = cmd.Wait()
		_ = outEnd.Close() // of a pipe in memory; it cannot fail
		read.Wait()
		close(p.ended)
	}()
	t.Cleanup(func() {
		p.signal(syscall.SIGKILL)
		for range p.lines { // so that the reader is never stuck
		}
		<-p.ended
		if t.Failed() {
			t.Logf("%s says on standard error:\n%s", cmd.Args[0], p.said())
		}
	})
	return p
}

// Write keeps what the process says on standard error.
func (p *process) Write(text []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.notes.Write(text)
}

func (p *process) said() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.notes.String()
}

// signal sends sig to the process and all that it started, if they still run.
func (p *process) signal(sig syscall.Signal) {
	select {
	case <-p.ended:
	default:
		_ = syscall.Kill(-p.cmd.Process.Pid, sig) // it may have ended this moment
	}
}

// line returns the next line of standard output.
func (p *process) line() string {
	p.t.Helper()
	select {
	case text, more := <-p.lines:
		if more {
			return text
		}
		<-p.ended
		p.t.Fatalf("%v ended (%v) where another line was expected; it said:\n%s", p.cmd.Args, p.err, p.said())
	case <-time.After(patience):
		p.t.Fatalf("%v printed nothing for %v; it said:\n%s", p.cmd.Args, patience, p.said())
	}
	return ""
}

// lineWith returns the next line of standard output that holds part.
func (p *process) lineWith(part string) string {
	p.t.Helper()
	for {
		if text := p.line(); strings.Contains(text, part) {
			return text
		}
	}
}

// end waits until the process has ended by itself and returns how, and all that
// it had not been asked for yet.
func (p *process) end() (rest []string, err error) {
	p.t.Helper()
	deadline := time.After(patience)
	for {
		select {
		case text, more := <-p.lines:
			if more {
				rest = append(rest, text)
				continue
			}
			<-p.ended
			return rest, p.err
		case <-deadline:
			p.t.Fatalf("%v did not end within %v", p.cmd.Args, patience)
		}
	}
}
