package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/shoaltest/storetest/storecase"
)

var updateTests = map[string]func(*storecase.Case){
	"changes are visible when it returns": func(c *storecase.Case) {
		for i := range 50 {
			id := shoal.EntityID(fmt.Sprintf("e%d", i))
			c.AddEntities(id)
			storecase.Read(c, func(tx storage.Tx) (shoal.Entity, error) { return tx.Entity(c.Session, id) })
		}
	},

	"a transaction sees its own changes": func(c *storecase.Case) {
		c.Update(func(tx storage.Tx) error {
			err := tx.InsertEntity(shoal.Entity{SessionID: c.Session, ID: "ann", Kind: shoal.Human, Name: "Ann"})
			if err != nil {
				return err
			}
			_, err = tx.Entity(c.Session, "ann")
			return err
		})
	},

	"the error of fn is returned unchanged, and its changes are rolled back": func(c *storecase.Case) {
		err := c.Store.Update(context.Background(), storage.Global, func(tx storage.Tx) error {
			if err := tx.InsertEntity(shoal.Entity{SessionID: c.Session, ID: "ann", Kind: shoal.Human}); err != nil {
				return err
			}
			return storecase.ErrCaller
		})
		if err != storecase.ErrCaller { //nolint:errorlint // the very error is promised
			c.Errorf("got %v", err)
		}
		c.WantNotFound(func(tx storage.Tx) error { _, err := tx.Entity(c.Session, "ann"); return err })
	},

	"an update that does not name its session fails and changes nothing": func(c *storecase.Case) {
		event := storage.Event{Session: c.Session, Type: shoal.EventSpaceUpdated, Data: []byte(`{}`)}
		appendTo := func(at storage.At) error {
			return c.Store.Update(context.Background(), at, func(tx storage.Tx) error {
				if err := tx.InsertEntity(shoal.Entity{SessionID: c.Session, ID: "ann", Kind: shoal.Human, Name: "Ann"}); err != nil {
					return err
				}
				_, err := tx.AppendEvent(event)
				return err
			})
		}
		if err := appendTo(storage.In("another")); err == nil {
			c.Error("an update of the session \"another\" appended an event to a different one")
		}
		c.WantNotFound(func(tx storage.Tx) error { _, err := tx.Entity(c.Session, "ann"); return err })
		if err := appendTo(storage.In("another", c.Session)); err != nil {
			c.Error(err)
		}
	},

	"a panic of fn is an error of kind Internal, and later updates work": func(c *storecase.Case) {
		c.WantError(shoal.Internal, func(tx storage.Tx) error {
			if err := tx.InsertEntity(shoal.Entity{SessionID: c.Session, ID: "ann", Kind: shoal.Human}); err != nil {
				return err
			}
			panic("oops")
		})
		c.WantNotFound(func(tx storage.Tx) error { _, err := tx.Entity(c.Session, "ann"); return err })
		c.AddEntities("ann")
	},

	"a transaction continues after NotFound and AlreadyExists": func(c *storecase.Case) {
		c.AddEntities("ann")
		c.Update(func(tx storage.Tx) error {
			if _, err := tx.Entity(c.Session, "nobody"); !errors.Is(err, shoal.NotFound) {
				return fmt.Errorf("the missing entity: %w", err)
			}
			if err := tx.InsertEntity(shoal.Entity{SessionID: c.Session, ID: "ann"}); !errors.Is(err, shoal.AlreadyExists) {
				return fmt.Errorf("the taken id: %w", err)
			}
			return tx.InsertEntity(shoal.Entity{SessionID: c.Session, ID: "bob", Kind: shoal.Agent})
		})
		storecase.Read(c, func(tx storage.Tx) (shoal.Entity, error) { return tx.Entity(c.Session, "bob") })
	},

	"of many at once only the failing ones are undone": manyUpdates,

	"nothing is done with a context that has ended": func(c *storecase.Case) {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		err := c.Store.Update(ctx, storage.Global, func(tx storage.Tx) error { return tx.InsertEntity(shoal.Entity{SessionID: c.Session, ID: "ann"}) })
		if !errors.Is(err, context.Canceled) {
			c.Errorf("got %v", err)
		}
		c.WantNotFound(func(tx storage.Tx) error { _, err := tx.Entity(c.Session, "ann"); return err })
	},

	"an update that has begun completes although its context ends": func(c *storecase.Case) {
		ctx, cancel := context.WithCancel(context.Background())
		err := c.Store.Update(ctx, storage.Global, func(tx storage.Tx) error {
			cancel()
			return tx.InsertEntity(shoal.Entity{SessionID: c.Session, ID: "ann", Kind: shoal.Agent})
		})
		if err != nil {
			c.Errorf("got %v", err)
		}
		storecase.Read(c, func(tx storage.Tx) (shoal.Entity, error) { return tx.Entity(c.Session, "ann") })
	},

	"a queued update is withdrawn when its context ends": func(c *storecase.Case) {
		held, begun := make(chan struct{}), make(chan struct{})
		first := make(chan error)
		go func() {
			once := sync.OnceFunc(func() { close(begun) })
			first <- c.Store.Update(context.Background(), storage.Global, func(storage.Tx) error {
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
			second <- c.Store.Update(ctx, storage.Global, func(storage.Tx) error {
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
		c.Update(func(storage.Tx) error { return nil })
		if ran.Load() {
			c.Error("the withdrawn one ran")
		}
	},

	"places have no gaps under 16 writers, and appear in their order": manyWriters,
}

// manyUpdates runs 64 concurrent callers that update repeatedly; some of them fail in every
// possible way.
func manyUpdates(c *storecase.Case) {
	c.AddSpace("shop")
	for round := range 4 {
		var calls sync.WaitGroup
		got := make([]error, 64)
		id := func(i int) shoal.EntityID { return shoal.EntityID(fmt.Sprintf("e%d-%d", round, i)) }
		for i := range got {
			calls.Go(func() {
				got[i] = c.Store.Update(context.Background(), storage.Global, func(tx storage.Tx) error {
					if i%16 == 1 {
						return storecase.ErrCaller // before it has changed anything
					}
					if err := tx.InsertEntity(shoal.Entity{SessionID: c.Session, ID: id(i), Kind: shoal.Agent}); err != nil {
						return err
					}
					switch i % 16 {
					case 5:
						return storecase.ErrCaller
					case 9:
						panic("oops")
					case 13: // an error of the database itself, which fn overlooks
						m := c.NewMessage("shop", id(i), "out of order")
						m.Seq = 7
						_ = tx.InsertMessage(m, storage.PostKey{})
					}
					return nil
				})
			})
		}
		calls.Wait()
		for i, err := range got {
			want := map[int]error{1: storecase.ErrCaller, 5: storecase.ErrCaller, 9: shoal.Internal, 13: shoal.Internal}[i%16]
			if want != nil {
				if !errors.Is(err, want) {
					c.Errorf("call %d got %v, want %v", i, err, want)
				}
				c.WantNotFound(func(tx storage.Tx) error { _, err := tx.Entity(c.Session, id(i)); return err })
				continue
			}
			if err != nil {
				c.Errorf("call %d got %v", i, err)
			}
			storecase.Read(c, func(tx storage.Tx) (shoal.Entity, error) { return tx.Entity(c.Session, id(i)) })
		}
		storecase.Equal(c, "the timeline", storecase.Read(c, func(tx storage.Tx) ([]shoal.Message, error) {
			return tx.Messages(c.Session, "shop", storage.Page{Limit: 10})
		}), []shoal.Message{})
	}
}

// manyWriters runs 16 writers that post into two spaces while a reader reads.
func manyWriters(c *storecase.Case) {
	const writers, posts = 16, 20
	c.AddEntities("ann", "bob")
	c.AddSpace("a", "ann", "bob")
	c.AddSpace("b", "ann", "bob")
	var writing sync.WaitGroup
	for w := range writers {
		writing.Go(func() {
			for i := range posts {
				m := c.NewMessage([]shoal.SpaceID{"a", "b"}[(w+i)%2], "ann", "hello")
				if err := c.Store.Update(context.Background(), storage.Global, func(tx storage.Tx) error { _, err := storecase.Post(tx, m); return err }); err != nil {
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
func checkPlaces(c *storecase.Case) (events int) {
	err := c.Store.View(context.Background(), func(tx storage.Tx) error {
		all, err := tx.Events(c.Session, storage.EventFilter{}, 0, 1000)
		if err != nil {
			return err
		}
		events = len(all)
		end, err := tx.EventEnd(c.Session)
		if err != nil {
			return err
		}
		unread, err := tx.Unread(c.Session, "bob", storage.InboxFilter{Kind: shoal.WaitMessages}, 1000)
		if err != nil {
			return err
		}
		last, err := tx.InboxEnd(c.Session)
		if err != nil {
			return err
		}
		var eventPositions, inboxPlaces []int64
		for _, e := range all {
			eventPositions = append(eventPositions, e.Position)
		}
		for _, e := range unread {
			inboxPlaces = append(inboxPlaces, e.Place)
		}
		messages := int64(0)
		for _, id := range []shoal.SpaceID{"a", "b"} {
			s, err := tx.Space(c.Session, id)
			if err != nil {
				return err
			}
			page, err := tx.Messages(c.Session, id, storage.Page{Limit: 1000})
			if err != nil {
				return err
			}
			if int64(len(page)) != s.LastSeq || len(page) > 0 && page[len(page)-1].Seq != s.LastSeq {
				return fmt.Errorf("space %s has %d messages up to %d", id, len(page), s.LastSeq)
			}
			messages += s.LastSeq
		}
		if !slices.Equal(eventPositions, storecase.Sequence(end)) || !slices.Equal(inboxPlaces, storecase.Sequence(last)) || end != messages || last != messages {
			return fmt.Errorf("%d messages, events %v up to %d, inbox %v up to %d", messages, eventPositions, end, inboxPlaces, last)
		}
		return nil
	})
	if err != nil {
		c.Error(err)
	}
	return events
}
