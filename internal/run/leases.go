package run

import (
	"context"
	"iter"
	"sync"
	"time"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/internal/hub/runs"
)

// leaseWatch decides when the server that held an expired lease is dead. A live server may
// renew late because the database did not answer or was busy. It gets the time of two more
// renewals, counted only while the database answers this server.
type leaseWatch struct {
	every, gap, grace time.Duration

	mu   sync.Mutex
	seen map[runs.Lease]sighting
}

// sighting is when an expired lease was first and last seen.
type sighting struct{ first, last time.Time }

func newLeaseWatch(lease time.Duration) *leaseWatch {
	return &leaseWatch{every: lease / 15, gap: lease / 3, grace: 2 * lease / renewalsInLease, seen: map[runs.Lease]sighting{}}
}

// over records that a lease has expired and reports whether its holder is dead. Two
// sightings with a long gap do not count as one period.
func (w *leaseWatch) hasExpired(l runs.Lease) bool {
	now := time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	s, found := w.seen[l]
	if !found || now.Sub(s.last) > w.gap {
		s.first = now
	}
	s.last = now
	w.seen[l] = s
	return now.Sub(s.first) >= w.grace
}

// reset forgets what was seen: the database did not answer.
func (w *leaseWatch) reset() {
	w.mu.Lock()
	defer w.mu.Unlock()
	clear(w.seen)
}

// isWatching reports whether an expired lease was seen recently.
func (w *leaseWatch) isWatching() bool {
	now := time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	for l, s := range w.seen {
		if now.Sub(s.last) > w.gap || now.Sub(s.first) > w.grace {
			delete(w.seen, l)
		}
	}
	return len(w.seen) > 0
}

// renewals lets executions wait for the next renewal of the leases.
type renewals struct {
	requested chan struct{}

	mu   sync.Mutex
	next chan struct{} // closed by the next renewal
}

func newRenewals() *renewals {
	return &renewals{requested: make(chan struct{}, 1), next: make(chan struct{})}
}

func (r *renewals) done() {
	r.mu.Lock()
	defer r.mu.Unlock()
	close(r.next)
	r.next = make(chan struct{})
}

func (r *renewals) request() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	signal(r.requested)
	return r.next
}

// leaseMiddleware calls a model only under a lease that has not expired, so that no other
// server can have started the same step. If necessary it requests a renewal and waits for
// it.
func (x *execution) leaseMiddleware() agent.Middleware {
	return agent.Middleware{Name: "lease", Model: func(next agent.ModelFunc) agent.ModelFunc {
		return func(ctx context.Context, req *agent.Request) iter.Seq2[agent.Chunk, error] {
			return func(yield func(agent.Chunk, error) bool) {
				if err := x.waitForLease(ctx); err != nil {
					yield(agent.Chunk{}, err)
					return
				}
				next(ctx, req)(yield)
			}
		}
	}}
}

func (x *execution) waitForLease(ctx context.Context) error {
	for !x.e.o.Alone && !time.Now().Before(*x.until.Load()) {
		select {
		case <-x.e.renewals.request():
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-x.ctx.Done():
			return context.Cause(x.ctx)
		}
	}
	return nil
}
