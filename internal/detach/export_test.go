package detach

// DropPoller leaves every connection to a goroutine of its own, as on systems without epoll. The
// pool must not have calls.
func (l *Pool) DropPoller() {
	l.poller.stop()
	l.poller = nil
}
