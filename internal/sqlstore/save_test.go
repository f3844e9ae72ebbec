package sqlstore_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/sqlstore"
)

// What was committed before a backup began is in it, whatever is written meanwhile, and nothing
// half; the restored database is one that a store opens.
func TestSaveWhileWriting(t *testing.T) {
	for name, newURL := range engines {
		t.Run(name, func(t *testing.T) {
			url, file := newURL(t), filepath.Join(t.TempDir(), "a backup")
			s := open(t, url)
			settle(t, s)
			var written atomic.Int64
			stop, enough := make(chan struct{}), make(chan struct{})
			var writers sync.WaitGroup
			for range 4 {
				writers.Go(func() {
					for {
						select {
						case <-stop:
							return
						default:
						}
						err := s.Update(t.Context(), storage.Global, func(tx storage.Tx) error {
							n := written.Load() + 1
							return sqlstore.Exec(tx, fmt.Sprintf("UPDATE sessions SET name = '%d'", n))
						})
						if err != nil {
							t.Error(err)
							return
						}
						if written.Add(1) == 20 {
							close(enough)
						}
					}
				})
			}
			<-enough
			saved, err := sqlstore.Save(t.Context(), url, file, false)
			close(stop)
			writers.Wait()
			if err != nil {
				t.Fatal(err)
			}
			info, err := os.Stat(file)
			if err != nil || info.Mode().Perm() != 0o600 || info.Size() != saved.Bytes || saved.Version != sqlstore.Schema() {
				t.Errorf("the backup is %v of %+v, %v", info, saved, err)
			}
			again := newURL(t)
			if _, _, err := sqlstore.Load(t.Context(), again, file, false); err != nil {
				t.Fatal(err)
			}
			if got := ask(t, open(t, again), `SELECT name FROM sessions WHERE id = 'default'`); got == "" || got == "default" {
				t.Errorf("the restored database has the session %q", got)
			}
		})
	}
}

// A backup replaces neither a file nor a database that was not meant, and what it replaces in a
// file is kept.
func TestLoadReplacesOnlyOnDemand(t *testing.T) {
	for name, newURL := range engines {
		t.Run(name, func(t *testing.T) {
			url, file := newURL(t), filepath.Join(t.TempDir(), "backup")
			s := open(t, url)
			settle(t, s)
			if _, err := sqlstore.Save(t.Context(), url, file, false); err != nil {
				t.Fatal(err)
			}
			if _, err := sqlstore.Save(t.Context(), url, file, false); !errors.Is(err, shoal.AlreadyExists) {
				t.Errorf("a second backup into the same file: %v", err)
			}
			if _, err := sqlstore.Save(t.Context(), url, file, true); err != nil {
				t.Error(err)
			}
			update(t, s, func(tx storage.Tx) error { return sqlstore.Exec(tx, "UPDATE sessions SET name = 'later'") })
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if _, _, err := sqlstore.Load(t.Context(), url, file, false); !errors.Is(err, shoal.AlreadyExists) {
				t.Errorf("a restore over data: %v", err)
			}
			free, err := sqlstore.LockAlone(t.Context(), url)
			if err != nil {
				t.Fatal(err)
			}
			if _, _, err := sqlstore.Load(t.Context(), url, file, true); !errors.Is(err, shoal.Conflict) || !strings.Contains(err.Error(), "Stop it") {
				t.Errorf("a restore under a server: %v", err)
			}
			free()
			_, replaced, err := sqlstore.Load(t.Context(), url, file, true)
			if err != nil {
				t.Fatal(err)
			}
			if got := ask(t, open(t, url), nameOf); got != "default" {
				t.Errorf("the database has %q after the restore", got)
			}
			if name == "sqlite" {
				if got := ask(t, open(t, "sqlite://"+replaced), nameOf); got != "later" {
					t.Errorf("the replaced database has %q", got)
				}
			}
		})
	}
}

// A file that cannot be restored is refused and changes nothing.
func TestLoadRefuses(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	newer, used := filepath.Join(dir, "newer"), filepath.Join(dir, "used")
	if err := sqlstore.Begin("sqlite://"+newer, sqlstore.Schema(), `INSERT INTO migrations (version, name, applied_at) VALUES (99999, 'later', 1)`); err != nil {
		t.Fatal(err)
	}
	if err := sqlstore.Begin("sqlite://"+used, sqlstore.Schema()); err != nil {
		t.Fatal(err)
	}
	write("used-wal", "pages")
	for name, c := range map[string]struct {
		file string
		kind shoal.Kind
		says string
	}{
		"no file":           {filepath.Join(dir, "missing"), shoal.NotFound, "missing not found"},
		"a text":            {write("text", strings.Repeat("no database ", 1000)), shoal.InvalidArgument, "is not a backup of a Shoal database"},
		"an empty file":     {write("empty", ""), shoal.InvalidArgument, "is not a backup of a Shoal database"},
		"of a newer Shoal":  {newer, shoal.InvalidArgument, "is of a newer Shoal"},
		"a database in use": {used, shoal.Conflict, "Make a backup of it"},
	} {
		url := newSQLite(t)
		_, _, err := sqlstore.Load(t.Context(), url, c.file, false)
		if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
		if x, err := sqlstore.Examine(t.Context(), url); err == nil && x.Version != 0 {
			t.Errorf("%s: the database has version %d", name, x.Version)
		}
		if left, _ := filepath.Glob(fileOf(url) + ".restoring*"); len(left) > 0 {
			t.Errorf("%s leaves %q", name, left)
		}
	}
	if _, err := sqlstore.Save(t.Context(), newSQLite(t), filepath.Join(dir, "of nothing"), false); !errors.Is(err, shoal.NotFound) {
		t.Errorf("a backup of no database: %v", err)
	}
}
