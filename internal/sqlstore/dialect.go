package sqlstore

import (
	"context"
	"io/fs"
	"time"
)

// dialect is what differs between the databases.
type dialect struct {
	// connect opens a connection; reads says that nothing is changed through it.
	connect func(ctx context.Context, reads bool) (link, error)
	// readers is how many connections serve Views.
	readers int
	// patience bounds a transaction from its beginning to its end, commit
	// included; 0 sets no bound.
	patience time.Duration
	// closeStatements says that a connection ends only after its statements.
	closeStatements bool
	// tryLock takes, for the writer on its connection, the lock of a server that is to be
	// the only one, if nobody else has it; it may be repeated. unlock, if set, gives it
	// up behind the end of the connection.
	tryLock func(*conn) (bool, error)
	unlock  func()
	// timeline asks for what changes when the database goes on from another point of its
	// history, as when a standby takes over: then the end of it may be lost. The answer
	// is empty while nothing can be written. An empty timeline means that there is no such
	// thing.
	timeline string
	// begin opens a transaction of the writer: from then on nobody else writes.
	begin string
	// version asks for a number that is another one when somebody else has changed
	// the database; empty where that cannot be told.
	version string
	// beginView opens a transaction that sees one snapshot and changes nothing.
	beginView string
	// check looks at the database, before anything else is done with it, and
	// says why it cannot be used, if so.
	check func(*conn) error
	// backup, if set, copies the database, which has a version, before it is migrated, and
	// dropBackups removes copies that are too old.
	backup      func(c *conn, version int) error
	dropBackups func() error
	// explain, if set, says what to do about an error of the opening.
	explain func(error) error
	// faultOf tells what an error of the driver means.
	faultOf func(error) fault
	// due, if set, tells behind a commit whether the writer has housekeeping to do, and
	// tidy does it.
	due  func(*Store) bool
	tidy func(*Store) error
	// migrations holds the steps from the empty database to the present one.
	migrations fs.FS

	// inOrder stands behind a table that is to be read in the order of its numbers and
	// not through another index, with all the sorting in memory that this would take.
	inOrder string
	// elements is what reads the elements of the JSON array in an argument as rows of
	// t with the one column value.
	elements string
	// position is the function that finds a text in another, 0 if it is not there.
	position string
	// overwrite begins the statement that says whether what is removed is overwritten;
	// empty where the database cannot do that.
	overwrite string
	// searchWork is what one search may cost, see searching.
	searchWork int
	// now asks for the time in microseconds; empty for the machine's.
	now string
}
