package run_test

import (
	"context"
	"sync"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent/provider/script"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/limit"
	"github.com/shoal-dev/shoal/internal/shoaltest"
)

// callerStore records for which callers runs were written.
type callerStore struct {
	storage.Store

	mu     sync.Mutex
	writes map[limit.Caller]int
}

func (s *callerStore) Update(ctx context.Context, at storage.At, fn func(storage.Tx) error) error {
	wrote := false
	err := s.Store.Update(ctx, at, func(tx storage.Tx) error {
		r := &runReader{Tx: tx}
		err := fn(r)
		wrote = r.read
		return err
	})
	if wrote {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.writes[limit.For(ctx)]++
	}
	return err
}

// What runs write counts for their requesters, so that the runs of one do not wait for those
// of another in the queue of the store.
func TestWritesCountForTheRequester(t *testing.T) {
	store := &callerStore{Store: shoaltest.OpenSQLite(t), writes: map[limit.Caller]int{}}
	w := newWorldOn(t, store)
	w.shopkeeper(script.PerTurn(silent), "")
	w.reaches(w.says("Hello?"), shoal.RunCompleted)
	w.exe.Stop()
	store.mu.Lock()
	defer store.mu.Unlock()
	anns := limit.For(limit.AsRunOf(t.Context(), session, "ann"))
	if n := store.writes[anns]; n < 3 || len(store.writes) != 1 { // it starts, has a step, and ends
		t.Errorf("the run was written %d times for its requester, and for %d callers in all", n, len(store.writes))
	}
}
