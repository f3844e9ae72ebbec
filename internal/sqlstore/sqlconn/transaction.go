package sqlconn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
)

// Begin starts a transaction. If the connection turns out to be lost, it connects again,
// once: nothing has been done on it yet.
func (c *Conn) Begin() error {
	query := c.dialect.begin
	if c.reads {
		query = c.dialect.beginView
	}
	return c.beginWith(func() *Failure {
		c.sessions = false
		return c.Control(query)
	})
}

// CanLockSessions reports whether transactions in different sessions can run at the same
// time: whether there is BeginIn.
func (c *Conn) CanLockSessions() bool { return c.dialect.beginIn != nil }

// Wait is what [Conn.BeginIn] does about a session that another transaction has locked.
type Wait int

const (
	// SkipHeld does not lock it.
	SkipHeld Wait = iota
	// WaitBriefly waits for 500 ms, longer than a few transactions take, and fails with FaultHeld.
	WaitBriefly
	// WaitLong waits for 2.5 s, and fails with FaultBlocked.
	WaitLong
)

// BeginIn starts a transaction that changes these sessions and nothing else. It excludes
// others in these sessions, and those of Begin. locked are the sessions that it has locked. A
// session that does not exist needs no lock, because only a transaction of Begin creates one.
func (c *Conn) BeginIn(sessions []shoal.SessionID, wait Wait) (locked []shoal.SessionID, err error) {
	err = c.beginWith(func() *Failure {
		var err error
		c.sessions = true
		if locked, err = c.dialect.beginIn(c, sessions, wait); err != nil {
			var failed *Failure
			if errors.As(err, &failed) {
				return failed
			}
			return NewFailure(c.dialect.faultOf(err), "lock sessions", err)
		}
		return nil
	})
	return locked, err
}

func (c *Conn) beginWith(begin func() *Failure) error {
	deadline := time.Now().Add(startPatience)
	for stale := c.raw != nil; ; stale = false {
		if err := c.Open(context.Background()); err != nil {
			return err
		}
		c.limitTime()
		c.active, c.failed, c.wrote, c.changed, c.indexing = true, nil, false, false, false
		c.locked, c.caughtUp = c.locked[:0], c.caughtUp[:0]
		failed := begin()
		if failed == nil {
			c.endBegin()
			err := c.checkCache()
			if err != nil {
				c.Rollback()
			}
			return err
		}
		late := c.ctx.Err() != nil
		c.Rollback()
		if c.opening && failed.Fault == FaultBlocked && time.Now().Before(deadline) {
			continue
		}
		if !stale || late || failed.Fault != FaultLost {
			return failed
		}
		c.Close()
	}
}

// checkCache resets the cache unless the database reports that no other process has changed
// it since the last transaction.
func (c *Conn) checkCache() error {
	if c.cache == nil {
		return nil
	}
	defer func() { c.reshaped = c.cache.Reshaped() }()
	if c.sessions {
		return c.beginSessions()
	}
	if c.dialect.version == "" {
		c.cache.Reset()
		return nil
	}
	version, err := Number(c, c.dialect.version)
	if err != nil {
		c.cache.Reset()
		return err
	}
	c.cache.Begin(version)
	return nil
}

// countChange counts a change of anything, if the program may write.
func (c *Conn) countChange() error {
	program := c.dialect.Program
	if program == 0 {
		program = math.MaxInt64
	}
	n, err := c.ExecCached(countChange, program)
	if err != nil || n == 1 {
		return err
	}
	return c.checkProgram()
}

// Commit ends the current transaction and keeps its changes.
func (c *Conn) Commit() error {
	if c.changed && !c.sessions && !c.opening && c.CanLockSessions() {
		if err := c.countChange(); err != nil {
			c.Rollback()
			return err
		}
	}
	if c.limit > 0 {
		c.limit = max(c.limit, c.dialect.commit)
	}
	failed, unknown := c.commit()
	if failed == nil {
		c.endSessions()
		c.endTransaction()
		return nil
	}
	c.Rollback()
	if !unknown {
		return failed
	}
	switch failed.Fault {
	case FaultWrong, FaultLost, FaultDisk:
		return failed.unknown()
	default:
		return failed
	}
}

// Rollback undoes the current transaction, if there is one.
func (c *Conn) Rollback() {
	if !c.active {
		return
	}
	if failed := c.Control("ROLLBACK"); failed != nil {
		// The database may have undone it already. A new connection leaves no doubt.
		c.Close()
	}
	if c.changed { // otherwise what is known is what was committed
		c.resetCache()
	}
	c.endTransaction()
}

func (c *Conn) endTransaction() {
	c.active = false
	if c.timer != nil {
		c.timer.Stop()
		c.timer, c.limit = nil, 0
	}
	c.cancel()
	c.ctx, c.cancel = context.Background(), func() {}
}

