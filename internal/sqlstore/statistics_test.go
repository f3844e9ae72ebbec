package sqlstore_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/shoaltest/postgrestest"
)

// A new database is counted while it grows, long before autovacuum does it, so that statements
// that were planned for empty tables are planned again.
func TestStatisticsOfGrowingDatabase(t *testing.T) {
	const counted = `SELECT CAST(reltuples AS TEXT) FROM pg_class WHERE oid = CAST('messages' AS REGCLASS)`
	const columns = `SELECT CAST(COUNT(*) AS TEXT) FROM pg_stats WHERE schemaname = current_schema() AND tablename = 'messages' AND attname IN ('session_id', 'space_id')`
	s := open(t, postgrestest.Database(t))
	settleIn(t, s, "busy")
	if got := ask(t, s, counted); got != "0" {
		t.Fatalf("the statistics of a new database count %s messages, want 0", got)
	}
	err := s.Update(context.Background(), storage.In("busy"), func(tx storage.Tx) error {
		for n := range 300 {
			if err := postIn(tx, "busy", fmt.Sprint(n)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for began := time.Now(); ; { // the store's own indexer may be counting at this moment
		if err := s.CatchUp(); err != nil {
			t.Fatal(err)
		}
		rows, described := ask(t, s, counted), ask(t, s, columns)
		if rows == "300" && described == "2" {
			return
		}
		if time.Since(began) > time.Minute {
			t.Fatalf("the statistics count %s messages and describe %s of two columns, want 300 and both", rows, described)
		}
	}
}
