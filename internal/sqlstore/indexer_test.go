package sqlstore_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/search"
	"github.com/shoal-dev/shoal/internal/shoaltest/postgrestest"
	"github.com/shoal-dev/shoal/internal/sqlstore"
)

// A message that is committed after others with higher numbers is found by search, also once
// they are in the index.
func TestIndexContainsMessagesThatCommitLate(t *testing.T) {
	// The slow session is the first in the order of locks: the other indexer, which may wait for it,
	// holds no lock of the fast one meanwhile.
	const slow, fast shoal.SessionID = "a slow one", "fast"
	url := postgrestest.Database(t)
	s, other := open(t, url), open(t, url)
	for _, id := range []shoal.SessionID{slow, fast} {
		settleIn(t, s, id)
	}
	index := other.Indexer()
	for round := range 5 {
		stored, commit, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
		go func() {
			ended <- s.Update(context.Background(), storage.In(slow), func(tx storage.Tx) error {
				err := postIn(tx, slow, fmt.Sprint("late", round))
				close(stored)
				<-commit
				return err
			})
		}()
		<-stored
		for range 3 {
			if err := other.Update(context.Background(), storage.In(fast), func(tx storage.Tx) error { return postIn(tx, fast, "early") }); err != nil {
				t.Fatal(err)
			}
			for range 2 { // the second one could pass what the first one saw
				if err := index(); err != nil {
					t.Fatal(err)
				}
			}
		}
		close(commit)
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		if err := other.CatchUp(); err != nil {
			t.Fatal(err)
		}
		if found := searchIn(t, s, slow, fmt.Sprint("late", round)); !slices.Equal(found, []string{fmt.Sprint("late", round)}) {
			t.Errorf("round %d: the message that was committed late is not found, but %q", round, found)
		}
	}
	lacks := ask(t, s, `SELECT CAST(COUNT(*) AS TEXT) FROM messages WHERE doc > (SELECT indexed FROM store)`)
	if found := searchIn(t, s, fast, "early"); len(found) != 15 || lacks != "0" {
		t.Errorf("%d messages are found, and the index lacks %s", len(found), lacks)
	}
}

// settleIn creates a session with the space shop and ann in it.
func settleIn(t testing.TB, s *sqlstore.Store, id shoal.SessionID) {
	t.Helper()
	update(t, s, func(tx storage.Tx) error {
		now := shoal.Now()
		if err := tx.InsertSession(shoal.Session{ID: id, Name: string(id), Status: shoal.SessionStatusOpen, CreatedAt: now}); err != nil {
			return err
		}
		if err := tx.InsertSpace(shoal.Space{SessionID: id, ID: "shop", Name: "shop", Status: shoal.SpaceStatusOpen, CreatedAt: now}); err != nil {
			return err
		}
		if err := tx.InsertEntity(shoal.Entity{SessionID: id, ID: "ann", Kind: shoal.Agent, Name: "ann", CreatedAt: now}); err != nil {
			return err
		}
		return tx.InsertMember(id, "shop", shoal.Member{EntityID: "ann", JoinedAt: now})
	})
}

// postIn posts as ann.
func postIn(tx storage.Tx, session shoal.SessionID, text string) error {
	space, err := tx.LockSpace(session, "shop")
	if err != nil {
		return err
	}
	now := shoal.Now()
	return tx.PostMessage(shoal.Message{
		ID: shoal.NewID[shoal.MessageID](shoal.PrefixMessage), SessionID: session, SpaceID: "shop", Seq: space.LastSeq + 1,
		EntityID: "ann", Status: shoal.MessageCompleted, CreatedAt: now, UpdatedAt: now,
		Mentions: []shoal.EntityID{}, DroppedMentions: []shoal.EntityID{},
		Parts: []shoal.Part{{ID: "prt_1", Type: shoal.TextPart, Text: text, Status: shoal.PartDone}},
	}, storage.PostKey{})
}

// searchIn returns the texts of the messages that a search finds.
func searchIn(t testing.TB, s *sqlstore.Store, session shoal.SessionID, words string) (texts []string) {
	t.Helper()
	query, err := search.Parse("q", words)
	if err != nil {
		t.Fatal(err)
	}
	err = s.View(context.Background(), func(tx storage.Tx) error {
		result, err := tx.Search(session, storage.SearchQuery{Query: query, Limit: 100})
		texts = nil
		for _, f := range result.Found {
			texts = append(texts, f.Message.Parts[0].Text)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return texts
}

// Indexing the messages of a session does not make the connection that posts in it forget what
// it knows of the session; a post of another server does.
func TestIndexingIsNoForeignChange(t *testing.T) {
	url := postgrestest.Database(t)
	s, other := open(t, url), open(t, url)
	settleIn(t, s, "busy")
	post := func(by *sqlstore.Store, text string) {
		t.Helper()
		updateAt(t, by, storage.In("busy"), func(tx storage.Tx) error { return postIn(tx, "busy", text) })
	}
	writer := func() string { return ask(t, s, `SELECT writer FROM sessions WHERE id = 'busy'`) }
	post(s, "first")
	before := writer()
	if err := other.CatchUp(); err != nil {
		t.Fatal(err)
	}
	if after := writer(); before == "" || after != before {
		t.Errorf("the last writer of the session was %q before its messages were indexed, and is %q", before, after)
	}
	if found := searchIn(t, s, "busy", "first"); len(found) != 1 {
		t.Errorf("search finds %q", found)
	}
	post(other, "second")
	if after := writer(); after == before {
		t.Error("a post of another server has not changed the last writer")
	}
	post(s, "third")
	if last := ask(t, s, `SELECT CAST(MAX(seq) AS TEXT) FROM messages WHERE session_id = 'busy'`); last != "3" {
		t.Errorf("the last of three messages has the number %s", last)
	}
}
