package sqlstore

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
)

// What the tests see of the inside.

var CheckSQLiteVersion = checkSQLiteVersion

const QueueLength = queueLength

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

// Words returns the words of a text.
func Words(text string) []string { return wordsOf([]string{text}) }

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
	for range cap(s.readers) {
		c := <-s.readers
		texts = slices.AppendSeq(texts, maps.Keys(c.stmts))
		s.readers <- c
	}
	return texts
}

// Plan returns how SQLite would run a statement, step by step.
func Plan(t hub.Tx, query string) ([]string, error) {
	return list(t.(tx).c, func(r *rows) string { return r.text(3) }, `EXPLAIN QUERY PLAN `+query, slices.Repeat([]any{""}, strings.Count(query, "$"))...)
}

// PostgresKind is the kind of error that an error of PostgreSQL becomes.
func PostgresKind(err error) shoal.Kind { return newFailure(postgresFault(err), "", err).err.Kind }
