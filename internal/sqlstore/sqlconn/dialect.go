package sqlconn

import (
	"context"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
)

// Dialect is what differs between the databases.
type Dialect struct {
	// Cluster makes the connections that write hold a lock that servers share, instead of one
	// that excludes every other server.
	Cluster bool
	// Program is the last migration that this program knows: transactions that change a
	// PostgreSQL database fail with [ErrOutdated] when the database requires a later one. 0
	// checks nothing.
	Program int64
	// Path is the file of a SQLite database, empty for PostgreSQL.
	Path string
	// Readers is the number of connections for reading.
	Readers int

	// InOrder is written after a table that must be read in the order of its numbers.
	// Otherwise SQLite may choose another index and sort in memory.
	InOrder string
	// Elements reads the elements of the JSON array in an argument as rows of t with the
	// one column value.
	Elements string
	// Position is the function that returns the position of a text in another, 0 if it
	// does not occur.
	Position string
	// ForUpdate ends a query whose rows stay locked until the transaction ends.
	ForUpdate string
	// Writing is a query for the transactions that are changing the database at this moment;
	// empty if none can while a View begins: SQLite has one writer, whose changes become
	// visible in the order of their numbers.
	Writing string
	// Analyze is a statement that updates the statistics with which statements are planned, and
	// Analyzed a query for the number of messages that they count. Both are empty for a database
	// that plans without.
	Analyze, Analyzed string
	// Renumbers is set if a new message can get the number of a deleted one.
	Renumbers bool
	// SearchBudget limits the work of one search.
	SearchBudget int

	// connect opens a connection; reads is set for one that changes nothing.
	connect func(ctx context.Context, reads bool) (driverConn, error)
	// patience limits the duration of a transaction including its commit; 0 for no limit.
	patience time.Duration
	// answer and commit limit instead, for a writer, the duration of each statement and of the
	// commit, and answer that of the start of a View: callers of a server that cannot reach its
	// database must learn that soon.
	answer, commit time.Duration
	// closeStatements is set if a connection closes only after its statements.
	closeStatements bool
	// tryLock takes the lock of a server that excludes others for the writer on its
	// connection, unless another process has it. It may be repeated. unlock, if set,
	// releases the lock after the connection was closed.
	tryLock func(*Conn) (bool, error)
	unlock  func()
	// timeline is a query whose result changes when the database continues from another
	// point of its history, as when a standby takes over; its last changes may be lost
	// then. The result is empty while nothing can be written. Without such a query the
	// database has no timelines.
	timeline string
	// Lanes is the number of writers that change one session each at a time, beside the one
	// that may change anything; 0 if the database has only that one.
	Lanes int
	// begin starts a transaction of the writer: from then on no other transaction writes.
	begin string
	// beginIn, if set, starts a transaction that locks sessions, see [Conn.BeginIn].
	beginIn func(c *Conn, sessions []shoal.SessionID, wait Wait) (locked []shoal.SessionID, err error)
	// catchUp reads in a transaction of beginIn what has changed in sessions since the places in
	// all, and completes it.
	catchUp func(c *Conn, all []caughtUp) error
	// commitMarked commits a transaction of beginIn, and records that the connection has changed
	// sessions: those whose state is the same, and others, which get a new one. marked is
	// false if an error prevented that, so that nothing was committed unless the connection
	// was lost.
	commitMarked func(c *Conn, same, other []shoal.SessionID, state string) (marked bool, err error)
	// beginView starts a transaction that reads one snapshot and changes nothing.
	beginView string
	// version is a query whose result changes when another process has changed the
	// database; empty if there is no such query.
	version string
	// check returns why the database cannot be used, before anything else is done with it.
	check func(*Conn) error
	// explain, if set, returns what to do about an error of Open.
	explain func(error) error
	// faultOf returns what an error of the driver means.
	faultOf func(error) Fault
	// overwrite is the start of the statement that sets whether removed data is
	// overwritten; empty if the database cannot do that.
	overwrite string
	// now is a query for the time in microseconds; empty for the clock of the machine.
	now string
}

// NewDialect returns the dialect of the database of a URL.
func NewDialect(url string) (*Dialect, error) {
	scheme, rest, _ := strings.Cut(url, "://")
	switch {
	case scheme == "sqlite" && rest != "":
		return NewSQLite(rest)
	case scheme == "postgres" || scheme == "postgresql":
		return newPostgres(url)
	}
	return nil, shoal.E("sqlstore.Open", shoal.InvalidArgument,
		"The database must be sqlite://PATH or postgres://USER:PASSWORD@HOST/NAME.")
}

// IsSQLite reports whether the database is a SQLite file.
func (d *Dialect) IsSQLite() bool { return d.Path != "" }

// Check returns why the database of an open connection cannot be used, or nil.
func (d *Dialect) Check(c *Conn) error { return d.check(c) }

// Explain adds to an error of opening the database what an operator can do about it.
func (d *Dialect) Explain(err error) error {
	err = ExplainLocked(err)
	if d.explain != nil {
		err = d.explain(err)
	}
	return err
}

// Unlock releases the lock of a server that excludes others, after its connection was
// closed.
func (d *Dialect) Unlock() {
	if d.unlock != nil {
		d.unlock()
	}
}
