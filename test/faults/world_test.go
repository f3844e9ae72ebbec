package faults

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
	"sync/atomic"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/shoaltest/program"
)

// world is all clients of the server: writers and waiters over REST and MCP, readers of
// streams and of timelines, hosted agents, and an admin that checks everything
// afterwards.
type world struct {
	server         *program.Server
	began          time.Time
	http           *http.Client
	key            string // of the admin
	admin          *client.Session
	rooms          []*room
	writers        []*writer
	waiters        []*waiter
	readers        []*reader
	timelineReader *timelineReader
	work           *work // nil without hosted agents
	timeline       map[shoal.SpaceID][]seen
	answers        atomic.Int64 // to all clients
	found          []string     // all findings
	uncounted      bool         // the disk was full for some time
	atWork         int          // rounds in which runs were in progress at the fault

	busy    chan struct{} // receives a value when a post is acknowledged
	lasting sync.WaitGroup
	leave   context.CancelFunc
}

// newWorld creates the spaces, the entities and their keys on a running server, starts
// the readers that last over all lives, and creates the given number of hosted agents.
func newWorld(t *testing.T, s *program.Server, seed uint64, agents int) *world {
	t.Helper()
	key, err := os.ReadFile(filepath.Join(s.Data, "admin.key"))
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
	ctx, leave := context.WithCancel(context.Background())
	w.leave = leave
	t.Cleanup(w.close)
	w.populate(t, seed)
	w.timelineReader = &timelineReader{session: w.admin, clock: w.clock, answers: &w.answers, rooms: w.rooms, known: map[shoal.SpaceID]timelineState{}}
	if agents > 0 {
		w.work = newWork(t, w, agents)
		for _, o := range w.work.jobbers {
			w.lasting.Go(func() { o.watch(ctx) })
		}
	}
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
	dice := func() *rand.Rand { return random(seed, uint64(1+len(w.writers)+100*len(w.waiters))) }
	speak := func(id shoal.EntityID, mcp bool, rooms []*room) speaker {
		for _, r := range rooms {
			members[r] = append(members[r], id)
		}
		c := &caller{http: w.http, url: w.server.URL(), key: w.newKey(t, id), as: id}
		if !mcp {
			return restSpeaker{c}
		}
		if err := (mcpSpeaker{c}).initialize(t.Context()); err != nil {
			t.Fatal(err)
		}
		return mcpSpeaker{c}
	}
	for i := range 16 {
		id, rooms := shoal.EntityID(fmt.Sprintf("writer-%d", i)), []*room{w.rooms[i%4], w.rooms[(i+1)%4]}
		w.writers = append(w.writers, &writer{id: id, speaker: speak(id, i >= 13, rooms), spaces: rooms, dice: dice(), clock: w.clock, busy: w.busy, answers: &w.answers})
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
			dice: dice(), clock: w.clock, answers: &w.answers, lasts: waitFor, cursors: map[int]string{}, newest: -1,
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
	if _, err := w.admin.CreateSpace(t.Context(), shoal.NewSpace{ID: probed, Name: "Probes", Members: []shoal.EntityID{shoal.Operator}}); err != nil {
		t.Fatal(err)
	}
	for _, r := range w.rooms {
		if _, err := w.admin.CreateSpace(t.Context(), shoal.NewSpace{ID: r.id, Name: string(r.id), Members: members[r]}); err != nil {
			t.Fatal(err)
		}
	}
}

func (w *world) session(t *testing.T, key string) *client.Session {
	t.Helper()
	c, err := client.New(client.Options{URL: w.server.URL(), Key: key, HTTP: w.http})
	if err != nil {
		t.Fatal(err)
	}
	return c.Session(shoal.DefaultSession)
}

// newKey creates a key, which creates its entity.
func (w *world) newKey(t *testing.T, id shoal.EntityID) string {
	t.Helper()
	admin, err := client.New(client.Options{URL: w.server.URL(), Key: w.key, HTTP: w.http})
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

// clock returns the time since the start of the world, from a monotonic clock.
func (w *world) clock() time.Duration { return time.Since(w.began) }

// lifeResult describes a life of the server: the time for which it was used, and the
// number of responses in that time.
type lifeResult struct {
	used    time.Duration
	answers int64
	died    bool // the server exited by itself
}

func (l lifeResult) rate() float64 { return float64(l.answers) / max(l.used.Seconds(), 1e-3) }

// live runs all clients, calls strike to inject the fault, and then stops the clients. It
// strikes after the given time from the first acknowledged post, or later, as soon as the
// clients got as many responses as at minRate in this time: on a busy machine. It does not
// call strike if the server has exited before.
func (w *world) live(t *testing.T, life time.Duration, strike func()) (l lifeResult) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	select {
	case <-w.busy: // a value of an earlier life
	default:
	}
	var running sync.WaitGroup
	for _, x := range w.writers {
		running.Go(func() { x.run(ctx) })
	}
	for _, x := range w.waiters {
		running.Go(func() { x.run(ctx, w.server.Life) })
	}
	for _, x := range w.readers {
		if !x.lasting {
			running.Go(func() { x.run(ctx) })
		}
	}
	running.Go(func() { w.timelineReader.run(ctx) })
	if w.work != nil {
		for _, x := range w.work.jobbers {
			running.Go(func() { x.run(ctx) })
		}
	}
	select {
	case <-w.busy:
	case <-w.server.Ended:
	case <-time.After(settleLimit):
		w.found = append(w.found, "lost: no client can post")
	}
	began, before := time.Now(), w.answers.Load()
	l.died = !w.underLoad(life, before+int64(minRate*life.Seconds()))
	l.used, l.answers = time.Since(began), w.answers.Load()-before
	if !l.died {
		strike()
	}
	cancel()
	running.Wait()
	return l
}

// underLoad waits for a time and for a number of responses to all clients. It reports
// whether the server still runs.
func (w *world) underLoad(life time.Duration, answers int64) bool {
	end, late := time.After(life), time.After(life+settleLimit)
	for {
		select {
		case <-w.server.Ended:
			return false
		case <-late:
			w.found = append(w.found, fmt.Sprintf("slow: %d responses are missing after %v of load", answers-w.answers.Load(), life+settleLimit))
			return true
		case <-end:
			if w.answers.Load() >= answers {
				return true
			}
			end = time.After(5 * time.Millisecond)
		}
	}
}

// check reads the new messages of the timelines, and compares the timelines with what
// all clients have received. It reports whether there are no findings so far.
func (w *world) check(t *testing.T, final bool) bool {
	t.Helper()
	for _, r := range w.rooms {
		var err error
		if w.timeline[r.id], err = w.read(t.Context(), r.id, w.timeline[r.id]); err != nil {
			w.found = append(w.found, fmt.Sprintf("lost: the timeline of %s cannot be read: %v", r.id, err))
			return false
		}
	}
	h, wrong := w.history(final)
	w.found = append(append(w.found, wrong...), check(h)...)
	if final && len(w.found) == 0 {
		w.found = append(w.found, checkOrder(h)...)
	}
	return len(w.found) == 0
}

// history collects what all clients sent and received, and the responses that they could
// not interpret.
func (w *world) history(final bool) (h history, wrong []string) {
	h = history{timeline: w.timeline, final: final, uncounted: w.uncounted, timelineReads: w.timelineReader.timelineReads}
	wrong = append(wrong, w.timelineReader.wrong...)
	for _, x := range w.writers {
		h.posts = append(h.posts, x.posts...)
		wrong = append(wrong, x.wrong...)
	}
	for _, x := range w.waiters {
		h.inboxes = append(h.inboxes, x.inbox)
		wrong = append(wrong, x.wrong...)
	}
	for _, x := range w.readers {
		seen, unexpected := x.so()
		h.streams = append(h.streams, seen)
		wrong = append(wrong, unexpected...)
	}
	if w.work != nil {
		wrong = append(wrong, w.work.unexpected()...)
	}
	return h, wrong
}

// read appends to a timeline the messages after its end.
func (w *world) read(ctx context.Context, space shoal.SpaceID, timeline []seen) ([]seen, error) {
	for {
		next := client.MessagesOptions{After: int64(len(timeline)), Limit: shoal.MaxPage}
		if next.After == 0 {
			next.Before = shoal.MaxPage + 1
		}
		page, err := w.admin.Messages(ctx, space, next)
		if err != nil {
			return timeline, err
		}
		for _, m := range page {
			timeline = append(timeline, see(m))
		}
		if len(page) < shoal.MaxPage {
			return timeline, nil
		}
	}
}

// checkReread reads all timelines from the start, and checks that no message has changed
// since it was read after an earlier restart.
func (w *world) checkReread(ctx context.Context) {
	for _, r := range w.rooms {
		again, err := w.read(ctx, r.id, nil)
		if err != nil || !slices.EqualFunc(again, w.timeline[r.id], func(a, b seen) bool { return a.bytes == b.bytes }) {
			w.found = append(w.found, fmt.Sprintf("changed: the timeline of %s differs from that after earlier restarts (%v)", r.id, err))
		}
	}
}

// settle waits until writers know the outcome of every post, inboxes are empty, readers
// have received everything, and runs have ended.
func (w *world) settle(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), settleLimit)
	defer cancel()
	for _, x := range w.writers {
		if !x.resolve(ctx) {
			w.found = append(w.found, fmt.Sprintf("unresolved: %s cannot determine the outcome of its posts: %q", x.id, x.wrong))
		}
	}
	for _, x := range w.waiters {
		if err := x.drain(ctx, w.server.Life); err != nil {
			w.found = append(w.found, fmt.Sprintf("not delivered: %s: %v", x.owner, err))
		}
	}
	ends := map[shoal.SpaceID]int64{}
	for _, r := range w.rooms {
		all, err := w.read(ctx, r.id, w.timeline[r.id])
		if err != nil {
			w.found = append(w.found, fmt.Sprintf("lost: %v", err))
		}
		ends[r.id] = int64(len(all))
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
	if w.work != nil {
		w.work.settle(ctx)
	}
}

