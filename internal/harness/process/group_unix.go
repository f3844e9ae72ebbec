//go:build unix

package process

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"syscall"
)

// group is the process group that a process leads. Its id is the number of that process. A guard, a
// shell in the group with the other end of a pipe, kills the group when this process ends, even if it is
// killed: the kernel ends only the leader then, and only on Linux.
//
// The kernel gives a number to nobody else as long as a member of the group with that number has not
// been waited for. The guard is one, and is waited for after the last signal, so a signal reaches no
// other group: not when the leader has ended, and not when this process was killed.
type group struct {
	mu    sync.Mutex
	id    int // 0 when no signal can be sent: before the start and after the release
	guard *exec.Cmd
	alive *os.File
}

// guarding is what the guard executes. Only the end of the pipe or a kill ends it.
const guarding = `trap '' HUP INT QUIT TERM USR1 USR2; read _; kill -s KILL -- "-$0"`

func (g *group) prepare(cmd *exec.Cmd) { cmd.SysProcAttr = ownGroup() }

// add makes the group that of p, which must not have been waited for.
func (g *group) add(p *os.Process) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.id = p.Pid
	wait, alive, err := os.Pipe()
	if err != nil {
		return err
	}
	guard := exec.Command("/bin/sh", "-c", guarding, strconv.Itoa(p.Pid))
	guard.Dir, guard.Stdin, guard.SysProcAttr = "/", wait, &syscall.SysProcAttr{Setpgid: true, Pgid: p.Pid}
	err = guard.Start()
	_ = wait.Close() // the guard has its own
	if err != nil {
		_ = alive.Close()
		return fmt.Errorf("start a shell that ends what is left: %w", err)
	}
	g.guard, g.alive = guard, alive
	return nil
}

// release ends the guard of a group that has ended. Nothing is signaled afterwards.
func (g *group) release() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.id = 0
	if g.guard == nil {
		return
	}
	_ = g.guard.Process.Kill() // it may have been killed with the group
	_ = g.guard.Wait()         // it was killed
	_ = g.alive.Close()
}

func (g *group) terminate() { g.signal(syscall.SIGTERM) }
func (g *group) kill()      { g.signal(syscall.SIGKILL) }

func (g *group) signal(s syscall.Signal) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.id > 0 {
		_ = syscall.Kill(-g.id, s) // nobody may be left
	}
}
