package sqlstore

import (
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/sqlstore/sqlconn"
)

const (
	// maxBatch is the maximum number of Updates in one commit.
	maxBatch = 256
	// maxTries is how often a batch is run when other processes interfere.
	maxTries = 5
)

// runWriter is the goroutine that writes the Updates that arrive while others are written,
// and runs the checkpoints.
func (s *Store) runWriter() {
	defer s.running.Done()
	for open := true; open; {
		select {
		case <-s.more:
		case <-s.closing:
			open = false // the Updates that are still queued are refused
		}
		s.writing.Lock()
		for s.writeBatch() {
			s.checkpoint()
		}
		s.checkpoint()
		s.stopWriting()
	}
}

// writeHere writes one batch on the goroutine of an Update. A panic of the store itself ends
// the process: a caller that recovers would leave the other Updates of the batch without a
// result.
func (s *Store) writeHere() {
	defer func() {
		if p := recover(); p != nil {
			stack := debug.Stack()
			go func() { panic(fmt.Sprintf("sqlstore: %v\n%s", p, stack)) }()
			select {}
		}
		s.stopWriting()
	}()
	s.writeBatch()
}

// stopWriting releases the writer, and wakes its goroutine if there is more to do.
func (s *Store) stopWriting() {
	due := s.checkpointDue()
	s.writing.Unlock()
	if due || len(s.queue) > 0 {
		signal(s.more)
	}
}

// writeBatch writes the queued Updates, at most maxBatch. It reports whether there were any.
func (s *Store) writeBatch() bool {
	s.gatherBatch()
	if len(s.batch) == 0 {
		return false
	}
	defer clear(s.batch) // otherwise the functions would keep their memory alive
	if err := s.refusal(); err != nil {
		finish(s.batch, err)
		return true
	}
	began := time.Now()
	s.begun.Store(began.UnixNano())
	s.commitBatch(s.batch)
	s.begun.Store(0)
	s.observeBatch(len(s.batch), time.Since(began))
	return true
}

// observeBatch records the duration of a batch.
func (s *Store) observeBatch(size int, took time.Duration) {
	s.metrics.batches.Observe(float64(size))
	s.metrics.commits.Observe(took.Seconds())
	s.pace.Store((s.pace.Load() + int64(took)) / 2)
}

// refusal returns why nothing is written any more, or nil.
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

// finish completes updates with err, or with their own results if err is nil.
func finish(batch []*update, err error) {
	for _, u := range batch {
		if err != nil {
			u.err = err
		}
		close(u.done)
	}
}

// errPartlyFailed means that one update failed after it had changed something, so that the
// others must run again without its changes.
var errPartlyFailed = errors.New("an update of the batch failed after it had changed something")

// commitBatch runs a batch until its outcome is certain, and completes its updates. At first
// the updates run without savepoints, which costs nothing between them. If one of them fails
// after it has changed something, all run again, each with a savepoint.
func (s *Store) commitBatch(batch []*update) {
	separate := false
	for try := 1; ; {
		err := s.transact(batch, separate)
		var failed *sqlconn.Failure
		switch {
		case errors.Is(err, errPartlyFailed) && len(batch) == 1:
			err = nil // it is undone, and it is the only one
		case errors.Is(err, errPartlyFailed):
			separate = true
			continue
		case errors.As(err, &failed) && failed.Fault == sqlconn.FaultConflict && try < maxTries:
			try++
			continue
		}
		finish(batch, err)
		if failed != nil && failed.IsFinal() {
			s.stopForever(failed)
		}
		break
	}
	if s.writer.TakeIndexingRequest() {
		signal(s.indexable)
	}
}

// transact runs a batch in one transaction. When it returns nil, each update has its result
// and its changes are durable.
func (s *Store) transact(batch []*update, separate bool) error {
	if err := s.writer.Begin(); err != nil {
		return err
	}
	for _, u := range batch {
		if err := s.apply(u, separate); err != nil {
			s.writer.Rollback()
			return err
		}
	}
	return s.writer.Commit()
}

// apply runs one update and records its result. An error of apply itself fails the whole
// batch.
func (s *Store) apply(u *update, separate bool) error {
	c := s.writer
	if separate {
		if failed := c.Savepoint(); failed != nil {
			return failed
		}
	}
	c.ClearWrote()
	c.Restrict(u.at)
	u.err = c.runGuarded(u.fn)
	c.Restrict(nil)
	failed := c.Failure()
	switch clean := u.err == nil || failed == nil && !c.Wrote(); {
	case failed != nil && failed.Fault != sqlconn.FaultWrong:
		return failed
	case !clean && !separate:
		return errPartlyFailed
	case !separate:
		return nil
	case !clean:
		if failed := c.RollbackToSavepoint(); failed != nil {
			return failed
		}
	}
	if failed := c.ReleaseSavepoint(); failed != nil {
		return failed
	}
	return nil
}

// runGuarded is run, but a panic of fn becomes its error: the writer also serves others.
func (c *connection) runGuarded(fn func(storage.Tx) error) (err error) {
	returned := false
	defer func() {
		if returned {
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
	returned = true
	return err
}

// stopForever ends all writing.
func (s *Store) stopForever(err error) {
	if s.failed.CompareAndSwap(false, true) && s.fatal != nil {
		s.fatal(err)
	}
}

// checkpointDue reports whether a checkpoint is due.
func (s *Store) checkpointDue() bool {
	return s.checkpoints != nil && s.writer.Connected() && !s.failed.Load() && s.checkpoints.isDue(s.writer.Conn)
}

// checkpoint runs the checkpoint that is due, if any. No Update waits for it.
func (s *Store) checkpoint() {
	if !s.checkpointDue() {
		return
	}
	s.writer.ClearFailure()
	var failed *sqlconn.Failure
	err := s.checkpoints.run(s)
	if errors.As(err, &failed) && failed.IsFinal() {
		s.stopForever(failed)
	}
}
