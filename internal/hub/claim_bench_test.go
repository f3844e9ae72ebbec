package hub_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
	"github.com/shoal-dev/shoal/internal/hub/runs"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/localbus"
	"github.com/shoal-dev/shoal/internal/shoaltest"
)

// BenchmarkClaim measures a claim, and the question when the next one may succeed, while
// servers hold runs: a claim that finds one run, and one that finds none.
func BenchmarkClaim(b *testing.B) {
	for _, held := range []int{0, 512, 4096} {
		ctx := context.Background()
		store := shoaltest.OpenSQLite(b)
		h := hub.New(hub.Options{Store: store, Bus: localbus.New()})
		if err := h.Start(ctx); err != nil {
			b.Fatal(err)
		}
		b.Cleanup(h.Stop)
		run := func(i int) storage.Run {
			return storage.Run{
				Run:       shoal.Run{SessionID: shoal.DefaultSession, ID: shoal.RunID(fmt.Sprintf("run_%d", i)), AgentID: "bot", Status: shoal.RunRunning, CreatedAt: shoal.Now()},
				Requester: fmt.Sprint("ann", i%8), Conversation: "c", NotBefore: shoal.At(time.Unix(0, 0)),
			}
		}
		change := func(do func(storage.Tx) error) {
			if err := store.Update(ctx, storage.Global, do); err != nil {
				b.Fatal(err)
			}
		}
		change(func(tx storage.Tx) error {
			until := shoal.At(time.Now().Add(time.Hour))
			for i := range held {
				r := run(i)
				r.Owner, r.LeaseUntil, r.Generation = "other", &until, 1
				if err := tx.InsertRun(r); err != nil {
					return err
				}
			}
			return nil
		})
		claim := func(want int) {
			got, err := h.Work.ClaimFor(ctx, "me", 64, runs.Slots{}, 15*time.Second)
			if err == nil && len(got) != want {
				err = fmt.Errorf("%d runs were claimed", len(got))
			}
			if err == nil {
				_, _, err = h.Work.NextClaim(ctx)
			}
			if err != nil {
				b.Fatal(err)
			}
		}
		b.Run(fmt.Sprintf("none/%d", held), func(b *testing.B) {
			for b.Loop() {
				claim(0)
			}
		})
		b.Run(fmt.Sprintf("one/%d", held), func(b *testing.B) {
			r := run(held)
			r.Awake = true
			change(func(tx storage.Tx) error { return tx.InsertRun(r) })
			for b.Loop() {
				claim(1)
				b.StopTimer()
				change(func(tx storage.Tx) error { return tx.UpdateRun(r) })
				b.StartTimer()
			}
		})
	}
}
