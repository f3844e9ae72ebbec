package hub_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/feed"
	"github.com/shoal-dev/shoal/internal/hub/inbox"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/localbus"
	"github.com/shoal-dev/shoal/internal/shoaltest"
)

var (
	root = shoal.Principal{Role: shoal.RoleAdmin, KeyID: "root"}
	ann  = shoal.Principal{Role: shoal.RoleEntity, SessionID: shoal.DefaultSession, EntityID: "ann", KeyID: "ann"}
	bot  = shoal.Principal{Role: shoal.RoleEntity, SessionID: shoal.DefaultSession, EntityID: "bot", KeyID: "bot"}
)

// shop returns a hub with ann and bot in the space shop. options changes the options of the
// hub.
func shop(t *testing.T, options func(*hub.Options)) *hub.Hub {
	t.Helper()
	o := hub.Options{Bus: localbus.New()}
	if options != nil {
		options(&o)
	}
	if o.Store == nil {
		o.Store = shoaltest.OpenSQLite(t)
	}
	h := hub.New(o)
	ctx := context.Background()
	must(t, h.Start(ctx))
	t.Cleanup(h.Stop)
	for _, id := range []shoal.EntityID{"ann", "bot"} {
		_, err := h.Entities.Create(ctx, root, shoal.DefaultSession, shoal.NewEntity{ID: id}, "")
		must(t, err)
	}
	_, err := h.Spaces.Create(ctx, ann, shoal.DefaultSession, shoal.NewSpace{ID: "shop", Name: "shop", Members: []shoal.EntityID{"bot"}}, "")
	must(t, err)
	return h
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// say posts a message of ann that mentions bot.
func say(h *hub.Hub, text string) (shoal.Message, error) {
	draft := shoal.Draft{Parts: []shoal.Part{shoal.Text(text)}, Mentions: []shoal.EntityID{"bot"}}
	return h.Messages.Post(context.Background(), ann, shoal.DefaultSession, "shop", draft, "")
}

// mentions returns a request of bot to wait for mentions.
func mentions(timeout time.Duration, ack string) *inbox.WaitRequest {
	return &inbox.WaitRequest{Session: shoal.DefaultSession, Kind: shoal.WaitMentions, Timeout: timeout, Ack: ack}
}

// A server has a limit on open waits and rejects further ones with TooManyWaiters.
func TestTooManyWaiters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := shop(t, func(o *hub.Options) { o.MaxWaits = 2 })
		var open sync.WaitGroup
		for _, timeout := range []time.Duration{time.Minute, time.Hour} {
			open.Go(func() {
				if _, err := h.Inbox.Wait(t.Context(), bot, mentions(timeout, "")); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		if _, err := h.Inbox.Wait(t.Context(), ann, mentions(0, "")); !errors.Is(err, shoal.TooManyWaiters) {
			t.Errorf("the third wait: got %v, want %v", err, shoal.TooManyWaiters)
		}
		<-time.After(time.Minute)
		synctest.Wait()
		if _, err := h.Inbox.Wait(t.Context(), ann, mentions(0, "")); err != nil {
			t.Errorf("after one wait has ended: %v", err)
		}
		open.Wait()
	})
}

// A wait returns at most a hundred messages, and its cursor acknowledges exactly these.
func TestBatchLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := shop(t, nil)
		posts(t, h, 250)
		ack, next := "", int64(1)
		for _, want := range []int{100, 100, 50, 0} {
			d, err := h.Inbox.Wait(t.Context(), bot, mentions(0, ack))
			must(t, err)
			got := 0
			for _, item := range d.Result.Items {
				for _, m := range item.Messages {
					if m.Seq != next {
						t.Fatalf("got message %d, want %d", m.Seq, next)
					}
					next++
					got++
				}
			}
			if got != want {
				t.Fatalf("got a batch of %d messages, want %d", got, want)
			}
			if want > 0 {
				ack = *d.Result.Cursor
			}
		}
	})
}

