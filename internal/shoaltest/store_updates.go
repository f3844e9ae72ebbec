package shoaltest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
)

var errOfTheCaller = errors.New("the caller's own error")

var updateTests = map[string]func(*storeCase){
	"what it did is there when it returns": func(c *storeCase) {
		for i := range 50 {
			id := shoal.EntityID(fmt.Sprintf("e%d", i))
			c.entities(id)
			seen(c, func(tx hub.Tx) (shoal.Entity, error) { return tx.Entity(c.session, id) })
		}
	},

	"it sees what it has done itself": func(c *storeCase) {
		c.update(func(tx hub.Tx) error {
			err := tx.InsertEntity(shoal.Entity{SessionID: c.session, ID: "ann", Kind: shoal.Human, Name: "Ann"})
			if err != nil {
				return err
			}
			_, err = tx.Entity(c.session, "ann")
			return err
		})
	},

	"the error of fn comes back as it is, and nothing is kept": func(c *storeCase) {
		err := c.store.Update(context.Background(), func(tx hub.Tx) error {
			if err := tx.InsertEntity(shoal.Entity{SessionID: c.session, ID: "ann", Kind: shoal.Human}); err != nil {
				return err
			}
			return errOfTheCaller
		})
		if err != errOfTheCaller { //nolint:errorlint // the very error is promised
			c.Errorf("got %v", err)
		}
		c.absent(func(tx hub.Tx) error { _, err := tx.Entity(c.session, "ann"); return err })
	},

	"a panic of fn is an error of kind Internal, and others go on": func(c *storeCase) {
		c.refused(shoal.Internal, func(tx hub.Tx) error {
			if err := tx.InsertEntity(shoal.Entity{SessionID: c.session, ID: "ann", Kind: shoal.Human}); err != nil {
				return err
			}
			panic("oops")
		})
		c.absent(func(tx hub.Tx) error { _, err := tx.Entity(c.session, "ann"); return err })
		c.entities("ann")
	},

	"NotFound and AlreadyExists spoil nothing": func(c *storeCase) {
		c.entities("ann")
		c.update(func(tx hub.Tx) error {
			if _, err := tx.Entity(c.session, "nobody"); !errors.Is(err, shoal.NotFound) {
				return fmt.Errorf("the missing entity: %w", err)
			}
			if err := tx.InsertEntity(shoal.Entity{SessionID: c.session, ID: "ann"}); !errors.Is(err, shoal.AlreadyExists) {
				return fmt.Errorf("the taken id: %w", err)
			}
			return tx.InsertEntity(shoal.Entity{SessionID: c.session, ID: "bob", Kind: shoal.Agent})
		})
		seen(c, func(tx hub.Tx) (shoal.Entity, error) { return tx.Entity(c.session, "bob") })
	},

	"of many at once only the failing ones are undone": manyUpdates,

	"a context that has ended before does nothing": func(c *storeCase) {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		err := c.store.Update(ctx, func(tx hub.Tx) error { return tx.InsertEntity(shoal.Entity{SessionID: c.session, ID: "ann"}) })
		if !errors.Is(err, context.Canceled) {
			c.Errorf("got %v", err)
		}
		c.absent(func(tx hub.Tx) error { _, err := tx.Entity(c.session, "ann"); return err })
	},

	"one that has begun ends whatever becomes of its context": func(c *storeCase) {
		ctx, cancel := context.WithCancel(context.Background())
		err := c.store.Update(ctx, func(tx hub.Tx) error {
			cancel()
			return tx.InsertEntity(shoal.Entity{SessionID: c.session, ID: "ann", Kind: shoal.Agent})
		})
		if err != nil {
			c.Errorf("got %v", err)
		}
		seen(c, func(tx hub.Tx) (shoal.Entity, error) { return tx.Entity(c.session, "ann") })
	},

	"one that still waits is withdrawn with its context": func(c *storeCase) {
		held, begun := make(chan struct{}), make(chan struct{})
		first := make(chan error)
		go func() {
			once := sync.OnceFunc(func() { close(begun) })
			first <- c.store.Update(context.Background(), func(hub.Tx) error {
				once()
				<-held
				return nil
			})
		}()
		<-begun
		ctx, cancel := context.WithCancel(context.Background())
		second := make(chan error)
		var ran atomic.Bool
		go func() {
			second <- c.store.Update(ctx, func(hub.Tx) error {
				ran.Store(true)
				return nil
			})
		}()
		cancel()
		if err := <-second; !errors.Is(err, context.Canceled) {
			c.Errorf("the withdrawn one got %v", err)
		}
		close(held)
		if err := <-first; err != nil {
			c.Errorf("the first one got %v", err)
		}
		c.update(func(hub.Tx) error { return nil })
		if ran.Load() {
			c.Error("the withdrawn one ran")
		}
	},

	"places have no gaps under 16 writers, and appear in their order": manyWriters,
}

