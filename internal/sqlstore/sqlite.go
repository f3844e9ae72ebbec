package sqlstore

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/sqlite"
)

//go:embed migrations/sqlite/*.sql
var sqliteMigrations embed.FS

// lockPatience is how long a statement waits for another process's lock.
const lockPatience = 5 * time.Second

// sqliteDialect is the dialect of the database in a file.
func sqliteDialect(path string) (*dialect, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if err := makeFile(path); err != nil {
		return nil, &shoal.Error{
			Op: "sqlstore.Open", Kind: shoal.Internal, Err: err,
			Msg: fmt.Sprintf("The database file %s cannot be opened or made. Check that its directory exists and that this user may write there.", path),
		}
	}
	migrations, err := fs.Sub(sqliteMigrations, "migrations/sqlite")
	if err != nil {
		return nil, err
	}
	lock := &fileLock{path: path + ".lock"}
	checkpoints := &checkpoints{restartAt: restartAfter}
	return &dialect{
		connect:         func(_ context.Context, reads bool) (link, error) { return connectSQLite(path, reads) },
		readers:         4,
		closeStatements: true,
		tryLock:         lock.try,
		unlock:          lock.free,
		begin:           "BEGIN IMMEDIATE",
		version:         "PRAGMA data_version",
		beginView:       "BEGIN",
		check:           func(c *conn) error { return checkFile(c, path) },
		backup:          func(c *conn, version int) error { return backUp(c, path, version) },
		dropBackups:     func() error { return dropOldBackups(path, time.Now()) },
		explain:         func(err error) error { return explain(path, err) },
		faultOf:         sqliteFault,
		due:             checkpoints.due,
		tidy:            checkpoints.tidy,
		migrations:      migrations,
		inOrder:         " NOT INDEXED",
		elements:        `json_each(?) AS t`,
		position:        "instr",
		overwrite:       "PRAGMA secure_delete=",
		searchWork:      5_000,
	}, nil
}

// makeFile makes the file of the database, for this user alone.
func makeFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// connectSQLite opens a connection. Checkpoints are the writer's own business
// (see checkpoints), and temporary data stays in memory, where no full disk is.
func connectSQLite(path string, reads bool) (link, error) {
	pragmas := []string{
		"busy_timeout(" + strconv.FormatInt(lockPatience.Milliseconds(), 10) + ")",
		"synchronous(FULL)", "temp_store(MEMORY)", "wal_autocheckpoint(0)", "journal_size_limit(67108864)",
	}
	if reads {
		pragmas = append(pragmas, "query_only(TRUE)", "cache_size(-4096)")
	} else {
		pragmas = append(pragmas, "cache_size(-16384)")
	}
	c, err := sqlite.Open(path)
	if err != nil {
		return nil, err
	}
	if err := c.Run("PRAGMA " + strings.Join(pragmas, "; PRAGMA ")); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return sqliteLink{c}, nil
}

// checkSQLite refuses a library that can damage the log, and switches the
// database to that log, which lets readers and the writer pass each other.
func checkSQLite(c *conn) error {
	version, _, err := one(c, func(r *rows) string { return r.text(0) }, `SELECT sqlite_version()`)
	if err != nil {
		return err
	}
	if err := checkSQLiteVersion(version); err != nil {
		return err
	}
	for deadline := time.Now().Add(lockPatience); ; {
		mode, _, err := one(c, func(r *rows) string { return r.text(0) }, `PRAGMA journal_mode=WAL`)
		switch {
		case err == nil && mode == "wal":
			return nil
		case err == nil:
			return shoal.E("sqlstore.Open", shoal.Internal, fmt.Sprintf("The database cannot use a write-ahead log here (its journal mode stays %q); put it on a local disk.", mode))
		case c.failed.fault != faultBlocked || time.Now().After(deadline):
			return err
		}
		// Another process is just switching it too; for this lock alone SQLite
		// does not wait by itself.
		c.failed = nil
		<-time.After(10 * time.Millisecond)
	}
}

