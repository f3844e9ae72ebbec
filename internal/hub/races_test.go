package hub_test

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/inbox"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/localbus"
	"github.com/shoal-dev/shoal/internal/shoaltest"
	"github.com/shoal-dev/shoal/internal/shoaltest/setting"
)

var (
	seeds    = flag.Int("seeds", 0, "number of seeds of the wait races instead of 2,000, with -short 400; the follower simulation, which takes longer, runs a sixteenth of them")
	onlySeed = flag.Uint64("seed", 0, "run only this seed")
)

// lanes is the number of databases over which the seeds are spread, to run in parallel.
const lanes = 4

// No wait misses a message that was committed before its time was up, and nothing is
// acknowledged that was not delivered to the key, whatever combination of posts, waits,
// filters, cancellations, lost responses, joins, leaves and closes happens at the same
// moment.
func TestWaitRaces(t *testing.T) { runRaces(t, raceSeeds(), newRaceWorld) }

func raceSeeds() int { return cmp.Or(*seeds, setting.Repeats(2000, 400)) }

// The races detect each of these faults.
func TestWaitRacesFindFaults(t *testing.T) {
	findFaults(t, 200, newRaceWorld, map[string]faults{
		"notifications are lost":                {losesNotifications: true},
		"a wait reads before it subscribes":     {subscribesLate: true},
		"an acknowledgement forgets its filter": {acksWholeInbox: true},
		"delivering acknowledges":               {readingIsAck: true},
	})
}

// runRaces runs the races of n seeds in worlds without faults. Nothing may be wrong, and together
// they must cover everything.
func runRaces(t *testing.T, n int, newWorld func(*testing.T, faults) *raceWorld) {
	var mu sync.Mutex
	var everywhere coverage
	t.Cleanup(func() { // after the last lane has ended
		if *onlySeed == 0 {
			everywhere.requireAll(t)
		}
	})
	eachSeed(t, n, func(t *testing.T, lane func(func(seed uint64) bool)) {
		w := newWorld(t, faults{})
		var seen coverage
		lane(func(seed uint64) bool {
			verdict := w.race(seed)
			for _, wrong := range verdict.wrong {
				t.Errorf("seed %d: %s", seed, wrong)
			}
			seen.add(verdict.coverage)
			return len(verdict.wrong) == 0
		})
		mu.Lock()
		defer mu.Unlock()
		everywhere.add(seen)
	})
}

// findFaults checks that the races of the first seeds detect each of the faults.
func findFaults(t *testing.T, seeds uint64, newWorld func(*testing.T, faults) *raceWorld, all map[string]faults) {
	for name, broken := range all {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, broken)
				for seed := uint64(1); seed <= seeds; seed++ {
					if len(w.race(seed).wrong) > 0 {
						return
					}
				}
				t.Errorf("%d seeds have not detected the fault", seeds)
			})
		})
	}
}

// eachSeed runs the seeds in lanes, each in its own synctest bubble.
func eachSeed(t *testing.T, n int, run func(t *testing.T, lane func(func(seed uint64) bool))) {
	if *onlySeed != 0 {
		synctest.Test(t, func(t *testing.T) {
			run(t, func(one func(uint64) bool) { one(*onlySeed) })
		})
		return
	}
	for lane := range lanes {
		t.Run(fmt.Sprintf("lane%d", lane), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				run(t, func(one func(uint64) bool) {
					for seed := lane + 1; seed <= n; seed += lanes {
						if !one(uint64(seed)) {
							return
						}
					}
				})
			})
		})
	}
}

// raceWorld is one or more servers on which races run, one session after the other.
type raceWorld struct {
	t        *testing.T
	ledger   *ledger
	bus      *shoaltest.Listeners // that of all servers, if there is one
	hub      *hub.Hub             // the first server
	servers  []*hub.Hub
	listens  func() int64 // the open subscriptions of callers
	waitsOn  func(shoal.EntityID) *hub.Hub
	late     time.Duration   // a wait must return within this time
	timeouts []time.Duration // of waits, in milliseconds
	disturb  func(*rand.Rand) (calm func())
}