// manyUpdates runs 64 concurrent callers that update repeatedly; some of them fail in every
// possible way.
func manyUpdates(c *storeCase) {
	c.space("shop")
	for round := range 4 {
		var calls sync.WaitGroup
		got := make([]error, 64)
		id := func(i int) shoal.EntityID { return shoal.EntityID(fmt.Sprintf("e%d-%d", round, i)) }
		for i := range got {
			calls.Go(func() {
				got[i] = c.store.Update(context.Background(), func(tx hub.Tx) error {
					if i%16 == 1 {
						return errOfTheCaller // before it has changed anything
					}
					if err := tx.InsertEntity(shoal.Entity{SessionID: c.session, ID: id(i), Kind: shoal.Agent}); err != nil {
						return err
					}
					switch i % 16 {
					case 5:
						return errOfTheCaller
					case 9:
						panic("oops")
					case 13: // an error of the database itself, which fn overlooks
						m := c.message("shop", id(i), "out of order")
						m.Seq = 7
						_ = tx.InsertMessage(m, hub.PostKey{})
					}
					return nil
				})
			})
		}
		calls.Wait()
		for i, err := range got {
			want := map[int]error{1: errOfTheCaller, 5: errOfTheCaller, 9: shoal.Internal, 13: shoal.Internal}[i%16]
			if want != nil {
				if !errors.Is(err, want) {
					c.Errorf("call %d got %v, want %v", i, err, want)
				}
				c.absent(func(tx hub.Tx) error { _, err := tx.Entity(c.session, id(i)); return err })
				continue
			}
			if err != nil {
				c.Errorf("call %d got %v", i, err)
			}
			seen(c, func(tx hub.Tx) (shoal.Entity, error) { return tx.Entity(c.session, id(i)) })
		}
		same(c, "the timeline", seen(c, func(tx hub.Tx) ([]shoal.Message, error) {
			return tx.Messages(c.session, "shop", hub.Page{Limit: 10})
		}), []shoal.Message{})
	}
}

// manyWriters runs 16 writers that post into two spaces while a reader reads.
func manyWriters(c *storeCase) {
	const writers, posts = 16, 20
	c.entities("ann", "bob")
	c.space("a", "ann", "bob")
	c.space("b", "ann", "bob")
	var writing sync.WaitGroup
	for w := range writers {
		writing.Go(func() {
			for i := range posts {
				m := c.message([]shoal.SpaceID{"a", "b"}[(w+i)%2], "ann", "hello")
				if err := c.store.Update(context.Background(), func(tx hub.Tx) error { _, err := storePost(tx, m); return err }); err != nil {
					c.Errorf("post: %v", err)
				}
			}
		})
	}
	stop := make(chan struct{})
	var reading sync.WaitGroup
	reading.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				checkPlaces(c)
			}
		}
	})
	writing.Wait()
	close(stop)
	reading.Wait()
	if n := checkPlaces(c); n != writers*posts {
		c.Errorf("%d events, want %d", n, writers*posts)
	}
}

// checkPlaces checks on one snapshot that events, both timelines and the inbox
// are complete up to their ends, and that the ends agree. It returns how many
// events there are.
func checkPlaces(c *storeCase) (events int) {
	err := c.store.View(context.Background(), func(tx hub.Tx) error {
		all, err := tx.Events(c.session, hub.EventFilter{}, 0, 1000)
		if err != nil {
			return err
		}
		events = len(all)
		end, err := tx.EventEnd(c.session)
		if err != nil {
			return err
		}
		unread, err := tx.Unread(c.session, "bob", hub.InboxFilter{Kind: shoal.WaitMessages}, 1000)
		if err != nil {
			return err
		}
		last, err := tx.InboxEnd(c.session, "bob")
		if err != nil {
			return err
		}
		var eventPlaces, inboxPlaces []int64
		for _, e := range all {
			eventPlaces = append(eventPlaces, e.Place)
		}
		for _, e := range unread {
			inboxPlaces = append(inboxPlaces, e.Place)
		}
		messages := int64(0)
		for _, id := range []shoal.SpaceID{"a", "b"} {
			s, err := tx.Space(c.session, id)
			if err != nil {
				return err
			}
			page, err := tx.Messages(c.session, id, hub.Page{Limit: 1000})
			if err != nil {
				return err
			}
			if int64(len(page)) != s.LastSeq || len(page) > 0 && page[len(page)-1].Seq != s.LastSeq {
				return fmt.Errorf("space %s has %d messages up to %d", id, len(page), s.LastSeq)
			}
			messages += s.LastSeq
		}
		if !slices.Equal(eventPlaces, upTo(end)) || !slices.Equal(inboxPlaces, upTo(last)) || end != messages || last != messages {
			return fmt.Errorf("%d messages, events %v up to %d, inbox %v up to %d", messages, eventPlaces, end, inboxPlaces, last)
		}
		return nil
	})
	if err != nil {
		c.Error(err)
	}
	return events
}

// upTo counts from 1 to n.
func upTo(n int64) (all []int64) {
	for i := range n {
		all = append(all, i+1)
	}
	return all
}
