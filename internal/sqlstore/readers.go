package sqlstore

import "sync"

// readers are the connections for Views. A caller that needs one receives from free and then
// calls take. The connection that was returned last is used first: its memory has the newest
// pages of the database.
type readers struct {
	free chan struct{} // contains a value for each idle connection
	mu   sync.Mutex
	idle []*connection
}

func newReaders(n int, connect func() *connection) *readers {
	r := &readers{free: make(chan struct{}, n)}
	for range n {
		r.put(connect())
	}
	return r
}

// take returns an idle connection. Callers must have received from free.
func (r *readers) take() *connection {
	r.mu.Lock()
	defer r.mu.Unlock()
	last := len(r.idle) - 1
	c := r.idle[last]
	r.idle = r.idle[:last]
	return c
}

// put returns a connection.
func (r *readers) put(c *connection) {
	r.mu.Lock()
	r.idle = append(r.idle, c)
	r.mu.Unlock()
	r.free <- struct{}{}
}

// count returns the number of connections, busy the number of those in use.
func (r *readers) count() int { return cap(r.free) }
func (r *readers) busy() int  { return cap(r.free) - len(r.free) }
