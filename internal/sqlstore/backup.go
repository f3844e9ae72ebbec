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
)

// Migrations go forward only, and a program refuses a database that a newer one has
// migrated. So before a database with something in it is migrated, it is copied into a
// file beside it that is named after its version: with it, the program before this one
// can go on from where it stopped.

// backupsKept is how long copies from before a migration stay: what was deleted since is
// still in them.
const backupsKept = 30 * 24 * time.Hour

// Schema returns the version of the databases that this program works with: how many
// migrations there are.
func Schema() int {
	files, err := fs.Glob(sqliteMigrations, "migrations/sqlite/*.sql")
	if err != nil {
		panic(err) // the pattern above is wrong
	}
	return len(files)
}

// BackupPath returns where the copy of a SQLite database is that was made before it was
// migrated from a version.
func BackupPath(database string, version int) string {
	return strings.TrimPrefix(database, "sqlite://") + ".schema-" + strconv.Itoa(version)
}

// prepareMigration makes sure that no server works with the database while it is
// migrated, and that there is a copy of what it is now. An empty database needs neither.
func (s *Store) prepareMigration(ctx context.Context, newest int) (finish func(), err error) {
	c := s.writer
	done := func() {}
	version, err := schemaVersion(c)
	if err != nil || version == 0 || version >= newest {
		return done, err
	}
	if !c.alone {
		done = s.dropWriter // the lock ends with the connection
		locked, err := c.lockMigration(ctx, version, newest)
		if err != nil || !locked {
			return func() {}, err
		}
	}
	if s.dialect.backup != nil {
		if version, err = schemaVersion(c); err == nil && version < newest { // another process may have been faster
			err = s.dialect.backup(c, version)
		}
	}
	if err != nil {
		done()
		return func() {}, err
	}
	return done, nil
}

// lockMigration takes the lock of a server for a tool. A server that has it may be
// migrating the database itself: then lockMigration waits for the newest version, and
// reports false. It waits no longer than aloneAgain for a server that does not.
func (c *conn) lockMigration(ctx context.Context, version, newest int) (locked bool, err error) {
	for deadline := time.Now().Add(aloneAgain); ; {
		locked, err := c.dialect.tryLock(c)
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
			version, deadline = now, time.Now().Add(aloneAgain)
		case time.Now().After(deadline):
			return false, shoal.E("sqlstore.Open", shoal.Conflict, fmt.Sprintf(
				"A server of an older Shoal works with this database: it has version %d, and this program needs %d. Stop that server and start it with this program, which migrates the database.", version, newest))
		}
		select {
		case <-ctx.Done():
			return false, context.Cause(ctx)
		case <-time.After(aloneEvery):
		}
	}
}

// schemaVersion returns how many migrations the database has.
func schemaVersion(c *conn) (int, error) {
	if err := c.begin(c.dialect.begin); err != nil {
		return 0, err
	}
	defer c.end()
	if _, err := c.exec(createMigrations); err != nil {
		return 0, err
	}
	version, err := number(c, `SELECT MAX(version) FROM migrations`)
	if err != nil {
		return 0, err
	}
	return int(version), c.commit()
}

// backUp copies a database in a file before it is migrated. A copy has its name only once
// it is whole and on the disk.
func backUp(c *conn, path string, version int) error {
	name := BackupPath(path, version)
	err := copyFile(c.raw.(sqliteLink).Conn, name)
	if err == nil {
		return nil
	}
	return &shoal.Error{
		Op: "sqlstore.Open", Kind: shoal.Internal, Err: err,
		Msg: fmt.Sprintf("The database has to be migrated, and the copy %s, which is made before, failed: %v. Make room there, as much as %s takes; nothing was changed.", name, err, path),
	}
}

// copyFile copies a database into a new file, which replaces the one of that name.
func copyFile(from *sqlite.Conn, name string) (err error) {
	temporary := name + ".new"
	for _, left := range []string{temporary, temporary + "-journal"} {
		if err := os.Remove(left); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := makeFile(temporary); err != nil {
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

// replaceFile gives a file that was written its name, durably.
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

// dropOldBackups removes copies from before migrations that are older than backupsKept.
func dropOldBackups(path string, now time.Time) error {
	names, err := filepath.Glob(globQuoted(path) + ".schema-*")
	for _, name := range names {
		info, failed := os.Stat(name)
		if failed == nil && now.Sub(info.ModTime()) > backupsKept {
			failed = os.Remove(name)
		}
		err = errors.Join(err, failed)
	}
	return err
}

// globQuoted makes a pattern that matches a path alone.
func globQuoted(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// Restore puts the copy of a SQLite database from before its migration in the place of
// the database, in one transaction: it is done or not at all. What was there is kept in
// the file that Restore returns. No server may be using the database. NotFound if there
// is no such copy.
func Restore(ctx context.Context, database string, version int) (replaced string, err error) {
	const op = "sqlstore.Restore"
	path, is := strings.CutPrefix(database, "sqlite://")
	if !is {
		return "", shoal.E(op, shoal.InvalidArgument, "Only SQLite databases are put back by Shoal; restore the dump of a PostgreSQL database with its own tools.")
	}
	name := BackupPath(database, version)
	if _, err := os.Stat(name); err != nil {
		return "", &shoal.Error{Op: op, Kind: shoal.NotFound, Msg: fmt.Sprintf("There is no copy %s of the database.", name), Err: err}
	}
	d, err := sqliteDialect(path)
	if err != nil {
		return "", err
	}
	c := &conn{dialect: d, alone: true, opening: true}
	defer func() {
		c.drop()
		d.unlock()
	}()
	if err := c.open(ctx); err != nil {
		return "", notAlone(err)
	}
	now := c.raw.(sqliteLink).Conn
	replaced = path + ".replaced-" + time.Now().UTC().Format("20060102T150405.000")
	if err := copyFile(now, replaced); err != nil {
		return "", fmt.Errorf("%s: keep what is there now: %w", op, err)
	}
	copied, err := sqlite.Open(name)
	if err != nil {
		return "", fmt.Errorf("%s: %w", op, err)
	}
	if err := errors.Join(copied.CopyTo(now), copied.Close()); err != nil {
		return "", fmt.Errorf("%s: %w", op, err)
	}
	return replaced, nil
}
