//go:build unix

package wakehook

import (
	"errors"
	"os"
	"syscall"
)

// gone reports whether the owner has ended. A child is then given to another parent.
func (o owner) gone() bool {
	return o.parent != 0 && os.Getppid() != o.parent || errors.Is(syscall.Kill(o.pid, 0), syscall.ESRCH)
}
