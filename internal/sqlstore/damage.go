package sqlstore

import (
	"errors"
	"fmt"
	"os"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/sqlite"
)

// checkUpTo is how large a database may be that is looked through at every start: a
// larger one would make the start wait. What is damaged in it is found when it is
// read, where SQLite or a sum sees it.
const checkUpTo = 16 << 20

// checkFile prepares a database in a file and refuses a damaged one: a server that
// works on it would make the damage worse.
func checkFile(c *conn, path string) error {
	if err := checkSQLite(c); err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil || info.Size() > checkUpTo {
		return err
	}
	found, _, err := one(c, func(r *rows) string { return r.text(0) }, `PRAGMA quick_check(1)`)
	if err == nil && found != "ok" {
		err = damaged(path, errors.New(found))
	}
	return err
}

// damaged says what to do about a file that is no sound database.
func damaged(path string, reason error) error {
	return &shoal.Error{
		Op: "sqlstore.Open", Kind: shoal.Internal, Err: reason,
		Msg: fmt.Sprintf("The database file %s is damaged (%v). Stop using it and restore a backup; `sqlite3 %s .recover` reads what is left of it.", path, reason, path),
	}
}

// explain finds out whether a file could not be opened because it is damaged.
func explain(path string, err error) error {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return err
	}
	switch e.Code.Primary() {
	case sqlite.Corrupt, sqlite.NotADB:
		return damaged(path, e)
	}
	return err
}
