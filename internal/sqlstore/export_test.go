package sqlstore

import (
	"context"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing/fstest"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/sqlstore/sqlconn"
)

// What the tests need of the inside.

const (
	QueueLength = queueLength
	FewQueued   = fewQueued
)

// Waiting returns the number of queued Updates.
func (s *Store) Waiting() int { return s.waiting() }

// ShareLane reports whether one lane writes both sessions.
func (s *Store) ShareLane(a, b shoal.SessionID) bool {
	return s.laneOf(&update{at: storage.In(a)}) == s.laneOf(&update{at: storage.In(b)})
}

// CatchUp updates the search index until it contains all messages.
func (s *Store) CatchUp() error {
	var end horizon
	for left := int64(1); left > 0; {
		var err error
		if left, _, err = s.indexNext(&end, indexBatch); err != nil {
			return err
		}
	}
	return nil
}

// WeakPostgres is weakPostgres.
var WeakPostgres = weakPostgres

// Exec runs a statement in a transaction.
func Exec(t storage.Tx, query string, args ...any) error {
	_, err := t.(*tx).c.Exec(query, args...)
	return err
}

// Text returns the first column of the first row of a query.
func Text(t storage.Tx, query string, args ...any) (string, error) {
	text, _, err := sqlconn.One(t.(*tx).c, func(r *sqlconn.Rows) string { return r.Text(0) }, query, args...)
	return text, err
}

// Number is Text for a number.
func Number(t storage.Tx, query string, args ...any) (int64, error) {
	return sqlconn.Number(t.(*tx).c, query, args...)
}

// File returns the file of a SQLite database.
func (s *Store) File() (path string) {
	_ = s.View(context.Background(), func(t storage.Tx) (err error) {
		path, err = Text(t, `SELECT file FROM pragma_database_list WHERE name = 'main'`)
		return err
	})
	return path
}

// Statements returns the texts of all statements that are prepared on the connections of the
// store; none after Close. It waits for the Views of the search index and of callers.
func (s *Store) Statements() (texts []string) {
	if s.closed {
		return nil
	}
	_ = s.Update(context.Background(), storage.Global, func(t storage.Tx) error { // only an Update may use the connection of the writer
		texts = t.(*tx).c.Statements()
		return nil
	})
	all := make([]*connection, s.readers.count())
	for i := range all {
		<-s.readers.free
		all[i] = s.readers.take()
		texts = append(texts, all[i].Statements()...)
	}
	for _, c := range all {
		s.readers.put(c)
	}
	return texts
}

// Prepared returns the texts of the statements of a transaction's connection.
func Prepared(t storage.Tx) []string { return t.(*tx).c.Statements() }

// Plan returns the query plan of SQLite for a statement.
func Plan(t storage.Tx, query string) ([]string, error) {
	return sqlconn.List(t.(*tx).c, func(r *sqlconn.Rows) string { return r.Text(3) }, `EXPLAIN QUERY PLAN `+query, slices.Repeat([]any{""}, strings.Count(query, "$"))...)
}

// openToMigrate returns a connection to a database whose tables may not exist yet.
func openToMigrate(url string) (*sqlconn.Conn, error) {
	d, err := sqlconn.NewDialect(url)
	if err != nil {
		return nil, err
	}
	c := sqlconn.NewWriter(d, nil, false)
	c.SetOpening(true)
	if err := c.Open(context.Background()); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// Begin creates a database with the first migrations, and runs statements in it.
func Begin(url string, steps int, statements ...string) error {
	c, err := openToMigrate(url)
	if err != nil {
		return err
	}
	defer c.Close()
	d := c.Dialect()
	if err := d.Check(c); err != nil {
		return err
	}
	files, err := fs.Glob(migrationsOf(d), "*.sql")
	if err != nil {
		return err
	}
	first := fstest.MapFS{}
	for _, name := range files[:steps] {
		text, err := fs.ReadFile(migrationsOf(d), name)
		if err != nil {
			return err
		}
		first[name] = &fstest.MapFile{Data: text}
	}
	if err := migrate(c, first); err != nil {
		return err
	}
	if err := c.Begin(); err != nil {
		return err
	}
	if err := c.ExecAll(statements); err != nil {
		return err
	}
	return c.Commit()
}

// Migrate runs the first steps of later migrations, as a newer program does.
func Migrate(url string, later fstest.MapFS, steps int) error {
	c, err := openToMigrate(url)
	if err != nil {
		return err
	}
	defer c.Close()
	all := fstest.MapFS{}
	files, err := fs.Glob(migrationsOf(c.Dialect()), "*.sql")
	if err != nil {
		return err
	}
	for _, name := range files {
		all[name] = &fstest.MapFile{} // they were run
	}
	for _, name := range slices.Sorted(maps.Keys(later))[:steps] {
		all[name] = later[name]
	}
	return migrate(c, all)
}

// Tables returns the tables that have a column.
func Tables(t storage.Tx, column string) ([]string, error) {
	query := `SELECT m.name FROM sqlite_master AS m JOIN pragma_table_info(m.name) AS c WHERE m.type = 'table' AND c.name = $1 ORDER BY m.name`
	if !t.(*tx).c.Dialect().IsSQLite() {
		query = `SELECT CAST(table_name AS TEXT) FROM information_schema.columns
			WHERE table_schema = current_schema() AND column_name = $1 ORDER BY table_name`
	}
	return sqlconn.List(t.(*tx).c, func(r *sqlconn.Rows) string { return r.Text(0) }, query, column)
}

// Columns returns the columns of a table of SQLite.
func Columns(t storage.Tx, table string) ([]string, error) {
	return sqlconn.List(t.(*tx).c, func(r *sqlconn.Rows) string { return r.Text(0) }, `SELECT name FROM pragma_table_info($1)`, table)
}

// LockAlone takes the lock of the database like a server that excludes others.
func LockAlone(ctx context.Context, url string) (free func(), err error) {
	d, err := sqlconn.NewDialect(url)
	if err != nil {
		return nil, err
	}
	c := sqlconn.NewWriter(d, nil, true)
	c.SetOpening(true)
	free = func() {
		c.Close()
		d.Unlock()
	}
	return free, c.Open(ctx)
}

// Indexer returns a function that does what the indexer does in one round.
func (s *Store) Indexer() func() error {
	var end horizon
	return func() error {
		_, _, err := s.indexNext(&end, indexBatch)
		return err
	}
}
