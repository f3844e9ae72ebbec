package sqlstore

import (
	"context"
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
	"github.com/shoal-dev/shoal/internal/sqlstore/sqlconn"
)

// There are only forward migrations, and a program refuses a database that a newer one has
// migrated. Therefore a database that is not empty is copied before it is migrated, into a
// file beside it that is named after its version: with it, the previous program can continue
// from where it stopped.

// backupsKept is how long copies from before a migration are kept: they still contain what was
// deleted since.
const backupsKept = 30 * 24 * time.Hour

const (
	// migrationPatience is how long a tool waits for a server that may be migrating.
	migrationPatience = time.Second
	// migrationInterval is the pause between two checks.
	migrationInterval = 100 * time.Millisecond
)

// Schema returns the version of the databases that this program works with: the number of
// migrations.
func Schema() int {
	files, err := fs.Glob(sqliteMigrations, "migrations/sqlite/*.sql")
	if err != nil {
		panic(err) // the pattern above is wrong
	}
	return len(files)
}

// BackupPath returns the file with the copy of a SQLite database from before its migration
// from a version.
func BackupPath(database string, version int) string {
	return strings.TrimPrefix(database, "sqlite://") + ".schema-" + strconv.Itoa(version)
}

// prepareMigration makes sure that no server works with the database while it is migrated,
// and that there is a copy of its current state. An empty database needs neither.
func (s *Store) prepareMigration(ctx context.Context, newest int) (finish func(), err error) {
	c := s.main.conn
	done := func() {}
	version, err := schemaVersion(c.Conn)
	if err != nil || version == 0 || version >= newest {
		return done, err
	}
	if !c.Alone() {
		done = s.closeWriters // the lock ends with the connection
		locked, err := lockMigration(ctx, c.Conn, version, newest)
		if err != nil || !locked {
			return func() {}, err
		}
	}
	if s.dialect.IsSQLite() {
		if version, err = schemaVersion(c.Conn); err == nil && version < newest { // another process may have migrated it
			err = backUp(c.Conn, version)
		}
	}
	if err != nil {
		done()
		return func() {}, err
	}
	return done, nil
}

// lockMigration takes the lock of a server for a tool. A server that has the lock may be
// migrating the database itself: then lockMigration waits for the newest version, and returns
// false. It waits no longer than migrationPatience for a server that makes no progress.
func lockMigration(ctx context.Context, c *sqlconn.Conn, version, newest int) (locked bool, err error) {
	for deadline := time.Now().Add(migrationPatience); ; {
		locked, err := c.TryLock()
		if locked || err != nil {
			return locked, err
		}
		now, err := schemaVersion(c)
		switch {
		case err != nil:
			return false, err
		case now >= newest:
			return false, nil
		case now > version:
			version, deadline = now, time.Now().Add(migrationPatience)
		case time.Now().After(deadline):
			return false, shoal.E("sqlstore.Open", shoal.Conflict, fmt.Sprintf(
				"A server of an older Shoal works with this database: it has version %d, and this program needs %d. Stop that server and start it with this program, which migrates the database.", version, newest))
		}
		select {
		case <-ctx.Done():
			return false, context.Cause(ctx)
		case <-time.After(migrationInterval):
		}
	}
}

// schemaVersion returns the number of migrations that the database has.
func schemaVersion(c *sqlconn.Conn) (int, error) {
	if err := c.Begin(); err != nil {
		return 0, err
	}
	defer c.Rollback()
	if _, err := c.Exec(createMigrations); err != nil {
		return 0, err
	}
	version, err := sqlconn.Number(c, `SELECT MAX(version) FROM migrations`)
	if err != nil {
		return 0, err
	}
	return int(version), c.Commit()
}

// backUp copies a SQLite database into a file before it is migrated. The copy gets its name
// only when it is complete and on the disk.
func backUp(c *sqlconn.Conn, version int) error {
	path := c.Dialect().Path
	name := BackupPath(path, version)
	err := copyFile(c.SQLite(), name)
	if err == nil {
		return nil
	}
	return &shoal.Error{
		Op: "sqlstore.Open", Kind: shoal.Internal, Err: err,
		Msg: fmt.Sprintf("The database has to be migrated, and the copy %s, which is made before, failed: %v. Make room there, as much as %s takes; nothing was changed.", name, err, path),
	}
}

