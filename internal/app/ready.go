package app

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shoal-dev/shoal"
)

// readiness reports whether the server is ready: the database is usable, and callers are
// not constantly refused because of what others hold. It queries the database rarely and
// one query at a time, since the endpoint requires no key.
type readiness struct {
	reachable func(context.Context) error
	refusing  func() time.Duration // for how long callers have been refused; nil is allowed
	draining  atomic.Bool          // the server is about to stop, and others serve its callers

	querying sync.WaitGroup
	mu       sync.Mutex    // guards the rest
	query    chan struct{} // closed when the current query ends; nil without one
	begun    time.Time     // when that one began
	asked    time.Time     // when the last answer came
	last     error
}

const (
	// readyFor is how long an answer of the database holds.
	readyFor = 200 * time.Millisecond
	// readySilence is how long the database may keep silent before it counts as gone.
	readySilence = 2 * time.Second
	// readyRefusing is for how long callers may be refused.
	readyRefusing = 5 * time.Second
)

// check returns why the server cannot serve now, nil if it can. It waits for the database
// only if nobody else does, and no longer than readySilence.
func (r *readiness) check() error {
	if r.draining.Load() {
		return shoal.E("app.ready", shoal.Busy, "The server is about to stop. Use another one.")
	}
	if r.refusing != nil {
		if d := r.refusing(); d > readyRefusing {
			return shoal.E("app.ready", shoal.Busy, fmt.Sprintf("Callers have been refused for %v because others hold what they need; shoal_limited_total counts it.", d.Round(time.Second)))
		}
	}
	if query := r.ask(); query != nil {
		silent := time.NewTimer(readySilence)
		defer silent.Stop()
		select {
		case <-query:
		case <-silent.C:
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.query != nil && time.Since(r.begun) >= readySilence {
		return shoal.E("app.ready", shoal.Busy, "The database does not answer.")
	}
	return r.last
}

// ask starts a query and returns the channel that is closed when it has ended, or nil if
// there is one already or the last answer still holds.
func (r *readiness) ask() chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.query != nil || time.Since(r.asked) < readyFor {
		return nil
	}
	query := make(chan struct{})
	r.query, r.begun = query, time.Now()
	r.querying.Go(func() {
		defer close(query)
		err := r.reachable(context.Background()) // it gives up by itself
		r.mu.Lock()
		defer r.mu.Unlock()
		r.query, r.asked, r.last = nil, time.Now(), err
	})
	return query
}

// stop waits for the current query. check must not be called any more.
func (r *readiness) stop() { r.querying.Wait() }
