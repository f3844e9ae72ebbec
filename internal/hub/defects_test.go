package hub_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
	"github.com/shoal-dev/shoal/internal/hub/inbox"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/localbus"
	"github.com/shoal-dev/shoal/internal/shoaltest"
)

// Defects of earlier systems in the hub's area, one test for each, so that none of them
// returns. The numbers are those of docs/defects.md.
func TestDefects(t *testing.T) {
	for name, test := range map[string]func(t *testing.T, d *defects){
		"S1 a message between the check and the wait was lost for good":     messageBetweenCheckAndWait,
		"S2 a second wait of an agent took the first one's place":           secondWait,
		"S3 a message was marked read before the answer was written":        readBeforeWritten,
		"S4 one wake-up delivered one message and kept back the rest":       wakeUpWithAllUnread,
		"S5 lists were changed while others read them":                      everythingAtOnce,
		"S9 the unread of one agent was looked for in every thread":         unreadOfOneAmongMany,
		"L1 who did not take part in a thread could post to it":             strangerPosts,
		"L2 anybody closed a thread, its messages went, nobody was woken":   closing,
		"L3 what is delivered depended on a clock that the caller gave":     callersClock,
		"L4 a wait for another agent's message returned one's own":          ownMessage,
		"L5 a wait that had timed out was never removed":                    timedOutWaitStays,
		"L18 a message that raced with the close was added to a closed one": postRacesClose,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := &defects{bus: &shoaltest.Listeners{Bus: localbus.New()}}
				d.store = newLedger(shoaltest.OpenSQLite(t))
				d.hub = shop(t, func(o *hub.Options) { o.Store, o.Bus = d.store, d.bus })
				test(t, d)
			})
		})
	}
}

// defects is the hub that a test of a defect uses.
type defects struct {
	hub   *hub.Hub
	store *ledger
	bus   *shoaltest.Listeners
}

// wait waits as bot in a goroutine and sends the response to the returned channel.
func (d *defects) wait(t *testing.T, key shoal.KeyID, req *inbox.WaitRequest) <-chan *inbox.Delivery {
	caller := bot
	caller.KeyID = key
	answer := make(chan *inbox.Delivery, 1)
	go func() {
		got, err := d.hub.Inbox.Wait(context.Background(), caller, req)
		if err != nil {
			t.Errorf("wait: %v", err)
		}
		answer <- got
	}()
	return answer
}

// texts returns the texts of the messages in a response.
func texts(d *inbox.Delivery) (out []string) {
	for _, item := range d.Result.Items {
		for _, m := range item.Messages {
			out = append(out, m.Text())
		}
	}
	return out
}

func wantTexts(t *testing.T, d *inbox.Delivery, want ...string) {
	t.Helper()
	if got := texts(d); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the wait returned %q, want %q", got, want)
	}
}

func (d *defects) say(t *testing.T, text string) shoal.Message {
	t.Helper()
	m, err := say(d.hub, text)
	must(t, err)
	return m
}

// M1 is committed at every moment of a wait that reads slowly, including the moment after
// it has read an empty inbox; M2 follows. The cursor of the response must not skip M1.
func messageBetweenCheckAndWait(t *testing.T, d *defects) {
	ack := ""
	for at := time.Duration(0); at < 100*time.Millisecond; at += 5 * time.Millisecond {
		d.store.delays.setFixed(10 * time.Millisecond) // before and after it reads
		answer := d.wait(t, "k", mentions(time.Minute, ack))
		<-time.After(at)
		d.store.delays.setFixed(0)
		d.say(t, "M1")
		first := <-answer
		wantTexts(t, first, "M1")
		d.say(t, "M2")
		second := <-d.wait(t, "k", mentions(0, *first.Result.Cursor))
		wantTexts(t, second, "M2")
		ack = *second.Result.Cursor
	}
}

func secondWait(t *testing.T, d *defects) {
	first := d.wait(t, "a", mentions(time.Minute, ""))
	synctest.Wait()
	second := d.wait(t, "b", mentions(time.Minute, ""))
	synctest.Wait()
	d.say(t, "both")
	wantTexts(t, <-first, "both")
	wantTexts(t, <-second, "both")
	third := d.wait(t, "c", mentions(time.Minute, ""))
	wantTexts(t, <-third, "both") // the first two have not acknowledged it for the third
}

