//go:build unix

package wakehook

import (
	"errors"
	"os"
	"syscall"
)

// gone reports whether the owner has ended. A child is given to another parent then.
func (o owner) gone() bool {
	return os.Getppid() != o.parent || errors.Is(syscall.Kill(o.pid, 0), syscall.ESRCH)
}
