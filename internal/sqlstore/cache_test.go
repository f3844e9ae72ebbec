package sqlstore_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// facts are what a post reads, and its effects.
type facts struct {
	Session           shoal.SessionStatus
	Space             string
	LastSeq           int64
	Ann, Cid          bool
	Among             []storage.MemberKind
	Hosted            []shoal.EntityID
	EventEnd, BobsEnd int64
}

// readFacts reads them in a transaction.
func readFacts(tx storage.Tx) (l facts, err error) {
	session, err := tx.Session("default")
	if err != nil {
		return l, err
	}
	space, err := tx.LockSpace("default", "shop")
	if err != nil {
		return l, err
	}
	l.Session, l.Space, l.LastSeq = session.Status, space.Name, space.LastSeq
	failed := make([]error, 6)
	l.Ann, failed[0] = tx.IsMember("default", "shop", "ann")
	l.Cid, failed[1] = tx.IsMember("default", "shop", "cid")
	l.Among, failed[2] = tx.MembersAmong("default", "shop", []shoal.EntityID{"bob", "cid", "zoe"})
	l.Hosted, failed[3] = tx.HostedMembers("default", "shop")
	l.EventEnd, failed[4] = tx.EventEnd("default")
	l.BobsEnd, failed[5] = tx.InboxEnd("default")
	slices.SortFunc(l.Among, func(a, b storage.MemberKind) int { return cmp.Compare(a.ID, b.ID) })
	return l, errors.Join(failed...)
}

// changes are all operations that change what a post reads.
var changes = []struct {
	what string
	do   func(storage.Tx) error
}{
	{"a post", func(tx storage.Tx) error { return post(tx, shoal.NewID[shoal.MessageID](shoal.PrefixMessage), "x") }},
	{"another post", func(tx storage.Tx) error { return post(tx, shoal.NewID[shoal.MessageID](shoal.PrefixMessage), "x") }},
	{"an event", func(tx storage.Tx) error {
		_, err := tx.AppendEvent(storage.Event{Session: "default", Space: "shop", Type: shoal.EventSpaceUpdated, Data: []byte("{}")})
		return err
	}},
	{"a new name", func(tx storage.Tx) error {
		s, err := tx.Space("default", "shop")
		if err != nil {
			return err
		}
		s.Name += "!"
		return tx.UpdateSpace(s)
	}},
	{"a new entity", func(tx storage.Tx) error {
		return tx.InsertEntity(shoal.Entity{SessionID: "default", ID: "cid", Kind: shoal.Agent, Name: "cid", CreatedAt: shoal.Now()})
	}},
	{"somebody joins", func(tx storage.Tx) error {
		return tx.InsertMember("default", "shop", shoal.Member{EntityID: "cid", JoinedAt: shoal.Now()})
	}},
	{"a member mutes the space", func(tx storage.Tx) error { return tx.MuteMember("default", "shop", "cid", true) }},
	{"a member is hosted", func(tx storage.Tx) error {
		return tx.PutHostedAgent(storage.Agent{HostedAgent: shoal.HostedAgent{SessionID: "default", ID: "cid", Version: 1, Config: []byte("{}"), CreatedAt: shoal.Now()}})
	}},
	{"somebody is of another kind", func(tx storage.Tx) error {
		e, err := tx.Entity("default", "cid")
		if err != nil {
			return err
		}
		e.Kind = shoal.Human
		return tx.UpdateEntity(e)
	}},
	{"all is read", func(tx storage.Tx) error {
		_, err := tx.Acknowledge("default", "bob", storage.InboxFilter{}, 99, nil)
		return err
	}},
	{"a post to who has read", func(tx storage.Tx) error { return post(tx, shoal.NewID[shoal.MessageID](shoal.PrefixMessage), "x") }},
	{"a space is read", func(tx storage.Tx) error { return tx.AcknowledgeSpace("default", "shop", "bob", 99) }},
	{"events are trimmed", func(tx storage.Tx) error { return tx.TrimEvents("default", "shop", 1) }},
	{"a member is hosted no more", func(tx storage.Tx) error { return tx.DeleteHostedAgent("default", "cid") }},
	{"somebody leaves", func(tx storage.Tx) error { return tx.DeleteMember("default", "shop", "bob") }},
	{"somebody comes back", func(tx storage.Tx) error {
		return tx.InsertMember("default", "shop", shoal.Member{EntityID: "bob", JoinedAt: shoal.Now()})
	}},
	{"a post to who is back", func(tx storage.Tx) error { return post(tx, shoal.NewID[shoal.MessageID](shoal.PrefixMessage), "x") }},
	{"somebody is deleted", func(tx storage.Tx) error { return tx.DeleteEntity("default", "cid", shoal.Now()) }},
	{"the session is closed", func(tx storage.Tx) error { return tx.CloseSession("default", shoal.Now()) }},
}

