package sqlstore

import (
	"fmt"
	"io/fs"
	"time"

	"github.com/shoal-dev/shoal"
)

const createMigrations = `CREATE TABLE IF NOT EXISTS migrations (version BIGINT NOT NULL PRIMARY KEY, name TEXT NOT NULL, applied_at BIGINT NOT NULL)`

// migrate brings the database to the last of the steps, each in a transaction
// of its own together with the note that it was done. Steps are files whose
// names sort in their order; their place in it, from 1, is the version of the
// database. They only go forward. Of several processes one runs a step: the
// others wait for it and find it done.
func migrate(c *conn, steps fs.FS) error {
	files, err := fs.Glob(steps, "*.sql") // sorted
	if err != nil {
		return err
	}
	for {
		done, err := migrateOnce(c, steps, files)
		if done || err != nil {
			return err
		}
	}
}

// migrateOnce takes the next step and reports whether none was left.
func migrateOnce(c *conn, steps fs.FS, files []string) (done bool, err error) {
	if err := c.begin(c.dialect.begin); err != nil {
		return false, err
	}
	defer c.end()
	_, err = c.exec(createMigrations)
	if err != nil {
		return false, err
	}
	version, err := number(c, `SELECT MAX(version) FROM migrations`)
	switch last := int64(len(files)); {
	case err != nil:
		return false, err
	case version > last:
		return false, shoal.E("sqlstore.Open", shoal.Conflict, fmt.Sprintf(
			"The database has version %d, but this program knows versions up to %d: a newer Shoal has migrated it. Start that one, or go back with `shoal upgrade --rollback --restore`, which puts back the copy from before the migration.", version, last))
	case version == last:
		return true, c.commit()
	}
	text, err := fs.ReadFile(steps, files[version])
	if err != nil {
		return false, err
	}
	if failed := c.control(string(text)); failed != nil {
		return false, failed
	}
	_, err = c.exec(`INSERT INTO migrations (version, name, applied_at) VALUES ($1, $2, $3)`, version+1, files[version], time.Now().UnixMicro())
	if err != nil {
		return false, err
	}
	return false, c.commit()
}
