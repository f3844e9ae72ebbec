package process

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"time"

	"github.com/shoal-dev/shoal/internal/harness"
)

const (
	// inputGrace is how long a process may take to end when its input has ended, and termGrace when
	// it was asked to.
	inputGrace = 2 * time.Second
	termGrace  = 5 * time.Second
	// drainTime is how long the rest of its output is read after its end, in case somebody else
	// still holds the pipe.
	drainTime = time.Second
)

// Process is a process that leads a group of its own.
type Process struct {
	// Stdin is its input. Stdout is its output, which ends soon after the process.
	Stdin  io.WriteCloser
	Stdout io.ReadCloser

	cmd    *exec.Cmd
	stderr *tail
	group  group
	done   chan struct{}
	err    error // how it ended; set before done is closed
}

// Start starts a program in a directory with exactly that environment. It ends with this process, even
// if that is killed, and so does all that it has started in its group.
func Start(command []string, dir string, env []string) (*Process, error) {
	if len(command) == 0 {
		return nil, errors.New("no program is named")
	}
	p := &Process{stderr: &tail{}, done: make(chan struct{})}
	p.cmd = exec.Command(command[0], command[1:]...)
	p.cmd.Dir, p.cmd.Env, p.cmd.Stderr = dir, env, p.stderr
	p.cmd.WaitDelay = drainTime
	in, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", command[0], err)
	}
	read, write, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", command[0], err)
	}
	p.Stdin, p.Stdout, p.cmd.Stdout = in, read, write
	started := make(chan error)
	go p.run(started, read)
	err = <-started
	_ = write.Close() // the process has its own
	if err != nil {
		_ = read.Close()
		return nil, fmt.Errorf("start %s: %w", command[0], err)
	}
	return p, nil
}

// run starts the process and waits for its end. The kernel may end a process when the thread ends
// that has started it, so the thread is kept.
func (p *Process) run(started chan<- error, out *os.File) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	p.group.prepare(p.cmd)
	err := p.cmd.Start()
	if err == nil {
		if err = p.group.add(p.cmd.Process); err != nil {
			p.group.kill()
			_ = p.cmd.Process.Kill()
			_ = p.cmd.Wait() // it was killed
			p.group.release()
		}
	}
	started <- err
	if err != nil {
		return
	}
	p.err = p.cmd.Wait()
	p.group.kill()
	p.group.release()
	_ = out.SetReadDeadline(time.Now().Add(drainTime)) // without effect where pipes have none
	close(p.done)
}

// Group is the number of the process group, as in the result of [Resident].
func (p *Process) Group() int { return p.cmd.Process.Pid }

// Done is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// ExitError waits for the end of the process and describes it.
func (p *Process) ExitError() *harness.ExitError {
	<-p.done
	e := &harness.ExitError{Reason: "exit status 0", Stderr: p.stderr.String()}
	if p.err != nil {
		e.Reason = p.err.Error()
	}
	return e
}

// Stop ends the process and its group, and waits for their end: first its input ends, then it is
// asked to end, then it is killed.
func (p *Process) Stop() {
	_ = p.Stdin.Close() // it may have ended already
	for _, step := range []struct {
		grace time.Duration
		next  func()
	}{{inputGrace, p.group.terminate}, {termGrace, p.group.kill}} {
		select {
		case <-p.done:
			return
		case <-time.After(step.grace):
			step.next()
		}
	}
	<-p.done
}

// Kill ends the process and its group at once, without waiting.
func (p *Process) Kill() {
	select {
	case <-p.done:
	default:
		p.group.kill()
	}
}