// Savepoint starts a part of the transaction that can be undone alone.
func (c *Conn) Savepoint() *Failure { return c.Control("SAVEPOINT one") }

// ReleaseSavepoint ends that part and keeps its changes.
func (c *Conn) ReleaseSavepoint() *Failure { return c.Control("RELEASE SAVEPOINT one") }

// RollbackToSavepoint undoes that part, and with it a failure of the transaction.
func (c *Conn) RollbackToSavepoint() *Failure {
	c.failed = nil
	c.resetCache()
	return c.Control("ROLLBACK TO SAVEPOINT one")
}

// Result returns the result of a function that returned err and used the current
// transaction: whatever the function did about a failure of the database, the transaction
// has failed.
func (c *Conn) Result(err error) error {
	if c.failed != nil {
		return c.failed
	}
	return err
}

// Failure returns the first failure of the current transaction, or nil.
func (c *Conn) Failure() *Failure { return c.failed }

// ClearFailure makes statements possible again after a failure outside of a transaction.
func (c *Conn) ClearFailure() { c.failed = nil }

// Wrote reports whether a statement has changed something since ClearWrote.
func (c *Conn) Wrote() bool { return c.wrote }

// ClearWrote makes Wrote return false.
func (c *Conn) ClearWrote() { c.wrote = false }

// Restrict makes RecordPosition refuse sessions other than these from now on; nil allows
// all.
func (c *Conn) Restrict(sessions []shoal.SessionID) { c.changes = sessions }

// RequestIndexing records that the transaction stored messages that the search index does
// not contain.
func (c *Conn) RequestIndexing() { c.indexing = true }

// TakeIndexingRequest reports whether RequestIndexing was called since the last call.
func (c *Conn) TakeIndexingRequest() bool {
	requested := c.indexing
	c.indexing = false
	return requested
}

// limitTime starts to limit the duration of the current transaction, or of each of its
// statements.
func (c *Conn) limitTime() {
	if c.dialect.patience == 0 || c.opening {
		return
	}
	c.ctx, c.cancel = context.WithCancel(c.ctx)
	c.limit = c.dialect.answer
	c.timer = time.AfterFunc(cmp.Or(c.limit, c.dialect.patience), c.cancel)
}

// endBegin gives a View that has begun the time of a transaction.
func (c *Conn) endBegin() {
	if c.reads && c.timer != nil {
		c.limit = 0
		c.timer.Reset(c.dialect.patience)
	}
}

// startStatement gives the next statement its time.
func (c *Conn) startStatement() {
	if c.limit > 0 {
		c.timer.Reset(c.limit)
	}
}

// ExtendTimeout lets the current transaction take as long as it makes progress, which
// callers report with progress, until they call done. A statement that changes any number of
// rows needs it.
func (c *Conn) ExtendTimeout() (progress, done func()) {
	timer, limit, patience := c.timer, c.limit, c.dialect.patience
	if timer == nil {
		return func() {}, func() {}
	}
	if limit > 0 {
		c.limit = patience
	}
	timer.Reset(patience)
	return func() { timer.Reset(patience) }, func() {
		c.limit = limit
		timer.Reset(patience)
	}
}

// Control runs a statement about the transaction itself, also in a failed one.
func (c *Conn) Control(query string) *Failure {
	c.startStatement()
	err := c.send(query)
	if err != nil {
		return NewFailure(c.dialect.faultOf(err), query, err)
	}
	return nil
}

func (c *Conn) send(query string) error {
	if strings.Contains(query, ";") { // several statements cannot be prepared as one
		return c.raw.run(c.ctx, query)
	}
	stmt, err := c.prepare(query)
	if err != nil {
		return err
	}
	_, err = stmt.exec(c.ctx, nil)
	return err
}

// Fail records the first failure of the current transaction. From then on every statement
// in it returns that failure: some databases would run them in new transactions.
func (c *Conn) Fail(query string, err error) *Failure {
	if c.failed == nil {
		c.failed = NewFailure(c.dialect.faultOf(err), query, err)
	}
	return c.failed
}

// failDamaged makes the current transaction fail because the database contains something
// that was not stored; what names it for people. It does nothing if the transaction has
// failed.
func (c *Conn) failDamaged(what, query string, err error) {
	if c.failed == nil {
		c.failed = &Failure{FaultWrong, &shoal.Error{
			Op: "sqlstore", Kind: shoal.Internal, Err: fmt.Errorf("%w, in: %s", &damage{err}, query),
			Msg: "The server's database is damaged: " + what + " in it is not what was stored. The operator of the server must restore a backup.",
		}}
	}
}
