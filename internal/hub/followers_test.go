package hub_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/feed"
)

// Every follower receives every event once and in order, however slow it is and however
// often it is disconnected and resumes, even in the middle of a result of Next. The state
// that it derives from its first snapshot and the events equals a new snapshot.
func TestFollowerSimulation(t *testing.T) {
	eachSeed(t, raceSeeds()/16, func(t *testing.T, lane func(func(seed uint64) bool)) {
		w := newRaceWorld(t, faults{})
		seen := eventCounts{}
		lane(func(seed uint64) bool {
			wrong, s := w.journey(seed)
			for _, line := range wrong {
				t.Errorf("seed %d: %s", seed, line)
			}
			seen.add(s)
			return len(wrong) == 0
		})
		if *onlySeed == 0 {
			seen.requireAll(t)
		}
	})
}

// The simulation detects injected faults.
func TestFollowerSimulationFindsFaults(t *testing.T) {
	for name, broken := range map[string]faults{
		"notifications are lost": {losesNotifications: true},
		"an event is lost":       {losesEvents: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newRaceWorld(t, broken)
				for seed := uint64(1); seed <= 50; seed++ {
					if wrong, _ := w.journey(seed); len(wrong) > 0 {
						return
					}
				}
				t.Error("50 seeds have not detected the fault")
			})
		})
	}
}

// eventCounts counts what followers have received and what has happened to them.
type eventCounts map[string]int

func (s eventCounts) add(o eventCounts) {
	for what, n := range o {
		s[what] += n
	}
}

func (s eventCounts) requireAll(t *testing.T) {
	t.Log(s)
	for _, what := range []string{
		"message.created", "member.joined", "member.left", "space.updated", "space.closed", "snapshot", "cut", "resumed", "joined on the way", "the end",
	} {
		if s[what] == 0 {
			t.Errorf("no follower has received %q", what)
		}
	}
}

// journey is one seed: a session in which everything changes, and its followers.
type journey struct {
	*race
	mutating  chan struct{} // closed after the last change
	followers []*testFollower
}

func (w *raceWorld) journey(seed uint64) (wrong []string, seen eventCounts) {
	r := &race{raceWorld: w, rng: rand.New(rand.NewPCG(seed, 2)), session: shoal.SessionID(fmt.Sprintf("j%d", seed)), start: time.Now()}
	r.populate([]shoal.EntityID{"a", "b", "c", "d"}, []shoal.SpaceID{"x", "y"})
	w.ledger.reset(seed)
	j := &journey{race: r, mutating: make(chan struct{})}
	service := shoal.Principal{Role: shoal.RoleService, SessionID: r.session, KeyID: "service"}
	for _, caller := range []shoal.Principal{r.as("a", "f"), r.as("b", "f"), r.as("c", "f"), service} {
		for _, space := range []shoal.SpaceID{"", "x"} {
			j.followers = append(j.followers, &testFollower{
				journey: j, caller: caller, space: space, rng: rand.New(rand.NewPCG(r.rng.Uint64(), 0)), eventCounts: eventCounts{},
			})
		}
	}
	var following, mutators sync.WaitGroup
	for _, f := range j.followers {
		following.Go(f.run)
	}
	for range 2 {
		rng := rand.New(rand.NewPCG(r.rng.Uint64(), 0))
		mutators.Go(func() { j.mutate(rng) })
	}
	mutators.Wait()
	j.changeLast()
	<-time.After(time.Second) // slow followers have time to reach the end
	close(j.mutating)
	following.Wait()
	<-time.After(time.Second)
	seen = eventCounts{}
	for _, f := range j.followers {
		wrong = append(wrong, f.wrong...)
		seen.add(f.eventCounts)
	}
	if n := w.bus.Open(); n != 0 {
		wrong = append(wrong, fmt.Sprintf("%d subscriptions are open without a follower", n))
	}
	return wrong, seen
}

// mutate makes all kinds of changes to a session. a is in every space and adds other
// members again; d may be deleted. Some changes fail because others were made first.
func (j *journey) mutate(rng *rand.Rand) {
	ctx, a, admin := j.t.Context(), j.as("a", "m"), shoal.Principal{Role: shoal.RoleAdmin, KeyID: "m"}
	for n := range 4 + rng.IntN(12) {
		if rng.IntN(3) > 0 {
			idle(rng)
		}
		space, id := pick(rng, []shoal.SpaceID{"x", "y"}), pick(rng, []shoal.EntityID{"b", "c", "d"})
		name := fmt.Sprintf("name %d", rng.IntN(1000))
		switch what := rng.IntN(20); {
		case what < 8:
			draft := shoal.Draft{Parts: []shoal.Part{shoal.Text(name)}, Mentions: []shoal.EntityID{id}}
			_, _ = j.hub.Messages.Post(ctx, j.as(pick(rng, j.entities), "m"), j.session, space, draft, "")
		case what < 11:
			_, _ = j.hub.Spaces.Leave(ctx, a, j.session, space, id)
		case what < 15:
			_, _ = j.hub.Spaces.Join(ctx, a, j.session, space, id)
		case what < 16:
			_, _ = j.hub.Spaces.Update(ctx, a, j.session, space, shoal.SpaceChange{Name: &name})
		case what < 17:
			_, _ = j.hub.Entities.Update(ctx, admin, j.session, id, shoal.EntityChange{Name: &name})
		case what < 18:
			space := shoal.NewSpace{ID: shoal.SpaceID(fmt.Sprintf("new%d-%d", n, rng.IntN(1000))), Name: name, Members: []shoal.EntityID{id}}
			_, _ = j.hub.Spaces.Create(ctx, a, j.session, space, "")
		case what < 19:
			_, _ = j.hub.Inbox.MarkRead(ctx, j.as(id, "m"), j.session, space, 99)
		case rng.IntN(2) == 0:
			_, _ = j.hub.Spaces.Close(ctx, a, j.session, space, name)
		default:
			_ = j.hub.Entities.Delete(ctx, admin, j.session, "d")
		}
	}
}

