package detach

import (
	"net"
	"os"
	"sync"
	"syscall"
)

// poller waits for all detached connections on one goroutine. A goroutine for each connection
// would hold 4 KiB of stack for as long as the call waits.
type poller struct {
	file  *os.File // an epoll instance, which the runtime's own poller watches
	epoll int      // its descriptor
	ended chan struct{}

	mu    sync.Mutex
	last  int32
	calls map[int32]*Call
	over  bool // run has ended
}

// newPoller returns nil if the system has no epoll instance left: then each connection has a
// goroutine. The caller must stop it.
func newPoller() *poller {
	fd, err := syscall.EpollCreate1(syscall.EPOLL_CLOEXEC)
	if err != nil {
		return nil
	}
	if err := syscall.SetNonblock(fd, true); err != nil {
		_ = syscall.Close(fd) // it was never used
		return nil
	}
	p := &poller{file: os.NewFile(uintptr(fd), "epoll"), epoll: fd, calls: map[int32]*Call{}, ended: make(chan struct{})}
	go p.run()
	return p
}

// run starts to watch each connection that has data or was closed, until stop.
func (p *poller) run() {
	defer close(p.ended)
	defer p.giveUp()
	raw, err := p.file.SyscallConn()
	events := make([]syscall.EpollEvent, 64)
	for err == nil {
		n := 0
		err = raw.Read(func(fd uintptr) bool {
			// An error, such as an interruption, has no events either.
			n, _ = syscall.EpollWait(int(fd), events, 0)
			return n > 0
		})
		for _, e := range events[:max(n, 0)] {
			if c := p.take(e.Fd); c != nil {
				c.startWatch()
			}
		}
	}
}

// giveUp leaves all connections to goroutines of their own.
func (p *poller) giveUp() {
	p.mu.Lock()
	p.over = true
	left := p.calls
	p.calls = map[int32]*Call{}
	p.mu.Unlock()
	for _, c := range left {
		c.startWatch()
	}
}

// take removes and returns the call with a number, nil if it was removed before.
func (p *poller) take(n int32) *Call {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.calls[n]
	delete(p.calls, n)
	return c
}

// add waits for the connection of a call and reports whether it does.
func (p *poller) add(c *Call) bool {
	if p == nil {
		return false
	}
	if !p.enter(c) {
		return false
	}
	err := control(c.conn, func(fd int) error {
		return syscall.EpollCtl(p.epoll, syscall.EPOLL_CTL_ADD, fd, &syscall.EpollEvent{Events: syscall.EPOLLIN | syscall.EPOLLRDHUP | syscall.EPOLLONESHOT, Fd: c.polled})
	})
	// If run has just taken the call, it is watched.
	return err == nil || p.take(c.polled) == nil
}

// enter gives a call a number, unless run has ended.
func (p *poller) enter(c *Call) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return false
	}
	// 0 means none, and a number may be in use once they have overflowed.
	for p.last++; p.last == 0 || p.calls[p.last] != nil; p.last++ {
	}
	c.polled = p.last
	p.calls[c.polled] = c
	return true
}

// remove stops waiting for the connection of a call that was added.
func (p *poller) remove(c *Call) {
	if p == nil || c.polled == 0 {
		return
	}
	p.take(c.polled)
	// An error means that the connection is closed or was not added: it is not in the set.
	_ = control(c.conn, func(fd int) error {
		return syscall.EpollCtl(p.epoll, syscall.EPOLL_CTL_DEL, fd, nil)
	})
}

// stop ends the poller. No calls may be added afterwards.
func (p *poller) stop() {
	if p == nil {
		return
	}
	_ = p.file.Close() // run ends with it
	<-p.ended
}

// control calls do with the descriptor of a connection.
func control(conn net.Conn, do func(fd int) error) error {
	// TLS has no complete record left: net/http has read all of them, so what comes next
	// comes through the socket.
	s, ok := socket(conn).(syscall.Conn)
	if !ok {
		return syscall.ENOTSUP
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return err
	}
	failed := raw.Control(func(fd uintptr) { err = do(int(fd)) })
	if failed != nil {
		return failed
	}
	return err
}
