package sqlstore

import (
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/sqlstore/sqlconn"
)

const createMigrations = `CREATE TABLE IF NOT EXISTS migrations (version BIGINT NOT NULL PRIMARY KEY, name TEXT NOT NULL, applied_at BIGINT NOT NULL)`

// migrate runs all migrations that the database lacks, each in a transaction of its own
// together with the record that it was run; a new database gets all of them in one. Migrations
// are files whose names sort in their order; the number of a migration in that order, from 1,
// is the version of the database. There are only forward migrations. Of several processes one
// runs a migration; the others wait for it.
//
// A migration that begins with the line "-- additive" only adds what older programs do not miss:
// they can go on using the database, beside newer ones or instead of them. After any other
// migration, a program that does not know it writes nothing any more (see
// [sqlconn.ErrOutdated]). store.oldest_program is the last such migration.
func migrate(c *sqlconn.Conn, steps fs.FS) error {
	files, err := fs.Glob(steps, "*.sql") // sorted
	if err != nil {
		return err
	}
	for {
		done, err := migrateNext(c, steps, files)
		if done || err != nil {
			return err
		}
	}
}

// migrateNext runs the next migration, or all of them if none has run. done is true if no
// migration is left.
func migrateNext(c *sqlconn.Conn, steps fs.FS, files []string) (done bool, err error) {
	if err := c.Begin(); err != nil {
		return false, err
	}
	defer c.Rollback()
	_, err = c.Exec(createMigrations)
	if err != nil {
		return false, err
	}
	version, err := sqlconn.Number(c, `SELECT MAX(version) FROM migrations`)
	switch last := int64(len(files)); {
	case err != nil:
		return false, err
	case version > last:
		oldest, err := sqlconn.Number(c, `SELECT oldest_program FROM store`)
		if err != nil {
			return false, err
		}
		if oldest <= last {
			return true, c.Commit()
		}
		return false, shoal.E("sqlstore.Open", shoal.Conflict, fmt.Sprintf(
			"The database has version %d, but this program knows versions up to %d: a newer Shoal has migrated it. Start that one, or go back with `shoal upgrade --rollback --restore`, which puts back the copy from before the migration.", version, last))
	case version == last:
		return true, c.Commit()
	}
	next := files[version : version+1]
	if version == 0 {
		next = files // nothing to lose if it is interrupted, and one flush of the disk instead of dozens
	}
	for i, file := range next {
		if err := runMigration(c, steps, file, version+int64(i)+1); err != nil {
			return false, err
		}
	}
	return false, c.Commit()
}

// runMigration runs the migration that makes the database one of the given version, and records it,
// within the transaction that is open.
func runMigration(c *sqlconn.Conn, steps fs.FS, file string, version int64) error {
	text, err := fs.ReadFile(steps, file)
	if err != nil {
		return err
	}
	if failed := c.Control(string(text)); failed != nil {
		return failed
	}
	_, err = c.Exec(`INSERT INTO migrations (version, name, applied_at) VALUES ($1, $2, $3)`, version, file, time.Now().UnixMicro())
	if err == nil && version > firstMarked && !strings.HasPrefix(string(text), additive) {
		_, err = c.Exec(`UPDATE store SET oldest_program = $1`, version)
	}
	return err
}

const (
	// additive begins the migrations after which older programs can go on.
	additive = "-- additive\n"
	// firstMarked is the version from which on there is store.oldest_program.
	firstMarked = 29
)
