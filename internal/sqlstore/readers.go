package sqlstore

import "sync"

// readers are the connections for Views. Whoever needs one receives from free and
// then takes it; the one that was put back last comes first, as what it keeps of the
// database in memory is the newest.
type readers struct {
	free chan struct{} // holds a value for each that nobody uses
	mu   sync.Mutex
	idle []*conn
}

func newReaders(n int, connect func() *conn) *readers {
	r := &readers{free: make(chan struct{}, n)}
	for range n {
		r.put(connect())
	}
	return r
}

// take takes one, behind a receive from free.
func (r *readers) take() *conn {
	r.mu.Lock()
	defer r.mu.Unlock()
	last := len(r.idle) - 1
	c := r.idle[last]
	r.idle = r.idle[:last]
	return c
}

// put gives one back.
func (r *readers) put(c *conn) {
	r.mu.Lock()
	r.idle = append(r.idle, c)
	r.mu.Unlock()
	r.free <- struct{}{}
}

// all is how many there are, and busy how many are in use.
func (r *readers) all() int  { return cap(r.free) }
func (r *readers) busy() int { return cap(r.free) - len(r.free) }
