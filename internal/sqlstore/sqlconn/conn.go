package sqlconn

import (
	"context"
	"crypto/rand"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/sqlite"
)

// Conn is one connection with the statements that are prepared on it, and its current
// transaction. It connects when it is first used, and again after the connection was lost.
// It must not be used concurrently.
//
// A Conn has one connection of a driver and no pool: every connection has one owner, and
// the pool of database/sql costs a third of the time of a post.
type Conn struct {
	dialect *Dialect
	reads   bool // nothing is changed through it
	opening bool // the current operations may take any time
	alone   bool // it holds the lock of a server that excludes others

	cache       Cache  // of the writer; nil on a connection for reading
	name        string // of the writer among all that ever change the database
	changesSeen string // how often everything was changed, when the cache was right
	reshaped    int64  // Cache.Reshaped before the next statement

	origin   *origin                  // shared by the writers of a store
	recorded map[shoal.SessionID]bool // sessions whose first event of this boot is recorded

	raw   driverConn // nil while closed
	stmts map[string]statement
	args  []any // of the statement that is being executed
	rows  Rows  // of the query that is being read

	ctx      context.Context // of the current transaction
	cancel   context.CancelFunc
	timer    *time.Timer       // ends the transaction; nil without a limit
	limit    time.Duration     // that of each statement; 0 if the transaction has one limit
	active   bool              // a transaction has begun
	failed   *Failure          // its first failure
	wrote    bool              // it changed something
	changed  bool              // it changed something, and may change everything
	sessions bool              // it locks sessions, and changes nothing else
	outdated bool              // everything was changed since the cache was right
	changes  []shoal.SessionID // the sessions that it may change; nil is all
	indexing bool              // it stored messages that the search index does not contain
	locked   []sessionLock     // the sessions that it has locked
	caughtUp []caughtUp        // what has changed in them, as far as it was read with the locks
}

// Cache is what the writer keeps of some tables from one transaction to the next. It must
// be right whenever a statement runs: Conn resets it when it may not be.
type Cache interface {
	// Begin is called at the start of a transaction. version is a number that differs
	// after another process has changed the database.
	Begin(version int64)
	// BeginSession is called after Begin in a transaction that locks sessions, for each of
	// them. The state of a session is the same as long as nothing else was changed in it than
	// what CatchUp can bring up to date; an empty one is never the same. last reports that
	// this connection was the last that changed the session. stale reports that CatchUp must
	// follow, with the messages after the place since.
	BeginSession(id shoal.SessionID, state string, last bool) (since int64, stale bool)
	// Since returns what BeginSession will return if its state is the same, and whether it is
	// likely that the session is stale.
	Since(id shoal.SessionID) (since int64, likely bool)
	// CatchUp brings the positions of a session up to date. event is the position of its last
	// event that is not that of a message, and since are the messages with places after
	// that of BeginSession, in their order; all reports whether these are all of them.
	CatchUp(id shoal.SessionID, event int64, all bool, since []Placed)
	// EndSession is called after a commit that has given the session another state.
	EndSession(id shoal.SessionID, state string)
	// Reshaped returns a number that differs after a change of the database that the caches of
	// other connections cannot bring up to date.
	Reshaped() int64
	// Reset drops everything.
	Reset()
	// Covers reports whether the cache contains rows of a table.
	Covers(table string) bool
}

// NewWriter returns the connection of a writer. With alone it takes the lock of a server
// that excludes others, and holds it. cache may be nil.
func NewWriter(d *Dialect, cache Cache, alone bool) *Conn {
	return &Conn{dialect: d, cache: cache, alone: alone, origin: &origin{}, name: rand.Text()}
}

// Sibling returns another writer of the same store: it writes in the same boot and on the
// same timeline, and it holds the lock of a server that excludes others, too.
func (c *Conn) Sibling(cache Cache) *Conn {
	return &Conn{dialect: c.dialect, cache: cache, alone: c.alone, origin: c.origin, name: rand.Text()}
}

// Reader returns a connection of the same store that changes nothing: it reads on the same
// timeline.
func (c *Conn) Reader() *Conn { return &Conn{dialect: c.dialect, reads: true, origin: c.origin} }

// NewReader returns a connection that changes nothing, of a program that only reads: it reads on
// any timeline, and from a standby.
func NewReader(d *Dialect) *Conn { return &Conn{dialect: d, reads: true, origin: &origin{}} }

// Dialect returns the dialect of the database.
func (c *Conn) Dialect() *Dialect { return c.dialect }

// Alone reports whether the connection holds the lock of a server that excludes others.
func (c *Conn) Alone() bool { return c.alone }

// Connected reports whether the connection is open.
func (c *Conn) Connected() bool { return c.raw != nil }

// SQLite returns the connection of a SQLite database, which must be open.
func (c *Conn) SQLite() *sqlite.Conn { return c.raw.(sqliteConn).Conn }

// Statements returns the texts of the prepared statements.
func (c *Conn) Statements() []string { return slices.Collect(maps.Keys(c.stmts)) }

// SetOpening sets whether the following operations belong to the opening of a store: they
// may take any time.
func (c *Conn) SetOpening(opening bool) { c.opening = opening }

// SetContext sets the context of the following statements outside of a transaction.
func (c *Conn) SetContext(ctx context.Context) { c.ctx = ctx }

