package sqlstore_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/sqlstore"
)

// childOpens opens the database, which migrates it, and prints when that is done.
func childOpens() {
	s, err := sqlstore.Open(context.Background(), sqlstore.Options{URL: os.Getenv(childURL)})
	if err != nil {
		panic(err)
	}
	_, _ = os.Stdout.WriteString("open\n")
	_ = s.Close()
}

// beforePositions is the number of migrations before the one that makes inboxes positions.
const beforePositions = 24

// oldInboxes are the inboxes of a database from before they were positions: the unread
// messages of each member, as space#seq reason delivery.
type oldInboxes map[shoal.EntityID]map[string]bool

// beginOld makes a database from before inboxes were positions, with random inboxes, some of
// which have hundreds of unread messages, and messages that are in progress.
func beginOld(t *testing.T, url string, rng *rand.Rand, messages int) oldInboxes {
	t.Helper()
	const people = 9
	unread := oldInboxes{}
	statements := []string{`INSERT INTO sessions (id, name, status, created_at) VALUES ('default', '', 'open', 1)`}
	insert := func(into string, rows []string) {
		for some := range slices.Chunk(rows, 500) {
			statements = append(statements, `INSERT INTO `+into+` VALUES `+strings.Join(some, ", "))
		}
	}
	var entities, members, posted, entries []string
	places := map[shoal.EntityID]int{}
	for i := range people {
		id := shoal.EntityID(fmt.Sprintf("e%d", i))
		unread[id] = map[string]bool{}
		entities = append(entities, fmt.Sprintf("('default', '%s', 'agent', '', '', '{}', 1)", id))
		for _, space := range []string{"a", "b"} {
			members = append(members, fmt.Sprintf("('default', '%s', '%s', %d, 1, %t, %t)", space, id, i+1, i == 7, i == 8))
		}
	}
	for _, space := range []string{"a", "b"} {
		statements = append(statements, fmt.Sprintf(`INSERT INTO spaces (session_id, id, name, status, show_reasoning, metadata, last_seq, created_at) VALUES ('default', '%s', '', 'open', FALSE, '{}', 0, 1)`, space))
	}
	for n := range messages {
		space, seq, sender, status, run := []string{"a", "b"}[n%2], n/2+1, rng.IntN(people), "completed", "NULL"
		if rng.IntN(50) == 0 {
			status, run = "streaming", "'run_1'"
		}
		posted = append(posted, fmt.Sprintf("('default', '%s', %d, 'msg_%d', 'e%d', '%s', %d, %d, 'prt_1', 'x', %s)", space, seq, n, sender, status, n, n, run))
		if status == "streaming" {
			continue
		}
		for i := range people {
			id := shoal.EntityID(fmt.Sprintf("e%d", i))
			// e0 has read everything, e1 nothing, and the others have gaps of several lengths.
			if i == sender || i == 0 || i == 7 || i > 1 && n/(1<<i)%3 == 0 || i > 1 && n < messages/3 {
				continue
			}
			reason, delivery := shoal.ReasonMessage, 0
			switch rng.IntN(12) {
			case 0:
				reason = shoal.ReasonMention
			case 1:
				delivery = rng.IntN(3)
			}
			places[id]++
			entries = append(entries, fmt.Sprintf("('default', '%s', %d, '%s', %d, '%s', %d)", id, places[id], space, seq, reason, delivery))
			unread[id][fmt.Sprintf("%s#%d %s %d", space, seq, reason, delivery)] = true
		}
	}
	insert(`entities (session_id, id, kind, name, description, metadata, created_at)`, entities)
	insert(`members (session_id, space_id, entity_id, place, joined_at, hosted, muted)`, members)
	insert(`messages (session_id, space_id, seq, id, entity_id, status, created_at, updated_at, part_id, text, run_id)`, posted)
	insert(`inbox (session_id, entity_id, place, space_id, seq, reason, delivery)`, entries)
	if err := sqlstore.Begin(url, beforePositions, statements...); err != nil {
		t.Fatal(err)
	}
	return unread
}

// checkOld checks that exactly the old unread messages are unread, and that the counts say so.
func checkOld(t *testing.T, s *sqlstore.Store, want oldInboxes) {
	t.Helper()
	err := s.View(t.Context(), func(tx storage.Tx) error {
		for id := range want {
			entries, err := tx.Unread("default", id, storage.InboxFilter{Kind: shoal.WaitMessages}, 1_000_000)
			if err != nil {
				return err
			}
			counts, err := tx.Counts("default", id, []shoal.SpaceID{"a", "b"})
			if err != nil {
				return err
			}
			got := map[string]bool{}
			mentions := int64(0)
			for i, e := range entries {
				got[fmt.Sprintf("%s#%d %s %d", e.Space.ID, e.Message.Seq, e.Reason, e.Delivery)] = true
				if i > 0 && e.Place <= entries[i-1].Place {
					t.Errorf("the inbox of %s is not in order", id)
				}
				if e.Reason == shoal.ReasonMention {
					mentions++
				}
			}
			if !maps.Equal(got, want[id]) {
				t.Errorf("%s has %d unread messages, want %d", id, len(got), len(want[id]))
			}
			if n := counts["a"].Messages + counts["b"].Messages; n != int64(len(want[id])) || counts["a"].Mentions+counts["b"].Mentions != mentions {
				t.Errorf("%s has %d unread messages and %d mentions, and the counts %+v", id, len(want[id]), mentions, counts)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// openIdle opens a store once the database has noticed that the processes that migrated it
// are dead: PostgreSQL finishes their statement first.
func openIdle(t *testing.T, url string) *sqlstore.Store {
	t.Helper()
	for {
		s, err := sqlstore.Open(t.Context(), sqlstore.Options{URL: url})
		if shoal.KindOf(err) == shoal.Busy {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		return s
	}
}

// A migration that is killed leaves the database as it was, and the next one makes every
// inbox a position with exactly the same unread messages.
func TestInboxesBecomePositions(t *testing.T) {
	onBoth(t, func(t *testing.T, url string) {
		rng := rand.New(rand.NewPCG(1, uint64(len(url))))
		want := beginOld(t, url, rng, 4000)
		killed := 0
		for wait := 20 * time.Millisecond; killed < 10; wait += time.Duration(rng.IntN(40)) * time.Millisecond {
			cmd, said := child(t, "opens", url)
			<-time.After(wait)
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			done := said.Scan()
			_ = cmd.Wait() // says that it was killed
			if done {
				break // it was fast
			}
			killed++
		}
		t.Logf("killed %d times", killed)
		s := openIdle(t, url)
		checkOld(t, s, want)
		// From here on, everything is as in a new database.
		update(t, s, func(tx storage.Tx) error {
			for id := range want {
				if err := tx.AcknowledgeSpace("default", "a", id, 1_000_000); err != nil {
					return err
				}
			}
			return nil
		})
		for id := range want {
			maps.DeleteFunc(want[id], func(what string, _ bool) bool { return strings.HasPrefix(what, "a#") })
		}
		checkOld(t, s, want)
	})
}
