package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/shoal-dev/shoal"
)

// Examination is what a look at a database found.
type Examination struct {
	// Engine is the database with its version, such as SQLite 3.53.0.
	Engine string
	// Durable says in the database's words how it commits.
	Durable string
	// Version is how many migrations were applied, 0 in an empty database, Newest how
	// many this program knows.
	Version, Newest int64
	// Damage is what an examination of the tables found wrong; nil if nothing.
	Damage []string
	// Unfinished says that ctx ended that examination before its end.
	Unfinished bool
	// Weak is why a commit might be lost here; nil if it is not.
	Weak []string
}

// Examine looks at the database of a URL without changing it, also beside a server
// that uses it. A large SQLite database takes time: ctx bounds it. The error is of
// kind NotFound when there is no database yet.
func Examine(ctx context.Context, url string) (Examination, error) {
	const op = "sqlstore.Examine"
	if path, is := strings.CutPrefix(url, "sqlite://"); is {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return Examination{}, shoal.E(op, shoal.NotFound, fmt.Sprintf("There is no database %s yet.", path))
		}
	}
	d, err := dialectOf(url)
	if err != nil {
		return Examination{}, err
	}
	c := &conn{dialect: d, reads: true}
	if err := c.open(ctx); err != nil {
		return Examination{}, fmt.Errorf("%s: %w", op, err)
	}
	defer c.drop()
	c.ctx = ctx
	files, err := fs.Glob(d.migrations, "*.sql")
	if err != nil {
		return Examination{}, err
	}
	x := Examination{Newest: int64(len(files))}
	if err := x.look(c, d); err != nil {
		return x, fmt.Errorf("%s: %w", op, err)
	}
	return x, nil
}

func (x *Examination) look(c *conn, d *dialect) error {
	look := x.lookAtPostgres
	if d.closeStatements { // of SQLite
		look = x.lookAtSQLite
	}
	migrated, err := look(c)
	if err != nil || !migrated {
		return err
	}
	x.Version, err = number(c, `SELECT MAX(version) FROM migrations`)
	return err
}

// lookAtSQLite looks at a file, and reports whether it holds tables of this program.
func (x *Examination) lookAtSQLite(c *conn) (migrated bool, err error) {
	read := func(r *rows) string { return r.text(0) }
	version, _, err := one(c, read, `SELECT sqlite_version()`)
	if err != nil {
		return false, err
	}
	mode, _, err := one(c, read, `PRAGMA journal_mode`)
	if err != nil {
		return false, err
	}
	level, err := number(c, `PRAGMA synchronous`)
	if err != nil {
		return false, err
	}
	x.Engine = "SQLite " + version
	x.Durable = fmt.Sprintf("journal_mode=%s, synchronous=%s", mode, map[int64]string{0: "OFF", 1: "NORMAL", 2: "FULL", 3: "EXTRA"}[level])
	if err := checkSQLiteVersion(version); err != nil {
		x.Weak = append(x.Weak, err.Error())
	}
	if level < 2 {
		x.Weak = append(x.Weak, "a power cut may take the last commits with it")
	}
	migrated, err = exists(c, `SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'migrations'`)
	if err != nil {
		return false, err
	}
	if migrated && mode != "wal" {
		x.Weak = append(x.Weak, "its journal is not the one that the server sets, so something else has changed the file")
	}
	return migrated, x.check(c)
}

// check has SQLite look through the file.
func (x *Examination) check(c *conn) error {
	said, err := list(c, func(r *rows) string { return r.text(0) }, `PRAGMA quick_check(5)`)
	switch {
	case c.ctx.Err() != nil:
		x.Unfinished = true
		c.failed, c.ctx = nil, context.WithoutCancel(c.ctx)
		return nil
	case err != nil:
		return err
	case len(said) != 1 || said[0] != "ok":
		x.Damage = said
	}
	return nil
}

// lookAtPostgres looks at what a server promises, and reports whether the database
// holds tables of this program.
func (x *Examination) lookAtPostgres(c *conn) (migrated bool, err error) {
	settings, _, err := one(c, func(r *rows) [4]string { return [4]string{r.text(0), r.text(1), r.text(2), r.text(3)} },
		`SELECT current_setting('server_version'), current_setting('synchronous_commit'), current_setting('fsync'), current_setting('full_page_writes')`)
	if err != nil {
		return false, err
	}
	version, commit, sync, pages := settings[0], settings[1], settings[2], settings[3]
	x.Engine = "PostgreSQL " + version
	x.Durable = fmt.Sprintf("synchronous_commit=%s, fsync=%s, full_page_writes=%s", commit, sync, pages)
	x.Weak = weakPostgres(commit, sync, pages)
	return exists(c, `SELECT 1 FROM information_schema.tables WHERE table_schema = current_schema() AND table_name = 'migrations'`)
}

// weakPostgres says what settings of a server promise too little.
func weakPostgres(commit, sync, pages string) (weak []string) {
	if commit != "on" && commit != "remote_apply" {
		weak = append(weak, "synchronous_commit="+commit+" may lose the last commits")
	}
	if sync != "on" || pages != "on" {
		weak = append(weak, "a power cut may damage it: fsync and full_page_writes must be on")
	}
	return weak
}
