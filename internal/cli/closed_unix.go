//go:build unix

package cli

import (
	"os"

	"golang.org/x/sys/unix"
)

// Closed reports whether nobody can read what is written to Out any more: the reader of the pipe has
// ended, or the terminal is gone. A command that writes rarely asks, because only a write would
// fail.
func (o *Output) Closed() (closed bool) {
	f, is := o.Out.(*os.File)
	if !is {
		return false
	}
	raw, err := f.SyscallConn()
	if err != nil {
		return false
	}
	err = raw.Control(func(fd uintptr) {
		polled := []unix.PollFd{{Fd: int32(fd)}}
		if n, err := unix.Poll(polled, 0); err == nil && n > 0 {
			closed = polled[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0
		}
	})
	return closed && err == nil
}
