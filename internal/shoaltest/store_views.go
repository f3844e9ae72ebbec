package shoaltest

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
)

var viewTests = map[string]func(*storeCase){
	"it sees one snapshot, whatever is committed meanwhile": func(c *storeCase) {
		c.entities("ann")
		var before, after []shoal.Entity
		err := c.store.View(context.Background(), func(tx hub.Tx) (err error) {
			if before, err = tx.Entities(c.session, "", 10); err != nil {
				return err
			}
			// A View runs on the goroutine of its caller, so the test may act in it.
			c.entities("bob")
			after, err = tx.Entities(c.session, "", 10)
			return err
		})
		if err != nil {
			c.Fatal(err)
		}
		same(c, "the second reading", after, before)
		if n := len(seen(c, func(tx hub.Tx) ([]shoal.Entity, error) { return tx.Entities(c.session, "", 10) })); n != 2 {
			c.Errorf("the next View sees %d entities, want 2", n)
		}
	},

	"views run beside each other": func(c *storeCase) {
		var both, views sync.WaitGroup
		both.Add(2)
		for range 2 {
			views.Go(func() {
				_ = c.store.View(context.Background(), func(hub.Tx) error {
					both.Done()
					both.Wait()
					return nil
				})
			})
		}
		views.Wait()
	},

	"the error of fn comes back as it is": func(c *storeCase) {
		err := c.store.View(context.Background(), func(hub.Tx) error { return errOfTheCaller })
		if err != errOfTheCaller { //nolint:errorlint // the very error is promised
			c.Errorf("got %v", err)
		}
	},

	"it changes nothing": func(c *storeCase) {
		err := c.store.View(context.Background(), func(tx hub.Tx) error {
			return tx.InsertEntity(shoal.Entity{SessionID: c.session, ID: "ann", Kind: shoal.Agent})
		})
		if !errors.Is(err, shoal.Internal) {
			c.Errorf("got %v", err)
		}
		c.absent(func(tx hub.Tx) error { _, err := tx.Entity(c.session, "ann"); return err })
	},

	"a panic of fn is the caller's, and others go on": func(c *storeCase) {
		for range 20 { // more than a store has connections
			func() {
				defer func() {
					if recover() == nil {
						c.Error("the panic is lost")
					}
				}()
				_ = c.store.View(context.Background(), func(hub.Tx) error { panic("oops") })
			}()
		}
		seen(c, func(tx hub.Tx) (shoal.Session, error) { return tx.Session(c.session) })
	},

	"a context that has ended reads nothing": func(c *storeCase) {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		err := c.store.View(ctx, func(hub.Tx) error {
			c.Error("it ran")
			return nil
		})
		if !errors.Is(err, context.Canceled) {
			c.Errorf("got %v", err)
		}
	},
}