// The cache of the writer is equal to the database: after every change of its own or of
// another process, and after every change that was rolled back.
func TestCacheIsEqualToTheDatabase(t *testing.T) {
	session := storage.In("default")
	for name, at := range map[string][3]storage.At{ // of the reads, and of the changes in turn
		"everything":                      {},
		"a session":                       {session, session, session},
		"a session and everything":        {session, storage.Global, session},
		"a session and several":           {session, storage.In("another", "default"), session},
		"several sessions and one":        {storage.In("another", "default"), session, session},
		"several sessions and everything": {storage.In("another", "default"), storage.Global, session},
	} {
		t.Run(name, func(t *testing.T) { compareCache(t, at) })
	}
}

func compareCache(t *testing.T, at [3]storage.At) {
	onBoth(t, func(t *testing.T, url string) {
		s, other := open(t, url), open(t, url)
		settle(t, s)
		check := func(what string) (l facts) {
			t.Helper()
			var stored facts
			updateAt(t, s, at[0], func(tx storage.Tx) (err error) { l, err = readFacts(tx); return err })
			if err := s.View(context.Background(), func(tx storage.Tx) (err error) { stored, err = readFacts(tx); return err }); err != nil {
				t.Fatal(err)
			}
			if fmt.Sprint(l) != fmt.Sprint(stored) {
				t.Errorf("%s: the cache has %+v, the database %+v", what, l, stored)
			}
			return l
		}
		for i, c := range changes {
			before := check("before " + c.what)
			err := s.Update(context.Background(), at[1+i/2%2], func(tx storage.Tx) error {
				if err := c.do(tx); err != nil {
					return err
				}
				if _, err := readFacts(tx); err != nil {
					return err
				}
				return errOfTheCaller
			})
			if !errors.Is(err, errOfTheCaller) {
				t.Fatalf("%s: %v", c.what, err)
			}
			if after := check(c.what + ", undone"); fmt.Sprint(after) != fmt.Sprint(before) {
				t.Errorf("%s left %+v of what it undid, before was %+v", c.what, after, before)
			}
			updateAt(t, []storage.Store{s, other}[i%2], at[1+i/2%2], c.do)
			check(c.what)
		}
		if l := check("in the end"); l.LastSeq != 4 || l.EventEnd != 5 || l.BobsEnd != 4 || l.Session != shoal.SessionStatusClosed || l.Space != "shop!" {
			t.Errorf("in the end there is %+v", l)
		}
	})
}

var errOfTheCaller = errors.New("the caller's own error")

// When an update of a batch fails, its changes are also removed from the cache.
func TestCacheAfterAFailedUpdateOfABatch(t *testing.T) {
	onBoth(t, func(t *testing.T, url string) {
		s := open(t, url)
		settle(t, s)
		for round := range 3 {
			release := held(t, s)
			failed := make(chan error, 30)
			for i := range cap(failed) {
				go func() {
					failed <- s.Update(context.Background(), storage.Global, func(tx storage.Tx) error {
						if err := post(tx, shoal.NewID[shoal.MessageID](shoal.PrefixMessage), "x"); err != nil || i%3 > 0 {
							return err
						}
						return errOfTheCaller
					})
				}()
			}
			await(s, cap(failed))
			release()
			refused := 0
			for range cap(failed) {
				switch err := <-failed; {
				case errors.Is(err, errOfTheCaller):
					refused++
				case err != nil:
					t.Fatal(err)
				}
			}
			if n := len(stored(t, s)); n != (round+1)*20 || refused != 10 {
				t.Errorf("%d messages are stored and %d were refused in round %d", n, refused, round)
			}
		}
	})
}
