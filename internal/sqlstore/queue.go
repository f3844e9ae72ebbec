package sqlstore

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/limit"
)

const (
	// queueLength is how many Updates may wait; further ones fail with Busy.
	queueLength = 4096
	// queueDelay is how long an Update may have to wait.
	queueDelay = 5 * time.Second
)

// update is one call of Update.
type update struct {
	at     storage.At
	caller limit.Caller
	fn     func(storage.Tx) error
	state  atomic.Int32
	moved  bool          // it counts in movedSessions
	err    error         // the result, when done is closed
	done   chan struct{} // closed when the outcome is durable
}

// The states of an update: it leaves the first one once, for one of the others.
const (
	stateQueued int32 = iota
	stateBegun
	stateWithdrawn
)

// begin takes an Update from a queue. It reports whether the Update is to be written: one that
// moved from another lane, or was left to this batch, has begun there, one that was withdrawn is
// not.
func (u *update) begin() bool {
	return u.state.CompareAndSwap(stateQueued, stateBegun) || u.state.Load() == stateBegun
}

// Update implements [hub.Store]. If fn panics, Update fails with an error of kind Internal.
//
// An Update that finds no other in progress in its lane writes on its own goroutine, which
// saves two switches. The goroutine of the lane writes those that arrive meanwhile, in one
// commit.
func (s *Store) Update(ctx context.Context, at storage.At, fn func(storage.Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	u := &update{at: at, caller: limit.For(ctx), fn: fn, done: make(chan struct{})}
	l, err := s.enqueue(u)
	if err != nil {
		return err
	}
	defer s.queued.Leave(u.caller)
	if l.writing.TryLock() {
		l.writeHere()
	}
	select {
	case <-u.done:
	case <-ctx.Done():
		if u.state.CompareAndSwap(stateQueued, stateWithdrawn) {
			s.moved.leave(u)
			return ctx.Err()
		}
		<-u.done
	}
	return u.err
}

// enqueue queues u in a lane for the goroutine that writes there next, which completes it in
// any case. u counts among the Updates of its caller until the caller of enqueue removes it.
func (s *Store) enqueue(u *update) (*lane, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return nil, errClosed
	}
	l := s.laneOf(u)
	if l.isSoon(u.caller) && s.queued.Enter(u.caller) == limit.Entered {
		if l.queue.add(u) {
			return l, nil
		}
		s.queued.Leave(u.caller) // withdrawn Updates fill the queue
	}
	s.moved.leave(u)
	return nil, l.refuse()
}

// refuse returns the error of an Update that the lane does not queue.
func (l *lane) refuse() error {
	l.store.metrics.rejected.Add(1)
	return &shoal.Error{
		Op: "sqlstore.Update", Kind: shoal.Busy, RetryAfter: max(time.Second, time.Duration(l.pace.Load())),
		Msg: "The server has more to store than it can keep up with; nothing was done. Try again in a moment.",
	}
}

// isSoon reports whether an Update that arrives now would be written soon enough. The time
// that all may wait is divided like any other limit: the share of a caller is its share of
// the queue.
func (l *lane) isSoon(caller limit.Caller) bool {
	delay := l.delay()
	if delay == 0 {
		return true
	}
	queued := l.store.queued
	mine := float64(delay) * float64(queued.Held(caller)) / float64(max(1, queued.Count()))
	return limit.Fits(int64(l.store.maxDelay), int64(delay), int64(mine), 0, caller.Admin())
}

// fewQueued is how many Updates may always wait, however slow the disk is.
const fewQueued = maxBatch / 2

// delay estimates how long an Update that arrives now would take.
func (l *lane) delay() time.Duration {
	queued := l.queue.count()
	if queued < fewQueued {
		return 0
	}
	pace := time.Duration(l.pace.Load())
	if begun := l.since.Load(); begun != 0 {
		pace = max(pace, time.Since(time.Unix(0, begun)))
	}
	return pace * time.Duration(queued/int(l.fits.Load())+2)
}

// waiting returns the number of queued Updates.
func (s *Store) waiting() (n int) {
	for l := range s.allLanes() {
		n += l.queue.count()
	}
	return n
}

// signal puts a value into a channel with a buffer of one, unless it contains one.
func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