// finish settles, checks everything for the last time, stops the server, and checks its
// database.
func (w *world) finish(t *testing.T) {
	t.Helper()
	if len(w.found) > 0 {
		return
	}
	w.settle(t)
	if !w.check(t, true) {
		return
	}
	w.checkReread(t.Context())
	w.checkSearch(t.Context())
	if w.work != nil {
		w.found = append(w.found, w.work.check(t.Context())...)
	}
	if wrong := w.server.Stop(); wrong != "" {
		w.found = append(w.found, wrong)
	}
	w.close()
	w.found = append(w.found, checkDatabase(t.Context(), w.server)...)
	if w.server.Slowest > program.RestartLimit {
		w.found = append(w.found, fmt.Sprintf("slow: the slowest restart took %v until the first response, want at most %v", w.server.Slowest, program.RestartLimit))
	}
}

// checkSearch checks that search finds some messages of each room, once each.
func (w *world) checkSearch(ctx context.Context) {
	for _, r := range w.rooms {
		timeline := w.timeline[r.id]
		for i := 0; i < len(timeline); i += 1 + len(timeline)/8 {
			words, hits := strings.Fields(timeline[i].Text()), 0
			key := words[len(words)-1] // a number that is unique to the message
			for hit, err := range w.admin.Search(ctx, key, client.SearchOptions{Space: r.id}) {
				if err != nil {
					w.found = append(w.found, fmt.Sprintf("search: %v", err))
					return
				}
				if hit.Message.ID == timeline[i].ID {
					hits++
				}
			}
			if hits != 1 {
				w.found = append(w.found, fmt.Sprintf("search: %q finds %s %d times", key, timeline[i].ID, hits))
			}
		}
	}
}

