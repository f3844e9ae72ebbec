package sqlconn

import (
	"syscall"
	"time"
)

// limitSilence closes a connection when sent data was not acknowledged for a duration.
func limitSilence(fd uintptr, d time.Duration) {
	const tcpUserTimeout = 18 // TCP_USER_TIMEOUT of Linux, which package syscall does not name
	// If this fails, a lost connection is only detected later.
	_ = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpUserTimeout, int(d.Milliseconds()))
}
