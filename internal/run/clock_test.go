package run_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent/provider/script"
	"github.com/shoal-dev/shoal/internal/hub"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/localbus"
	"github.com/shoal-dev/shoal/internal/run"
)

// clocked is a store whose database's clock is late by comparison with this machine's.
type clocked struct {
	storage.Store
	by time.Duration
}

func (s clocked) View(ctx context.Context, fn func(storage.Tx) error) error {
	return s.Store.View(ctx, func(tx storage.Tx) error { return fn(clockedTx{tx, s.by}) })
}

func (s clocked) Update(ctx context.Context, at storage.At, fn func(storage.Tx) error) error {
	return s.Store.Update(ctx, storage.Global, func(tx storage.Tx) error { return fn(clockedTx{tx, s.by}) })
}

type clockedTx struct {
	storage.Tx
	by time.Duration
}

func (t clockedTx) Now() (shoal.Time, error) {
	now, err := t.Tx.Now()
	return shoal.At(now.Add(-t.by)), err
}

// An executor whose machine's clock is ahead of the database's claims the next run
// when the database says that it is time. Meanwhile it does not ask again and again.
func TestFastClockDoesNotSpin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.shopkeeper(script.PerTurn(silent), "")
		w.exe.Stop()
		w.says("Hm?")

		other := hub.New(hub.Options{Store: clocked{w.store, time.Hour}, Bus: localbus.New()})
		w.must(other.Start(t.Context()))
		defer other.Stop()
		if held, err := other.Work.Claim(t.Context(), "another server", 1, 10*time.Second); err != nil || len(held) != 1 {
			t.Fatalf("claimed %v, %v", held, err)
		}
		exe, err := run.New(run.Options{Hub: other, Models: w.model})
		w.must(err)
		before := w.store.claims.Load()
		w.must(exe.Start(t.Context()))
		defer exe.Stop()
		<-time.After(5 * time.Second)
		if tried := w.store.claims.Load() - before; tried > 2 {
			t.Errorf("claims were tried %d times in five seconds in which there was nothing to claim", tried)
		}
	})
}
