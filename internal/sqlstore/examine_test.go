package sqlstore_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/shoaltest/postgrestest"
	"github.com/shoal-dev/shoal/internal/sqlstore"
)

func examine(t *testing.T, url string) sqlstore.Examination {
	t.Helper()
	x, err := sqlstore.Examine(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func TestExamineAHealthyDatabase(t *testing.T) {
	for name, url := range map[string]string{"SQLite 3.": newSQLite(t), "PostgreSQL ": postgrestest.Database(t)} {
		s := open(t, url)
		for _, when := range []string{"while a server uses it", "after that"} {
			x := examine(t, url)
			if !strings.HasPrefix(x.Engine, name) || x.Version == 0 || x.Version != x.Newest || x.Damage != nil || x.Weak != nil || x.Unfinished {
				t.Errorf("%s %s: %+v", name, when, x)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestExamineCreatesNothing(t *testing.T) {
	dir := t.TempDir()
	_, err := sqlstore.Examine(t.Context(), "sqlite://"+filepath.Join(dir, "shoal.db"))
	if !errors.Is(err, shoal.NotFound) {
		t.Errorf("without a database: %v", err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("it left %v, %v", entries, err)
	}
	if x := examine(t, postgrestest.Database(t)); x.Version != 0 || x.Newest == 0 {
		t.Errorf("an empty PostgreSQL: %+v", x)
	}
}

func TestExamineReportsTheVersion(t *testing.T) {
	for _, url := range []string{newSQLite(t), postgrestest.Database(t)} {
		s := open(t, url)
		update(t, s, func(tx storage.Tx) error {
			return sqlstore.Exec(tx, `INSERT INTO migrations (version, name, applied_at) VALUES (9999, 'later', 0)`)
		})
		if x := examine(t, url); x.Version != 9999 || x.Newest >= 9999 || x.Oldest < 1 || x.Oldest > x.Newest {
			t.Errorf("%+v", x)
		}
	}
}

// A page in the middle of the file is overwritten, as a failing disk would.
func TestExamineReportsDamage(t *testing.T) {
	url := newSQLite(t)
	s := open(t, url)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	path := strings.TrimPrefix(url, "sqlite://")
	f, err := os.OpenFile(path, os.O_RDWR, fs.ModePerm)
	if err != nil {
		t.Fatal(err)
	}
	junk := []byte(strings.Repeat("\xfd", 4096))
	for page := int64(5); page < 9; page++ {
		if _, err := f.WriteAt(junk, page*4096); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	x, err := sqlstore.Examine(t.Context(), url)
	if err == nil && len(x.Damage) == 0 {
		t.Errorf("nothing was seen: %+v", x)
	}
}

func TestExamineEndsWithItsContext(t *testing.T) {
	url := newSQLite(t)
	open(t, url)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if x, err := sqlstore.Examine(ctx, url); err == nil && !x.Unfinished {
		t.Errorf("it finished: %+v", x)
	}
}

func TestWeakPostgresSettings(t *testing.T) {
	for _, c := range []struct {
		commit, sync, pages string
		weak                int
	}{
		{"on", "on", "on", 0},
		{"remote_apply", "on", "on", 0},
		{"off", "on", "on", 1},
		{"local", "on", "on", 1},
		{"on", "off", "on", 1},
		{"on", "on", "off", 1},
		{"off", "off", "off", 2},
	} {
		if weak := sqlstore.WeakPostgres(c.commit, c.sync, c.pages); len(weak) != c.weak {
			t.Errorf("%+v: %q", c, weak)
		}
	}
}
