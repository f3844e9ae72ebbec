package resume_test

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/filestore"
	"github.com/shoal-dev/shoal/agent/sqlstore"
	"github.com/shoal-dev/shoal/internal/shoaltest/postgrestest"
)

// places are the stores whose processes are killed. Each makes the directory of a test,
// whose file "database" names the driver and the database, if it has one.
var places = map[string]func(t *testing.T) string{
	"files": func(t *testing.T) string { return t.TempDir() },
	"SQLite": func(t *testing.T) string {
		dir := t.TempDir()
		source := url.URL{Scheme: "file", Path: filepath.Join(dir, "chats.db"), RawQuery: "_pragma=busy_timeout(60000)&_pragma=journal_mode(wal)"}
		return inDatabase(t, dir, "sqlite", source.String())
	},
	"PostgreSQL": func(t *testing.T) string {
		return inDatabase(t, t.TempDir(), "pgx", postgrestest.Database(t))
	},
}

func inDatabase(t *testing.T, dir, driver, source string) string {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "database"), []byte(driver+" "+source), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// openStore opens the store of a directory.
func openStore(dir string) (store agent.Store, closed func() error, err error) {
	named, err := os.ReadFile(filepath.Join(dir, "database"))
	if errors.Is(err, os.ErrNotExist) {
		files, err := filestore.Open(filepath.Join(dir, "store"))
		if err != nil {
			return nil, nil, err
		}
		return files, files.Close, nil
	}
	if err != nil {
		return nil, nil, err
	}
	driver, source, _ := strings.Cut(string(named), " ")
	db, err := sql.Open(driver, source)
	if err != nil {
		return nil, nil, err
	}
	dialect := sqlstore.PostgreSQL
	if driver == "sqlite" {
		dialect = sqlstore.SQLite
	}
	s, err := sqlstore.Open(context.Background(), db, dialect)
	if err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	return s, db.Close, nil
}
