package sqlstore_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/shoaltest/postgrestest"
	"github.com/shoal-dev/shoal/internal/sqlstore"
)

// later are migrations of a program that does not exist yet: one that older programs do not miss,
// and one that they cannot work with.
var later = fstest.MapFS{
	"9001_more.sql":    {Data: []byte("-- additive\nCREATE TABLE more (id TEXT NOT NULL PRIMARY KEY);")},
	"9002_changed.sql": {Data: []byte("ALTER TABLE more ADD COLUMN kind TEXT NOT NULL DEFAULT '';")},
}

// A program opens a database that a newer one has migrated, as long as the migrations are
// additive, and says otherwise what to do.
func TestNewerDatabase(t *testing.T) {
	onBoth(t, func(t *testing.T, url string) {
		close := func(s *sqlstore.Store) {
			t.Helper()
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
		close(open(t, url))
		if err := sqlstore.Migrate(url, later, 1); err != nil {
			t.Fatal(err)
		}
		s := open(t, url)
		settle(t, s)
		update(t, s, func(tx storage.Tx) error { return post(tx, "m", "hello") })
		close(s)
		if err := sqlstore.Migrate(url, later, 2); err != nil {
			t.Fatal(err)
		}
		_, err := sqlstore.Open(t.Context(), sqlstore.Options{URL: url})
		if want := fmt.Sprint("version ", sqlstore.Schema()+2); !errors.Is(err, shoal.Conflict) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want a conflict that names %s", err, want)
		}
	})
}

// A server goes on beside a newer one that has made an additive migration. After another one it
// writes nothing any more, in no way, and ends.
func TestServerThatIsOutdated(t *testing.T) {
	for name, at := range map[string]storage.At{"a session": storage.In(shoal.DefaultSession), "everything": storage.Global, "no session": storage.NoSession} {
		t.Run(name, func(t *testing.T) {
			url := postgrestest.Database(t)
			fatal := make(chan error, 1)
			old, err := sqlstore.Open(t.Context(), sqlstore.Options{URL: url, Cluster: true, Fatal: func(err error) { fatal <- err }})
			if err != nil {
				t.Fatal(err)
			}
			defer old.Close()
			settle(t, old)
			if err := sqlstore.Migrate(url, later, 1); err != nil {
				t.Fatal(err)
			}
			write := func() error {
				return old.Update(context.Background(), at, func(tx storage.Tx) error { return tx.SaveNode(shoal.Node{ID: "nod_1", StartedAt: shoal.Now()}, 1) })
			}
			if err := write(); err != nil {
				t.Fatalf("beside a newer program: %v", err)
			}
			if err := sqlstore.Migrate(url, later, 2); err != nil {
				t.Fatal(err)
			}
			if err := write(); !errors.Is(err, shoal.Busy) || !errors.Is(err, sqlstore.ErrOutdated) {
				t.Errorf("an outdated server writes, or says: %v", err)
			}
			if err := <-fatal; !errors.Is(err, sqlstore.ErrOutdated) {
				t.Errorf("the server ends with %v", err)
			}
		})
	}
}
