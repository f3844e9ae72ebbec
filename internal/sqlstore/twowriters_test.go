package sqlstore_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/shoaltest/setting"
	"github.com/shoal-dev/shoal/internal/sqlstore"
)

// Servers that write in a session in turn assign all of its positions without gaps, also after
// messages that get their positions later, and after more posts than one reads of the other.
func TestPositionsOfTwoWriters(t *testing.T) {
	onBoth(t, func(t *testing.T, url string) {
		stores := []*sqlstore.Store{open(t, url), open(t, url)}
		settle(t, stores[0])
		run := shoal.RunID("run_1")
		var composed shoal.Message
		steps := []struct {
			times int
			do    func(storage.Tx) error
		}{
			{6, func(tx storage.Tx) error { return post(tx, shoal.NewID[shoal.MessageID](shoal.PrefixMessage), "x") }},
			{1, func(tx storage.Tx) error {
				space, err := tx.LockSpace("default", "shop")
				if err != nil {
					return err
				}
				now := shoal.Now()
				composed = shoal.Message{
					ID: "msg_composed", SessionID: "default", SpaceID: "shop", Seq: space.LastSeq + 1, RunID: &run, EntityID: "ann", Status: shoal.MessageStreaming,
					CreatedAt: now, UpdatedAt: now, Parts: []shoal.Part{{ID: "prt_1", Type: shoal.TextPart, Text: "x", Status: shoal.PartDone}},
				}
				return tx.InsertMessage(composed, storage.PostKey{})
			}},
			{4, func(tx storage.Tx) error { return post(tx, shoal.NewID[shoal.MessageID](shoal.PrefixMessage), "x") }},
			{1, func(tx storage.Tx) error {
				if _, err := tx.Acknowledge("default", "bob", storage.InboxFilter{}, 99, nil); err != nil {
					return err
				}
				return tx.MarkUnread("default", "shop", "bob", 1, 3)
			}},
			{3, func(tx storage.Tx) error { return post(tx, shoal.NewID[shoal.MessageID](shoal.PrefixMessage), "x") }},
			{1, func(tx storage.Tx) error {
				composed.Status = shoal.MessageCompleted
				if err := tx.UpdateMessage(composed, nil); err != nil {
					return err
				}
				_, err := tx.Deliver(composed, nil)
				return err
			}},
			{5, func(tx storage.Tx) error { return post(tx, shoal.NewID[shoal.MessageID](shoal.PrefixMessage), "x") }},
		}
		turn := 0
		for _, s := range steps {
			for range s.times {
				updateAt(t, stores[turn%2], storage.In("default"), s.do)
				turn++
			}
		}
		// One posts more than the other reads of what it has missed.
		updateAt(t, stores[0], storage.In("default"), func(tx storage.Tx) error {
			for range 600 {
				if err := post(tx, shoal.NewID[shoal.MessageID](shoal.PrefixMessage), "x"); err != nil {
					return err
				}
			}
			return nil
		})
		for i := range 4 {
			updateAt(t, stores[(i+1)%2], storage.In("default"), func(tx storage.Tx) error {
				return post(tx, shoal.NewID[shoal.MessageID](shoal.PrefixMessage), "x")
			})
		}
		const messages = 6 + 1 + 4 + 3 + 5 + 600 + 4
		want := fmt.Sprintf("%d %d %d %d", messages, messages, messages-1, messages+3) // messages with an event, and places of messages that were marked as unread
		var got string
		err := stores[0].View(context.Background(), func(tx storage.Tx) (err error) {
			got, err = sqlstore.Text(tx, `SELECT COUNT(DISTINCT seq) || ' ' || COUNT(DISTINCT arrival) || ' ' || COUNT(DISTINCT event_place) || ' ' || MAX(place) FROM messages
				WHERE session_id = 'default' AND seq <= $1 AND arrival <= $2`, messages, messages)
			return err
		})
		if err != nil || got != want {
			t.Errorf("distinct seqs, arrivals and event positions, and the last place, are %s, want %s (%v)", got, want, err)
		}
	})
}

// Whatever two servers do in a session in turn, no two events get one position. The first steps are
// those of a server that has only read inboxes: it must not take the last event that is not a post for
// the last one when it learns what the other has changed.
func TestNoTwoEventsHaveOnePosition(t *testing.T) {
	seed := setting.Seed(t, "SHOAL_POSITIONS_SEED")
	onBoth(t, func(t *testing.T, url string) {
		stores := []*sqlstore.Store{open(t, url), open(t, url)}
		settle(t, stores[0])
		posts, events := 0, 0
		say := func(tx storage.Tx) error {
			posts++
			return post(tx, shoal.NewID[shoal.MessageID](shoal.PrefixMessage), "x")
		}
		note := func(tx storage.Tx) error {
			events++
			_, err := tx.AppendEvent(storage.Event{Session: "default", Space: "shop", Type: shoal.EventSpaceUpdated, Data: []byte(`{}`)})
			return err
		}
		end := func(tx storage.Tx) error {
			_, err := tx.InboxEnd("default")
			return err
		}
		acknowledge := func(tx storage.Tx) error {
			_, err := tx.Acknowledge("default", "bob", storage.InboxFilter{}, int64(posts), nil)
			return err
		}
		mark := func(tx storage.Tx) error { return tx.MarkUnread("default", "shop", "bob", 1, 3) }
		rename := func(tx storage.Tx) error {
			e, err := tx.Entity("default", "ann")
			if err != nil {
				return err
			}
			return tx.UpdateEntity(e)
		}
		step := func(server int, do func(storage.Tx) error) {
			t.Helper()
			updateAt(t, stores[server], storage.In("default"), do)
		}
		step(0, note)
		step(0, say)
		step(0, say)
		step(1, end)
		step(0, acknowledge)
		step(1, note)
		rng, all := rand.New(rand.NewPCG(seed, 0)), []func(storage.Tx) error{say, say, say, note, end, acknowledge, mark, rename}
		for range 200 {
			step(rng.IntN(2), all[rng.IntN(len(all))])
		}
		n := posts + events
		positions := ask(t, stores[0], `SELECT COUNT(*) || ' ' || COUNT(DISTINCT place) || ' ' || MAX(place) FROM (
			SELECT place FROM events WHERE session_id = 'default' UNION ALL SELECT event_place FROM messages WHERE session_id = 'default') AS positions`)
		if want := fmt.Sprintf("%d %d %d", n, n, n); positions != want {
			t.Errorf("events, their distinct positions and the last one are %s, want %s", positions, want)
		}
	})
}
