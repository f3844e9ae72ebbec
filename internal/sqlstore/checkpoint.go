package sqlstore

import (
	"time"

	"github.com/shoal-dev/shoal/internal/sqlstore/sqlconn"
)

// Lengths of the write-ahead log of SQLite, in pages.
const (
	// checkpointAfter is how many pages may wait to be copied into the database.
	checkpointAfter = 8000
	// restartAfter is the length at which Views are paused so that the log can start over.
	// It starts over only when nobody reads from it, and with Views that always overlap it
	// would grow without limit.
	restartAfter = 2 * checkpointAfter
	// logPageBytes is the size of a page in the log, with its header.
	logPageBytes = 4096 + 24
)

// viewPatience is how long a checkpoint waits for the Views to end.
const viewPatience = 100 * time.Millisecond

// checkpoints copies the write-ahead log into the database when it has grown. SQLite can do
// that by itself, but would not report a disk that fails meanwhile.
type checkpoints struct {
	restartAt   int64 // the length at which the log must start over
	size        int64 // of the log after the last commit, in bytes
	checkAt     int64 // the size at which a checkpoint may be due
	startedOver bool  // the log has started over since the last checkpoint
}

// isDue reports whether the log has grown enough since the last checkpoint, or has started
// over. A query after every commit would delay the next one.
func (p *checkpoints) isDue(writer *sqlconn.Conn) bool {
	log := writer.SQLite()
	if log.JoinLog() != nil { // it succeeds from the first commit on, unless memory is exhausted
		return false
	}
	before := p.size
	p.size = log.LogSize()
	p.startedOver = p.startedOver || p.size < before
	return p.startedOver || p.size >= p.checkAt
}

// run checks the log and runs the checkpoint that is due, if any.
func (p *checkpoints) run(s *Store) error {
	p.startedOver, p.checkAt = false, p.size+1
	length, waiting, err := walPragma(s.main.conn.Conn, `PRAGMA wal_checkpoint(NOOP)`)
	if err != nil || waiting < checkpointAfter {
		p.checkAt = p.size + (checkpointAfter-waiting)*logPageBytes
		return err
	}
	if length >= p.restartAt {
		// If a View takes longer, the log grows until the next attempt.
		p.restartAt = length + restartAfter/4
		if resume, ok := s.pauseViews(viewPatience); ok {
			defer resume()
			p.restartAt = restartAfter
			_, _, err = walPragma(s.main.conn.Conn, `PRAGMA wal_checkpoint(RESTART)`)
			return err
		}
	}
	_, _, err = walPragma(s.main.conn.Conn, `PRAGMA wal_checkpoint(PASSIVE)`)
	return err
}

// walPragma runs a checkpoint and returns how many pages the log has, and how many of them
// are not in the database yet.
func walPragma(c *sqlconn.Conn, query string) (length, waiting int64, err error) {
	pages, _, err := sqlconn.One(c, func(r *sqlconn.Rows) [2]int64 { return [2]int64{r.Int(1), r.Int(1) - r.Int(2)} }, query)
	return pages[0], pages[1], err
}