func readBeforeWritten(t *testing.T, d *defects) {
	d.say(t, "M")
	(<-d.wait(t, "k", mentions(0, ""))).Settle(false) // the connection breaks
	again := <-d.wait(t, "k", mentions(0, ""))
	wantTexts(t, again, "M")
	again.Settle(true)
	wantTexts(t, <-d.wait(t, "k", mentions(0, "")))
}

func wakeUpWithAllUnread(t *testing.T, d *defects) {
	d.say(t, "M1")
	wantTexts(t, <-d.wait(t, "k", mentions(time.Minute, "")), "M1")
	d.say(t, "M2")
	d.say(t, "M3")
	wantTexts(t, <-d.wait(t, "k", mentions(time.Minute, "")), "M1", "M2", "M3")
}

// The race detector checks this test.
func everythingAtOnce(t *testing.T, d *defects) {
	ctx, session := context.Background(), shoal.DefaultSession
	var all sync.WaitGroup
	for n := range 8 {
		name := fmt.Sprintf("name %d", n)
		for _, do := range []func() error{
			func() error { _, err := say(d.hub, name); return err },
			func() error {
				_, err := d.hub.Messages.Read(ctx, bot, session, "shop", storage.Page{Limit: 50})
				return err
			},
			func() error { _, err := d.hub.Spaces.List(ctx, bot, session, storage.SpaceFilter{}); return err },
			func() error { _, err := d.hub.Entities.List(ctx, bot, session, "", 50); return err },
			func() error {
				_, err := d.hub.Spaces.Update(ctx, ann, session, "shop", shoal.SpaceChange{Name: &name})
				return err
			},
			func() error {
				_, err := d.hub.Entities.Update(ctx, bot, session, "bot", shoal.EntityChange{Name: &name})
				return err
			},
			func() error { _, err := d.hub.Inbox.Wait(ctx, bot, mentions(time.Millisecond, "")); return err },
		} {
			all.Go(func() {
				if err := do(); err != nil {
					t.Error(err)
				}
			})
		}
	}
	all.Wait()
}

// The cost of a wait does not grow with the spaces and messages of others.
func unreadOfOneAmongMany(t *testing.T, d *defects) {
	ctx, session := context.Background(), shoal.DefaultSession
	d.say(t, "for bot")
	entries := func() (read int) {
		must(t, d.store.Store.View(ctx, func(tx storage.Tx) error {
			found, err := tx.Unread(session, "bot", storage.InboxFilter{Kind: shoal.WaitMentions}, shoal.MaxBatch)
			read = len(found)
			return err
		}))
		return read
	}
	for n := range 20 {
		id := shoal.SpaceID(fmt.Sprintf("other%d", n))
		_, err := d.hub.Spaces.Create(ctx, ann, session, shoal.NewSpace{ID: id, Name: "other", Members: []shoal.EntityID{"bot"}}, "")
		must(t, err)
		for range 5 { // unread, but no mention
			_, err := d.hub.Messages.Post(ctx, ann, session, id, shoal.Draft{Parts: []shoal.Part{shoal.Text("same text")}}, "")
			must(t, err)
		}
	}
	if n := entries(); n != 1 {
		t.Errorf("a wait read %d entries, want 1: one mention among 101 messages", n)
	}
	wantTexts(t, <-d.wait(t, "k", mentions(0, "")), "for bot")
}

func strangerPosts(t *testing.T, d *defects) {
	ctx, session := context.Background(), shoal.DefaultSession
	_, err := d.hub.Entities.Create(ctx, root, session, shoal.NewEntity{ID: "eve"}, "")
	must(t, err)
	eve := shoal.Principal{Role: shoal.RoleEntity, SessionID: session, EntityID: "eve", KeyID: "eve"}
	draft := shoal.Draft{Parts: []shoal.Part{shoal.Text("hello")}}
	_, there := d.hub.Messages.Post(ctx, eve, session, "shop", draft, "")
	_, nowhere := d.hub.Messages.Post(ctx, eve, session, "none", draft, "")
	if !errors.Is(there, shoal.NotFound) || !errors.Is(nowhere, shoal.NotFound) {
		t.Errorf("a stranger's posts to a space and to an unknown one: got %v, %v, want NotFound", there, nowhere)
	}
	if all, err := d.hub.Messages.Read(ctx, ann, session, "shop", storage.Page{Limit: 50}); err != nil || len(all) > 0 {
		t.Errorf("the timeline holds %v, %v", all, err)
	}
}

