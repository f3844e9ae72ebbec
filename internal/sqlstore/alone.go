package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/shoal-dev/shoal"
)

// A server whose bus reaches nobody else must be the only one on its database: what
// another one stores would wake nobody here. Its writer therefore holds a lock for as
// long as its connection lasts: an advisory lock of the session in PostgreSQL, a locked
// file beside the database in SQLite. A connection that is opened anew takes the lock
// again, so that a server that lost it to another one does not write any more. Tools that
// open the database for a moment do not take it.

const (
	// aloneWait is how long a server that starts waits for the one before it.
	aloneWait = 10 * time.Second
	// aloneAgain is how long a connection that is opened anew waits: for the lock of
	// the one that was lost, at the end of which the database may still be working.
	aloneAgain = time.Second
	// aloneEvery is how often it is tried meanwhile.
	aloneEvery = 100 * time.Millisecond
)

// errNotAlone is the cause of an error of Open: another server has the database.
var errNotAlone = errors.New("another server has the lock of this database")

// lockAlone takes the lock, or says that somebody else keeps it.
func (c *conn) lockAlone(ctx context.Context) error {
	if !c.alone {
		return nil
	}
	wait := aloneAgain
	if c.opening {
		wait = aloneWait
	}
	for deadline := time.Now().Add(wait); ; {
		locked, err := c.dialect.tryLock(c)
		if locked || err != nil {
			return err
		}
		if time.Now().After(deadline) {
			return newFailure(faultBlocked, "lock the database", errNotAlone)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(aloneEvery):
		}
	}
}

// lockPostgres takes the lock of a PostgreSQL database for the connection.
func lockPostgres(c *conn) (bool, error) {
	n, err := number(c, `SELECT CASE WHEN pg_try_advisory_lock(7462, 1) THEN 1 ELSE 0 END`)
	return n == 1, err
}

// notAlone says what an operator can do about another server on the database.
func notAlone(err error) error {
	if !errors.Is(err, errNotAlone) {
		return err
	}
	return &shoal.Error{
		Kind: shoal.InvalidArgument, Err: err,
		Msg: fmt.Sprintf("Another server still uses this database after %v, and with --bus memory there can be only one. "+
			"Stop the other server, or give this one a database of its own with --database.", aloneWait),
	}
}