// close stops the lasting readers. It may be called more than once.
func (w *world) close() {
	w.leave()
	w.lasting.Wait()
}

// operations returns the number of completed operations.
func (w *world) operations() (n int) {
	for _, x := range w.writers {
		for _, p := range x.posts {
			n += len(p.answers)
		}
	}
	for _, x := range w.waiters {
		for _, c := range x.waits {
			if c.answered {
				n++
			}
		}
	}
	n += len(w.timelineReader.timelineReads)
	if w.work != nil {
		n += w.work.ended()
	}
	return n
}

// harm counts the effects of the faults.
type harm struct{ posts, cutPosts, waits, cutWaits, redelivered, replays int }

func (w *world) harm() (h harm) {
	for _, x := range w.writers {
		h.posts, h.replays, h.cutPosts = h.posts+len(x.posts), h.replays+x.replays, h.cutPosts+x.cut
	}
	for _, x := range w.waiters {
		h.waits += len(x.waits)
		for _, c := range x.waits {
			if !c.answered {
				h.cutWaits++
			}
			for _, m := range c.batch {
				if m.delivery > 1 {
					h.redelivered++
				}
			}
		}
	}
	return h
}

func (h harm) String() string {
	return fmt.Sprintf("%d posts, %d attempts interrupted, %d repeated after their response, %d waits, %d interrupted, %d repeated deliveries",
		h.posts, h.cutPosts, h.replays, h.waits, h.cutWaits, h.redelivered)
}
