package storetest

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/shoaltest/storetest/storecase"
)

var viewTests = map[string]func(*storecase.Case){
	"a view reads one snapshot, whatever is committed meanwhile": func(c *storecase.Case) {
		c.AddEntities("ann")
		var before, after []shoal.Entity
		err := c.Store.View(context.Background(), func(tx storage.Tx) (err error) {
			if before, err = tx.Entities(c.Session, "", 10); err != nil {
				return err
			}
			// A View runs on the goroutine of its caller, so the test may act in it.
			c.AddEntities("bob")
			after, err = tx.Entities(c.Session, "", 10)
			return err
		})
		if err != nil {
			c.Fatal(err)
		}
		storecase.Equal(c, "the second reading", after, before)
		if n := len(storecase.Read(c, func(tx storage.Tx) ([]shoal.Entity, error) { return tx.Entities(c.Session, "", 10) })); n != 2 {
			c.Errorf("the next View sees %d entities, want 2", n)
		}
	},

	"views run concurrently": func(c *storecase.Case) {
		var both, views sync.WaitGroup
		both.Add(2)
		for range 2 {
			views.Go(func() {
				_ = c.Store.View(context.Background(), func(storage.Tx) error {
					both.Done()
					both.Wait()
					return nil
				})
			})
		}
		views.Wait()
	},

	"the error of fn is returned unchanged": func(c *storecase.Case) {
		err := c.Store.View(context.Background(), func(storage.Tx) error { return storecase.ErrCaller })
		if err != storecase.ErrCaller { //nolint:errorlint // the very error is promised
			c.Errorf("got %v", err)
		}
	},

	"it changes nothing": func(c *storecase.Case) {
		err := c.Store.View(context.Background(), func(tx storage.Tx) error {
			return tx.InsertEntity(shoal.Entity{SessionID: c.Session, ID: "ann", Kind: shoal.Agent})
		})
		if !errors.Is(err, shoal.Internal) {
			c.Errorf("got %v", err)
		}
		c.WantNotFound(func(tx storage.Tx) error { _, err := tx.Entity(c.Session, "ann"); return err })
	},

	"a panic of fn reaches the caller, and later views work": func(c *storecase.Case) {
		for range 20 { // more than a store has connections
			func() {
				defer func() {
					if recover() == nil {
						c.Error("the panic is lost")
					}
				}()
				_ = c.Store.View(context.Background(), func(storage.Tx) error { panic("oops") })
			}()
		}
		storecase.Read(c, func(tx storage.Tx) (shoal.Session, error) { return tx.Session(c.Session) })
	},

	"nothing is read with a context that has ended": func(c *storecase.Case) {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		err := c.Store.View(ctx, func(storage.Tx) error {
			c.Error("it ran")
			return nil
		})
		if !errors.Is(err, context.Canceled) {
			c.Errorf("got %v", err)
		}
	},
}

