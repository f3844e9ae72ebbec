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
	// maxWaits is how often a batch waits for the locks of other transactions. The database
	// ends the transaction of a suspended process before the second wait ends.
	maxWaits = 2
	// reconnectAfter is how long a batch may have taken whose connection is lost, so that the
	// Updates after it can wait for a new one and still have an answer within five seconds.
	reconnectAfter = 5*time.Second - sqlconn.ReconnectLimit
)

// run is the goroutine of a lane: it writes the Updates that arrive while others are written,
// and runs the checkpoints.
func (l *lane) run() {
	for open := true; open; {
		select {
		case <-l.more:
		case <-l.store.closing:
			open = false // the Updates that are still queued are refused
		}
		l.writing.Lock()
		for l.writeBatch() {
			l.checkpoint()
		}
		l.checkpoint()
		l.stopWriting()
	}
}

// writeHere writes one batch on the goroutine of an Update. A panic of the store itself ends
// the process: a caller that recovers would leave the other Updates of the batch without a
// result.
func (l *lane) writeHere() {
	defer func() {
		if p := recover(); p != nil {
			stack := debug.Stack()
			go func() { panic(fmt.Sprintf("sqlstore: %v\n%s", p, stack)) }()
			select {}
		}
		l.stopWriting()
	}()
	l.writeBatch()
}

// stopWriting releases the lane, and wakes its goroutine if there is more to do.
func (l *lane) stopWriting() {
	due := l.checkpointDue()
	l.writing.Unlock()
	if due || l.queue.count() > 0 {
		signal(l.more)
	}
}

// writeBatch writes the queued Updates that fit into a batch. It reports whether there were
// any.
func (l *lane) writeBatch() bool {
	if l.queue.count() > 0 {
		l.awaitTurn()
	}
	l.gatherBatch()
	if len(l.batch) == 0 {
		return false
	}
	defer func() { clear(l.batch) }() // otherwise the functions would keep their memory alive
	if err := l.store.refusal(); err != nil {
		l.store.finish(l.batch, err)
		return true
	}
	began := time.Now()
	l.since.Store(began.UnixNano())
	l.commitBatch()
	l.since.Store(0)
	if len(l.batch) > 0 {
		took := time.Since(began)
		l.observeBatch(len(l.batch), took)
		l.leaveSessions(took)
	}
	return true
}

// observeBatch records the duration of a batch.
func (l *lane) observeBatch(size int, took time.Duration) {
	l.store.metrics.batches.Observe(float64(size))
	l.store.metrics.commits.Observe(took.Seconds())
	l.pace.Store((l.pace.Load() + int64(took)) / 2)
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
func (s *Store) finish(batch []*update, err error) {
	for _, u := range batch {
		if err != nil {
			u.err = err
		}
		s.moved.leave(u)
		close(u.done)
	}
}

// errPartlyFailed means that one update failed after it had changed something, so that the
// others must run again without its changes.
var errPartlyFailed = errors.New("an update of the batch failed after it had changed something")

// commitBatch runs the batch until its outcome is certain, and completes its updates. At
// first the updates run without savepoints, which costs nothing between them. If one of them
// fails after it has changed something, all run again, each with a savepoint.
func (l *lane) commitBatch() {
	separate, began := false, time.Now()
	for try := 1; ; {
		err := l.transact(separate)
		var failed *sqlconn.Failure
		switch {
		case errors.Is(err, errPartlyFailed) && len(l.batch) == 1:
			err = nil // it is undone, and it is the only one
		case errors.Is(err, errPartlyFailed):
			separate = true
			continue
		case errors.As(err, &failed) && failed.Fault == sqlconn.FaultConflict && try < maxTries:
			try++
			continue
		case failed != nil && failed.Fault == sqlconn.FaultBlocked && l.conn.CanLockSessions() && try < maxWaits:
			try++
			continue
		}
		l.store.finish(l.batch, err)
		l.store.stopIfFinal(err)
		if failed != nil && failed.Fault == sqlconn.FaultLost && (!l.begun || time.Since(began) > reconnectAfter) {
			l.refuseQueued(failed)
		}
		break
	}
	if l.conn.TakeIndexingRequest() {
		signal(l.store.indexable)
	}
}

// refuseQueued fails the queued Updates because the database cannot be reached. Otherwise each
// batch of them would wait for a connection as long as the first one.
func (l *lane) refuseQueued(err error) {
	queued := l.queue.take(nil, l.queue.count(), always)
	l.store.finish(queued, err)
}

// transact runs the batch in one transaction. When it returns nil, each update has its result
// and its changes are durable.
func (l *lane) transact(separate bool) error {
	l.begun = false
	if err := l.begin(); err != nil {
		return err
	}
	l.begun = true
	if len(l.batch) == 0 { // all have moved to another lane
		l.conn.Rollback()
		return nil
	}
	began := time.Now()
	fits := maxBatch
	for i, u := range l.batch {
		if l.isLong(i, time.Since(began)) {
			l.endBatch(i)
			fits = i
			break
		}
		if err := l.apply(u, separate); err != nil {
			l.conn.Rollback()
			return err
		}
	}
	written := time.Now()
	err := l.conn.Commit()
	l.fits.Store(int64(fits))
	l.commitTime = (l.commitTime + time.Since(written)) / 2
	return err
}

// apply runs one update and records its result. An error of apply itself fails the whole
// batch.
func (l *lane) apply(u *update, separate bool) error {
	c := l.conn
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

// stopIfFinal ends all writing if err is a failure after which this process must not write.
func (s *Store) stopIfFinal(err error) {
	var failed *sqlconn.Failure
	if errors.As(err, &failed) && failed.IsFinal() {
		s.stopForever(failed)
	}
}

// checkpointDue reports whether a checkpoint is due.
func (l *lane) checkpointDue() bool {
	s := l.store
	return s.checkpoints != nil && l.conn.Connected() && !s.failed.Load() && s.checkpoints.isDue(l.conn.Conn)
}

// checkpoint runs the checkpoint that is due, if any. No Update waits for it.
func (l *lane) checkpoint() {
	if !l.checkpointDue() {
		return
	}
	l.conn.ClearFailure()
	l.store.stopIfFinal(l.store.checkpoints.run(l.store))
}
