//go:build !linux

package detach

// poller waits for connections on one goroutine where the system has epoll. Elsewhere each
// detached connection has a goroutine.
type poller struct{}

func newPoller() *poller { return nil }

func (*poller) add(*Call) bool { return false }

func (*poller) remove(*Call) {}

func (*poller) stop() {}
