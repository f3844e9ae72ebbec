package sqlstore

import (
	"syscall"
	"time"
)

// limitSilence ends a connection whose sent data stays unconfirmed for so long.
func limitSilence(fd uintptr, d time.Duration) {
	const tcpUserTimeout = 18 // TCP_USER_TIMEOUT of Linux, which package syscall does not name
	// Without it the connection is only slower to be found lost.
	_ = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpUserTimeout, int(d.Milliseconds()))
}
