package hub_test

import (
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
	"github.com/shoal-dev/shoal/internal/hub/archive"
	"github.com/shoal-dev/shoal/internal/hub/inbox"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/shoaltest"
)

// A message that is delivered directly to a wait equals the message that the wait would
// have read, whatever it contains, and so does its space with its members.
func TestDirectDeliveryEqualsRead(t *testing.T) {
	for name, d := range map[string]shoal.Draft{
		"text":                       {Parts: []shoal.Part{shoal.Text("héllo\n\"<&>\u2028\" 🐟")}},
		"mentions and nobody":        {Parts: []shoal.Part{shoal.Text("x")}, Mentions: []shoal.EntityID{"bot", "ghost", "bot", "ann"}},
		"several texts":              {Parts: []shoal.Part{shoal.Text("a"), shoal.Text("b")}},
		"a link":                     {Parts: []shoal.Part{{Type: shoal.FilePart, Name: "a.png", MediaType: "image/png", Size: 7, URL: "https://example.com/a.png?x=<1>&y"}}},
		"data with spaces":           {Parts: []shoal.Part{{Type: shoal.DataPart, Name: "d", Data: json.RawMessage(" {\"b\" : [ 1.0, 1e3, -0 , null ],\n\"a\":\"\\u00e9<\\/\" } ")}}},
		"data that is not an object": {Parts: []shoal.Part{{Type: shoal.DataPart, Name: "d", Data: json.RawMessage(`"text"`)}}},
		"data with large numbers":    {Parts: []shoal.Part{{Type: shoal.DataPart, Name: "d", Data: json.RawMessage(`12345678901234567890.123`)}}},
		"fields that do not count": {Parts: []shoal.Part{{
			Type: shoal.TextPart, Text: "x", ID: "mine", Name: "n", URL: "u", Target: "bot", Private: true, Data: json.RawMessage(`1`),
		}}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h, readCounter := shopWithReadCounter(t)
				waited := make(chan *inbox.Delivery)
				go func() {
					d, err := h.Inbox.Wait(t.Context(), bot, &inbox.WaitRequest{Session: shoal.DefaultSession, Kind: shoal.WaitMessages, Timeout: time.Minute})
					if err != nil {
						t.Error(err)
						d = &inbox.Delivery{}
					}
					waited <- d
				}()
				synctest.Wait()
				before := readCounter.n.Load()
				_, err := h.Messages.Post(t.Context(), ann, shoal.DefaultSession, "shop", d, "")
				must(t, err)
				delivery := <-waited
				if readCounter.n.Load() != before {
					t.Fatal("the inbox was read; want direct delivery")
				}
				space, err := h.Spaces.GetWithMembers(t.Context(), bot, shoal.DefaultSession, "shop")
				must(t, err)
				if got, want := plain(t, delivery.Listed), plain(t, space); got != want {
					t.Errorf("the space that was delivered:\n%s\nread:\n%s", got, want)
				}
				direct := delivery.Result
				again, err := h.Inbox.Wait(t.Context(), bot, &inbox.WaitRequest{Session: shoal.DefaultSession, Kind: shoal.WaitMessages, Redeliver: true})
				must(t, err)
				if len(direct.Items) != 1 || len(direct.Items[0].Messages) != 1 {
					t.Fatalf("the wait returned %+v, want one message", direct)
				}
				read := again.Result
				for _, r := range []*shoal.WaitResult{&direct, &read} {
					r.Items[0].Messages[0].Delivery, r.TimeoutMs = 0, 0
				}
				if got, want := plain(t, direct), plain(t, read); got != want {
					t.Errorf("delivered directly:\n%s\nread:\n%s", got, want)
				}
			})
		})
	}
}

// A message causes no read of an inbox whose waits do not match it.
func TestUnrelatedMessagesCauseNoReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, readCounter := shopWithReadCounter(t)
		done := make(chan struct{})
		wait := func(caller shoal.Principal) {
			d, err := h.Inbox.Wait(t.Context(), caller, &inbox.WaitRequest{Session: shoal.DefaultSession, Kind: shoal.WaitMentions, Timeout: time.Minute})
			if err != nil || len(d.Result.Items) != 1 || d.Result.Items[0].Messages[0].Seq != 3 {
				t.Errorf("the wait of %s returned %+v, %v; want message 3", caller.KeyID, d, err)
			}
			done <- struct{}{}
		}
		for _, key := range []shoal.KeyID{"a", "b", "c"} {
			caller := bot
			caller.KeyID = key
			go wait(caller)
		}
		synctest.Wait()
		before := readCounter.n.Load()
		for _, d := range []shoal.Draft{
			{Parts: []shoal.Part{shoal.Text("to all")}},
			{Parts: []shoal.Part{shoal.Text("to all again")}},
			{Parts: []shoal.Part{shoal.Text("to bot")}, Mentions: []shoal.EntityID{"bot"}},
		} {
			_, err := h.Messages.Post(t.Context(), ann, shoal.DefaultSession, "shop", d, "")
			must(t, err)
			synctest.Wait()
		}
		for range 3 {
			<-done
		}
		if n := readCounter.n.Load() - before; n != 0 {
			t.Errorf("the inbox was read %d times, want 0", n)
		}
	})
}

