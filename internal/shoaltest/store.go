package shoaltest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
)

// ExerciseStore is the specification of [hub.Store] as subtests. Every implementation must
// pass all of them.
//
// open opens a store on the database of t: an empty one in the first call, the same one in
// each further call with the same t, also while the first store is open. The store is an
// [io.Closer], and is closed when t ends unless the test has closed it.
func ExerciseStore(t *testing.T, open func(t *testing.T) hub.Store) {
	for _, noun := range []struct {
		name  string
		tests map[string]func(*storeCase)
	}{
		{"update", updateTests},
		{"view", viewTests},
		{"sessions", sessionTests},
		{"entities", entityTests},
		{"spaces", spaceTests},
		{"members", memberTests},
		{"messages", messageTests},
		{"erased messages", eraseTests},
		{"edited messages", editTests},
		{"inbox", inboxTests},
		{"queries", queryTests},
		{"search", searchTests},
		{"events", eventTests},
		{"keys", keyTests},
		{"answers", answerTests},
		{"hosted agents", agentTests},
		{"runs", runTests},
		{"claims", claimTests},
		{"steps", stepTests},
		{"requests", requestTests},
		{"conversations", conversationTests},
		{"composite messages", composedTests},
		{"pending actions", pendingTests},
		{"remembered decisions", rememberedTests},
		{"plans", planTests},
		{"notes", noteTests},
		{"usage", usageTests},
		{"files", fileTests},
		{"renderers", rendererTests},
		{"records", recordTests},
	} {
		t.Run(noun.name, func(t *testing.T) {
			store := open(t)
			for name, test := range noun.tests {
				t.Run(name, func(t *testing.T) { test(newStoreCase(t, store)) })
			}
		})
	}
	for name, test := range reopenTests {
		t.Run("reopen/"+name, func(t *testing.T) {
			test(newStoreCase(t, open(t)), func() *storeCase { return &storeCase{T: t, store: open(t)} })
		})
	}
}

// storeCase is one test: a store, and a session of its own, so that tests can share a
// database.
type storeCase struct {
	*testing.T
	store   hub.Store
	session shoal.SessionID
}

var storeCases atomic.Int64

func newStoreCase(t *testing.T, store hub.Store) *storeCase {
	t.Helper()
	c := &storeCase{T: t, store: store, session: shoal.SessionID(fmt.Sprintf("case%03d", storeCases.Add(1)))}
	c.update(func(tx hub.Tx) error {
		return tx.InsertSession(shoal.Session{ID: c.session, Name: t.Name(), Status: shoal.SessionOpen, CreatedAt: storeTime(0)})
	})
	return c
}

// storeTime returns the time n microseconds after 10 o'clock.
func storeTime(n int) shoal.Time {
	return shoal.At(time.Date(2026, 11, 20, 10, 0, 0, n*1000, time.UTC))
}

// close closes the store, as the end of the process would.
func (c *storeCase) close() {
	c.Helper()
	if err := c.store.(io.Closer).Close(); err != nil {
		c.Fatalf("close: %v", err)
	}
}

// update runs fn in an Update and fails the test if it fails. fn runs on a goroutine of
// the store, so it must return its errors.
func (c *storeCase) update(fn func(hub.Tx) error) {
	c.Helper()
	if err := c.store.Update(context.Background(), fn); err != nil {
		c.Fatalf("update: %v", err)
	}
}

// refused runs fn in an Update and fails the test unless fn fails with an error of the kind
// and with a message for people.
func (c *storeCase) refused(kind shoal.Kind, fn func(hub.Tx) error) {
	c.Helper()
	err := c.store.Update(context.Background(), fn)
	var said *shoal.Error
	switch {
	case !errors.Is(err, kind):
		c.Fatalf("got error %v, want one of kind %s", err, kind)
	case !errors.As(err, &said) || !strings.HasSuffix(said.Msg, "."):
		c.Fatalf("%#v has no sentence for people", err)
	}
}

// absent is like refused with NotFound, in a View.
func (c *storeCase) absent(fn func(hub.Tx) error) {
	c.Helper()
	if err := c.store.View(context.Background(), fn); !errors.Is(err, shoal.NotFound) {
		c.Fatalf("got error %v, want one of kind %s", err, shoal.NotFound)
	}
}

