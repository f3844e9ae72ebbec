package mcpapi_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// countedStore counts the reads of unread counts.
type countedStore struct {
	storage.Store
	counts atomic.Int64
}

func (s *countedStore) View(ctx context.Context, fn func(storage.Tx) error) error {
	return s.Store.View(ctx, func(tx storage.Tx) error { return fn(countedTx{tx, s}) })
}

type countedTx struct {
	storage.Tx
	store *countedStore
}

func (t countedTx) Counts(session shoal.SessionID, entity shoal.EntityID, spaces []shoal.SpaceID) (map[shoal.SpaceID]storage.Unread, error) {
	t.store.counts.Add(1)
	return t.Tx.Counts(session, entity, spaces)
}

// Counting reads all that is unread: a wait for mentions would become slower with each message
// that mentions somebody else.
func TestResponsesToWaitsCountNothing(t *testing.T) {
	counted := &countedStore{}
	w := newWorld(t, func(w *world) {
		w.wrap = func(s storage.Store) storage.Store {
			counted.Store = s
			return counted
		}
	})
	w.space("shop", "ann", "bob")
	ann := w.key("ann")
	for _, tool := range []string{"wait_for_mentions", "wait_for_messages"} {
		said := w.say("bob", "shop", "hello", "ann")
		before := counted.counts.Load()
		wantHeard(t, w.callRaw(ann, session, tool, inputs{}), times(1, said))
		if n := counted.counts.Load() - before; n != 0 {
			t.Errorf("%s counted what is unread %d times", tool, n)
		}
	}
	before := counted.counts.Load()
	w.callRaw(ann, session, "read_thread", inputs{"threadId": "shop"})
	if counted.counts.Load() == before {
		t.Error("read_thread, which shows the counts, did not read them")
	}
}
