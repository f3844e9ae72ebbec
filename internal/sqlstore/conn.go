package sqlstore

import (
	"context"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
)

// conn is one connection with the statements prepared on it, and the
// transaction under way. It opens itself when it is needed, and again after it
// was lost. One goroutine uses it at a time.
//
// It stands on one connection of a driver and not on a pool: every connection here
// has one owner, and the pool of database/sql costs a third of a post.
type conn struct {
	dialect *dialect
	reads   bool // nothing is changed through it
	opening bool // what it does now may take any time
	alone   bool // it holds the lock of a server that is the only one

	known *known // what the writer remembers; nil on a connection for reading

	timeline string // of the database, as the writer found it first

	boot   boot                     // in which the writer writes
	marked map[shoal.SessionID]bool // sessions whose first event of this boot is written down

	raw   link // nil while closed
	stmts map[string]statement
	args  []any // of the statement that is being sent
	rows  rows  // of the query that is being read
	// summed holds what a sum is computed over.
	summed []byte

	ctx    context.Context // of the transaction under way
	cancel context.CancelFunc
	active bool     // there is a transaction under way
	failed *failure // its first failure
	wrote  bool     // it changed something
	posted bool     // it added a message
}

// open connects. It does nothing while the connection stands.
func (c *conn) open(ctx context.Context) error {
	if c.raw != nil {
		return nil
	}
	raw, err := c.dialect.connect(ctx, c.reads)
	if err != nil {
		return newFailure(faultLost, "connect", err)
	}
	c.raw, c.stmts = raw, map[string]statement{}
	c.ctx, c.cancel = context.Background(), func() {}
	c.failed = nil // it was the failure of the connection before
	err = c.sameTimeline()
	if err == nil {
		err = c.lockAlone(ctx)
	}
	if err != nil {
		c.drop()
	}
	return err
}

// drop closes the connection, and with it whatever transaction is under way.
func (c *conn) drop() {
	if c.raw == nil {
		return
	}
	// What closing says concerns nobody any more: a transaction under way is
	// undone by its absence.
	if c.dialect.closeStatements {
		for _, stmt := range c.stmts {
			_ = stmt.Close()
		}
	}
	_ = c.raw.Close()
	c.raw, c.stmts, c.marked = nil, nil, nil
	c.known.forget()
}

// begin starts a transaction. A connection that turns out to be lost is opened
// anew, once: nothing has happened on it yet.
func (c *conn) begin(query string) error {
	for stale := c.raw != nil; ; stale = false {
		if err := c.open(context.Background()); err != nil {
			return err
		}
		if c.dialect.patience > 0 && !c.opening {
			c.ctx, c.cancel = context.WithTimeout(c.ctx, c.dialect.patience)
		}
		c.active, c.failed, c.wrote, c.posted = true, nil, false, false
		failed := c.control(query)
		if failed == nil {
			err := c.known.begin(c)
			if err != nil {
				c.end()
			}
			return err
		}
		c.end()
		if !stale || failed.fault != faultLost {
			return failed
		}
		c.drop()
	}
}

// run calls fn in the transaction under way. Whatever fn makes of a failure of
// the database, the transaction has failed with it.
func (c *conn) run(fn func(hub.Tx) error) error {
	err := fn(tx{c: c})
	if c.failed != nil {
		return c.failed
	}
	return err
}

// commit ends the transaction under way and keeps what it did.
func (c *conn) commit() error {
	failed := c.control("COMMIT")
	if failed == nil {
		c.settled()
		return nil
	}
	c.end()
	switch failed.fault {
	case faultWrong, faultLost, faultDisk:
		return failed.unknown()
	default:
		return failed
	}
}

// end undoes the transaction under way, if there is one.
func (c *conn) end() {
	if !c.active {
		return
	}
	if failed := c.control("ROLLBACK"); failed != nil {
		// Perhaps the database had undone it by itself; a new connection leaves
		// no doubt.
		c.drop()
	}
	c.known.forget()
	c.marked = nil
	c.settled()
}

// settled notes that no transaction is under way any more.
func (c *conn) settled() {
	c.active = false
	c.cancel()
	c.ctx, c.cancel = context.Background(), func() {}
}

// last lets the transaction under way take as long as it makes progress, which
// goesOn says, instead of the dialect's patience, until done is called. A result that
// was begun before must be closed.
func (c *conn) last() (goesOn, done func()) {
	patience := c.dialect.patience
	if patience == 0 {
		return func() {}, func() {}
	}
	c.cancel()
	c.ctx, c.cancel = context.WithCancel(context.Background())
	timer := time.AfterFunc(patience, c.cancel)
	return func() { timer.Reset(patience) }, func() {
		timer.Stop()
		c.cancel()
		c.ctx, c.cancel = context.WithTimeout(context.Background(), patience)
	}
}

// control runs a statement about the transaction itself, also in a failed one.
func (c *conn) control(query string) *failure {
	err := c.send(query)
	if err != nil {
		return newFailure(c.dialect.faultOf(err), query, err)
	}
	return nil
}

func (c *conn) send(query string) error {
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

// statement is a prepared one.
type statement struct {
	prepared
	changesKnown bool // it changes a table of which something is remembered
}

// prepare returns the statement of a text. The texts are few and the same for
// the life of the process, so every one is kept.
func (c *conn) prepare(query string) (statement, error) {
	if stmt, have := c.stmts[query]; have {
		return stmt, nil
	}
	raw, err := c.raw.prepare(c.ctx, query)
	if err != nil {
		return statement{}, err
	}
	stmt := statement{raw, changesKnown(query)}
	c.stmts[query] = stmt
	return stmt, nil
}

// exec runs a statement and returns how many rows it changed.
func (c *conn) exec(query string, args ...any) (int64, error) {
	stmt, n, err := c.execute(query, args)
	if err == nil && n > 0 && stmt.changesKnown {
		c.known.forget()
	}
	return n, err
}

// execNoted is exec for a statement whose effect on what is known its caller notes.
func (c *conn) execNoted(query string, args ...any) (int64, error) {
	_, n, err := c.execute(query, args)
	return n, err
}

func (c *conn) execute(query string, args []any) (stmt statement, changed int64, err error) {
	if c.failed != nil {
		return stmt, 0, c.failed
	}
	if stmt, err = c.prepare(query); err != nil {
		return stmt, 0, c.fail(query, err)
	}
	if changed, err = stmt.exec(c.ctx, c.bind(args)); err != nil {
		return stmt, 0, c.fail(query, err)
	}
	c.wrote = c.wrote || changed > 0
	return stmt, changed, nil
}

// execAll runs statements one after the other, each with all of args that it
// names.
func (c *conn) execAll(queries []string, args ...any) error {
	for _, query := range queries {
		if _, err := c.exec(query, args...); err != nil {
			return err
		}
	}
	return nil
}

// fail notes the first failure of the transaction under way. From then on every
// statement in it answers that failure: some databases would take them as new
// transactions.
func (c *conn) fail(query string, err error) *failure {
	if c.failed == nil {
		c.failed = newFailure(c.dialect.faultOf(err), query, err)
	}
	return c.failed
}
