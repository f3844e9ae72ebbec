//go:build unix

package wakehook

import "syscall"

// apart lets a process outlive the one that starts it.
func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