// reopenTests are about the life of a database; reopen opens it once more.
var reopenTests = map[string]func(c *storecase.Case, reopen func() *storecase.Case){
	"everything is stored": func(c *storecase.Case, reopen func() *storecase.Case) {
		c.AddEntities("ann", "bob")
		c.AddSpace("shop", "ann", "bob")
		m := c.Say("shop", "ann", "Are you there?", "bob")
		epoch := c.Store.Epoch()
		c.Close()
		again := reopen()
		if again.Store.Epoch() == epoch {
			c.Errorf("the database has the epoch %q once more", epoch)
		}
		storecase.Equal(again, "the timeline", storecase.Read(again, func(tx storage.Tx) ([]shoal.Message, error) {
			return tx.Messages(c.Session, "shop", storage.Page{Limit: 10})
		}), []shoal.Message{m})
		unread := storecase.Read(again, func(tx storage.Tx) ([]storage.InboxEntry, error) {
			return tx.Unread(c.Session, "bob", storage.InboxFilter{}, 10)
		})
		if len(unread) != 1 || unread[0].Reason != shoal.ReasonMention {
			c.Errorf("the inbox holds %v", unread)
		}
		found := storecase.Read(again, func(tx storage.Tx) (storage.SearchResult, error) {
			return tx.Search(c.Session, storage.SearchQuery{Query: storecase.Query("there"), Limit: 10})
		})
		if len(found.Found) != 1 {
			c.Errorf("the search finds %v", found)
		}
	},

	"a position is valid in later openings until one of them assigns it again": func(c *storecase.Case, reopen func() *storecase.Case) {
		c.AddEntities("ann", "bob")
		c.AddSpace("shop", "ann", "bob")
		c.Say("shop", "ann", "One.")
		end := func(c *storecase.Case) int64 {
			return storecase.Read(c, func(tx storage.Tx) (int64, error) { return tx.EventEnd(c.Session) })
		}
		descends := func(c *storecase.Case, epoch string, place int64) bool {
			return storecase.Read(c, func(tx storage.Tx) (bool, error) { return tx.Descends(c.Session, epoch, place) })
		}
		first, before := c.Store.Epoch(), end(c)
		c.Close()
		again := reopen()
		again.Session = c.Session
		storecase.Equal(again, "the last place", descends(again, first, before), true)
		storecase.Equal(again, "a place beyond the end", descends(again, first, before+1), false)
		storecase.Equal(again, "an epoch that never was", descends(again, "another", before), false)
		again.Say("shop", "ann", "Two.")
		storecase.Equal(again, "the last place, once more is written", descends(again, first, before), true)
		storecase.Equal(again, "the place that was given again", descends(again, first, before+1), false)
		storecase.Equal(again, "the place of this opening", descends(again, again.Store.Epoch(), before+1), true)
	},

	"another database has another epoch": func(c *storecase.Case, _ func() *storecase.Case) {
		epochs.Lock()
		defer epochs.Unlock()
		epoch := c.Store.Epoch()
		if other, ok := epochs.of[epoch]; ok || epoch == "" {
			c.Errorf("the epoch %q is also that of %s", epoch, other)
		}
		epochs.of[epoch] = c.Name()
	},

	"a closed store refuses calls, and Close can be repeated": func(c *storecase.Case, _ func() *storecase.Case) {
		c.Close()
		c.Close()
		for what, call := range map[string]func(context.Context, func(storage.Tx) error) error{"Update": func(ctx context.Context, fn func(storage.Tx) error) error {
			return c.Store.Update(ctx, storage.Global, fn)
		}, "View": c.Store.View} {
			err := call(context.Background(), func(storage.Tx) error {
				c.Error("it ran")
				return nil
			})
			if !errors.Is(err, shoal.Busy) {
				c.Errorf("%s got %v, want an error of kind %s", what, err, shoal.Busy)
			}
		}
	},

	"closed in the middle it has done what it acknowledged, and nothing that it refused": closeInTheMiddle,

	"two stores on one database agree": func(c *storecase.Case, reopen func() *storecase.Case) {
		c.AddEntities("ann", "bob")
		c.AddSpace("a", "ann", "bob")
		c.AddSpace("b", "ann", "bob")
		other := reopen()
		other.Session = c.Session
		const posts = 40
		var writing sync.WaitGroup
		for _, writer := range []*storecase.Case{c, other} {
			for range 4 {
				writing.Go(func() {
					for i := range posts / 4 {
						m := c.NewMessage([]shoal.SpaceID{"a", "b"}[i%2], "ann", "hello")
						if err := writer.Store.Update(context.Background(), storage.Global, func(tx storage.Tx) error { _, err := storecase.Post(tx, m); return err }); err != nil {
							c.Errorf("post: %v", err)
						}
						checkPlaces(writer)
					}
				})
			}
		}
		writing.Wait()
		for _, reader := range []*storecase.Case{c, other} {
			if n := checkPlaces(reader); n != 2*posts {
				c.Errorf("%d events, want %d", n, 2*posts)
			}
		}
	},
}

// epochs contains the epochs of all stores of this process.
var epochs = struct {
	sync.Mutex
	of map[string]string
}{of: map[string]string{}}

// closeInTheMiddle closes a store under load and counts the stored messages.
func closeInTheMiddle(c *storecase.Case, reopen func() *storecase.Case) {
	c.AddEntities("ann", "bob")
	c.AddSpace("shop", "ann", "bob")
	type attempt struct {
		id  shoal.MessageID
		err error
	}
	attempts := make(chan attempt, 64)
	var writing sync.WaitGroup
	for range 32 {
		writing.Go(func() {
			for {
				m := c.NewMessage("shop", "ann", "hello")
				err := c.Store.Update(context.Background(), storage.Global, func(tx storage.Tx) error { _, err := storecase.Post(tx, m); return err })
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
			go func() { _ = c.Store.(io.Closer).Close() }()
		}
		if a.err != nil && !errors.Is(a.err, shoal.Busy) {
			c.Errorf("an Update got %v, want an error of kind %s", a.err, shoal.Busy)
		}
	}
	c.Close()
	stored := map[shoal.MessageID]bool{}
	again := reopen()
	for _, m := range storecase.Read(again, func(tx storage.Tx) ([]shoal.Message, error) {
		return tx.Messages(c.Session, "shop", storage.Page{Limit: 1_000_000})
	}) {
		stored[m.ID] = true
	}
	for id, err := range outcome {
		if (err == nil) != stored[id] {
			c.Errorf("message %s: the store said %v, but stored is %v", id, err, stored[id])
		}
	}
}
