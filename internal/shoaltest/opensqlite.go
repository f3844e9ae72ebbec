package shoaltest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/shoal-dev/shoal/internal/sqlstore"
)

// OpenSQLite opens a new SQLite store in a directory of the test and closes it
// when the test ends. All stores of a process have the same epoch.
func OpenSQLite(t testing.TB) *sqlstore.Store {
	t.Helper()
	store, err := sqlstore.Open(context.Background(), sqlstore.Options{
		URL:   "sqlite://" + EmptyDatabase(t),
		Fatal: func(err error) { t.Errorf("the store failed: %v", err) },
	})
	if err != nil {
		t.Fatalf("open the store: %v", err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Errorf("close the store: %v", err)
		}
	})
	return store
}

// EmptyDatabase writes the database of a new SQLite store into a directory of the test, and returns
// the path of the file. All stores of a process have the same epoch.
func EmptyDatabase(t testing.TB) string {
	t.Helper()
	empty, err := migrated()
	if err != nil {
		t.Fatalf("make an empty store: %v", err)
	}
	path := filepath.Join(t.TempDir(), "shoal.db")
	if err := os.WriteFile(path, empty, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// migrated returns the file of an empty store. Some tests open hundreds of stores, and to migrate
// each took more than a third of their CPU time.
var migrated = sync.OnceValues(func() (file []byte, err error) {
	dir, err := os.MkdirTemp("", "shoal-empty-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	path := filepath.Join(dir, "shoal.db")
	store, err := sqlstore.Open(context.Background(), sqlstore.Options{URL: "sqlite://" + path})
	if err != nil {
		return nil, err
	}
	if err := store.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})