// newRaceWorld returns a world of two servers with one bus: all waits are on the first, and the
// other only sends notifications.
func newRaceWorld(t *testing.T, broken faults) *raceWorld {
	bus := &shoaltest.Listeners{Bus: &faultyBus{Bus: localbus.New(), faults: broken}}
	w := &raceWorld{t: t, ledger: newLedger(shoaltest.OpenSQLite(t)), bus: bus, listens: bus.Open, late: lateAfter, timeouts: shortTimeouts}
	w.ledger.faults = broken
	w.addServer(bus)
	w.addServer(bus)
	w.waitsOn = func(shoal.EntityID) *hub.Hub { return w.hub }
	w.disturb = func(*rand.Rand) func() { return func() {} }
	return w
}

func (w *raceWorld) addServer(bus core.Bus) *hub.Hub {
	h := hub.New(hub.Options{Store: w.ledger, Bus: bus})
	must(w.t, h.Start(w.t.Context()))
	w.t.Cleanup(h.Stop)
	w.servers = append(w.servers, h)
	w.hub = w.servers[0]
	return h
}

// race is one seed: its participants, and what was observed.
type race struct {
	*raceWorld
	rng      *rand.Rand
	session  shoal.SessionID
	start    time.Time
	entities []shoal.EntityID
	spaces   []shoal.SpaceID

	actors sync.WaitGroup

	mu    sync.Mutex
	calls []*waitCall
	posts []*postCall
}

// waitCall is one wait and its outcome. lo and hi bound the number of ledger records that
// it can have seen.
type waitCall struct {
	entity   shoal.EntityID
	key      shoal.KeyID
	request  inbox.WaitRequest
	acks     *waitCall // the wait whose cursor it acknowledges
	explicit bool      // its key has acknowledged with a cursor before
	perhaps  bool      // its key may have acknowledged with a cursor before
	graced   bool      // it may have waited for the outcome of a response

	begun, ended time.Time
	lo, hi       int
	cancelled    bool
	result       shoal.WaitResult
	written      bool
	err          error
}

// postCall is one post, or a close with its message.
type postCall struct {
	begun, ended time.Time
	id           shoal.MessageID // empty if it was refused
	closed       shoal.SpaceID
}

// race runs one seed and checks it.
func (w *raceWorld) race(seed uint64) verdict {
	r := &race{raceWorld: w, rng: rand.New(rand.NewPCG(seed, 0)), session: shoal.SessionID(fmt.Sprintf("s%d", seed)), start: time.Now()}
	r.populate([]shoal.EntityID{"a", "b", "c"}[:2+r.rng.IntN(2)], []shoal.SpaceID{"x", "y"}[:1+r.rng.IntN(2)])
	w.ledger.reset(seed)
	calm := w.disturb(rand.New(rand.NewPCG(seed, 1)))
	act := func(do func(*rand.Rand)) {
		rng := rand.New(rand.NewPCG(r.rng.Uint64(), r.rng.Uint64()))
		r.actors.Go(func() { do(rng) })
	}
	for range 1 + r.rng.IntN(2) {
		act(r.poster)
	}
	for i := range 2 + r.rng.IntN(3) {
		entity, key := r.entities[0], shoal.KeyID(fmt.Sprintf("key%d", i))
		switch r.rng.IntN(4) {
		case 0:
			entity = pick(r.rng, r.entities)
		case 1:
			key = shared
		}
		act(func(rng *rand.Rand) { r.waiter(rng, entity, key) })
	}
	act(r.mover)
	act(r.burst)
	act(r.adapter)
	r.actors.Wait()
	calm()
	<-time.After(time.Second) // the last deliveries are counted during this time
	return r.check()
}

// shared is the key with which several callers of one entity wait at once.
const shared shoal.KeyID = "shared"

