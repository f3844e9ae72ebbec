package sqlstore

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
	"github.com/shoal-dev/shoal/internal/limit"
)

const (
	// queueLength is how many Updates may wait; further ones are told Busy.
	queueLength = 4096
	// queueDelay is how long one may have to wait there.
	queueDelay = 5 * time.Second
)

// update is one call of Update.
type update struct {
	fn   func(hub.Tx) error
	turn atomic.Int32
	err  error         // the answer, when done is closed
	done chan struct{} // closed when the outcome is durable
}

// The turns of an update: it leaves the first one once, for one of the others.
const (
	turnQueued int32 = iota
	turnBegun
	turnWithdrawn
)

// Update implements [hub.Store]. An fn that panics has failed, with an error of
// kind Internal.
//
// Who comes while nobody writes does it here, and saves the way to another goroutine
// and back. Those who come meanwhile are the writer's goroutine's, which takes them
// together.
func (s *Store) Update(ctx context.Context, fn func(hub.Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	u := &update{fn: fn, done: make(chan struct{})}
	who := limit.For(ctx)
	if err := s.enqueue(u, who); err != nil {
		return err
	}
	defer s.queued.Leave(who)
	if s.writing.TryLock() {
		s.writeHere()
	}
	select {
	case <-u.done:
	case <-ctx.Done():
		if u.turn.CompareAndSwap(turnQueued, turnWithdrawn) {
			return ctx.Err()
		}
		<-u.done
	}
	return u.err
}

// enqueue hands u to whoever writes next, who answers it in any case. It counts among
// what is queued for who until that is taken off.
func (s *Store) enqueue(u *update, who limit.Caller) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return errClosed
	}
	if s.soon(who) && s.queued.Enter(who) == limit.Entered {
		select {
		case s.queue <- u:
			return nil
		default: // of those that were withdrawn
			s.queued.Leave(who)
		}
	}
	s.figures.rejected.Add(1)
	return &shoal.Error{
		Op: "sqlstore.Update", Kind: shoal.Busy, RetryAfter: max(time.Second, time.Duration(s.pace.Load())),
		Msg: "The server has more to store than it can keep up with; nothing was done. Try again in a moment.",
	}
}

// soon reports whether an Update that comes now would be written soon enough. The time
// that all may wait is divided like any other bound: a caller takes as much of it as it
// has of the queue.
func (s *Store) soon(who limit.Caller) bool {
	delay := s.delay()
	if delay == 0 {
		return true
	}
	mine := float64(delay) * float64(s.queued.Held(who)) / float64(max(1, s.queued.Count()))
	return limit.Fits(int64(s.maxDelay), int64(delay), int64(mine), 0, who.Admin())
}

// fewQueued is how many may always wait, however slow the disk is.
const fewQueued = maxBatch / 2

// delay estimates how long an Update that comes now would wait for its answer.
func (s *Store) delay() time.Duration {
	queued := len(s.queue)
	if queued < fewQueued {
		return 0
	}
	pace := time.Duration(s.pace.Load())
	if begun := s.begun.Load(); begun != 0 {
		pace = max(pace, time.Since(time.Unix(0, begun)))
	}
	return pace * time.Duration(queued/maxBatch+2)
}

// gather takes into the batch what is queued, without the withdrawn.
func (s *Store) gather() {
	s.batch = s.batch[:0]
	for len(s.batch) < maxBatch {
		select {
		case u := <-s.queue:
			if u.turn.CompareAndSwap(turnQueued, turnBegun) {
				s.batch = append(s.batch, u)
			}
		default:
			return
		}
	}
}

// wake leaves a value in a channel that has room for one.
func wake(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
