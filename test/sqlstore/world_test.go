// Package sqlstore tests agent/sqlstore with the drivers and databases of programs that use
// it; the library's module has no driver.
package sqlstore_test

import (
	"database/sql"
	"net/url"
	"path/filepath"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/sqlstore"
	"github.com/shoal-dev/shoal/internal/shoaltest/postgrestest"
)

// database is an empty database that several programs can open.
type database struct {
	driver, source string
	dialect        sqlstore.Dialect
}

var databases = map[string]func(t testing.TB) database{
	"SQLite": func(t testing.TB) database {
		name := url.URL{Scheme: "file", Path: filepath.Join(t.TempDir(), "chats.db"), RawQuery: "_pragma=busy_timeout(60000)&_pragma=journal_mode(wal)"}
		return database{"sqlite", name.String(), sqlstore.SQLite}
	},
	"PostgreSQL": func(t testing.TB) database {
		return database{"pgx", postgrestest.Database(t), sqlstore.PostgreSQL}
	},
}

// onEach runs a test on each database.
func onEach(t *testing.T, test func(t *testing.T, d database)) {
	t.Helper()
	for name, open := range databases {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

func (d database) connect(t testing.TB) *sql.DB {
	t.Helper()
	db, err := sql.Open(d.driver, d.source)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// open returns the store as another process would have it, with connections of its own.
func (d database) open(t testing.TB) *sqlstore.Store {
	t.Helper()
	return opened(t, d.connect(t), d.dialect)
}

func opened(t testing.TB, db *sql.DB, dialect sqlstore.Dialect) *sqlstore.Store {
	t.Helper()
	s, err := sqlstore.Open(t.Context(), db, dialect)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

var ref = agent.TurnRef{ID: "t", Attempt: 1}

func begun(input ...agent.Message) agent.Turn {
	return agent.Turn{ID: "t", Attempt: 1, Input: input}
}

// answer is a complete step without calls.
func answer(index int) agent.Step {
	return agent.Step{Index: index, Done: true, Assistant: agent.Message{Role: agent.Assistant, Parts: []agent.Part{agent.Text("answer")}}}
}