// copyFile copies a database into a new file, which replaces the file of that name.
func copyFile(from *sqlite.Conn, name string) (err error) {
	temporary := name + ".new"
	for _, left := range []string{temporary, temporary + "-journal"} {
		if err := os.Remove(left); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := sqlconn.CreateFile(temporary); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(temporary))
		}
	}()
	to, err := sqlite.Open(temporary)
	if err != nil {
		return err
	}
	if err := errors.Join(from.CopyTo(to), to.Close()); err != nil {
		return err
	}
	return replaceFile(temporary, name)
}

// replaceFile renames a file that was written, durably.
func replaceFile(temporary, name string) error {
	for _, sync := range []func() error{
		func() error { return syncFile(temporary) },
		func() error { return os.Rename(temporary, name) },
		func() error { return syncFile(filepath.Dir(name)) },
	} {
		if err := sync(); err != nil {
			return err
		}
	}
	return nil
}

func syncFile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// removeOldBackups removes copies from before migrations that are older than backupsKept.
func removeOldBackups(path string, now time.Time) error {
	names, err := filepath.Glob(quoteGlob(path) + ".schema-*")
	for _, name := range names {
		info, failed := os.Stat(name)
		if failed == nil && now.Sub(info.ModTime()) > backupsKept {
			failed = os.Remove(name)
		}
		err = errors.Join(err, failed)
	}
	return err
}

// quoteGlob returns a pattern that matches only a path.
func quoteGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// Restore replaces a SQLite database by its copy from before a migration, in one transaction:
// completely or not at all. The replaced database is kept in the file whose name Restore
// returns. No server may be using the database. The error is of kind NotFound if there is no
// such copy.
func Restore(ctx context.Context, database string, version int) (replaced string, err error) {
	const op = "sqlstore.Restore"
	path, is := strings.CutPrefix(database, "sqlite://")
	if !is {
		return "", shoal.E(op, shoal.InvalidArgument, "Only SQLite databases are put back by Shoal; restore the dump of a PostgreSQL database with its own tools.")
	}
	name := BackupPath(database, version)
	if _, err := os.Stat(name); err != nil {
		return "", &shoal.Error{Op: op, Kind: shoal.NotFound, Msg: fmt.Sprintf("Copy %s of the database not found.", name), Err: err}
	}
	c, release, err := openAlone(ctx, path)
	if err != nil {
		return "", sqlconn.ExplainLocked(err)
	}
	defer release()
	if replaced, err = keepReplaced(c, path); err == nil {
		err = overwrite(c, name)
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", op, err)
	}
	return replaced, nil
}

// openAlone opens a SQLite database that no server may be using. release closes it.
func openAlone(ctx context.Context, path string) (c *sqlconn.Conn, release func(), err error) {
	d, err := sqlconn.NewSQLite(path)
	if err != nil {
		return nil, nil, err
	}
	c = sqlconn.NewWriter(d, nil, true)
	c.SetOpening(true)
	release = func() {
		c.Close()
		d.Unlock()
	}
	if err := c.Open(ctx); err != nil {
		release()
		return nil, nil, err
	}
	return c, release, nil
}

// keepReplaced copies the database at a path into a file beside it before it is overwritten, and
// returns the name of the file.
func keepReplaced(c *sqlconn.Conn, path string) (replaced string, err error) {
	replaced = path + ".replaced-" + time.Now().UTC().Format("20060102T150405.000")
	if err := copyFile(c.SQLite(), replaced); err != nil {
		return "", fmt.Errorf("keep what is there now: %w", err)
	}
	return replaced, nil
}

// overwrite replaces the content of a database by that of a file, in one transaction.
func overwrite(c *sqlconn.Conn, file string) error {
	from, err := sqlite.Open(file)
	if err != nil {
		return err
	}
	return errors.Join(from.CopyTo(c.SQLite()), from.Close())
}
