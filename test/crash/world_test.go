package crash

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
)

// world is everybody who uses the server: writers and waiters over REST and MCP,
// readers of streams, and an admin who looks at the timelines.
type world struct {
	server   *server
	began    time.Time
	http     *http.Client
	key      string // of the admin
	admin    *client.Session
	rooms    []*room
	writers  []*writer
	waiters  []*waiter
	readers  []*reader
	timeline map[shoal.SpaceID][]seen

	busy    chan struct{} // holds a value when a post was acknowledged
	lasting sync.WaitGroup
	leave   context.CancelFunc
}

// newWorld makes the spaces, the entities and their keys, and lets the lasting
// readers in.
func newWorld(t *testing.T, s *server, seed uint64) *world {
	t.Helper()
	key, err := os.ReadFile(filepath.Join(s.data, "admin.key"))
	if err != nil {
		t.Fatal(err)
	}
	w := &world{
		server: s, began: time.Now(), key: strings.TrimSpace(string(key)), timeline: map[shoal.SpaceID][]seen{}, busy: make(chan struct{}, 1),
		http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 100}},
	}
	w.admin = w.session(t, w.key)
	for i := range 4 {
		w.rooms = append(w.rooms, &room{id: shoal.SpaceID(fmt.Sprintf("room-%d", i))})
	}
	w.populate(t, seed)
	ctx, leave := context.WithCancel(context.Background())
	w.leave = leave
	t.Cleanup(leave)
	for _, r := range w.readers {
		if r.lasting {
			w.lasting.Go(func() { r.run(ctx) })
		}
	}
	return w
}

func (w *world) populate(t *testing.T, seed uint64) {
	t.Helper()
	members := map[*room][]shoal.EntityID{}
	dice := func() *rand.Rand {
		return rand.New(rand.NewPCG(seed, uint64(1+len(w.writers)+100*len(w.waiters))))
	}
	speak := func(id shoal.EntityID, mcp bool, rooms []*room) speaker {
		for _, r := range rooms {
			members[r] = append(members[r], id)
		}
		c := &caller{http: w.http, url: w.server.url(), key: w.newKey(t, id), as: id}
		if !mcp {
			return restSpeaker{c}
		}
		if err := (mcpSpeaker{c}).initialize(t.Context()); err != nil {
			t.Fatal(err)
		}
		return mcpSpeaker{c}
	}
	for i := range 8 {
		id, rooms := shoal.EntityID(fmt.Sprintf("writer-%d", i)), []*room{w.rooms[i%4], w.rooms[(i+1)%4]}
		w.writers = append(w.writers, &writer{id: id, speaker: speak(id, i >= 6, rooms), spaces: rooms, dice: dice(), clock: w.clock, busy: w.busy})
	}
	for i, c := range []struct {
		mcp, implicit bool
		kind          shoal.WaitKind
		rooms         []*room
	}{
		{mcp: false, implicit: false, kind: shoal.WaitMentions, rooms: w.rooms[:2]},
		{mcp: true, implicit: true, kind: shoal.WaitMentions, rooms: w.rooms},
		{mcp: true, implicit: true, kind: shoal.WaitMentions, rooms: w.rooms[1:3]},
		{mcp: true, implicit: false, kind: shoal.WaitMentions, rooms: w.rooms[2:]},
		{mcp: false, implicit: true, kind: shoal.WaitMentions, rooms: w.rooms[:3]},
		{mcp: false, implicit: false, kind: shoal.WaitMessages, rooms: w.rooms[:2]},
	} {
		id := shoal.EntityID(fmt.Sprintf("waiter-%d", i))
		for _, r := range c.rooms {
			r.waiters = append(r.waiters, id)
		}
		w.waiters = append(w.waiters, &waiter{
			speaker: speak(id, c.mcp, c.rooms), inbox: newInbox(id, c.kind, c.implicit, c.rooms...),
			dice: dice(), clock: w.clock, cursors: map[int]string{}, newest: -1,
		})
	}
	for i, lasting := range []bool{true, false} {
		id := shoal.EntityID(fmt.Sprintf("reader-%d", i))
		key := w.newKey(t, id)
		for _, r := range w.rooms {
			members[r] = append(members[r], id)
		}
		w.readers = append(w.readers,
			w.reader(t, key, fmt.Sprintf("%s of everything", id), "", lasting, w.rooms...),
			w.reader(t, key, fmt.Sprintf("%s of one space", id), w.rooms[i].id, lasting, w.rooms[i]))
	}
	for _, r := range w.rooms {
		if _, err := w.admin.CreateSpace(t.Context(), shoal.NewSpace{ID: r.id, Name: string(r.id), Members: members[r]}); err != nil {
			t.Fatal(err)
		}
	}
}

func (w *world) session(t *testing.T, key string) *client.Session {
	t.Helper()
	c, err := client.New(client.Options{URL: w.server.url(), Key: key})
	if err != nil {
		t.Fatal(err)
	}
	return c.Session(shoal.DefaultSession)
}

// newKey mints a key, which makes its entity.
func (w *world) newKey(t *testing.T, id shoal.EntityID) string {
	t.Helper()
	admin, err := client.New(client.Options{URL: w.server.url(), Key: w.key})
	if err != nil {
		t.Fatal(err)
	}
	made, err := admin.CreateKey(t.Context(), shoal.NewKey{Role: shoal.RoleEntity, EntityID: id})
	if err != nil {
		t.Fatal(err)
	}
	return *made.Secret
}

func (w *world) reader(t *testing.T, key, name string, space shoal.SpaceID, lasting bool, rooms ...*room) *reader {
	t.Helper()
	r := &reader{
		session: w.session(t, key), space: space, lasting: lasting, stream: stream{name: name},
		at: map[shoal.SpaceID]int64{}, changed: make(chan struct{}, 1),
	}
	for _, in := range rooms {
		r.stream.spaces = append(r.stream.spaces, in.id)
	}
	return r
}

