package sqlstore_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/sqlstore"
)

// older creates a SQLite database as the previous program leaves it.
func older(t *testing.T) (url string) {
	t.Helper()
	url = "sqlite://" + filepath.Join(t.TempDir(), "shoal [1].db")
	err := sqlstore.Begin(url, sqlstore.Schema()-1, `INSERT INTO sessions (id, name, status, created_at) VALUES ('default', 'before', 'open', 1)`)
	if err != nil {
		t.Fatal(err)
	}
	return url
}

const (
	nameOf  = `SELECT name FROM sessions WHERE id = 'default'`
	version = `SELECT CAST(MAX(version) AS TEXT) FROM migrations`
)

// A database is copied before it is migrated, so that the previous program can continue with
// it. Restoring the copy loses nothing: the replaced database is kept.
func TestDatabaseIsCopiedBeforeItsMigration(t *testing.T) {
	url := older(t)
	last := sqlstore.Schema() - 1
	s := open(t, url)
	update(t, s, func(tx storage.Tx) error { return sqlstore.Exec(tx, `UPDATE sessions SET name = 'after'`) })
	if _, err := sqlstore.Restore(t.Context(), url, last-1); !errors.Is(err, shoal.NotFound) {
		t.Errorf("a copy that was never made: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(sqlstore.BackupPath(url, last))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("the copy: %v, %v", info, err)
	}

	replaced, err := sqlstore.Restore(t.Context(), url, last)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		url, name string
		version   int64
	}{{url, "before", int64(last)}, {"sqlite://" + replaced, "after", int64(last) + 1}} {
		x, err := sqlstore.Examine(t.Context(), c.url)
		if err != nil || x.Version != c.version || len(x.Damage) > 0 {
			t.Errorf("%s: %+v, %v", c.url, x, err)
		}
		again := open(t, c.url)
		if got := ask(t, again, nameOf); got != c.name {
			t.Errorf("%s holds %q, want %q", c.url, got, c.name)
		}
		if err := again.Close(); err != nil {
			t.Error(err)
		}
	}
}

// An empty database, or one that needs no migration, is not copied.
func TestOnlyMigrationsMakeCopies(t *testing.T) {
	url := "sqlite://" + filepath.Join(t.TempDir(), "shoal.db")
	for range 2 {
		if err := open(t, url).Close(); err != nil {
			t.Fatal(err)
		}
	}
	if names, err := filepath.Glob(strings.TrimPrefix(url, "sqlite://") + ".schema-*"); err != nil || len(names) > 0 {
		t.Errorf("there are %q, %v", names, err)
	}
}

// A database that cannot be copied is not migrated.
func TestNoMigrationWithoutACopy(t *testing.T) {
	url := older(t)
	if err := os.MkdirAll(filepath.Join(sqlstore.BackupPath(url, sqlstore.Schema()-1), "in the way"), 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := sqlstore.Open(t.Context(), sqlstore.Options{URL: url, Alone: true})
	if err == nil || !strings.Contains(err.Error(), "nothing was changed") {
		t.Errorf("got %v", err)
	}
	if x, err := sqlstore.Examine(t.Context(), url); err != nil || x.Version != int64(sqlstore.Schema()-1) {
		t.Errorf("it has version %d, %v", x.Version, err)
	}
}

// A tool of this program does not migrate a database that a server of an older one uses.
func TestToolsDoNotMigrateADatabaseInUse(t *testing.T) {
	onBoth(t, func(t *testing.T, url string) {
		if err := sqlstore.Begin(url, sqlstore.Schema()-1); err != nil {
			t.Fatal(err)
		}
		free, err := sqlstore.LockAlone(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		_, err = sqlstore.Open(t.Context(), sqlstore.Options{URL: url})
		if !errors.Is(err, shoal.Conflict) || !strings.Contains(err.Error(), "older Shoal") {
			t.Errorf("got %v", err)
		}
		free()
		s := open(t, url)
		if got := ask(t, s, version); got == "" {
			t.Error("it was not migrated")
		}
		// The lock of the migration is released after it.
		free, err = sqlstore.LockAlone(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		free()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestCopiesAreRemovedAfterAMonth(t *testing.T) {
	url := older(t)
	if err := open(t, url).Close(); err != nil {
		t.Fatal(err)
	}
	name := sqlstore.BackupPath(url, sqlstore.Schema()-1)
	old := time.Now().Add(-31 * 24 * time.Hour)
	for _, then := range []time.Time{time.Now(), old} {
		if err := os.Chtimes(name, then, then); err != nil {
			t.Fatal(err)
		}
		s, err := sqlstore.Open(t.Context(), sqlstore.Options{URL: url, Alone: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(name); (err == nil) != (then != old) {
			t.Errorf("a copy of %v: %v", then, err)
		}
	}
}
