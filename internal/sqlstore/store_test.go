package sqlstore_test

import (
	"context"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/shoaltest/postgrestest"
	"github.com/shoal-dev/shoal/internal/shoaltest/storetest"
	"github.com/shoal-dev/shoal/internal/sqlstore"
)

func TestSQLite(t *testing.T) {
	t.Parallel()
	statements := map[string]bool{}
	open := opener(func(t *testing.T) string { return "sqlite://" + filepath.Join(t.TempDir(), "shoal #?%41.db") })
	storetest.Exercise(t, func(t *testing.T) storage.Store {
		s := open(t).(*sqlstore.Store)
		t.Cleanup(func() {
			for _, text := range s.Statements() {
				statements[text] = true
			}
		})
		return s
	})
	checkPlans(t, statements)
}

// growing matches a scan of a table that becomes large, or of all that runs wrote in a session.
var growing = regexp.MustCompile(`^SCAN (m|messages|i|inbox_entries|e|events|search|spaces|s|entities|members|a|hosted_agents|r|runs|w|seen|run_spaces|run_steps|` +
	`conversations|message_causes|p|pending_actions|d|remembered_decisions|plans|goals|memories|u|usage|f|files|file_spaces|renderers|n)\b|\(session_id=\? AND run_id>\?\)`)

// few matches the indexes that contain few rows of such a table: those that are awake, leased
// or due.
var few = regexp.MustCompile(`INDEX (runs_awake|runs_held|pending_due|plans_due)\b`)

// turns marks the one statement that no index can order: the turns of requesters depend on
// the leases at that moment. It sorts runs that are awake.
const turns = " AS turns "

// numbered marks the statement that numbers the messages of an import of the first edition.
const numbered = " AS final\n"

// checkPlans checks that no statement scans a table that becomes large, and that none sorts
// what an index has in order.
func checkPlans(t *testing.T, statements map[string]bool) {
	s := open(t, newSQLite(t))
	for text := range statements {
		if first, _, _ := strings.Cut(text, " "); !slices.Contains([]string{"SELECT", "INSERT", "UPDATE", "DELETE"}, first) {
			continue
		}
		var steps []string
		update(t, s, func(tx storage.Tx) (err error) {
			steps, err = sqlstore.Plan(tx, text)
			return err
		})
		for _, step := range steps {
			if growing.MatchString(step) && !strings.Contains(step, "VIRTUAL TABLE INDEX") && !few.MatchString(step) || strings.Contains(step, "TEMP B-TREE FOR ORDER BY") && !strings.Contains(text, turns) && !strings.Contains(text, numbered) {
				t.Errorf("%s\n\t%s", step, text)
			}
		}
	}
	if len(statements) < 50 {
		t.Errorf("only %d statements were checked", len(statements))
	}
}

func TestPostgres(t *testing.T) {
	t.Parallel()
	storetest.Exercise(t, opener(func(t *testing.T) string { return postgrestest.Database(t) }))
}

func TestPostgresSessions(t *testing.T) {
	t.Parallel()
	storetest.ExerciseSessions(t, opener(func(t *testing.T) string { return postgrestest.Database(t) }))
}

// opener opens stores on one database for each test.
func opener(newURL func(*testing.T) string) func(*testing.T) storage.Store {
	var mu sync.Mutex
	urls := map[*testing.T]string{}
	return func(t *testing.T) storage.Store {
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
	return openWith(t, sqlstore.Options{URL: url})
}

func openWith(t testing.TB, o sqlstore.Options) *sqlstore.Store {
	t.Helper()
	o.Fatal = func(err error) { t.Errorf("the disk failed: %v", err) }
	s, err := sqlstore.Open(t.Context(), o)
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

// ViewFirst reads although Views use all connections.
func TestViewFirstDoesNotWaitForViews(t *testing.T) {
	for name, url := range map[string]string{"SQLite": newSQLite(t), "PostgreSQL": postgrestest.Database(t)} {
		t.Run(name, func(t *testing.T) {
			s := open(t, url)
			settle(t, s)
			release, held := make(chan struct{}), make(chan struct{}, 64)
			var views sync.WaitGroup
			for range 64 {
				views.Go(func() {
					_ = s.View(context.Background(), func(storage.Tx) error { // it reads nothing
						held <- struct{}{}
						<-release
						return nil
					})
				})
			}
			<-held
			soon, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			if err := s.ViewFirst(soon, func(tx storage.Tx) error { _, err := tx.Session("default"); return err }); err != nil {
				t.Error(err)
			}
			close(release)
			views.Wait()
		})
	}
}