// changeLast adds a member and posts at once. Nothing changes afterwards.
func (j *journey) changeLast() {
	ctx, a := j.t.Context(), j.as("a", "m")
	_, _ = j.hub.Spaces.Leave(ctx, a, j.session, "x", "b") // is not in it, or it is closed
	_, _ = j.hub.Spaces.Join(ctx, a, j.session, "x", "b")
	if j.rng.IntN(2) == 0 {
		<-time.After(time.Duration(j.rng.IntN(2_000)) * time.Microsecond)
	}
	_, _ = j.hub.Messages.Post(ctx, a, j.session, "x", shoal.Draft{Parts: []shoal.Part{shoal.Text("welcome")}}, "")
}

// testFollower follows a space, or all spaces, and derives their state from the events.
type testFollower struct {
	*journey
	caller shoal.Principal
	space  shoal.SpaceID
	rng    *rand.Rand

	world       map[shoal.SpaceID]*spaceState
	last        shoal.Cursor
	place       int64 // of the last stored event
	eventCounts eventCounts
	wrong       []string
}

func (f *testFollower) fail(format string, args ...any) {
	f.wrong = append(f.wrong, fmt.Sprintf("%s following %q: ", core.CallerName(f.caller), f.space)+fmt.Sprintf(format, args...))
}

// run follows until the last change was made and all events are read.
func (f *testFollower) run() {
	idle(f.rng)
	for len(f.wrong) == 0 {
		source, err := f.follow()
		if err != nil {
			f.checkRefused(err)
			if !f.waitToRetry() {
				return
			}
			continue
		}
		arrived := f.readEvents(source)
		source.Close()
		if arrived {
			f.compare()
			return
		}
		f.eventCounts["cut"]++
		if f.rng.IntN(2) == 0 {
			idle(f.rng)
		}
	}
}

func (f *testFollower) follow() (*feed.Follower, error) {
	if f.last == "" {
		f.world = map[shoal.SpaceID]*spaceState{}
	} else {
		f.eventCounts["resumed"]++
	}
	return f.hub.Events.Follow(f.t.Context(), f.caller, feed.FollowRequest{Session: f.session, Space: f.space, After: f.last})
}

// checkRefused accepts that a space cannot be followed while the entity is not in it.
func (f *testFollower) checkRefused(err error) {
	if shoal.KindOf(err) != shoal.NotFound || f.space == "" {
		f.fail("%v", err)
	}
}

// waitToRetry waits for a while and reports whether to continue.
func (f *testFollower) waitToRetry() bool {
	select {
	case <-f.mutating:
		return false
	case <-time.After(20 * time.Millisecond):
		return true
	}
}

// readEvents reads events until the connection is closed, which happens soon, or until
// nothing has changed for a while.
func (f *testFollower) readEvents(source *feed.Follower) (arrived bool) {
	left := 1 + f.rng.IntN(30)
	for {
		since := time.Now()
		events, err := source.Next(f.t.Context(), time.Now().Add(500*time.Millisecond))
		if err != nil {
			f.eventCounts["the end"]++
			f.checkRefused(err)
			return false
		}
		if len(events) == 0 {
			select {
			case <-f.mutating:
				return true
			default:
				continue
			}
		}
		for _, ev := range events {
			if left--; left < 0 {
				return false // in the middle of a result
			}
			f.apply(ev, since)
		}
		if f.rng.IntN(3) == 0 {
			<-time.After(time.Duration(f.rng.IntN(60)) * time.Millisecond) // a slow reader
		}
	}
}

// compare compares the derived state with a new snapshot.
func (f *testFollower) compare() {
	ctx, cancel := context.WithCancel(f.t.Context())
	defer cancel()
	fresh := &testFollower{journey: f.journey, caller: f.caller, space: f.space, rng: f.rng, eventCounts: eventCounts{}}
	source, err := fresh.follow()
	if err != nil {
		f.fail("a fresh snapshot: %v", err)
		return
	}
	defer source.Close()
	events, err := source.Next(ctx, time.Now().Add(time.Second))
	if err != nil {
		f.fail("a fresh snapshot: %v", err)
	}
	for _, ev := range events {
		fresh.apply(ev, time.Now())
	}
	if got, want := f.stateText(), fresh.stateText(); got != want {
		f.fail("has derived\n%s\nbut a new snapshot is\n%s", got, want)
	}
}