// oldestSQLite is the first version without the defect by which two connections
// that wrote and checkpointed at once could damage the database.
var oldestSQLite = [3]int{3, 51, 3}

// checkSQLiteVersion refuses versions before oldestSQLite.
func checkSQLiteVersion(version string) error {
	var v [3]int
	_, err := fmt.Sscanf(version, "%d.%d.%d", &v[0], &v[1], &v[2])
	for i := range v {
		if err != nil || v[i] < oldestSQLite[i] {
			return shoal.E("sqlstore.Open", shoal.Internal, fmt.Sprintf(
				"SQLite %s can damage databases; Shoal needs at least %d.%d.%d.", version, oldestSQLite[0], oldestSQLite[1], oldestSQLite[2]))
		}
		if v[i] > oldestSQLite[i] {
			break
		}
	}
	return nil
}

// sqliteFault reads SQLite's result codes.
func sqliteFault(err error) fault {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return faultWrong
	}
	if e.Code == sqlite.IOErrShmSz { // the log's index could not grow
		return faultFull
	}
	switch e.Code.Primary() {
	case sqlite.Busy, sqlite.Locked, sqlite.NoMem, sqlite.Interrupt, sqlite.Protocol:
		return faultBlocked
	case sqlite.Full:
		return faultFull
	case sqlite.IOErr, sqlite.Corrupt, sqlite.NotADB:
		return faultDisk
	}
	return faultWrong
}

// Lengths of the log, in pages.
const (
	// checkpointAfter is how many of them may wait to be copied into the
	// database.
	checkpointAfter = 8000
	// restartAfter is how long the log becomes before Views are held up, so that
	// it can start over: it only does when nobody reads in it, and Views that
	// always overlap would make it grow for ever.
	restartAfter = 2 * checkpointAfter
	// pageInLog is how many bytes one of them takes there, with its head.
	pageInLog = 4096 + 24
)

// viewPatience is how long the Views under way are waited for then.
const viewPatience = 100 * time.Millisecond

// checkpoints copies the log into the database when it has grown. SQLite would
// do that by itself, but keep silent about a disk that fails meanwhile.
type checkpoints struct {
	restartAt int64 // the length at which the log is to start over
	size      int64 // of the log behind the last commit, in bytes
	lookAt    int64 // the size from which on something may be due
	over      bool  // the log has started over since the last look
}

// due reports whether the log has grown enough since the last look, or has started
// over. Asking SQLite behind every commit would cost the next one its time.
func (p *checkpoints) due(s *Store) bool {
	log := s.writer.raw.(sqliteLink)
	if log.JoinLog() != nil { // it is open from the first commit on, and without memory nothing goes on
		return false
	}
	before := p.size
	p.size = log.LogSize()
	p.over = p.over || p.size < before
	return p.over || p.size >= p.lookAt
}

// tidy looks at the log and does what is due.
func (p *checkpoints) tidy(s *Store) error {
	p.over, p.lookAt = false, p.size+1
	length, waiting, err := walPragma(s.writer, `PRAGMA wal_checkpoint(NOOP)`)
	if err != nil || waiting < checkpointAfter {
		p.lookAt = p.size + (checkpointAfter-waiting)*pageInLog
		return err
	}
	if length >= p.restartAt {
		// If a View takes longer, the log grows on until the next attempt.
		p.restartAt = length + restartAfter/4
		if resume, ok := s.pauseViews(viewPatience); ok {
			defer resume()
			p.restartAt = restartAfter
			_, _, err = walPragma(s.writer, `PRAGMA wal_checkpoint(RESTART)`)
			return err
		}
	}
	_, _, err = walPragma(s.writer, `PRAGMA wal_checkpoint(PASSIVE)`)
	return err
}

// walPragma runs a checkpoint and returns how many pages the log has, and how
// many of them are not in the database yet.
func walPragma(c *conn, query string) (length, waiting int64, err error) {
	pages, _, err := one(c, func(r *rows) [2]int64 { return [2]int64{r.int(1), r.int(1) - r.int(2)} }, query)
	return pages[0], pages[1], err
}
