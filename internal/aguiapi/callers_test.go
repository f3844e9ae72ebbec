package aguiapi_test

import (
	"context"
	"net/http"
	"sync"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/limit"
)

// callerStore records the callers whose writes it stores.
type callerStore struct {
	storage.Store

	mu     sync.Mutex
	writes map[limit.Caller]int
}

func (s *callerStore) Update(ctx context.Context, at storage.At, fn func(storage.Tx) error) error {
	s.mu.Lock()
	s.writes[limit.For(ctx)]++
	s.mu.Unlock()
	return s.Store.Update(ctx, at, fn)
}

// What a client of the protocol writes counts for its entity, as over any other transport, and
// not for the server, which may use all of the queue of the store.
func TestWritesCountForTheEntity(t *testing.T) {
	store := &callerStore{writes: map[limit.Caller]int{}}
	w := newWorldOn(t, func(s storage.Store) storage.Store { store.Store = s; return store })
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	res, err := http.DefaultClient.Do(w.request(ctx, http.MethodPost, "shop", w.Key, "application/json", input(says("m1", "Hello."))))
	w.must(err)
	defer func() { _ = res.Body.Close() }() // only its status counts
	if res.StatusCode != http.StatusOK {
		t.Fatalf("the message was not posted: %d", res.StatusCode)
	}
	store.mu.Lock()
	defer store.mu.Unlock()
	ann := limit.Of(shoal.Principal{Role: shoal.RoleEntity, SessionID: shoal.DefaultSession, EntityID: "ann"})
	if store.writes[ann] != 1 {
		t.Errorf("ann has %d writes, want 1", store.writes[ann])
	}
}
