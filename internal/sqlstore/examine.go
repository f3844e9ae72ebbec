package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/sqlstore/sqlconn"
)

// Examination is the result of examining a database.
type Examination struct {
	// Engine is the database with its version, such as SQLite 3.53.0.
	Engine string
	// Durable are the settings that determine how the database commits.
	Durable string
	// Version is the number of migrations that were run, 0 in an empty database, and
	// Newest the number of migrations of this program. Oldest is the number that a program
	// must know to use the database; it is 0 for versions that do not have it.
	Version, Newest, Oldest int64
	// Damage is what a check of the tables found; nil if nothing is wrong.
	Damage []string
	// Unfinished is set if ctx ended before the check did.
	Unfinished bool
	// Weak is why commits may be lost; nil if they are not.
	Weak []string
}

// Examine examines the database of a URL without changing it, also while a server uses it.
// A large SQLite database takes time, which ctx limits. The error is of kind NotFound when
// there is no database yet.
func Examine(ctx context.Context, url string) (Examination, error) {
	const op = "sqlstore.Examine"
	if path, is := strings.CutPrefix(url, "sqlite://"); is {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return Examination{}, shoal.E(op, shoal.NotFound, fmt.Sprintf("Database %s not found.", path))
		}
	}
	d, err := sqlconn.NewDialect(url)
	if err != nil {
		return Examination{}, err
	}
	c := sqlconn.NewReader(d)
	if err := c.Open(ctx); err != nil {
		return Examination{}, fmt.Errorf("%s: %w", op, err)
	}
	defer c.Close()
	c.SetContext(ctx)
	files, err := fs.Glob(migrationsOf(d), "*.sql")
	if err != nil {
		return Examination{}, err
	}
	x := Examination{Newest: int64(len(files))}
	if err := x.readAll(ctx, c); err != nil {
		return x, fmt.Errorf("%s: %w", op, err)
	}
	return x, nil
}

// readAll fills x.
func (x *Examination) readAll(ctx context.Context, c *sqlconn.Conn) error {
	read := x.readPostgres
	if c.Dialect().IsSQLite() {
		read = x.readSQLite
	}
	migrated, err := read(ctx, c)
	if err != nil || !migrated {
		return err
	}
	if x.Version, err = sqlconn.Number(c, `SELECT MAX(version) FROM migrations`); err == nil && x.Version >= firstMarked {
		x.Oldest, err = sqlconn.Number(c, `SELECT oldest_program FROM store`)
	}
	return err
}

// readSQLite examines a file, and reports whether it contains tables of this program.
func (x *Examination) readSQLite(ctx context.Context, c *sqlconn.Conn) (migrated bool, err error) {
	read := func(r *sqlconn.Rows) string { return r.Text(0) }
	version, _, err := sqlconn.One(c, read, `SELECT sqlite_version()`)
	if err != nil {
		return false, err
	}
	mode, _, err := sqlconn.One(c, read, `PRAGMA journal_mode`)
	if err != nil {
		return false, err
	}
	level, err := sqlconn.Number(c, `PRAGMA synchronous`)
	if err != nil {
		return false, err
	}
	x.Engine = "SQLite " + version
	x.Durable = fmt.Sprintf("journal_mode=%s, synchronous=%s", mode, map[int64]string{0: "OFF", 1: "NORMAL", 2: "FULL", 3: "EXTRA"}[level])
	if err := sqlconn.CheckSQLiteVersion(version); err != nil {
		x.Weak = append(x.Weak, err.Error())
	}
	if level < 2 {
		x.Weak = append(x.Weak, "a power cut may take the last commits with it")
	}
	migrated, err = sqlconn.Exists(c, `SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'migrations'`)
	if err != nil {
		return false, err
	}
	if migrated && mode != "wal" {
		x.Weak = append(x.Weak, "its journal is not the one that the server sets, so something else has changed the file")
	}
	return migrated, x.check(ctx, c)
}

// check has SQLite check the file.
func (x *Examination) check(ctx context.Context, c *sqlconn.Conn) error {
	said, err := sqlconn.List(c, func(r *sqlconn.Rows) string { return r.Text(0) }, `PRAGMA quick_check(5)`)
	switch {
	case ctx.Err() != nil:
		x.Unfinished = true
		c.ClearFailure()
		c.SetContext(context.WithoutCancel(ctx))
		return nil
	case err != nil:
		return err
	case len(said) != 1 || said[0] != "ok":
		x.Damage = said
	}
	return nil
}

// readPostgres examines the settings of a server, and reports whether the database contains
// tables of this program.
func (x *Examination) readPostgres(_ context.Context, c *sqlconn.Conn) (migrated bool, err error) {
	settings, _, err := sqlconn.One(c, func(r *sqlconn.Rows) [4]string { return [4]string{r.Text(0), r.Text(1), r.Text(2), r.Text(3)} },
		`SELECT current_setting('server_version'), current_setting('synchronous_commit'), current_setting('fsync'), current_setting('full_page_writes')`)
	if err != nil {
		return false, err
	}
	version, commit, sync, pages := settings[0], settings[1], settings[2], settings[3]
	x.Engine = "PostgreSQL " + version
	x.Durable = fmt.Sprintf("synchronous_commit=%s, fsync=%s, full_page_writes=%s", commit, sync, pages)
	x.Weak = weakPostgres(commit, sync, pages)
	return sqlconn.Exists(c, `SELECT 1 FROM information_schema.tables WHERE table_schema = current_schema() AND table_name = 'migrations'`)
}

// weakPostgres returns what settings of a server do not guarantee.
func weakPostgres(commit, sync, pages string) (weak []string) {
	if commit != "on" && commit != "remote_apply" {
		weak = append(weak, "synchronous_commit="+commit+" may lose the last commits")
	}
	if sync != "on" || pages != "on" {
		weak = append(weak, "a power cut may damage it: fsync and full_page_writes must be on")
	}
	return weak
}
