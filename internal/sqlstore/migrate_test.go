package sqlstore_test

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
	"github.com/shoal-dev/shoal/internal/sqlstore"
)

func TestADatabaseNewerThanTheProgramIsRefused(t *testing.T) {
	onBoth(t, func(t *testing.T, url string) {
		s := open(t, url)
		update(t, s, func(tx hub.Tx) error {
			return sqlstore.Exec(tx, `INSERT INTO migrations (version, name, applied_at) VALUES (99, 'future', 0)`)
		})
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		_, err := sqlstore.Open(t.Context(), sqlstore.Options{URL: url})
		if !errors.Is(err, shoal.Conflict) || !strings.Contains(err.Error(), "version 99") {
			t.Errorf("got %v", err)
		}
	})
}

func TestManyProcessesMigrateOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, url string) {
		stores := make([]*sqlstore.Store, 8)
		var opening sync.WaitGroup
		for i := range stores {
			opening.Go(func() {
				s, err := sqlstore.Open(t.Context(), sqlstore.Options{URL: url})
				if err != nil {
					t.Error(err)
					return
				}
				stores[i] = s
			})
		}
		opening.Wait()
		for _, s := range stores {
			if s == nil {
				continue
			}
			if s.Epoch() == "" || s.Epoch() != stores[0].Epoch() {
				t.Errorf("one has the epoch %q, another %q", s.Epoch(), stores[0].Epoch())
			}
			if n := ask(t, s, `SELECT CAST(COUNT(*) AS TEXT) FROM store`); n != "1" {
				t.Errorf("the first step ran %s times", n)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	})
}
