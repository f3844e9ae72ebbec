package sqlconn

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/sqlite"
)

// lockPatience is how long a statement waits for the lock of another process.
const lockPatience = 5 * time.Second

// NewSQLite returns the dialect of a database in a file, and creates the file if it is
// missing.
func NewSQLite(path string) (*Dialect, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if err := CreateFile(path); err != nil {
		return nil, &shoal.Error{
			Op: "sqlstore.Open", Kind: shoal.Internal, Err: err,
			Msg: fmt.Sprintf("The database file %s cannot be opened or made. Check that its directory exists and that this user may write there.", path),
		}
	}
	lock := &fileLock{path: path + ".lock"}
	return &Dialect{
		Path:            path,
		Readers:         4,
		InOrder:         " NOT INDEXED",
		Elements:        `json_each(?) AS t`,
		Position:        "instr",
		Renumbers:       true,
		SearchBudget:    5_000,
		connect:         func(_ context.Context, reads bool) (driverConn, error) { return connectSQLite(path, reads) },
		closeStatements: true,
		tryLock:         lock.try,
		unlock:          lock.free,
		begin:           "BEGIN IMMEDIATE",
		version:         "PRAGMA data_version",
		beginView:       "BEGIN",
		check:           func(c *Conn) error { return checkFile(c, path) },
		explain:         func(err error) error { return explainDamage(path, err) },
		faultOf:         sqliteFault,
		overwrite:       "PRAGMA secure_delete=",
	}, nil
}

// CreateFile creates the file of a database if it is missing, for this user only.
func CreateFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// connectSQLite opens a connection. The store runs the checkpoints itself, and temporary data
// stays in memory, where the disk cannot be full.
func connectSQLite(path string, reads bool) (driverConn, error) {
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
	return sqliteConn{c}, nil
}

// checkSQLite refuses a library that can damage the write-ahead log, and switches the
// database to that log, in which readers and the writer do not block each other.
func checkSQLite(c *Conn) error {
	version, _, err := One(c, func(r *Rows) string { return r.Text(0) }, `SELECT sqlite_version()`)
	if err != nil {
		return err
	}
	if err := CheckSQLiteVersion(version); err != nil {
		return err
	}
	for deadline := time.Now().Add(lockPatience); ; {
		mode, _, err := One(c, func(r *Rows) string { return r.Text(0) }, `PRAGMA journal_mode=WAL`)
		switch {
		case err == nil && mode == "wal":
			return nil
		case err == nil:
			return shoal.E("sqlstore.Open", shoal.Internal, fmt.Sprintf("The database cannot use a write-ahead log here (its journal mode stays %q); put it on a local disk.", mode))
		case c.failed.Fault != FaultBlocked || time.Now().After(deadline):
			return err
		}
		// Another process is switching the database too. This is the only lock for which
		// SQLite does not wait by itself.
		c.failed = nil
		<-time.After(10 * time.Millisecond)
	}
}

// oldestSQLite is the first version without the defect that could damage a database when two
// connections wrote and checkpointed at the same time.
var oldestSQLite = [3]int{3, 51, 3}

// CheckSQLiteVersion returns an error for versions before oldestSQLite.
func CheckSQLiteVersion(version string) error {
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

// sqliteFault returns the meaning of SQLite's result codes.
func sqliteFault(err error) Fault {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return FaultWrong
	}
	if e.Code == sqlite.IOErrShmSz { // the log's index could not grow
		return FaultFull
	}
	switch e.Code.Primary() {
	case sqlite.Busy, sqlite.Locked, sqlite.NoMem, sqlite.Interrupt, sqlite.Protocol:
		return FaultBlocked
	case sqlite.Full:
		return FaultFull
	case sqlite.IOErr, sqlite.Corrupt, sqlite.NotADB:
		return FaultDisk
	}
	return FaultWrong
}