// posts posts n messages concurrently, so that they share commits.
func posts(t *testing.T, h *hub.Hub, n int) {
	t.Helper()
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			if _, err := say(h, "hello"); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

// A follower that lags more than the window allows ends with Busy, and resumes from the
// store without losing events.
func TestSlowFollower(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := shop(t, nil)
		req := feed.FollowRequest{Session: shoal.DefaultSession, Space: "shop"}
		f, err := h.Events.Follow(t.Context(), bot, req)
		must(t, err)
		defer f.Close()
		events, err := f.Next(t.Context(), time.Now().Add(time.Second))
		must(t, err)
		if len(events) != 1 || events[0].Type != shoal.EventSnapshot {
			t.Fatalf("the stream starts with %v, want a snapshot", events)
		}
		const n = 1500
		posts(t, h, n)
		synctest.Wait()
		if _, err := f.Next(t.Context(), time.Now().Add(time.Second)); !errors.Is(err, shoal.Busy) {
			t.Errorf("a reader that lags %d events: got %v, want %v", n, err, shoal.Busy)
		}
		req.After = events[0].Cursor
		resumed, err := h.Events.Follow(t.Context(), bot, req)
		must(t, err)
		defer resumed.Close()
		want := []byte(nil)
		for seq := 1; seq <= n; {
			events, err := resumed.Next(t.Context(), time.Now().Add(time.Second))
			must(t, err)
			if len(events) == 0 {
				t.Fatalf("no events after message %d of %d", seq-1, n)
			}
			for _, ev := range events {
				want = fmt.Appendf(want[:0], `"seq":%d,`, seq)
				if ev.Type == shoal.EventMessageCreated && !bytes.Contains(ev.Data, want) {
					t.Fatalf("want message %d, got %s", seq, ev.Data)
				}
				if ev.Type == shoal.EventMessageCreated {
					seq++
				}
			}
		}
	})
}

// Stop ends waits as timed out and followers with ErrStopping. The hub does not use the
// store after Stop has returned.
func TestStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &closable{Store: shoaltest.OpenSQLite(t), t: t}
		h := shop(t, func(o *hub.Options) { o.Store = store })
		var ended sync.WaitGroup
		for range 3 {
			ended.Go(func() {
				d, err := h.Inbox.Wait(t.Context(), bot, mentions(time.Hour, ""))
				if err != nil || !d.Result.TimedOut {
					t.Errorf("the wait ended with %v, %v, want a time-out", d, err)
				}
			})
			ended.Go(func() {
				f, err := h.Events.Follow(t.Context(), ann, feed.FollowRequest{Session: shoal.DefaultSession})
				if err != nil {
					t.Error(err)
					return
				}
				defer f.Close()
				for err == nil {
					_, err = f.Next(t.Context(), time.Now().Add(time.Hour))
				}
				if !errors.Is(err, core.ErrStopping) {
					t.Errorf("the follower ended with %v, want ErrStopping", err)
				}
			})
		}
		ended.Go(func() {
			_, _, timedOut, err := h.Inbox.WaitForAgents(t.Context(), ann, shoal.DefaultSession, nil, 99, time.Hour)
			if err != nil || !timedOut {
				t.Errorf("the wait for agents ended with timedOut %t, %v", timedOut, err)
			}
		})
		synctest.Wait()
		begun := time.Now()
		h.Stop()
		store.closed.Store(true)
		ended.Wait()
		if took := time.Since(begun); took > 0 {
			t.Errorf("Stop took %v, want 0", took)
		}
		// This wait neither acknowledges nor reads, so it must not return a result.
		if d, err := h.Inbox.Wait(t.Context(), bot, mentions(time.Hour, "")); !errors.Is(err, core.ErrStopping) {
			t.Errorf("a wait after Stop: got %v, %v, want ErrStopping", d, err)
		}
		<-time.After(time.Hour)
		store.closed.Store(false) // the cleanup of the test calls Stop again
	})
}

