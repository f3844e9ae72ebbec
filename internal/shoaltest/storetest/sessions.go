package storetest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/shoaltest/storetest/storecase"
)

// ExerciseSessions checks a store whose Updates run at the same time in different sessions,
// also those of other stores on the same database. open is that of [Exercise].
func ExerciseSessions(t *testing.T, open func(t *testing.T) storage.Store) {
	for name, test := range sessionTests {
		t.Run(name, func(t *testing.T) {
			test(&sessionCase{T: t, stores: []storage.Store{open(t), open(t)}})
		})
	}
}

var sessionTests = map[string]func(*sessionCase){
	"sessions progress while another one is held":               bystanders,
	"an update of a held session waits, and others do not":      bystandersOfAWait,
	"an update of everything excludes every session":            globalExcludes,
	"updates of one session exclude each other":                 oneSession,
	"updates of several sessions never wait for each other":     crossing,
	"an update of a session that does not exist changes others": missing,
}

// sessionCase is two stores on one database, with sessions.
type sessionCase struct {
	*testing.T
	stores []storage.Store
}

// patience is how long something may take that nothing delays.
const patience = 20 * time.Second

// sessions creates n sessions.
func (c *sessionCase) sessions(n int) []shoal.SessionID {
	ids := make([]shoal.SessionID, n)
	for i := range ids {
		ids[i] = storecase.New(c.T, c.stores[0]).Session
	}
	return ids
}

// add appends an event to each session, and returns the last position.
func add(tx storage.Tx, sessions ...shoal.SessionID) (place int64, err error) {
	for _, id := range sessions {
		if place, err = tx.AppendEvent(storage.Event{Session: id, Type: shoal.EventSpaceUpdated, Data: []byte(`{}`)}); err != nil {
			return 0, err
		}
	}
	return place, nil
}

// hold runs an Update in sessions that has appended an event, and does not end before release
// is called.
func (c *sessionCase) hold(s storage.Store, at storage.At, in shoal.SessionID) (release func()) {
	begun, end, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		once := sync.OnceFunc(func() { close(begun) })
		ended <- s.Update(context.Background(), at, func(tx storage.Tx) error {
			_, err := add(tx, in)
			once()
			<-end
			return err
		})
	}()
	<-begun
	return sync.OnceFunc(func() {
		close(end)
		if err := <-ended; err != nil {
			c.Errorf("the update that holds %s: %v", in, err)
		}
	})
}

// start runs an Update that appends an event to each of its sessions.
func (c *sessionCase) start(s storage.Store, at ...shoal.SessionID) <-chan error {
	ended := make(chan error, 1)
	go func() {
		ended <- s.Update(context.Background(), storage.In(at...), func(tx storage.Tx) error { _, err := add(tx, at...); return err })
	}()
	return ended
}

// within fails the test unless the Update ends without an error.
func (c *sessionCase) within(what string, ended <-chan error) {
	c.Helper()
	select {
	case err := <-ended:
		if err != nil {
			c.Errorf("%s: %v", what, err)
		}
	case <-time.After(patience):
		c.Fatalf("%s did not end in %v", what, patience)
	}
}

// wantEnds fails the test unless each session has this many events, without gaps.
func (c *sessionCase) wantEnds(want int64, sessions ...shoal.SessionID) {
	c.Helper()
	for _, id := range sessions {
		err := c.stores[1].View(context.Background(), func(tx storage.Tx) error {
			end, err := tx.EventEnd(id)
			if err == nil && end != want {
				c.Errorf("the session %s has %d events, want %d", id, end, want)
			}
			return err
		})
		if err != nil {
			c.Error(err)
		}
	}
}

// bystanders are many sessions, so that some share what writes them with the held one.
func bystanders(c *sessionCase) {
	all := c.sessions(13)
	release := c.hold(c.stores[0], storage.In(all[0]), all[0])
	defer release()
	var ended []<-chan error
	for _, id := range all[1:] {
		ended = append(ended, c.start(c.stores[1], id))
	}
	for i, e := range ended {
		c.within(fmt.Sprint("an update of the other store in ", all[i+1]), e)
	}
	c.wantEnds(1, all[1:]...)
	c.wantEnds(0, all[0])
	release()
	c.wantEnds(1, all[0])
}