// A message is delivered directly while the transaction of the next one assigns a place,
// without a race between the two: the race detector checks this test. The wait matches no
// message, so it remains open.
func TestDeliveryDuringNextTransaction(t *testing.T) {
	store := &overlapStore{Store: shoaltest.OpenSQLite(t)}
	h := shop(t, func(o *hub.Options) { o.Store = store })
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		_, err := h.Inbox.Wait(ctx, bot, &inbox.WaitRequest{
			Session: shoal.DefaultSession, Kind: shoal.WaitMessages, From: []shoal.EntityID{"cat"}, Timeout: time.Minute,
		})
		ended <- err
	}()
	for range 20 {
		store.committed, store.next = make(chan struct{}), make(chan struct{})
		var first sync.WaitGroup
		first.Go(func() {
			if _, err := say(h, "first"); err != nil {
				t.Error(err)
			}
		})
		<-store.committed
		_, err := say(h, "next")
		must(t, err)
		first.Wait()
	}
	stop()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the wait ended with %v before its caller canceled it", err)
	}
}

// overlapStore lets the Update of a message "first" return only when the Update of a message
// "next" runs.
type overlapStore struct {
	storage.Store
	// committed is closed when "first" is stored, next when "next" has a place
	// that no other goroutine knows yet.
	committed, next chan struct{}
}

func (s *overlapStore) Update(ctx context.Context, at storage.At, fn func(storage.Tx) error) error {
	first := false
	err := s.Store.Update(ctx, at, func(tx storage.Tx) error { return fn(overlapTx{tx, s, &first}) })
	if first {
		close(s.committed)
		<-s.next
	}
	return err
}

type overlapTx struct {
	storage.Tx
	store *overlapStore
	first *bool
}

func (tx overlapTx) Deliver(m shoal.Message, watching storage.EntitySet) (storage.Delivered, error) {
	d, err := tx.Tx.Deliver(m, watching)
	switch m.Text() {
	case "first":
		*tx.first = true
	case "next":
		close(tx.store.next)
		for range 1000 { // anything that waits for the delivery would hide the race
			runtime.Gosched()
		}
	}
	return d, err
}

// plain returns the JSON that a client receives.
func plain(t *testing.T, r any) string {
	text, err := shoal.EncodeJSON(r)
	must(t, err)
	return string(text)
}

// readCounter is a store that counts the reads of inboxes.
type readCounter struct {
	storage.Store
	n atomic.Int64
}

// shopWithReadCounter returns a shop and the counter of its inbox reads.
func shopWithReadCounter(t *testing.T) (*hub.Hub, *readCounter) {
	counted := &readCounter{Store: shoaltest.OpenSQLite(t)}
	return shop(t, func(o *hub.Options) { o.Store = counted }), counted
}

func (l *readCounter) View(ctx context.Context, fn func(storage.Tx) error) error {
	return l.Store.View(ctx, func(tx storage.Tx) error { return fn(unreadTx{tx, &l.n}) })
}

type unreadTx struct {
	storage.Tx
	n *atomic.Int64
}

func (l unreadTx) Unread(session shoal.SessionID, entity shoal.EntityID, filter storage.InboxFilter, limit int) ([]storage.InboxEntry, error) {
	l.n.Add(1)
	return l.Tx.Unread(session, entity, filter, limit)
}

// A wait that is open while its session is replaced returns nothing from the new session
// without the unread messages before it: a position may mean one entry in the old inbox and
// another in the new one.
func TestWaitDuringSessionReplacement(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &replaceStore{Store: shoaltest.OpenSQLite(t)}
		h := shop(t, func(o *hub.Options) { o.Store = store })
		say := func(text string) {
			_, err := h.Messages.Post(t.Context(), ann, shoal.DefaultSession, "shop", shoal.Draft{Parts: []shoal.Part{shoal.Text(text)}}, "")
			must(t, err)
		}
		wait := func(ack string) (*inbox.Delivery, error) {
			return h.Inbox.Wait(t.Context(), bot, &inbox.WaitRequest{Session: shoal.DefaultSession, Kind: shoal.WaitMessages, Timeout: time.Minute, Ack: ack})
		}
		say("unread")
		text := exported(t, h, shoal.DefaultSession)
		d, err := wait("")
		must(t, err)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			switch d, err := wait(*d.Result.Cursor); {
			case err == nil && d.Result.Items[0].Messages[0].Parts[0].Text != "unread":
				t.Errorf("the wait returned %+v, want the unread message first", d.Result)
			case err != nil && !errors.Is(err, shoal.NotFound):
				t.Errorf("the wait ends with %v, want NotFound", err)
			}
		}()
		synctest.Wait()
		store.replaced = func() { say("at the next place") }
		imported(t, h, shoal.DefaultSession, text, archive.ImportOptions{Replace: true})
		<-ended
		d, err = wait("")
		must(t, err)
		if got := d.Result.Items[0].Messages; len(got) != 2 || got[0].Parts[0].Text != "unread" {
			t.Errorf("got the unread messages %+v, want two, the first one \"unread\"", got)
		}
	})
}

// replaceStore is a store that calls replaced once a session is replaced, before the caller
// of Update returns.
type replaceStore struct {
	storage.Store
	replaced func()
}

func (r *replaceStore) Update(ctx context.Context, at storage.At, fn func(storage.Tx) error) error {
	ends := false
	err := r.Store.Update(ctx, storage.Global, func(tx storage.Tx) error { return fn(replaceTx{tx, &ends}) })
	if ends && err == nil {
		r.replaced()
	}
	return err
}

type replaceTx struct {
	storage.Tx
	ends *bool
}

func (i replaceTx) EndImport(stage shoal.SessionID, token string, session shoal.Session) error {
	*i.ends = true
	return i.Tx.EndImport(stage, token, session)
}
