//go:build unix

package process

import (
	"os"
	"os/exec"
	"sync/atomic"
	"syscall"
)

// group is the process group that a process leads. Its id is that of the process, and is kept for
// the members that outlive it.
type group struct{ id atomic.Int64 }

func (g *group) prepare(cmd *exec.Cmd) { cmd.SysProcAttr = ownGroup() }

func (g *group) add(p *os.Process) error {
	g.id.Store(int64(p.Pid))
	return nil
}

func (g *group) terminate() { g.signal(syscall.SIGTERM) }
func (g *group) kill()      { g.signal(syscall.SIGKILL) }

func (g *group) signal(s syscall.Signal) {
	if id := g.id.Load(); id > 0 {
		_ = syscall.Kill(-int(id), s) // nobody may be left
	}
}
