package sqlstore_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/shoaltest/storetest/storecase"
	"github.com/shoal-dev/shoal/internal/sqlstore"
)

func TestManyProcessesMigrateOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, url string) {
		stores := make([]*sqlstore.Store, 8)
		var opening sync.WaitGroup
		for i := range stores {
			opening.Go(func() {
				s, err := sqlstore.Open(t.Context(), sqlstore.Options{URL: url})
				if err != nil {
					t.Error(err)
					return
				}
				stores[i] = s
			})
		}
		opening.Wait()
		for _, s := range stores {
			if s == nil {
				continue
			}
			if s.Epoch() == "" || s != stores[0] && s.Epoch() == stores[0].Epoch() {
				t.Errorf("one has the epoch %q, another %q", s.Epoch(), stores[0].Epoch())
			}
			if n := ask(t, s, `SELECT CAST(COUNT(*) AS TEXT) FROM store`); n != "1" {
				t.Errorf("the first step ran %s times", n)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	})
}

// The message.created events of older databases are rows beside their messages. A migration
// removes the rows, and followers that resume after one of them miss nothing.
func TestEventsOfOlderPosts(t *testing.T) {
	onBoth(t, func(t *testing.T, url string) {
		err := sqlstore.Begin(url, 7,
			`INSERT INTO sessions (id, name, status, created_at) VALUES ('default', '', 'open', 1)`,
			`INSERT INTO entities (session_id, id, kind, name, description, metadata, created_at) VALUES ('default', 'ann', 'agent', 'Ann', '', '{}', 1)`,
			`INSERT INTO spaces (session_id, id, name, status, show_reasoning, metadata, last_seq, created_at) VALUES ('default', 'shop', '', 'open', FALSE, '{}', 0, 1)`,
			`INSERT INTO members (session_id, space_id, entity_id, place, joined_at) VALUES ('default', 'shop', 'ann', 1, 1)`,
			`INSERT INTO messages (session_id, space_id, seq, id, entity_id, status, created_at, updated_at, part_id, text) VALUES
			   ('default', 'shop', 1, 'msg_1', 'ann', 'completed', 1, 1, 'prt_1', 'trimmed'), ('default', 'shop', 2, 'msg_2', 'ann', 'completed', 2, 2, 'prt_1', 'first'),
			   ('default', 'shop', 3, 'msg_3', 'ann', 'completed', 3, 3, 'prt_1', 'second')`,
			`INSERT INTO events (session_id, place, space_id, entity_id, type, data, seq) VALUES
			   ('default', 5, 'shop', '', 'message.created', '', 2), ('default', 6, 'shop', '', 'space.updated', '{}', NULL), ('default', 7, 'shop', '', 'message.created', '', 3)`,
			`INSERT INTO event_floors (session_id, space_id, entity_id, place) VALUES ('default', 'shop', '', 4)`,
		)
		if err != nil {
			t.Fatal(err)
		}
		s := open(t, url)
		update(t, s, func(tx storage.Tx) error { return post(tx, "msg_4", "third") })
		err = s.View(t.Context(), func(tx storage.Tx) error {
			for _, filter := range []storage.EventFilter{{}, {Space: "shop"}, {Entity: "ann"}} {
				events, err := tx.Events("default", filter, 4, 9)
				if err != nil {
					return err
				}
				var shown []string
				for _, e := range events {
					var data shoal.MessageData
					if err := json.Unmarshal(e.Data, &data); err != nil {
						return err
					}
					shown = append(shown, fmt.Sprintf("%d %s %s", e.Position, e.Type, data.Message.Text()))
				}
				want := []string{"5 message.created first", "6 space.updated ", "7 message.created second", "8 message.created third"}
				if !slices.Equal(shown, want) {
					t.Errorf("%+v shows %q, want %q", filter, shown, want)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

func TestDataOfOlderPrograms(t *testing.T) {
	onBoth(t, func(t *testing.T, url string) {
		err := sqlstore.Begin(url, 1,
			`INSERT INTO sessions (id, name, status, created_at) VALUES ('default', '', 'open', 1)`,
			`INSERT INTO entities (session_id, id, kind, name, description, metadata, created_at) VALUES ('default', 'ann', 'agent', 'Ann', '', '{}', 1)`,
			`INSERT INTO spaces (session_id, id, name, status, show_reasoning, metadata, last_seq, created_at) VALUES ('default', 'shop', '', 'open', FALSE, '{}', 1, 1)`,
			`INSERT INTO members (session_id, space_id, entity_id, place, joined_at) VALUES ('default', 'shop', 'ann', 1, 1)`,
			`INSERT INTO messages (session_id, space_id, seq, id, entity_id, status, created_at, updated_at, parts) VALUES ('default', 'shop', 1, 'msg_1', 'ann', 'completed', 1, 1,
			   '[{"id":"p1","type":"text","text":"needle","status":"interrupted"},{"id":"p2","type":"data","name":"n","data":{"a":"\u003cb"}}]')`,
			`INSERT INTO events (session_id, place, space_id, entity_id, type, data) VALUES ('default', 1, 'shop', '', 'message.created', '{"old":1}')`,
			`INSERT INTO inboxes (session_id, entity_id, last_place) VALUES ('default', 'ann', 7)`,
			`INSERT INTO inbox (session_id, entity_id, place, space_id, seq, reason, delivery) VALUES ('default', 'ann', 6, 'shop', 1, 'message', 0)`,
		)
		if err != nil {
			t.Fatal(err)
		}
		s := open(t, url)
		update(t, s, func(tx storage.Tx) error {
			ann, err := tx.Entity("default", "ann")
			if err != nil || ann.Hosted {
				t.Errorf("ann is %+v, %v", ann, err)
			}
			hosted, err := tx.HostedMembers("default", "shop")
			if err != nil || len(hosted) > 0 {
				t.Errorf("hosted members are %v, %v", hosted, err)
			}
			m, err := tx.Message("default", "shop", "msg_1")
			if err != nil || m.Text() != "needle" || string(m.Parts[1].Data) != `{"a":"\u003cb"}` {
				t.Errorf("the message is %+v, %v", m, err)
			}
			events, err := tx.Events("default", storage.EventFilter{}, 0, 9)
			if err != nil || len(events) != 1 || events[0].Run != "" || events[0].Private || string(events[0].Data) != `{"old":1}` {
				t.Errorf("the events are %+v, %v", events, err)
			}
			space, err := tx.Space("default", "shop")
			if err != nil || space.LastSeq != 1 {
				t.Errorf("the space is %+v, %v", space, err)
			}
			end, err := tx.InboxEnd("default")
			if err != nil || end != 1 {
				t.Errorf("the inbox ends at %d, %v", end, err)
			}
			found, err := tx.Search("default", storage.SearchQuery{Query: storecase.Query("needle"), Limit: 9})
			if err != nil || len(found.Found) != 1 {
				t.Errorf("found %+v, %v", found, err)
			}
			return nil
		})
	})
}