func bystandersOfAWait(c *sessionCase) {
	all := c.sessions(13)
	release := c.hold(c.stores[0], storage.In(all[0]), all[0])
	defer release()
	waits := c.start(c.stores[1], all[0])
	var ended []<-chan error
	for _, id := range all[1:] {
		ended = append(ended, c.start(c.stores[1], id))
	}
	for i, e := range ended {
		c.within(fmt.Sprint("an update beside one that waits, in ", all[i+1]), e)
	}
	select {
	case err := <-waits:
		c.Errorf("an update of the held session ended, with %v", err)
	default:
	}
	release()
	c.within("the update that waited", waits)
	c.wantEnds(2, all[0])
}

func globalExcludes(c *sessionCase) {
	all := c.sessions(3)
	for round := range 6 {
		s, other := c.stores[round%2], c.stores[(round+1)%2]
		release := c.hold(s, storage.Global, all[0])
		ended := []<-chan error{c.start(other, all[0]), c.start(other, all[1]), c.start(s, all[2])}
		<-time.After(20 * time.Millisecond)
		for _, e := range ended {
			select {
			case err := <-e:
				c.Errorf("an update of a session ended during one of everything, with %v", err)
			default:
			}
		}
		release()
		for _, e := range ended {
			c.within("an update of a session after one of everything", e)
		}
		release = c.hold(s, storage.In(all[1]), all[1])
		global := make(chan error, 1)
		go func() {
			global <- other.Update(context.Background(), storage.Global, func(tx storage.Tx) error { _, err := add(tx, all...); return err })
		}()
		<-time.After(20 * time.Millisecond)
		select {
		case err := <-global:
			c.Errorf("an update of everything ended during one of a session, with %v", err)
		default:
		}
		release()
		c.within("an update of everything after one of a session", global)
	}
	c.wantEnds(18, all[0], all[1])
	c.wantEnds(12, all[2])
}

// oneSession appends with both stores to one session: each Update sees the last position.
func oneSession(c *sessionCase) {
	id := c.sessions(1)[0]
	const callers, updates = 8, 25
	places := make([][]int64, 2*callers)
	var calls sync.WaitGroup
	for i := range places {
		calls.Go(func() {
			for range updates {
				var place int64
				err := c.stores[i%2].Update(context.Background(), storage.In(id), func(tx storage.Tx) (err error) {
					place, err = add(tx, id)
					return err
				})
				if err != nil {
					c.Errorf("an update of one of many in a session: %v", err)
					return
				}
				places[i] = append(places[i], place)
			}
		})
	}
	calls.Wait()
	all := slices.Concat(places...)
	slices.Sort(all)
	if len(slices.Compact(all)) != 2*callers*updates || all[len(all)-1] != int64(len(all)) {
		c.Errorf("%d updates got the positions %v", 2*callers*updates, all)
	}
	c.wantEnds(2*callers*updates, id)
}

// crossing runs Updates in random sessions, in random orders, and some of everything.
func crossing(c *sessionCase) {
	all := c.sessions(6)
	const callers, updates = 12, 20
	var mu sync.Mutex
	want := map[shoal.SessionID]int64{}
	var calls sync.WaitGroup
	for i := range callers {
		random := rand.New(rand.NewPCG(7, uint64(i)))
		calls.Go(func() {
			for range updates {
				some := slices.Clone(all)
				random.Shuffle(len(some), func(i, j int) { some[i], some[j] = some[j], some[i] })
				some = some[:1+random.IntN(3)]
				at := storage.In(some...)
				if random.IntN(20) == 0 {
					at = storage.Global
				}
				err := c.stores[i%2].Update(context.Background(), at, func(tx storage.Tx) error { _, err := add(tx, some...); return err })
				if err != nil {
					c.Errorf("an update of %v: %v", at, err)
					continue
				}
				mu.Lock()
				for _, id := range some {
					want[id]++
				}
				mu.Unlock()
			}
		})
	}
	calls.Wait()
	for id, n := range want {
		c.wantEnds(n, id)
	}
}

func missing(c *sessionCase) {
	id := c.sessions(1)[0]
	c.within("an update that names a session that does not exist", c.start(c.stores[0], "nowhere"+id, id))
	ran := false
	err := c.stores[0].Update(context.Background(), storage.In("nobody"+id), func(tx storage.Tx) error {
		ran = true
		_, err := tx.Session("nobody" + id)
		return err
	})
	if !ran || err == nil {
		c.Errorf("an update of a session that does not exist: it ran: %v, and got %v", ran, err)
	}
	c.wantEnds(1, id)
}