func closing(t *testing.T, d *defects) {
	ctx, session := context.Background(), shoal.DefaultSession
	_, err := d.hub.Entities.Create(ctx, root, session, shoal.NewEntity{ID: "eve"}, "")
	must(t, err)
	eve := shoal.Principal{Role: shoal.RoleEntity, SessionID: session, EntityID: "eve", KeyID: "eve"}
	if _, err := d.hub.Spaces.Close(ctx, eve, session, "shop", "mine"); !errors.Is(err, shoal.NotFound) {
		t.Errorf("a stranger's close: %v", err)
	}
	d.say(t, "M")
	got := <-d.wait(t, "k", mentions(0, ""))
	got.Settle(true)
	answer := d.wait(t, "k", mentions(time.Minute, ""))
	synctest.Wait()
	_, err = d.hub.Spaces.Close(ctx, ann, session, "shop", "done")
	must(t, err)
	wantTexts(t, <-answer, "Thread closed: done")
	all, err := d.hub.Messages.Read(ctx, bot, session, "shop", storage.Page{Limit: 50})
	if err != nil || len(all) != 2 {
		t.Errorf("the history holds %v, %v", all, err)
	}
}

// No input of a caller is a time. Messages from yesterday and between two waits are
// delivered as they were stored, whatever any clock says.
func callersClock(t *testing.T, d *defects) {
	d.say(t, "yesterday")
	<-time.After(24 * time.Hour)
	first := <-d.wait(t, "k", mentions(0, ""))
	wantTexts(t, first, "yesterday")
	d.say(t, "between")
	<-time.After(time.Hour)
	wantTexts(t, <-d.wait(t, "k", mentions(0, *first.Result.Cursor)), "between")
}

func ownMessage(t *testing.T, d *defects) {
	ctx, session := context.Background(), shoal.DefaultSession
	draft := shoal.Draft{Parts: []shoal.Part{shoal.Text("mine")}, Mentions: []shoal.EntityID{"bot", "ann"}}
	answer := d.wait(t, "k", &inbox.WaitRequest{Session: session, Kind: shoal.WaitMessages, Timeout: time.Minute})
	synctest.Wait()
	_, err := d.hub.Messages.Post(ctx, bot, session, "shop", draft, "")
	must(t, err)
	d.say(t, "hers")
	wantTexts(t, <-answer, "hers")
}

func timedOutWaitStays(t *testing.T, d *defects) {
	for range 10 {
		if got := <-d.wait(t, "k", mentions(time.Second, "")); !got.Result.TimedOut {
			t.Fatal("a wait without messages did not time out")
		}
	}
	synctest.Wait()
	if n := d.bus.Open(); n != 0 {
		t.Errorf("after ten timed-out waits, %d subscriptions are open, want 0", n)
	}
	e, err := d.hub.Entities.Get(context.Background(), ann, shoal.DefaultSession, "bot")
	if err != nil || e.State == shoal.Waiting || e.WaitEndsAt != nil {
		t.Errorf("bot is shown as %s until %v, %v", e.State, e.WaitEndsAt, err)
	}
}

func postRacesClose(t *testing.T, d *defects) {
	ctx, session := context.Background(), shoal.DefaultSession
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if _, err := say(d.hub, "M"); err != nil && !errors.Is(err, shoal.SpaceClosed) {
				t.Error(err)
			}
		})
	}
	all.Go(func() {
		if _, err := d.hub.Spaces.Close(ctx, ann, session, "shop", "done"); err != nil {
			t.Error(err)
		}
	})
	all.Wait()
	timeline, err := d.hub.Messages.Read(ctx, ann, session, "shop", storage.Page{Limit: 50})
	must(t, err)
	if last := timeline[len(timeline)-1]; last.EntityID != shoal.System {
		t.Errorf("the last message after the close is %q of %s, want the system message", last.Text(), last.EntityID)
	}
}
