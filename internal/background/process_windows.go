package background

import (
	"os"
	"syscall"

	"golang.org/x/sys/windows"
)

// detached gives a process no console.
func detached() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.DETACHED_PROCESS}
}

// terminate ends the process at once: without a console it gets no signal. What it has
// answered is durable.
func terminate(pid int) error {
	p, err := os.FindProcess(pid)
	if err != nil {
		return err
	}
	return p.Kill()
}

func isAlive(pid int) bool {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if err != nil {
		return false
	}
	defer func() { _ = windows.CloseHandle(h) }() // it was only read
	const stillActive = 259
	var code uint32
	return windows.GetExitCodeProcess(h, &code) == nil && code == stillActive
}
