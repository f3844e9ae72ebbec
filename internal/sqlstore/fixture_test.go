package sqlstore_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/shoaltest/postgrestest"
	"github.com/shoal-dev/shoal/internal/sqlstore"
)

// engines create a database of each kind.
var engines = map[string]func(*testing.T) string{
	"sqlite":   func(t *testing.T) string { return newSQLite(t) },
	"postgres": func(t *testing.T) string { return postgrestest.Database(t) },
}

// onBoth runs a test on each database; url names an empty one.
func onBoth(t *testing.T, test func(t *testing.T, url string)) {
	for name, newURL := range engines {
		t.Run(name, func(t *testing.T) { test(t, newURL(t)) })
	}
}

func newSQLite(t testing.TB) string { return "sqlite://" + filepath.Join(t.TempDir(), "shoal.db") }

// fileOf returns the file of a SQLite URL.
func fileOf(url string) string { return strings.TrimPrefix(url, "sqlite://") }

// settle creates ann, bob and the space shop with both of them.
func settle(t testing.TB, s storage.Store) {
	t.Helper()
	update(t, s, func(tx storage.Tx) error {
		now := shoal.Now()
		if err := tx.InsertSession(shoal.Session{ID: "default", Name: "default", Status: shoal.SessionStatusOpen, CreatedAt: now}); err != nil {
			return err
		}
		if err := tx.InsertSpace(shoal.Space{SessionID: "default", ID: "shop", Name: "shop", Status: shoal.SpaceStatusOpen, CreatedAt: now}); err != nil {
			return err
		}
		for _, id := range []shoal.EntityID{"ann", "bob"} {
			if err := tx.InsertEntity(shoal.Entity{SessionID: "default", ID: id, Kind: shoal.Agent, Name: string(id), CreatedAt: now}); err != nil {
				return err
			}
			if err := tx.InsertMember("default", "shop", shoal.Member{EntityID: id, JoinedAt: now}); err != nil {
				return err
			}
		}
		return nil
	})
}

func update(t testing.TB, s storage.Store, fn func(storage.Tx) error) {
	t.Helper()
	updateAt(t, s, storage.Global, fn)
}

func updateAt(t testing.TB, s storage.Store, at storage.At, fn func(storage.Tx) error) {
	t.Helper()
	if err := s.Update(context.Background(), at, fn); err != nil {
		t.Fatalf("update: %v", err)
	}
}

// ask returns the first column of a query in a View.
func ask(t testing.TB, s storage.Store, query string) (text string) {
	t.Helper()
	err := s.View(context.Background(), func(tx storage.Tx) (err error) {
		text, err = sqlstore.Text(tx, query)
		return err
	})
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return text
}

// post does what the hub does for a message of ann that mentions bob.
func post(tx storage.Tx, id shoal.MessageID, text string) error {
	space, err := tx.LockSpace("default", "shop")
	if err != nil {
		return err
	}
	if _, err := tx.IsMember("default", "shop", "ann"); err != nil {
		return err
	}
	now := shoal.Now()
	m := shoal.Message{
		ID: id, SessionID: "default", SpaceID: "shop", Seq: space.LastSeq + 1,
		EntityID: "ann", Status: shoal.MessageCompleted, CreatedAt: now, UpdatedAt: now,
		Mentions: []shoal.EntityID{"bob"}, DroppedMentions: []shoal.EntityID{},
		Parts: []shoal.Part{{ID: "prt_1", Type: shoal.TextPart, Text: text, Status: shoal.PartDone}},
	}
	if err := tx.PostMessage(m, storage.PostKey{}); err != nil {
		return err
	}
	_, err = tx.Deliver(m, nil)
	return err
}

// stored returns the ids of all messages, and checks that their positions have no gaps.
func stored(t testing.TB, s storage.Store) map[shoal.MessageID]bool {
	t.Helper()
	ids := map[shoal.MessageID]bool{}
	err := s.View(context.Background(), func(tx storage.Tx) error {
		all, err := tx.Messages("default", "shop", storage.Page{Limit: 1_000_000})
		for i, m := range all {
			ids[m.ID] = true
			if m.Seq != int64(i+1) {
				t.Errorf("message %d has the seq %d", i+1, m.Seq)
			}
		}
		if err != nil {
			return err
		}
		end, err := tx.EventEnd("default")
		if err == nil && end != int64(len(all)) {
			t.Errorf("%d messages have %d events", len(all), end)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return ids
}