// populate creates entities, and spaces that all of them are in.
func (r *race) populate(entities []shoal.EntityID, spaces []shoal.SpaceID) {
	r.entities, r.spaces = entities, spaces
	err := r.ledger.Update(r.t.Context(), storage.Global, func(tx storage.Tx) error {
		now := shoal.Now()
		if err := tx.InsertSession(shoal.Session{ID: r.session, Name: "race", Status: shoal.SessionStatusOpen, CreatedAt: now}); err != nil {
			return err
		}
		for _, id := range r.entities {
			e := shoal.Entity{ID: id, SessionID: r.session, Kind: shoal.Agent, Name: string(id), Metadata: []byte("{}"), CreatedAt: now}
			if err := tx.InsertEntity(e); err != nil {
				return err
			}
		}
		for _, id := range r.spaces {
			s := shoal.Space{ID: id, SessionID: r.session, Name: string(id), Status: shoal.SpaceStatusOpen, Metadata: []byte("{}"), CreatedAt: now}
			if err := tx.InsertSpace(s); err != nil {
				return err
			}
			for _, e := range r.entities {
				if err := tx.InsertMember(r.session, id, shoal.Member{EntityID: e, JoinedAt: now}); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		r.t.Fatal(err)
	}
}

func pick[T any](rng *rand.Rand, from []T) T { return from[rng.IntN(len(from))] }

// idle waits so that many operations happen at whole milliseconds.
func idle(rng *rand.Rand) {
	d := pick(rng, []time.Duration{0, 0, time.Millisecond, 2 * time.Millisecond, 5 * time.Millisecond, 40 * time.Millisecond, 150 * time.Millisecond})
	if rng.IntN(3) == 0 {
		d += time.Duration(rng.IntN(3_000)) * time.Microsecond
	}
	if d > 0 {
		<-time.After(d)
	}
}

func (r *race) as(id shoal.EntityID, key shoal.KeyID) shoal.Principal {
	return shoal.Principal{Role: shoal.RoleEntity, SessionID: r.session, EntityID: id, KeyID: key}
}

func (r *race) poster(rng *rand.Rand) {
	sender := pick(rng, r.entities)
	for range 1 + rng.IntN(4) {
		idle(rng)
		if rng.IntN(2) == 0 {
			<-time.After(40 * time.Millisecond) // so that waits are open
		}
		var mentions []shoal.EntityID
		for _, id := range r.entities {
			if rng.IntN(2) == 0 {
				mentions = append(mentions, id)
			}
		}
		r.post(rng, sender, pick(rng, r.spaces), mentions)
	}
}

// post posts on any server and records the call. It is refused if the sender has left
// the space.
func (r *race) post(rng *rand.Rand, sender shoal.EntityID, space shoal.SpaceID, mentions []shoal.EntityID) {
	p := &postCall{begun: time.Now()}
	draft := shoal.Draft{Parts: []shoal.Part{shoal.Text("hello")}, Mentions: mentions}
	m, err := pick(rng, r.servers).Messages.Post(r.t.Context(), r.as(sender, "poster"), r.session, space, draft, "")
	if err == nil {
		p.id = m.ID
	}
	p.ended = time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.posts = append(r.posts, p)
}

// snipe posts to a waiter just before its time is up.
func (r *race) snipe(rng *rand.Rand, c *waitCall, in time.Duration, space shoal.SpaceID) {
	own, sender := rand.New(rand.NewPCG(rng.Uint64(), 0)), r.entities[0]
	if sender == c.entity {
		sender = r.entities[1]
	}
	r.actors.Go(func() {
		<-time.After(in)
		r.post(own, sender, space, []shoal.EntityID{c.entity})
	})
}

// mover makes members leave and join, and sometimes closes a space. The first entity stays,
// because it adds the others again.
func (r *race) mover(rng *rand.Rand) {
	for range rng.IntN(3) {
		idle(rng)
		space, id := pick(rng, r.spaces), pick(rng, r.entities[1:])
		do := r.hub.Spaces.Leave
		if rng.IntN(2) == 0 {
			do = r.hub.Spaces.Join
		}
		_, _ = do(r.t.Context(), r.as(r.entities[0], "mover"), r.session, space, id) // some are refused
	}
	if rng.IntN(5) > 0 {
		return
	}
	idle(rng)
	p := &postCall{begun: time.Now(), closed: pick(rng, r.spaces)}
	if _, err := r.hub.Spaces.Close(r.t.Context(), r.as(r.entities[0], "mover"), r.session, p.closed, "done"); err != nil {
		r.t.Errorf("close: %v", err)
	}
	p.ended = time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.posts = append(r.posts, p)
}

// waiter waits several times with one key, as one of several kinds of callers.
func (r *race) waiter(rng *rand.Rand, entity shoal.EntityID, key shoal.KeyID) {
	acks, lossy := rng.IntN(2) == 0, rng.IntN(3) == 0
	explicit, perhaps, unsettled := false, false, key == shared
	var last *waitCall
	for range 1 + rng.IntN(3) {
		idle(rng)
		c := &waitCall{entity: entity, key: key, request: r.request(rng), explicit: explicit, perhaps: perhaps, graced: unsettled}
		if acks && last != nil && last.result.Cursor != nil && rng.IntN(4) > 0 {
			c.acks, c.request.Ack, perhaps = last, *last.result.Cursor, true
		}
		d := r.wait(rng, c)
		switch {
		case d == nil:
		case !lossy || rng.IntN(2) == 0:
			d.Settle(true)
			c.written = true
		case rng.IntN(2) == 0:
			d.Settle(false)
		default:
			unsettled = true
		}
		explicit = explicit || c.acks != nil && c.err == nil
		if c.err == nil {
			last = c
		}
	}
}

// burst opens waits of one entity in quick succession, when there may be entries for them.
func (r *race) burst(rng *rand.Rand) {
	<-time.After(time.Duration(rng.IntN(100)) * time.Millisecond)
	for i := range rng.IntN(6) {
		<-time.After(time.Duration(rng.IntN(4_000)) * time.Microsecond)
		rng := rand.New(rand.NewPCG(rng.Uint64(), 0))
		key := shoal.KeyID(fmt.Sprintf("burst%d", i))
		r.actors.Go(func() {
			r.wait(rng, &waitCall{entity: r.entities[0], key: key, request: inbox.WaitRequest{Session: r.session, Kind: shoal.WaitMessages}})
		})
	}
}

// shortTimeouts are time-outs in milliseconds.
var shortTimeouts = []time.Duration{0, 2, 5, 40, 80, 150, 150, 500, 1000}

func (r *race) request(rng *rand.Rand) inbox.WaitRequest {
	q := inbox.WaitRequest{Session: r.session, Kind: shoal.WaitMentions, Redeliver: rng.IntN(6) == 0}
	if rng.IntN(2) == 0 {
		q.Kind = shoal.WaitMessages
	}
	if rng.IntN(5) == 0 {
		q.Space = pick(rng, r.spaces)
	}
	if rng.IntN(5) == 0 {
		q.From = []shoal.EntityID{pick(rng, r.entities)}
	}
	q.Timeout = pick(rng, r.timeouts) * time.Millisecond
	return q
}

// wait runs one wait and records its outcome.
func (r *race) wait(rng *rand.Rand, c *waitCall) *inbox.Delivery {
	ctx, cancel := context.WithCancel(context.WithValue(r.t.Context(), callKey{}, c))
	defer cancel()
	if rng.IntN(6) == 0 {
		defer time.AfterFunc(time.Duration(rng.IntN(50))*time.Millisecond, func() {
			r.mu.Lock()
			c.cancelled = true
			r.mu.Unlock()
			cancel()
		}).Stop()
	}
	r.mu.Lock()
	r.calls = append(r.calls, c)
	r.mu.Unlock()
	if c.request.Timeout >= 80*time.Millisecond && rng.IntN(3) == 0 {
		r.snipe(rng, c, c.request.Timeout-time.Duration(rng.IntN(3_000))*time.Microsecond, pick(rng, r.spaces))
	}
	c.lo, _ = r.ledger.visibleRecords()
	c.begun = time.Now()
	request := c.request
	d, err := r.waitsOn(c.entity).Inbox.Wait(ctx, r.as(c.entity, c.key), &request)
	c.ended, c.err = time.Now(), err
	_, c.hi = r.ledger.visibleRecords()
	if d != nil {
		c.result = d.Result
	}
	return d
}

// messages returns the messages of the result in order.
func (c *waitCall) messages() (out []shoal.InboxMessage) {
	for _, item := range c.result.Items {
		out = append(out, item.Messages...)
	}
	return out
}

func (c *waitCall) has(id shoal.MessageID) bool {
	return slices.ContainsFunc(c.messages(), func(m shoal.InboxMessage) bool { return m.ID == id })
}

func (c *waitCall) filter() storage.InboxFilter {
	return storage.InboxFilter{Kind: c.request.Kind, Space: c.request.Space, From: c.request.From}
}

// timedOut reports whether the wait ended because its time was up, and not because of a
// fifth wait.
func (c *waitCall) timedOut() bool {
	return c.err == nil && c.result.TimedOut && c.ended.Sub(c.begun) >= c.request.Timeout
}

func (c *waitCall) String() string {
	q := c.request
	return fmt.Sprintf("%s/%s %s space=%q from=%v timeout=%v ack=%t redeliver=%t adapter=%t", c.entity, c.key, q.Kind, q.Space, q.From, q.Timeout, q.Ack != "", q.Redeliver, c.isAdapter())
}