// closable is a store that fails the test if it is used after it is closed.
type closable struct {
	storage.Store
	t      *testing.T
	closed atomic.Bool
}

// View implements [storage.Store].
func (c *closable) View(ctx context.Context, fn func(storage.Tx) error) error {
	if c.closed.Load() {
		c.t.Error("the store was read after Stop")
	}
	return c.Store.View(ctx, fn)
}

// Update implements [storage.Store].
func (c *closable) Update(ctx context.Context, at storage.At, fn func(storage.Tx) error) error {
	if c.closed.Load() {
		c.t.Error("the store was written after Stop")
	}
	return c.Store.Update(ctx, at, fn)
}

// A space has at most MaxMembers members, of which MaxNewMembers can be named when it is
// created.
func TestFullSpace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := shoaltest.OpenSQLite(t)
		h := shop(t, func(o *hub.Options) { o.Store = store })
		ctx, session := t.Context(), shoal.DefaultSession
		ids := crowd(t, store, shoal.MaxMembers)
		_, err := h.Spaces.Create(ctx, ann, session, shoal.NewSpace{ID: "crowd", Name: "crowd", Members: ids[:shoal.MaxNewMembers+1]}, "")
		if !errors.Is(err, shoal.InvalidArgument) {
			t.Errorf("a space for %d members at once: %v, want %v", shoal.MaxNewMembers+1, err, shoal.InvalidArgument)
		}
		s, err := h.Spaces.Create(ctx, ann, session, shoal.NewSpace{ID: "crowd", Name: "crowd", Members: ids[1 : shoal.MaxNewMembers+1]}, "")
		if err != nil || s.MemberCount != shoal.MaxNewMembers+1 || len(s.Members) != shoal.MaxListedMembers {
			t.Fatalf("a space for %d members has %d and lists %d, %v", shoal.MaxNewMembers, s.MemberCount, len(s.Members), err)
		}
		join(t, store, "crowd", ids[shoal.MaxNewMembers+1:])
		if _, err := h.Spaces.Join(ctx, ann, session, "crowd", ids[0]); !errors.Is(err, shoal.Conflict) || !strings.Contains(err.Error(), "Remove members") {
			t.Errorf("one more member: %v, want %v", err, shoal.Conflict)
		}
		if _, err := h.Spaces.Join(ctx, ann, session, "crowd", ids[1]); err != nil {
			t.Errorf("adding a member of a full space again: %v", err)
		}
		s, err = h.Spaces.Leave(ctx, ann, session, "crowd", ids[1])
		must(t, err)
		if s.MemberCount != shoal.MaxMembers-1 {
			t.Errorf("after one has left, there are %d members", s.MemberCount)
		}
		_, err = h.Spaces.Join(ctx, ann, session, "crowd", ids[0])
		must(t, err)
	})
}

// crowd creates n entities.
func crowd(t *testing.T, store storage.Store, n int) []shoal.EntityID {
	t.Helper()
	ids := make([]shoal.EntityID, n)
	must(t, store.Update(t.Context(), storage.Global, func(tx storage.Tx) error {
		for i := range ids {
			ids[i] = shoal.EntityID(fmt.Sprintf("e%05d", i))
			e := shoal.Entity{ID: ids[i], SessionID: shoal.DefaultSession, Kind: shoal.Agent, Name: fmt.Sprintf("Nr. %d", i), Metadata: []byte("{}"), CreatedAt: shoal.Now()}
			if err := tx.InsertEntity(e); err != nil {
				return err
			}
		}
		return nil
	}))
	return ids
}

// join makes entities members of a space without events.
func join(t *testing.T, store storage.Store, space shoal.SpaceID, ids []shoal.EntityID) {
	t.Helper()
	must(t, store.Update(t.Context(), storage.Global, func(tx storage.Tx) error {
		for _, id := range ids {
			if err := tx.InsertMember(shoal.DefaultSession, space, shoal.Member{EntityID: id, JoinedAt: shoal.Now()}); err != nil {
				return err
			}
		}
		return nil
	}))
}
