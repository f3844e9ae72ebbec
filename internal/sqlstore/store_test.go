package sqlstore_test

import (
	"path/filepath"
	"sync"
	"testing"

	"github.com/shoal-dev/shoal/internal/hub"
	"github.com/shoal-dev/shoal/internal/shoaltest"
	"github.com/shoal-dev/shoal/internal/sqlstore"
)

func TestSQLite(t *testing.T) {
	shoaltest.ExerciseStore(t, opener(func(t *testing.T) string {
		return "sqlite://" + filepath.Join(t.TempDir(), "shoal #?%41.db")
	}))
}

func TestPostgres(t *testing.T) {
	shoaltest.ExerciseStore(t, opener(func(t *testing.T) string { return shoaltest.Postgres(t) }))
}

// opener opens stores on one database for each test.
func opener(newURL func(*testing.T) string) func(*testing.T) hub.Store {
	var mu sync.Mutex
	urls := map[*testing.T]string{}
	return func(t *testing.T) hub.Store {
		mu.Lock()
		defer mu.Unlock()
		if urls[t] == "" {
			urls[t] = newURL(t)
		}
		return open(t, urls[t])
	}
}

// open opens a store and closes it with the test.
func open(t testing.TB, url string) *sqlstore.Store {
	t.Helper()
	s, err := sqlstore.Open(t.Context(), sqlstore.Options{
		URL:   url,
		Fatal: func(err error) { t.Errorf("the disk failed: %v", err) },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}
