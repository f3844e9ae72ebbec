// Package storecase is what the conformance tests of a store share: a test case with a
// session of its own, functions that fill it, and sample values that are hard to store.
package storecase

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
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// Case is one test: a store, and a session of its own, so that tests can share a
// database.
type Case struct {
	*testing.T
	Store   storage.Store
	Session shoal.SessionID
}

// Suite is the tests of one noun, by the promise that each of them checks.
type Suite struct {
	Name  string
	Tests map[string]func(*Case)
}

var sessions atomic.Int64

// SessionID returns a new session id that begins with prefix.
func SessionID(prefix string) shoal.SessionID {
	return shoal.SessionID(fmt.Sprintf("%s%03d", prefix, sessions.Add(1)))
}

// New returns a case with a new, open session.
func New(t *testing.T, store storage.Store) *Case {
	t.Helper()
	c := &Case{T: t, Store: store, Session: SessionID("case")}
	c.Update(func(tx storage.Tx) error {
		return tx.InsertSession(shoal.Session{ID: c.Session, Name: t.Name(), Status: shoal.SessionStatusOpen, CreatedAt: Time(0)})
	})
	return c
}

// Time returns the time n microseconds after 10 o'clock.
func Time(n int) shoal.Time {
	return shoal.At(time.Date(2026, 11, 20, 10, 0, 0, n*1000, time.UTC))
}

// Close closes the store, as the end of the process would.
func (c *Case) Close() {
	c.Helper()
	if err := c.Store.(io.Closer).Close(); err != nil {
		c.Fatalf("close: %v", err)
	}
}

// Update runs fn in an Update and fails the test if it fails. fn runs on a goroutine of
// the store, so it must return its errors.
func (c *Case) Update(fn func(storage.Tx) error) {
	c.Helper()
	err := c.Store.Update(context.Background(), storage.Global, fn)
	for range busyRetries {
		if !errors.Is(err, shoal.Busy) {
			break
		}
		err = c.Store.Update(context.Background(), storage.Global, fn)
	}
	if err != nil {
		c.Fatalf("update: %v", err)
	}
}

// busyRetries bounds how often an Update is repeated that found the database busy, as errors
// advise: on a slow machine, the search index can hold a lock for longer than a writer waits.
const busyRetries = 5

// WantError runs fn in an Update and fails the test unless fn fails with an error of the kind
// and with a message for people.
func (c *Case) WantError(kind shoal.Kind, fn func(storage.Tx) error) {
	c.Helper()
	err := c.Store.Update(context.Background(), storage.Global, fn)
	var said *shoal.Error
	switch {
	case !errors.Is(err, kind):
		c.Fatalf("got error %v, want one of kind %s", err, kind)
	case !errors.As(err, &said) || !strings.HasSuffix(said.Msg, "."):
		c.Fatalf("%#v has no message for people", err)
	}
}

// WantNotFound runs fn in a View and fails the test unless it fails with NotFound.
func (c *Case) WantNotFound(fn func(storage.Tx) error) {
	c.Helper()
	if err := c.Store.View(context.Background(), fn); !errors.Is(err, shoal.NotFound) {
		c.Fatalf("got error %v, want one of kind %s", err, shoal.NotFound)
	}
}

// Read returns the result of fn in a View.
func Read[T any](c *Case, fn func(storage.Tx) (T, error)) (v T) {
	c.Helper()
	err := c.Store.View(context.Background(), func(tx storage.Tx) (err error) {
		v, err = fn(tx)
		return err
	})
	if err != nil {
		c.Fatalf("view: %v", err)
	}
	return v
}

// Do returns the result of fn in an Update.
func Do[T any](c *Case, fn func(storage.Tx) (T, error)) (v T) {
	c.Helper()
	c.Update(func(tx storage.Tx) (err error) {
		v, err = fn(tx)
		return err
	})
	return v
}

// Equal fails the test if two values differ in JSON: nil and empty lists differ, and so does
// every byte of raw JSON.
func Equal[T any](c *Case, what string, got, want T) {
	c.Helper()
	// JSON is compared as one value: byte by byte, cmp takes seconds under the race detector.
	whole := cmp.Comparer(func(a, b json.RawMessage) bool { return bytes.Equal(a, b) && (a == nil) == (b == nil) })
	times := cmp.Comparer(func(a, b shoal.Time) bool { return a.Equal(b.Time) && a.String() == b.String() })
	if diff := cmp.Diff(want, got, whole, times); diff != "" {
		c.Errorf("%s differs (- want, + got):\n%s", what, diff)
	}
}

// AddEntities creates agents with these ids; their names are the ids in capitals.
func (c *Case) AddEntities(ids ...shoal.EntityID) {
	c.Helper()
	c.Update(func(tx storage.Tx) error {
		for _, id := range ids {
			e := shoal.Entity{SessionID: c.Session, ID: id, Kind: shoal.Agent, Name: strings.ToUpper(string(id)), CreatedAt: Time(0)}
			if err := tx.InsertEntity(e); err != nil {
				return err
			}
		}
		return nil
	})
}

// AddSpace creates an open space with these members, in this order.
func (c *Case) AddSpace(id shoal.SpaceID, members ...shoal.EntityID) {
	c.Helper()
	c.Update(func(tx storage.Tx) error {
		s := shoal.Space{SessionID: c.Session, ID: id, Name: "The " + string(id), Status: shoal.SpaceStatusOpen, CreatedAt: Time(0)}
		if err := tx.InsertSpace(s); err != nil {
			return err
		}
		for _, member := range members {
			if err := tx.InsertMember(c.Session, id, shoal.Member{EntityID: member, JoinedAt: Time(0)}); err != nil {
				return err
			}
		}
		return nil
	})
}

// NewMessage returns a message with one text, without a position.
func (c *Case) NewMessage(space shoal.SpaceID, sender shoal.EntityID, text string, mentions ...shoal.EntityID) shoal.Message {
	return shoal.Message{
		ID: shoal.NewID[shoal.MessageID](shoal.PrefixMessage), SessionID: c.Session, SpaceID: space, EntityID: sender,
		Status: shoal.MessageCompleted, Mentions: append([]shoal.EntityID{}, mentions...), DroppedMentions: []shoal.EntityID{}, OnBehalfOf: []shoal.EntityID{}, Reactions: []shoal.Reaction{},
		CreatedAt: Time(1), UpdatedAt: Time(2),
		Parts: []shoal.Part{{ID: "prt_1", Type: shoal.TextPart, Text: text, Status: shoal.PartDone}},
	}
}

// Post stores m like the hub, with its position, its inbox entries and an event.
func (c *Case) Post(m shoal.Message) shoal.Message {
	c.Helper()
	return Do(c, func(tx storage.Tx) (shoal.Message, error) { return Post(tx, m) })
}

// Say posts a message with one text.
func (c *Case) Say(space shoal.SpaceID, sender shoal.EntityID, text string, mentions ...shoal.EntityID) shoal.Message {
	c.Helper()
	return c.Post(c.NewMessage(space, sender, text, mentions...))
}

// Post stores a message with its inbox entries and its event.
func Post(tx storage.Tx, m shoal.Message) (shoal.Message, error) {
	s, err := tx.LockSpace(m.SessionID, m.SpaceID)
	if err != nil {
		return m, err
	}
	m.Seq = s.LastSeq + 1
	if err := tx.PostMessage(m, storage.PostKey{}); err != nil {
		return m, err
	}
	_, err = tx.Deliver(m, nil)
	return m, err
}
