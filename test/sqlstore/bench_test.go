package sqlstore_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/filestore"
	"github.com/shoal-dev/shoal/agent/sqlstore"
)

// BenchmarkTurn measures what a store adds to a turn without tools, which makes three
// writes: the input, the step and the end. Each turn alternates with three bare writes of as
// many bytes in the same place, a transaction with one row or an append with a sync, so that
// the ratio does not depend on the disk. The history grows as the benchmark runs.
func BenchmarkTurn(b *testing.B) {
	for name, open := range databases {
		b.Run(name, func(b *testing.B) {
			d := open(b)
			db := d.connect(b)
			db.SetMaxOpenConns(1)
			store := opened(b, db, d.dialect)
			_, err := db.Exec("CREATE TABLE bare (id INTEGER PRIMARY KEY, body TEXT)")
			must(b, err)
			begin := map[sqlstore.Dialect]string{sqlstore.SQLite: "BEGIN IMMEDIATE", sqlstore.PostgreSQL: "BEGIN"}[d.dialect]
			conn, err := d.connect(b).Conn(b.Context())
			must(b, err)
			defer conn.Close()
			n := 0
			compare(b, store, func(ctx context.Context, body string) error {
				n++
				for _, statement := range []string{begin, fmt.Sprintf("INSERT INTO bare (id, body) VALUES (%d, '%s')", n, body), "COMMIT"} {
					if _, err := conn.ExecContext(ctx, statement); err != nil {
						return err
					}
				}
				return nil
			})
		})
	}
	b.Run("files", func(b *testing.B) {
		dir := b.TempDir()
		store, err := filestore.Open(filepath.Join(dir, "store"))
		must(b, err)
		defer store.Close()
		f, err := os.Create(filepath.Join(dir, "bare"))
		must(b, err)
		defer f.Close()
		compare(b, store, func(_ context.Context, body string) error {
			if _, err := f.WriteString(body); err != nil {
				return err
			}
			return f.Sync()
		})
	})
}

// compare alternates turns with bare writes.
func compare(b *testing.B, store agent.Store, bare func(ctx context.Context, body string) error) {
	body := fmt.Sprintf("%200d", 0)
	var turns, bares time.Duration
	for b.Loop() {
		began := time.Now()
		turn := begun(agent.Say("hello"))
		turn.ID = agent.NewConversation().ID()
		must(b, store.Begin(b.Context(), "c", turn))
		must(b, rest(b.Context(), store, "c", turn.ID))
		turns += time.Since(began)
		began = time.Now()
		for range 3 {
			must(b, bare(b.Context(), body))
		}
		bares += time.Since(began)
	}
	b.ReportMetric(float64(turns)/float64(bares), "bare-writes/write")
	b.ReportMetric(float64(turns.Microseconds())/float64(b.N)/1000, "ms/turn")
}