// Open connects. It does nothing while the connection is open.
func (c *Conn) Open(ctx context.Context) error {
	if c.raw != nil {
		return nil
	}
	if !c.opening && c.dialect.answer > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, ReconnectLimit)
		defer cancel()
	}
	raw, err := c.dialect.connect(ctx, c.reads)
	if err != nil {
		return NewFailure(FaultLost, "connect", err)
	}
	c.raw, c.stmts = raw, map[string]statement{}
	c.ctx, c.cancel = ctx, func() {}
	c.failed = nil // it was the failure of the previous connection
	err = c.checkTimeline()
	if err == nil {
		err = c.lockAlone(ctx)
	}
	if err == nil {
		err = c.rejoin()
	}
	c.recorded = nil // of the boot of the previous connection
	c.ctx = context.Background()
	if err != nil {
		c.Close()
	}
	return err
}

// ReconnectLimit is how long a connection may take while Updates and Views wait for it.
const ReconnectLimit = 4 * time.Second

// Close closes the connection, and with it the current transaction. The next operation
// connects again.
func (c *Conn) Close() {
	if c.raw == nil {
		return
	}
	// Errors are ignored: the database rolls back what was not committed.
	if c.dialect.closeStatements {
		for _, stmt := range c.stmts {
			_ = stmt.Close()
		}
	}
	_ = c.raw.Close()
	c.raw, c.stmts = nil, nil
	c.resetCache()
}

// resetCache drops what is kept of the database from one transaction to the next.
func (c *Conn) resetCache() {
	c.recorded = nil
	if c.cache != nil {
		c.cache.Reset()
	}
}

// statement is a prepared statement.
type statement struct {
	prepared
	changesCached bool // it changes a table that the cache covers
	changesIndex  bool // it changes the search index, of which no cache knows anything
}

// prepare returns the statement of a text. The texts are few and the same for the life of
// the process, so all statements are kept.
func (c *Conn) prepare(query string) (statement, error) {
	if stmt, have := c.stmts[query]; have {
		return stmt, nil
	}
	raw, err := c.raw.prepare(c.ctx, query)
	if err != nil {
		return statement{}, err
	}
	table := changedTable(query)
	stmt := statement{raw, c.cache != nil && c.cache.Covers(table), slices.Contains(indexTables, table)}
	c.stmts[query] = stmt
	return stmt, nil
}

// indexTables are the tables that only search reads, and the row that says what they contain.
var indexTables = []string{"search_blocks", "search_words", "late", "store"}

// changedTable returns the table that a statement changes, or "" if it changes none.
func changedTable(query string) string {
	for _, verb := range []string{"INSERT INTO ", "UPDATE ", "DELETE FROM "} {
		if rest, found := strings.CutPrefix(strings.TrimSpace(query), verb); found {
			if end := strings.IndexAny(rest, " ("); end >= 0 {
				rest = rest[:end]
			}
			return rest
		}
	}
	return ""
}

// Exec runs a statement and returns the number of rows that it changed. It resets the cache
// if the cache covers the table.
func (c *Conn) Exec(query string, args ...any) (int64, error) {
	stmt, n, err := c.execute(query, args)
	if err == nil && n > 0 && stmt.changesCached {
		c.cache.Reset()
		c.noteChange()
	}
	return n, err
}

// ExecCached is Exec for a statement whose caller updates the cache.
func (c *Conn) ExecCached(query string, args ...any) (int64, error) {
	_, n, err := c.execute(query, args)
	return n, err
}

func (c *Conn) execute(query string, args []any) (stmt statement, changed int64, err error) {
	if c.failed != nil {
		return stmt, 0, c.failed
	}
	c.startStatement()
	if stmt, err = c.prepare(query); err != nil {
		return stmt, 0, c.Fail(query, err)
	}
	if changed, err = stmt.exec(c.ctx, c.bind(args)); err != nil {
		return stmt, 0, c.Fail(query, err)
	}
	c.wrote, c.changed = c.wrote || changed > 0, c.changed || changed > 0
	if changed > 0 && !stmt.changesIndex {
		c.noteChange()
	}
	return stmt, changed, nil
}

// ExecAll runs statements one after the other, each with all of args that it names.
func (c *Conn) ExecAll(queries []string, args ...any) error {
	for _, query := range queries {
		if _, err := c.Exec(query, args...); err != nil {
			return err
		}
	}
	return nil
}

// Now returns the time of the database's clock. A file has no clock: the processes that can
// share it have the clock of their machine in common.
func (c *Conn) Now() (shoal.Time, error) {
	if c.dialect.now == "" {
		return shoal.Now(), nil
	}
	at, _, err := One(c, func(r *Rows) shoal.Time { return r.Time(0) }, c.dialect.now)
	return at, err
}

// Overwrite sets whether removed data is overwritten in the file. Otherwise that happens
// only when the space is used again.
func (c *Conn) Overwrite(on bool) error {
	if c.dialect.overwrite == "" {
		return nil
	}
	value := "OFF;"
	if on {
		value = "ON;"
	}
	// The semicolon prevents that it is prepared: when it ran again it would set nothing.
	if failed := c.Control(c.dialect.overwrite + value); failed != nil {
		return failed
	}
	return nil
}
