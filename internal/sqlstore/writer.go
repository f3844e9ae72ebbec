package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
)

const (
	// queueLength is how many Updates may wait; further ones are told Busy.
	queueLength = 4096
	// queueDelay is how long one may have to wait there.
	queueDelay = 5 * time.Second
	// maxBatch is how many of them share one commit at most.
	maxBatch = 256
	// maxTries is how often a batch runs while other processes are in its way.
	maxTries = 5
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
func (s *Store) Update(ctx context.Context, fn func(hub.Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	u := &update{fn: fn, done: make(chan struct{})}
	if err := s.enqueue(u); err != nil {
		return err
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

// enqueue hands u to the writer, who answers it in any case.
func (s *Store) enqueue(u *update) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return errClosed
	}
	if s.delay() <= s.maxDelay {
		select {
		case s.queue <- u:
			return nil
		default:
		}
	}
	s.figures.rejected.Add(1)
	return &shoal.Error{
		Op: "sqlstore.Update", Kind: shoal.Busy, RetryAfter: max(time.Second, time.Duration(s.pace.Load())),
		Msg: "The server has more to store than it can keep up with; nothing was done. Try again in a moment.",
	}
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

// write is the goroutine that runs every Update.
func (s *Store) write() {
	defer s.running.Done()
	batch := make([]*update, 0, maxBatch)
	for first := range s.queue {
		batch = s.gather(batch[:0], first)
		if err := s.refusal(); err != nil {
			answer(batch, err)
			continue
		}
		began := time.Now()
		s.begun.Store(began.UnixNano())
		s.settle(batch)
		s.begun.Store(0)
		s.settled(len(batch), time.Since(began))
		clear(batch) // or what hangs on the functions stays until as many come at once
	}
}

// settled notes what a batch took.
func (s *Store) settled(size int, took time.Duration) {
	if size == 0 {
		return // all were withdrawn
	}
	s.figures.batches.Observe(float64(size))
	s.figures.commits.Observe(took.Seconds())
	s.pace.Store((s.pace.Load() + int64(took)) / 2)
}

// gather returns first and those that wait behind it, without the withdrawn.
func (s *Store) gather(batch []*update, first *update) []*update {
	for u := first; u != nil; {
		if u.turn.CompareAndSwap(turnQueued, turnBegun) {
			batch = append(batch, u)
		}
		u = nil
		if len(batch) < maxBatch {
			select {
			case u = <-s.queue: // nil when the queue is closed and empty
			default:
			}
		}
	}
	return batch
}

// refusal tells why nothing is written any more, if that is so.
func (s *Store) refusal() error {
	if s.failed.Load() {
		return shoal.E("sqlstore.Update", shoal.Busy, "The server's disk failed and the server is stopping; nothing was done. Try again when it is back.")
	}
	select {
	case <-s.closing:
		return errClosed
	default:
		return nil
	}
}

// answer ends updates. A nil err leaves each its own answer.
func answer(batch []*update, err error) {
	for _, u := range batch {
		if err != nil {
			u.err = err
		}
		close(u.done)
	}
}

// errSpoilt says that one update failed after it had changed something, so that
// those beside it must run again without what it did.
var errSpoilt = errors.New("an update spoilt its batch")

// settle runs a batch until its outcome is certain, and answers it. First the
// updates simply follow each other, which costs nothing between them; if one
// spoils that, all run again, each behind a savepoint.
func (s *Store) settle(batch []*update) {
	separate := false
	for try := 1; ; {
		err := s.transact(batch, separate)
		var failed *failure
		switch {
		case errors.Is(err, errSpoilt) && len(batch) == 1:
			err = nil // it is undone, and there is nobody beside it
		case errors.Is(err, errSpoilt):
			separate = true
			continue
		case errors.As(err, &failed) && failed.fault == faultConflict && try < maxTries:
			try++
			continue
		}
		answer(batch, err)
		if failed != nil && failed.fault == faultDisk {
			s.die(failed)
		}
		break
	}
	s.afterwards()
}

// transact runs a batch in one transaction. When it returns nil, each update
// has its answer and what it did is durable.
func (s *Store) transact(batch []*update, separate bool) error {
	if err := s.writer.begin(s.dialect.begin); err != nil {
		return err
	}
	for _, u := range batch {
		if err := s.apply(u, separate); err != nil {
			s.writer.end()
			return err
		}
	}
	return s.writer.commit()
}

// apply runs one update and notes its answer. An error of apply itself ends the
// whole batch.
func (s *Store) apply(u *update, separate bool) error {
	c := s.writer
	if separate {
		if failed := c.control("SAVEPOINT one"); failed != nil {
			return failed
		}
	}
	c.wrote = false
	u.err = c.runGuarded(u.fn)
	switch clean := u.err == nil || c.failed == nil && !c.wrote; {
	case c.failed != nil && c.failed.fault != faultWrong:
		return c.failed
	case !clean && !separate:
		return errSpoilt
	case !separate:
		return nil
	case !clean:
		c.failed = nil
		c.known.forget()
		if failed := c.control("ROLLBACK TO SAVEPOINT one"); failed != nil {
			return failed
		}
	}
	if failed := c.control("RELEASE SAVEPOINT one"); failed != nil {
		return failed
	}
	return nil
}

// runGuarded is run, but for a panic of fn, which becomes its error: the writer
// serves others too.
func (c *conn) runGuarded(fn func(hub.Tx) error) (err error) {
	ended := false
	defer func() {
		if ended {
			return
		}
		reason := recover()
		if reason == nil {
			panic("sqlstore: the function given to Update ended its goroutine (runtime.Goexit or FailNow of a test), but that belongs to the store")
		}
		err = &shoal.Error{
			Op: "sqlstore.Update", Kind: shoal.Internal, Msg: "Something went wrong in the server.",
			Err: fmt.Errorf("panic: %v\n%s", reason, debug.Stack()),
		}
	}()
	err = c.run(fn)
	ended = true
	return err
}

// die ends all writing.
func (s *Store) die(err error) {
	if s.failed.CompareAndSwap(false, true) && s.fatal != nil {
		s.fatal(err)
	}
}

// afterwards does what a commit makes necessary, with nobody waiting for it.
func (s *Store) afterwards() {
	if s.writer.posted {
		s.writer.posted = false
		select {
		case s.posted <- struct{}{}:
		default:
		}
	}
	if s.dialect.afterCommit == nil || s.writer.raw == nil || s.failed.Load() {
		return
	}
	s.writer.failed = nil
	var failed *failure
	err := s.dialect.afterCommit(s)
	if errors.As(err, &failed) && failed.fault == faultDisk {
		s.die(failed)
	}
}
