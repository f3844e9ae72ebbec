package app

// LimitConnections makes a server have so many connections at most.
func LimitConnections(s *Server, most int64) {
	c := s.listener.(*connections)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.most = most
}
