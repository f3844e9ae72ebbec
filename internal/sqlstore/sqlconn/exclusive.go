package sqlconn

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/shoal-dev/shoal"
)

// A server whose bus reaches no other process must be the only one on its database: what
// another server stores would wake nobody here. Therefore the writers of every server hold a lock for
// as long as their connections are open, which servers with a bus between them share: an advisory lock of the database session in PostgreSQL, a
// locked file beside the database in SQLite. A new connection takes the lock again, so that a server
// that lost it to another one does not write any more. Tools that open the database briefly
// do not take it.

const (
	// startPatience is how long a server that starts waits for another one to end.
	startPatience = 10 * time.Second
	// reconnectPatience is how long a new connection waits for the lock of the lost one,
	// whose end the database may not have noticed yet.
	reconnectPatience = time.Second
	// lockInterval is the pause between two attempts.
	lockInterval = 100 * time.Millisecond
)

// errLocked is the cause of an error of Open: another server uses the database.
var errLocked = errors.New("another server has the lock of this database")

// TryLock takes the lock of a server that excludes others, and reports whether the
// connection has it.
func (c *Conn) TryLock() (bool, error) { return c.dialect.tryLock(c) }

// lockAlone takes the lock for a server that excludes others, or fails when another process
// keeps it.
func (c *Conn) lockAlone(ctx context.Context) error {
	if !c.alone {
		return nil
	}
	wait := reconnectPatience
	if c.opening {
		wait = startPatience
	}
	for deadline := time.Now().Add(wait); ; {
		locked, err := c.TryLock()
		if locked || err != nil {
			return err
		}
		if time.Now().After(deadline) {
			return NewFailure(FaultBlocked, "lock the database", errLocked)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(lockInterval):
		}
	}
}

// clusterLock is the number of the lock of all servers that share a database.
const clusterLock = 1

// newLockPostgres returns the function that takes the lock of a PostgreSQL database for a
// connection. A server has several connections that write, and each must hold the lock:
// otherwise one could still write after the others were lost and another server has started.
// So each holds the lock of its server, which a number identifies, in shared mode, and takes
// it only if nobody has the lock of another number. Servers that share a database have the same
// number. The lock (7462, 1) is that of releases in which a server had one such connection.
func newLockPostgres() func(*Conn) (bool, error) {
	alone := clusterLock + 1 + rand.Int32N(math.MaxInt32-clusterLock-1)
	return func(c *Conn) (bool, error) {
		server := alone
		if c.dialect.Cluster {
			server = clusterLock
		}
		// One connection at a time compares and locks.
		if _, err := Number(c, `SELECT COUNT(*) FROM (SELECT pg_advisory_lock(7462, 2)) AS mutex`); err != nil {
			return false, err
		}
		n, err := Number(c, `SELECT CASE WHEN EXISTS (SELECT 1 FROM pg_locks AS l JOIN pg_database AS d ON d.oid = l.database
			WHERE l.locktype = 'advisory' AND l.classid = 7463 AND l.objid <> CAST($1 AS BIGINT) AND d.datname = current_database()) THEN 0
			WHEN NOT pg_try_advisory_lock_shared(7462, 1) THEN 0
			WHEN NOT pg_try_advisory_lock_shared(7463, CAST($1 AS INTEGER)) THEN 0 ELSE 1 END`, int64(server))
		if err != nil {
			return false, err
		}
		_, err = Number(c, `SELECT COUNT(*) FROM (SELECT pg_advisory_unlock(7462, 2)) AS mutex`)
		return n == 1, err
	}
}

// IsLocked reports whether an error means that a server uses the database.
func IsLocked(err error) bool { return errors.Is(err, errLocked) }

// ExplainLocked adds to the error of a locked database what an operator can do about it. It
// returns any other error as it is.
func ExplainLocked(err error) error {
	if !IsLocked(err) {
		return err
	}
	return &shoal.Error{
		Kind: shoal.InvalidArgument, Err: err,
		Msg: fmt.Sprintf("Another server still uses this database after %v. Servers can share a PostgreSQL database, if none of them has --bus memory, and no other. "+
			"Stop the other server, or give this one a database of its own with --database.", startPatience),
	}
}
