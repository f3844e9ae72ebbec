package sqlstore

import (
	"context"
	"database/sql/driver"
	"io/fs"
	"time"
)

// dialect is what differs between the databases.
type dialect struct {
	// connect opens a connection; reads says that nothing is changed through it.
	connect func(ctx context.Context, reads bool) (driver.Conn, error)
	// readers is how many connections serve Views.
	readers int
	// patience bounds a transaction from its beginning to its end, commit
	// included; 0 sets no bound.
	patience time.Duration
	// closeStatements says that a connection ends only after its statements.
	closeStatements bool
	// begin opens a transaction of the writer: from then on nobody else writes.
	begin string
	// beginView opens a transaction that sees one snapshot and changes nothing.
	beginView string
	// check looks at the database, before anything else is done with it, and
	// says why it cannot be used, if so.
	check func(*conn) error
	// faultOf tells what an error of the driver means.
	faultOf func(error) fault
	// afterCommit, if set, does the writer's housekeeping, on its goroutine.
	afterCommit func(*Store) error
	// migrations holds the steps from the empty database to the present one.
	migrations fs.FS

	// now asks for the time in microseconds; empty for the machine's.
	now string
	// insertWords stores the words ($2, with spaces between) of message $1.
	insertWords string
	// matchWords is the condition that the words of a message match $1, which
	// allWords builds.
	matchWords string
	// allWords asks for all words, the last one also as a beginning. Words hold
	// letters and digits only.
	allWords func(words []string) string
}
