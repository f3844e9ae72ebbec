package hub_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
	"github.com/shoal-dev/shoal/internal/hub/feed"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/localbus"
	"github.com/shoal-dev/shoal/internal/sqlstore"
)

// withServer starts a server on the database in a file, calls do, and stops the server.
func withServer(t *testing.T, path string, damage func(storage.Store) storage.Store, do func(h *hub.Hub)) {
	t.Helper()
	store, err := sqlstore.Open(t.Context(), sqlstore.Options{URL: "sqlite://" + path})
	must(t, err)
	defer func() { must(t, store.Close()) }()
	h := hub.New(hub.Options{Store: damage(store), Bus: localbus.New()})
	must(t, h.Start(t.Context()))
	defer h.Stop()
	do(h)
}

func undamaged(s storage.Store) storage.Store { return s }

// trustingStore is a store that accepts every cursor, whatever epoch it was issued in.
type trustingStore struct{ storage.Store }

func (s trustingStore) View(ctx context.Context, fn func(storage.Tx) error) error {
	return s.Store.View(ctx, func(tx storage.Tx) error { return fn(trustingTx{tx}) })
}

func (s trustingStore) Update(ctx context.Context, at storage.At, fn func(storage.Tx) error) error {
	return s.Store.Update(ctx, storage.Global, func(tx storage.Tx) error { return fn(trustingTx{tx}) })
}

type trustingTx struct{ storage.Tx }

func (trustingTx) Descends(shoal.SessionID, string, int64) (bool, error) { return true, nil }

// readStream returns the type of the first event that a follower of the shop receives, and
// the last cursor.
func readStream(t *testing.T, h *hub.Hub, after shoal.Cursor) (first shoal.EventType, last shoal.Cursor) {
	t.Helper()
	f, err := h.Events.Follow(t.Context(), ann, feed.FollowRequest{Session: shoal.DefaultSession, Space: "shop", After: after})
	must(t, err)
	defer f.Close()
	for {
		events, err := f.Next(t.Context(), time.Now().Add(50*time.Millisecond))
		must(t, err)
		if len(events) == 0 {
			return first, last
		}
		for _, ev := range events {
			if first == "" {
				first = ev.Type
			}
			if ev.Cursor != "" {
				last = ev.Cursor
			}
		}
	}
}

// checkRestore restores an older copy of a database and uses cursors from before the copy
// and from the lost history. It returns what was wrong with the results.
func checkRestore(t *testing.T, damage func(storage.Store) storage.Store) (wrong []string) {
	dir := t.TempDir()
	path, copied := filepath.Join(dir, "shoal.db"), filepath.Join(dir, "copy.db")
	says := func(h *hub.Hub, texts ...string) {
		for _, text := range texts {
			_, err := say(h, text)
			must(t, err)
		}
	}
	var retained, lost string
	var retainedEvent, lostEvent shoal.Cursor
	withServer(t, path, undamaged, func(h *hub.Hub) {
		for _, id := range []shoal.EntityID{"ann", "bot"} {
			_, err := h.Entities.Create(t.Context(), root, shoal.DefaultSession, shoal.NewEntity{ID: id}, "")
			must(t, err)
		}
		_, err := h.Spaces.Create(t.Context(), ann, shoal.DefaultSession, shoal.NewSpace{ID: "shop", Name: "shop", Members: []shoal.EntityID{"bot"}}, "")
		must(t, err)
		says(h, "one")
		_, retained = waitNow(t, h, "")
		_, retainedEvent = readStream(t, h, "")
	})
	data, err := os.ReadFile(path)
	must(t, err)
	must(t, os.WriteFile(copied, data, 0o600))
	withServer(t, path, undamaged, func(h *hub.Hub) {
		if first, _ := readStream(t, h, retainedEvent); first == shoal.EventSnapshot {
			wrong = append(wrong, "after a restart, a follower did not resume")
		}
		says(h, "lost 1", "lost 2")
		_, lost = waitNow(t, h, "")
		_, lostEvent = readStream(t, h, "")
	})
	withServer(t, copied, damage, func(h *hub.Hub) {
		says(h, "two", "three", "four")
		if first, _ := readStream(t, h, lostEvent); first != shoal.EventSnapshot {
			wrong = append(wrong, "a follower from the lost history got no snapshot but "+string(first))
		}
		if first, _ := readStream(t, h, retainedEvent); first == shoal.EventSnapshot {
			wrong = append(wrong, "a follower from before the copy did not resume")
		}
		if got, _ := waitNow(t, h, lost); !slices.Equal(got, []string{"one", "two", "three", "four"}) {
			wrong = append(wrong, "a cursor from the lost history leaves unread "+strings.Join(got, ", "))
		}
		if got, _ := waitNow(t, h, retained); !slices.Equal(got, []string{"two", "three", "four"}) {
			wrong = append(wrong, "a cursor from before the copy leaves unread "+strings.Join(got, ", "))
		}
	})
	return wrong
}

// A cursor from a part of the history that an older copy of the database does not have
// leads to a snapshot and acknowledges nothing. A cursor from before the copy stays valid.
func TestCursorsAfterRestore(t *testing.T) {
	for _, wrong := range checkRestore(t, undamaged) {
		t.Error(wrong)
	}
}

// The test above detects a server that accepts cursors whatever their epoch.
func TestCursorsAfterRestoreFindsFaults(t *testing.T) {
	wrong := checkRestore(t, func(s storage.Store) storage.Store { return trustingStore{s} })
	if len(wrong) < 2 || !strings.Contains(wrong[0], "got no snapshot") || !strings.Contains(wrong[1], "from the lost history leaves unread") {
		t.Errorf("the test found %q, want both faults", wrong)
	}
}
