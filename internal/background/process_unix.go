//go:build unix

package background

import "syscall"

// detached gives a process a session of its own: no terminal and no signals of one.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

func terminate(pid int) error { return syscall.Kill(pid, syscall.SIGTERM) }

func isAlive(pid int) bool {
	// A child that has ended exists until its parent takes its exit status. Most processes
	// are not children of this one, which Wait4 then says.
	_, _ = syscall.Wait4(pid, nil, syscall.WNOHANG, nil)
	return syscall.Kill(pid, 0) == nil
}
