package sqlstore

import (
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
)

const (
	// maxBatch is how many Updates share one commit at most.
	maxBatch = 256
	// maxTries is how often a batch runs while other processes are in its way.
	maxTries = 5
)

// write is the goroutine that runs the Updates which come while others run, and does
// the housekeeping.
func (s *Store) write() {
	defer s.running.Done()
	for open := true; open; {
		select {
		case <-s.more:
		case <-s.closing:
			open = false // whoever is still queued is refused
		}
		s.writing.Lock()
		for s.writeBatch() {
			s.tidy()
		}
		s.tidy()
		s.letGo()
	}
}

// writeHere runs one batch on the goroutine of an Update. The store's own defects end
// the process from here, too: the recover of a caller would leave the others of the
// batch without an answer.
func (s *Store) writeHere() {
	defer func() {
		if p := recover(); p != nil {
			stack := debug.Stack()
			go func() { panic(fmt.Sprintf("sqlstore: %v\n%s", p, stack)) }()
			select {}
		}
		s.letGo()
	}()
	s.writeBatch()
}

// letGo gives up writing, to the writer's goroutine if there is something to do.
func (s *Store) letGo() {
	due := s.due()
	s.writing.Unlock()
	if due || len(s.queue) > 0 {
		wake(s.more)
	}
}

// writeBatch runs the Updates that are queued, as many as share a commit. It reports
// whether there were any.
func (s *Store) writeBatch() bool {
	s.gather()
	if len(s.batch) == 0 {
		return false
	}
	defer clear(s.batch) // or what hangs on the functions stays until as many come at once
	if err := s.refusal(); err != nil {
		answer(s.batch, err)
		return true
	}
	began := time.Now()
	s.begun.Store(began.UnixNano())
	s.settle(s.batch)
	s.begun.Store(0)
	s.settled(len(s.batch), time.Since(began))
	return true
}

// settled notes what a batch took.
func (s *Store) settled(size int, took time.Duration) {
	s.figures.batches.Observe(float64(size))
	s.figures.commits.Observe(took.Seconds())
	s.pace.Store((s.pace.Load() + int64(took)) / 2)
}

// refusal tells why nothing is written any more, if that is so.
func (s *Store) refusal() error {
	if s.failed.Load() {
		return shoal.E("sqlstore.Update", shoal.Busy, "The server is stopping, as its disk failed or its database was replaced; nothing was done. Try again when it is back.")
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
		if failed != nil && failed.ends() {
			s.die(failed)
		}
		break
	}
	if s.writer.posted {
		s.writer.posted = false
		wake(s.posted)
	}
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
		c.marked = nil
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

// due reports whether there is housekeeping to do.
func (s *Store) due() bool {
	return s.dialect.due != nil && s.writer.raw != nil && !s.failed.Load() && s.dialect.due(s)
}

// tidy does the housekeeping that is due, with nobody waiting for it.
func (s *Store) tidy() {
	if !s.due() {
		return
	}
	s.writer.failed = nil
	var failed *failure
	err := s.dialect.tidy(s)
	if errors.As(err, &failed) && failed.ends() {
		s.die(failed)
	}
}