// reopenTests are about the life of a database; reopen opens it once more.
var reopenTests = map[string]func(c *storeCase, reopen func() *storeCase){
	"everything is there again": func(c *storeCase, reopen func() *storeCase) {
		c.entities("ann", "bob")
		c.space("shop", "ann", "bob")
		m := c.say("shop", "ann", "Are you there?", "bob")
		epoch := c.store.Epoch()
		c.close()
		again := reopen()
		if again.store.Epoch() == epoch {
			c.Errorf("the database has the epoch %q once more", epoch)
		}
		same(again, "the timeline", seen(again, func(tx hub.Tx) ([]shoal.Message, error) {
			return tx.Messages(c.session, "shop", hub.Page{Limit: 10})
		}), []shoal.Message{m})
		unread := seen(again, func(tx hub.Tx) ([]hub.InboxEntry, error) {
			return tx.Unread(c.session, "bob", hub.InboxFilter{}, 10)
		})
		if len(unread) != 1 || unread[0].Reason != shoal.ReasonMention {
			c.Errorf("the inbox holds %v", unread)
		}
		found := seen(again, func(tx hub.Tx) (hub.SearchResult, error) {
			return tx.Search(c.session, hub.SearchQuery{Query: Words("there"), Limit: 10})
		})
		if len(found.Found) != 1 {
			c.Errorf("the search finds %v", found)
		}
	},

	"a place is known to later openings until one of them gives it": func(c *storeCase, reopen func() *storeCase) {
		c.entities("ann", "bob")
		c.space("shop", "ann", "bob")
		c.say("shop", "ann", "One.")
		end := func(c *storeCase) int64 {
			return seen(c, func(tx hub.Tx) (int64, error) { return tx.EventEnd(c.session) })
		}
		descends := func(c *storeCase, epoch string, place int64) bool {
			return seen(c, func(tx hub.Tx) (bool, error) { return tx.Descends(c.session, epoch, place) })
		}
		first, before := c.store.Epoch(), end(c)
		c.close()
		again := reopen()
		again.session = c.session
		same(again, "the last place", descends(again, first, before), true)
		same(again, "a place beyond the end", descends(again, first, before+1), false)
		same(again, "an epoch that never was", descends(again, "another", before), false)
		again.say("shop", "ann", "Two.")
		same(again, "the last place, once more is written", descends(again, first, before), true)
		same(again, "the place that was given again", descends(again, first, before+1), false)
		same(again, "the place of this opening", descends(again, again.store.Epoch(), before+1), true)
	},

	"another database has another epoch": func(c *storeCase, _ func() *storeCase) {
		epochs.Lock()
		defer epochs.Unlock()
		epoch := c.store.Epoch()
		if other, ok := epochs.of[epoch]; ok || epoch == "" {
			c.Errorf("the epoch %q is also that of %s", epoch, other)
		}
		epochs.of[epoch] = c.Name()
	},

	"a closed store refuses, and closing again is fine": func(c *storeCase, _ func() *storeCase) {
		c.close()
		c.close()
		for what, call := range map[string]func(context.Context, func(hub.Tx) error) error{"Update": c.store.Update, "View": c.store.View} {
			err := call(context.Background(), func(hub.Tx) error {
				c.Error("it ran")
				return nil
			})
			if !errors.Is(err, shoal.Busy) {
				c.Errorf("%s got %v, want an error of kind %s", what, err, shoal.Busy)
			}
		}
	},

	"closed in the middle it has done what it acknowledged, and nothing that it refused": closeInTheMiddle,

	"two stores on one database agree": func(c *storeCase, reopen func() *storeCase) {
		c.entities("ann", "bob")
		c.space("a", "ann", "bob")
		c.space("b", "ann", "bob")
		other := reopen()
		other.session = c.session
		const posts = 40
		var writing sync.WaitGroup
		for _, writer := range []*storeCase{c, other} {
			for range 4 {
				writing.Go(func() {
					for i := range posts / 4 {
						m := c.message([]shoal.SpaceID{"a", "b"}[i%2], "ann", "hello")
						if err := writer.store.Update(context.Background(), func(tx hub.Tx) error { _, err := storePost(tx, m); return err }); err != nil {
							c.Errorf("post: %v", err)
						}
						checkPlaces(writer)
					}
				})
			}
		}
		writing.Wait()
		for _, reader := range []*storeCase{c, other} {
			if n := checkPlaces(reader); n != 2*posts {
				c.Errorf("%d events, want %d", n, 2*posts)
			}
		}
	},
}

// epochs remembers what epochs the stores of this process had.
var epochs = struct {
	sync.Mutex
	of map[string]string
}{of: map[string]string{}}

// closeInTheMiddle closes a store under load and counts.
func closeInTheMiddle(c *storeCase, reopen func() *storeCase) {
	c.entities("ann", "bob")
	c.space("shop", "ann", "bob")
	type attempt struct {
		id  shoal.MessageID
		err error
	}
	attempts := make(chan attempt, 64)
	var writing sync.WaitGroup
	for range 32 {
		writing.Go(func() {
			for {
				m := c.message("shop", "ann", "hello")
				err := c.store.Update(context.Background(), func(tx hub.Tx) error { _, err := storePost(tx, m); return err })
				attempts <- attempt{m.ID, err}
				if err != nil {
					return
				}
			}
		})
	}
	go func() {
		writing.Wait()
		close(attempts)
	}()
	outcome := map[shoal.MessageID]error{}
	for a := range attempts {
		outcome[a.id] = a.err
		if len(outcome) == 100 {
			go func() { _ = c.store.(io.Closer).Close() }()
		}
		if a.err != nil && !errors.Is(a.err, shoal.Busy) {
			c.Errorf("an Update got %v, want an error of kind %s", a.err, shoal.Busy)
		}
	}
	c.close()
	stored := map[shoal.MessageID]bool{}
	again := reopen()
	for _, m := range seen(again, func(tx hub.Tx) ([]shoal.Message, error) {
		return tx.Messages(c.session, "shop", hub.Page{Limit: 1_000_000})
	}) {
		stored[m.ID] = true
	}
	for id, err := range outcome {
		if (err == nil) != stored[id] {
			c.Errorf("message %s: the store said %v, but stored is %v", id, err, stored[id])
		}
	}
}
