package sqlstore

import (
	"context"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing/fstest"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
)

// What the tests see of the inside.

var CheckSQLiteVersion = checkSQLiteVersion

var ChangesKnown = changesKnown

const (
	QueueLength = queueLength
	FewQueued   = fewQueued
)

// Waiting is how many Updates wait for their turn.
func (s *Store) Waiting() int { return len(s.queue) }

// CatchUp feeds the search index with all that it does not hold yet.
func (s *Store) CatchUp() error {
	for left := int64(1); left > 0; {
		err := s.Update(context.Background(), func(t hub.Tx) (err error) {
			left, err = t.(tx).indexSome(indexBatch)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// WeakPostgres is weakPostgres.
var WeakPostgres = weakPostgres

// Exec runs a statement in a transaction.
func Exec(t hub.Tx, query string, args ...any) error {
	_, err := t.(tx).c.exec(query, args...)
	return err
}

// Text returns the first column of the first row of a query.
func Text(t hub.Tx, query string, args ...any) (string, error) {
	text, _, err := one(t.(tx).c, func(r *rows) string { return r.text(0) }, query, args...)
	return text, err
}

// Number is Text for a number.
func Number(t hub.Tx, query string, args ...any) (int64, error) {
	return number(t.(tx).c, query, args...)
}

// File is the file of a SQLite database.
func (s *Store) File() (path string) {
	_ = s.View(context.Background(), func(t hub.Tx) (err error) {
		path, err = Text(t, `SELECT file FROM pragma_database_list WHERE name = 'main'`)
		return err
	})
	return path
}

// Statements returns the texts of all statements that are prepared on the
// store's connections; none once it is closed. No View may run meanwhile.
func (s *Store) Statements() (texts []string) {
	if s.closed {
		return nil
	}
	_ = s.Update(context.Background(), func(t hub.Tx) error { // the writer's connection is the writer's
		texts = slices.Collect(maps.Keys(t.(tx).c.stmts))
		return nil
	})
	for _, c := range s.readers.idle {
		texts = slices.AppendSeq(texts, maps.Keys(c.stmts))
	}
	return texts
}

// Prepared returns the texts of the statements of a transaction's connection.
func Prepared(t hub.Tx) []string { return slices.Collect(maps.Keys(t.(tx).c.stmts)) }

// Plan returns how SQLite would run a statement, step by step.
func Plan(t hub.Tx, query string) ([]string, error) {
	return list(t.(tx).c, func(r *rows) string { return r.text(3) }, `EXPLAIN QUERY PLAN `+query, slices.Repeat([]any{""}, strings.Count(query, "$"))...)
}

// PostgresKind is the kind of error that an error of PostgreSQL becomes.
func PostgresKind(err error) shoal.Kind { return newFailure(postgresFault(err), "", err).err.Kind }

// Begin makes a database as the first steps leave it, with what statements add to
// it.
func Begin(url string, steps int, statements ...string) error {
	d, err := dialectOf(url)
	if err != nil {
		return err
	}
	c := &conn{dialect: d, opening: true}
	defer c.drop()
	if err := c.open(context.Background()); err != nil {
		return err
	}
	if err := d.check(c); err != nil {
		return err
	}
	files, err := fs.Glob(d.migrations, "*.sql")
	if err != nil {
		return err
	}
	first := fstest.MapFS{}
	for _, name := range files[:steps] {
		text, err := fs.ReadFile(d.migrations, name)
		if err != nil {
			return err
		}
		first[name] = &fstest.MapFile{Data: text}
	}
	if err := migrate(c, first); err != nil {
		return err
	}
	if err := c.begin(d.begin); err != nil {
		return err
	}
	if err := c.execAll(statements); err != nil {
		return err
	}
	return c.commit()
}

// Tables returns the tables that have a column.
func Tables(t hub.Tx, column string) ([]string, error) {
	query := `SELECT m.name FROM sqlite_master AS m JOIN pragma_table_info(m.name) AS c WHERE m.type = 'table' AND c.name = $1 ORDER BY m.name`
	if t.(tx).c.dialect.now != "" {
		query = `SELECT CAST(table_name AS TEXT) FROM information_schema.columns
			WHERE table_schema = current_schema() AND column_name = $1 ORDER BY table_name`
	}
	return list(t.(tx).c, func(r *rows) string { return r.text(0) }, query, column)
}

// RecordColumns are the columns of the tables that exports hold, as table.column.
func RecordColumns() (all []string) {
	for _, table := range recordTables {
		for _, column := range table.stretched() {
			_, name, qualified := strings.Cut(column, ".")
			if !qualified {
				name = column
			}
			all = append(all, table.table+"."+name)
		}
	}
	return all
}

// RecordWidth is how many columns the records of a type have.
func RecordWidth(name string) int { return len(recordTables[name].columns) }

// Columns returns the columns of a table of SQLite.
func Columns(t hub.Tx, table string) ([]string, error) {
	return list(t.(tx).c, func(r *rows) string { return r.text(0) }, `SELECT name FROM pragma_table_info($1)`, table)
}

// LockAlone takes the lock of the database as a server does that is the only one.
func LockAlone(ctx context.Context, url string) (free func(), err error) {
	d, err := dialectOf(url)
	if err != nil {
		return nil, err
	}
	c := &conn{dialect: d, alone: true, opening: true}
	free = func() {
		c.drop()
		if d.unlock != nil {
			d.unlock()
		}
	}
	return free, c.open(ctx)
}
