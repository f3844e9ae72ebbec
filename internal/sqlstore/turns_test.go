package sqlstore_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/limit"
	"github.com/shoal-dev/shoal/internal/sqlstore"
)

// by is a context of calls of an entity.
func by(session shoal.SessionID, entity shoal.EntityID) context.Context {
	return limit.As(context.Background(), shoal.Principal{Role: shoal.RoleEntity, SessionID: session, EntityID: entity})
}

// crowd queues Updates one after the other, and records the order in which they run.
type crowd struct {
	*testing.T
	store *sqlstore.Store
	calls sync.WaitGroup
	do    func(storage.Tx) error // what each Update does, too; nil for nothing
	order []string               // of the Updates that ran; nothing in them fails, so each runs once
	n     int
}

// queue queues n Updates, called name 1 to name n, while the writer is held.
func (c *crowd) queue(ctx context.Context, at shoal.SessionID, name string, n int) {
	for i := range n {
		c.calls.Go(func() {
			err := c.store.Update(ctx, storage.In(at), func(tx storage.Tx) error {
				c.order = append(c.order, fmt.Sprintf("%s %d", name, i+1))
				if c.do != nil {
					return c.do(tx)
				}
				return nil
			})
			if err != nil {
				c.Error(err)
			}
		})
		c.n++
		await(c.store, c.n)
	}
}

// sharing creates two sessions that one lane writes.
func sharing(t *testing.T, s *sqlstore.Store) (one, other shoal.SessionID) {
	one, other = "one", "other"
	for i := 0; !s.ShareLane(one, other); i++ {
		other = shoal.SessionID(fmt.Sprintf("other-%d", i))
	}
	for _, id := range []shoal.SessionID{one, other} {
		update(t, s, func(tx storage.Tx) error {
			return tx.InsertSession(shoal.Session{ID: id, Name: string(id), Status: shoal.SessionStatusOpen, CreatedAt: shoal.Now()})
		})
	}
	return one, other
}

// The runs for one requester leave the last quarter of the queue to others.
func TestRunsLeaveRoomForOthers(t *testing.T) {
	const queue = 1024
	s := openWith(t, sqlstore.Options{URL: newSQLite(t), MaxQueued: queue, MaxDelay: time.Hour})
	release := held(t, s)
	c := &crowd{T: t, store: s}
	runs := limit.AsRunOf(context.Background(), "s", "mallory")
	most := int(s.Queued().All()*3/4) - 1 // with the Update that is being written
	c.queue(runs, "s", "run of mallory", most)
	err := s.Update(runs, storage.In("s"), func(storage.Tx) error { return nil })
	if !errors.Is(err, shoal.Busy) || most >= queue {
		t.Errorf("after %d Updates of the runs for mallory another one got %v, want an error of kind %s", most, err, shoal.Busy)
	}
	c.queue(limit.AsRunOf(context.Background(), "s", "ann"), "s", "run of ann", 1)
	c.queue(by("s", "ann"), "s", "ann", 1)
	release()
	c.calls.Wait()
}

// However many Updates of one caller are queued, those of another session, of another caller
// of the session, and of runs for another entity come soon. Each caller keeps its order.
func TestCallersTakeTurns(t *testing.T) {
	const flood = 700 // more than two batches
	onBoth(t, func(t *testing.T, url string) {
		s := open(t, url)
		session, elsewhere := sharing(t, s)
		release := heldIn(t, s, session)
		c := &crowd{T: t, store: s}
		mallorysRuns := limit.AsRunOf(context.Background(), session, "mallory")
		c.queue(mallorysRuns, session, "run of mallory", flood)
		c.queue(by(session, "mallory"), session, "mallory", 2)
		c.queue(limit.AsRunOf(context.Background(), session, "ann"), session, "run of ann", 2)
		c.queue(by(session, "ann"), session, "ann", 2)
		c.queue(context.Background(), session, "server", 2)
		c.queue(by(elsewhere, "bob"), elsewhere, "bob", 2)
		release()
		c.calls.Wait()
		for _, name := range []string{"mallory", "run of ann", "ann", "server", "bob"} {
			for i := range 2 {
				// Two sessions, five callers in one of them.
				if at, most := slices.Index(c.order, fmt.Sprint(name, " ", i+1)), 10*(i+1); at < 0 || at >= most {
					t.Errorf("Update %d of %s ran as number %d of %d, want one of the first %d", i+1, name, at+1, len(c.order), most)
				}
			}
		}
		var own []string
		for i := range flood {
			own = append(own, fmt.Sprint("run of mallory ", i+1))
		}
		if got := slices.DeleteFunc(c.order, func(o string) bool { return !slices.Contains(own, o) }); !slices.Equal(got, own) {
			t.Errorf("the Updates of one caller ran in the order %v", got)
		}
	})
}
