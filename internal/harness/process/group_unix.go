//go:build unix

package process

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"sync/atomic"
	"syscall"
)

// group is the process group that a process leads. Its id is that of the process, and is kept for
// the members that outlive it. A guard, a shell with the other end of a pipe, kills the group when
// this process ends, even if it is killed: the kernel ends only the leader then, and only on Linux.
type group struct {
	id    atomic.Int64
	guard *exec.Cmd
	alive *os.File
}

func (g *group) prepare(cmd *exec.Cmd) { cmd.SysProcAttr = ownGroup() }

func (g *group) add(p *os.Process) error {
	g.id.Store(int64(p.Pid))
	wait, alive, err := os.Pipe()
	if err != nil {
		return err
	}
	guard := exec.Command("/bin/sh", "-c", `read _; kill -s KILL -- "-$0"`, strconv.Itoa(p.Pid))
	guard.Stdin, guard.SysProcAttr = wait, &syscall.SysProcAttr{Setpgid: true} // Ctrl-C is not for it
	err = guard.Start()
	_ = wait.Close() // the guard has its own
	if err != nil {
		_ = alive.Close()
		return fmt.Errorf("start a shell that ends what is left: %w", err)
	}
	g.guard, g.alive = guard, alive
	return nil
}

// release ends the guard of a group that has ended.
func (g *group) release() {
	if g.guard == nil {
		return
	}
	_ = g.guard.Process.Kill() // before it sees the end of the pipe: the id may be another group's by now
	_ = g.guard.Wait()         // it was killed
	_ = g.alive.Close()
}

func (g *group) terminate() { g.signal(syscall.SIGTERM) }
func (g *group) kill()      { g.signal(syscall.SIGKILL) }

func (g *group) signal(s syscall.Signal) {
	if id := g.id.Load(); id > 0 {
		_ = syscall.Kill(-int(id), s) // nobody may be left
	}
}