// clock tells the time since the beginning, never twice the same moment as zero.
func (w *world) clock() time.Duration { return time.Since(w.began) }

// live lets everybody at the server, kills it a while after the first post was
// acknowledged, and returns how many were in a second.
func (w *world) live(t *testing.T, life time.Duration) float64 {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	select {
	case <-w.busy: // of an earlier life
	default:
	}
	var running sync.WaitGroup
	for _, x := range w.writers {
		running.Go(func() { x.run(ctx) })
	}
	for _, x := range w.waiters {
		running.Go(func() { x.run(ctx, w.server.life) })
	}
	for _, x := range w.readers {
		if !x.lasting {
			running.Go(func() { x.run(ctx) })
		}
	}
	await := func(event <-chan struct{}, limit time.Duration) {
		select {
		case <-event:
		case <-time.After(limit):
		case <-w.server.ended:
			t.Fatalf("the server ended by itself: %v", w.server.process.ProcessState)
		}
	}
	await(w.busy, settleLimit)
	began := time.Now()
	await(nil, life)
	took := time.Since(began)
	w.server.kill()
	cancel()
	running.Wait()
	acks := 0
	for _, x := range w.writers {
		acks += x.acks
	}
	return float64(acks) / took.Seconds()
}

// check reads what the timelines hold beyond what was read before, and holds
// what everybody saw against it.
func (w *world) check(t *testing.T, final bool) {
	t.Helper()
	h := history{timeline: w.timeline, final: final}
	var faults []string
	for _, x := range w.writers {
		h.posts = append(h.posts, x.posts...)
		faults = append(faults, x.wrong...)
	}
	for _, x := range w.waiters {
		h.inboxes = append(h.inboxes, x.inbox)
		faults = append(faults, x.wrong...)
	}
	for _, x := range w.readers {
		seen, wrong := x.so()
		h.streams = append(h.streams, seen)
		faults = append(faults, wrong...)
	}
	for _, r := range w.rooms {
		w.timeline[r.id] = w.read(t, r.id, w.timeline[r.id])
	}
	faults = append(faults, check(h)...)
	for _, f := range faults[:min(len(faults), shownFaults)] {
		t.Error(f)
	}
	if len(faults) > 0 {
		t.Fatalf("%d faults after life %d of the server", len(faults), w.server.life)
	}
}

// read appends to a timeline what the server has behind it.
func (w *world) read(t *testing.T, space shoal.SpaceID, timeline []seen) []seen {
	t.Helper()
	for {
		next := client.MessagesOptions{After: int64(len(timeline)), Limit: shoal.MaxPage}
		if next.After == 0 {
			next.Before = shoal.MaxPage + 1
		}
		page, err := w.admin.Messages(t.Context(), space, next)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range page {
			timeline = append(timeline, see(m))
		}
		if len(page) < shoal.MaxPage {
			return timeline
		}
	}
}

// checkReread reads all timelines from their beginning: nothing that was read
// after an earlier crash has changed since.
func (w *world) checkReread(t *testing.T) {
	t.Helper()
	for _, r := range w.rooms {
		again := w.read(t, r.id, nil)
		if !slices.EqualFunc(again, w.timeline[r.id], func(a, b seen) bool { return a.bytes == b.bytes }) {
			t.Errorf("the timeline of %s is not what it was after earlier restarts", r.id)
		}
	}
}

// settle brings everybody to rest: writers know the fate of every post, inboxes
// are empty, readers have seen everything.
func (w *world) settle(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), settleLimit)
	defer cancel()
	for _, x := range w.writers {
		if !x.resolve(ctx) {
			t.Fatalf("%s cannot find out about its posts: %q", x.id, x.wrong)
		}
	}
	for _, x := range w.waiters {
		if err := x.drain(ctx, w.server.life); err != nil {
			t.Fatal(err)
		}
	}
	ends := map[shoal.SpaceID]int64{}
	for _, r := range w.rooms {
		ends[r.id] = int64(len(w.read(t, r.id, w.timeline[r.id])))
	}
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	for _, x := range w.readers {
		if !x.lasting {
			running.Go(func() { x.run(ctx) })
		}
	}
	for _, x := range w.readers {
		for !x.has(ends) && ctx.Err() == nil {
			select {
			case <-x.changed:
			case <-ctx.Done():
			}
		}
	}
}

// close sends the lasting readers home.
func (w *world) close(t *testing.T) {
	t.Helper()
	w.leave()
	w.lasting.Wait()
}

// report says how much was at stake, and fails if the kills hit nobody.
func (w *world) report(t *testing.T, rounds int, slowest time.Duration) {
	t.Helper()
	posts, replays, cut := 0, 0, 0
	for _, x := range w.writers {
		posts, replays, cut = posts+len(x.posts), replays+x.replays, cut+x.cut
	}
	waits, lost, deliveries, again := 0, 0, 0, 0
	for _, x := range w.waiters {
		waits += len(x.waits)
		for _, c := range x.waits {
			if !c.answered {
				lost++
			}
			for _, m := range c.batch {
				deliveries++
				if m.delivery > 1 {
					again++
				}
			}
		}
	}
	t.Logf("%d rounds: %d posts (%d tries cut, %d repeated long after their answer), %d waits (%d cut), %d deliveries (%d not the first), slowest restart %v",
		rounds, posts, cut, replays, waits, lost, deliveries, again, slowest.Round(time.Millisecond))
	if cut == 0 || lost == 0 || again == 0 {
		t.Error("the kills hit nobody: no post or no wait was cut, or nothing had to be delivered again")
	}
}