// seen returns what fn reads, in a View.
func seen[T any](c *storeCase, fn func(hub.Tx) (T, error)) (v T) {
	c.Helper()
	err := c.store.View(context.Background(), func(tx hub.Tx) (err error) {
		v, err = fn(tx)
		return err
	})
	if err != nil {
		c.Fatalf("view: %v", err)
	}
	return v
}

// done returns what fn does, in an Update.
func done[T any](c *storeCase, fn func(hub.Tx) (T, error)) (v T) {
	c.Helper()
	c.update(func(tx hub.Tx) (err error) {
		v, err = fn(tx)
		return err
	})
	return v
}

// same fails the test if two values differ in JSON: nil and empty lists differ, and so does
// every byte of raw JSON.
func same[T any](c *storeCase, what string, got, want T) {
	c.Helper()
	// JSON is compared as one value: byte by byte, cmp takes seconds under the race detector.
	whole := cmp.Comparer(func(a, b json.RawMessage) bool { return bytes.Equal(a, b) && (a == nil) == (b == nil) })
	times := cmp.Comparer(func(a, b shoal.Time) bool { return a.Equal(b.Time) && a.String() == b.String() })
	if diff := cmp.Diff(want, got, whole, times); diff != "" {
		c.Errorf("%s differs (- want, + got):\n%s", what, diff)
	}
}

// entities creates agents with these ids; their names are the ids in capitals.
func (c *storeCase) entities(ids ...shoal.EntityID) {
	c.Helper()
	c.update(func(tx hub.Tx) error {
		for _, id := range ids {
			e := shoal.Entity{SessionID: c.session, ID: id, Kind: shoal.Agent, Name: strings.ToUpper(string(id)), CreatedAt: storeTime(0)}
			if err := tx.InsertEntity(e); err != nil {
				return err
			}
		}
		return nil
	})
}

// space creates an open space with these members, in this order.
func (c *storeCase) space(id shoal.SpaceID, members ...shoal.EntityID) {
	c.Helper()
	c.update(func(tx hub.Tx) error {
		s := shoal.Space{SessionID: c.session, ID: id, Name: "The " + string(id), Status: shoal.SpaceOpen, CreatedAt: storeTime(0)}
		if err := tx.InsertSpace(s); err != nil {
			return err
		}
		for _, member := range members {
			if err := tx.InsertMember(c.session, id, shoal.Member{EntityID: member, JoinedAt: storeTime(0)}); err != nil {
				return err
			}
		}
		return nil
	})
}

// message returns a message with one text, without a position.
func (c *storeCase) message(space shoal.SpaceID, sender shoal.EntityID, text string, mentions ...shoal.EntityID) shoal.Message {
	return shoal.Message{
		ID: shoal.NewID[shoal.MessageID](shoal.PrefixMessage), SessionID: c.session, SpaceID: space, EntityID: sender,
		Status: shoal.MessageCompleted, Mentions: append([]shoal.EntityID{}, mentions...), DroppedMentions: []shoal.EntityID{}, OnBehalfOf: []shoal.EntityID{}, Reactions: []shoal.Reaction{},
		CreatedAt: storeTime(1), UpdatedAt: storeTime(2),
		Parts: []shoal.Part{{ID: "prt_1", Type: shoal.TextPart, Text: text, Status: shoal.PartDone}},
	}
}

// post stores m like the hub, with its position, its inbox entries and an event.
func (c *storeCase) post(m shoal.Message) shoal.Message {
	c.Helper()
	return done(c, func(tx hub.Tx) (shoal.Message, error) { return storePost(tx, m) })
}

// say posts a text.
func (c *storeCase) say(space shoal.SpaceID, sender shoal.EntityID, text string, mentions ...shoal.EntityID) shoal.Message {
	c.Helper()
	return c.post(c.message(space, sender, text, mentions...))
}

// storePost stores a message with its inbox entries and its event.
func storePost(tx hub.Tx, m shoal.Message) (shoal.Message, error) {
	s, err := tx.LockSpace(m.SessionID, m.SpaceID)
	if err != nil {
		return m, err
	}
	m.Seq = s.LastSeq + 1
	if err := tx.PostMessage(m, hub.PostKey{}); err != nil {
		return m, err
	}
	_, err = tx.Deliver(m)
	return m, err
}
