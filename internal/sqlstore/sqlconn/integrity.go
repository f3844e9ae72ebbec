package sqlconn

import (
	"errors"
	"fmt"
	"os"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/sqlite"
)

// maxCheckedSize is the largest database that is checked completely at every start: checking
// a larger one would delay the start. Damage in a larger database is found when SQLite or a
// checksum detects it in a read.
const maxCheckedSize = 16 << 20

// checkFile prepares a database in a file and refuses a damaged one: a server that writes to
// it would make the damage worse.
func checkFile(c *Conn, path string) error {
	if err := checkSQLite(c); err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil || info.Size() > maxCheckedSize {
		return err
	}
	found, _, err := One(c, func(r *Rows) string { return r.Text(0) }, `PRAGMA quick_check(1)`)
	if err == nil && found != "ok" {
		err = damaged(path, errors.New(found))
	}
	return err
}

// damaged returns an error that says what to do about a damaged file.
func damaged(path string, reason error) error {
	return &shoal.Error{
		Op: "sqlstore.Open", Kind: shoal.Internal, Err: reason,
		Msg: fmt.Sprintf("The database file %s is damaged (%v). Stop using it and restore a backup; `sqlite3 %s .recover` reads what is left of it.", path, reason, path),
	}
}

// damage is in the chain of a failure that means that the database contains something that
// was not stored.
type damage struct{ error }

// Unwrap returns what was found.
func (d *damage) Unwrap() error { return d.error }

// explainDamage returns what to do if a file could not be used because it is damaged, and any
// other error as it is.
func explainDamage(path string, err error) error {
	if d, ok := errors.AsType[*damage](err); ok {
		return damaged(path, d.error)
	}
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
