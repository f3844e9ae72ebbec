package crowd

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
)

// Limits of the checks.
const (
	SettleLimit = 30 * time.Second // within which all clients must have received everything at the end
	WakeLimit   = time.Second      // within which a message must wake its waiter
)

// Crowd is all clients of a server: writers and waiters over REST and MCP, readers of
// streams and of timelines, hosted agents, and an admin that checks everything
// afterwards.
type Crowd struct {
	began          time.Time
	HTTP           *http.Client
	URL            string
	Key            string // of the admin
	Admin          *client.Session
	Rooms          []*Room
	Writers        []*Writer
	Waiters        []*Waiter
	Readers        []*Reader
	TimelineReader *TimelineReader
	Work           *Work // nil without hosted agents
	Timeline       map[shoal.SpaceID][]Seen
	Answers        atomic.Int64 // to all clients
	Found          []string     // all findings
	Uncounted      bool         // the disk was full for some time

	Busy    chan struct{} // receives a value when a post is acknowledged
	Lasting sync.WaitGroup
	Leave   context.CancelFunc

	settle time.Duration
}

// Options say which crowd [New] creates.
type Options struct {
	URL, Key string            // of the server, and of an admin
	HTTP     http.RoundTripper // carries all calls; by default to URL
	Seed     uint64            // of what clients choose by chance
	Agents   int               // the number of hosted agents
	// Explicit means that no waiter acknowledges by waiting again: it reaches another
	// server, which does not know what the first one has delivered.
	Explicit bool
	// Settle is how long clients may take at the end to receive everything, [SettleLimit]
	// by default: the runs of a killed server of several go on when others have noticed.
	Settle time.Duration
}

// New creates the spaces, the entities and their keys on a running server, starts the
// readers that last over all lives, and creates the hosted agents.
func New(t *testing.T, o Options) *Crowd {
	t.Helper()
	if o.HTTP == nil {
		o.HTTP = &http.Transport{MaxIdleConnsPerHost: 100}
	}
	w := &Crowd{
		settle: cmp.Or(o.Settle, SettleLimit),
		URL:    o.URL, Key: o.Key, began: time.Now(), Timeline: map[shoal.SpaceID][]Seen{}, Busy: make(chan struct{}, 1),
		HTTP: &http.Client{Transport: o.HTTP},
	}
	w.Admin = w.Session(t, w.Key)
	for i := range 4 {
		w.Rooms = append(w.Rooms, &Room{ID: shoal.SpaceID(fmt.Sprintf("room-%d", i))})
	}
	ctx, leave := context.WithCancel(context.Background())
	w.Leave = leave
	t.Cleanup(w.Close)
	w.populate(t, o)
	w.TimelineReader = &TimelineReader{session: w.Admin, clock: w.clock, answers: &w.Answers, rooms: w.Rooms, known: map[shoal.SpaceID]timelineState{}}
	if o.Agents > 0 {
		w.Work = NewWork(t, w, o.Agents)
		for _, o := range w.Work.Jobbers {
			w.Lasting.Go(func() { o.Watch(ctx) })
		}
	}
	for _, r := range w.Readers {
		if r.Lasting {
			w.Lasting.Go(func() { r.Run(ctx) })
		}
	}
	return w
}

func (w *Crowd) populate(t *testing.T, o Options) {
	t.Helper()
	members := map[*Room][]shoal.EntityID{}
	dice := func() *rand.Rand { return rand.New(rand.NewPCG(o.Seed, uint64(1+len(w.Writers)+100*len(w.Waiters)))) }
	speak := func(id shoal.EntityID, mcp bool, rooms []*Room) Speaker {
		for _, r := range rooms {
			members[r] = append(members[r], id)
		}
		c := &Caller{HTTP: w.HTTP, URL: w.URL, Key: w.NewKey(t, id), As: id}
		if !mcp {
			return RestSpeaker{c}
		}
		if err := (MCPSpeaker{c}).Initialize(t.Context()); err != nil {
			t.Fatal(err)
		}
		return MCPSpeaker{c}
	}
	for i := range 16 {
		id, rooms := shoal.EntityID(fmt.Sprintf("writer-%d", i)), []*Room{w.Rooms[i%4], w.Rooms[(i+1)%4]}
		w.Writers = append(w.Writers, &Writer{id: id, Speaker: speak(id, i >= 13, rooms), spaces: rooms, dice: dice(), clock: w.clock, busy: w.Busy, answers: &w.Answers})
	}
	for i, c := range []struct {
		mcp, implicit bool
		kind          shoal.WaitKind
		rooms         []*Room
	}{
		{mcp: false, implicit: false, kind: shoal.WaitMentions, rooms: w.Rooms[:2]},
		{mcp: true, implicit: true, kind: shoal.WaitMentions, rooms: w.Rooms},
		{mcp: true, implicit: true, kind: shoal.WaitMentions, rooms: w.Rooms[1:3]},
		{mcp: true, implicit: false, kind: shoal.WaitMentions, rooms: w.Rooms[2:]},
		{mcp: false, implicit: true, kind: shoal.WaitMentions, rooms: w.Rooms[:3]},
		{mcp: false, implicit: false, kind: shoal.WaitMessages, rooms: w.Rooms[:2]},
	} {
		id := shoal.EntityID(fmt.Sprintf("waiter-%d", i))
		for _, r := range c.rooms {
			r.waiters = append(r.waiters, id)
		}
		w.Waiters = append(w.Waiters, &Waiter{
			Speaker: speak(id, c.mcp, c.rooms), Inbox: newInbox(id, c.kind, c.implicit && !o.Explicit, c.rooms...),
			dice: dice(), clock: w.clock, answers: &w.Answers, Lasts: waitFor, cursors: map[int]string{}, newest: -1,
		})
	}
	for i, lasting := range []bool{true, false} {
		id := shoal.EntityID(fmt.Sprintf("reader-%d", i))
		key := w.NewKey(t, id)
		for _, r := range w.Rooms {
			members[r] = append(members[r], id)
		}
		w.Readers = append(w.Readers,
			w.reader(t, key, fmt.Sprintf("%s of everything", id), "", lasting, w.Rooms...),
			w.reader(t, key, fmt.Sprintf("%s of one space", id), w.Rooms[i].ID, lasting, w.Rooms[i]))
	}
	if _, err := w.Admin.CreateSpace(t.Context(), shoal.NewSpace{ID: Probed, Name: "Probes", Members: []shoal.EntityID{shoal.Operator}}); err != nil {
		t.Fatal(err)
	}
	for _, r := range w.Rooms {
		if _, err := w.Admin.CreateSpace(t.Context(), shoal.NewSpace{ID: r.ID, Name: string(r.ID), Members: members[r]}); err != nil {
			t.Fatal(err)
		}
	}
}

// Session returns the session of all clients, for a key.
func (w *Crowd) Session(t *testing.T, key string) *client.Session {
	t.Helper()
	c, err := client.New(client.Options{URL: w.URL, Key: key, HTTP: w.HTTP})
	if err != nil {
		t.Fatal(err)
	}
	return c.Session(shoal.DefaultSession)
}

// NewKey creates a key, which creates its entity.
func (w *Crowd) NewKey(t *testing.T, id shoal.EntityID) string {
	t.Helper()
	admin, err := client.New(client.Options{URL: w.URL, Key: w.Key, HTTP: w.HTTP})
	if err != nil {
		t.Fatal(err)
	}
	made, err := admin.CreateKey(t.Context(), shoal.NewKey{Role: shoal.RoleEntity, EntityID: id})
	if err != nil {
		t.Fatal(err)
	}
	return *made.Secret
}

func (w *Crowd) reader(t *testing.T, key, name string, space shoal.SpaceID, lasting bool, rooms ...*Room) *Reader {
	t.Helper()
	r := &Reader{
		Session: w.Session(t, key), Space: space, Lasting: lasting, Stream: Stream{Name: name},
		at: map[shoal.SpaceID]int64{}, changed: make(chan struct{}, 1),
	}
	for _, in := range rooms {
		r.Stream.spaces = append(r.Stream.spaces, in.ID)
	}
	return r
}

// clock returns the time since the start of the world, from a monotonic clock.
func (w *Crowd) clock() time.Duration { return time.Since(w.began) }

// Close stops the lasting readers. It may be called more than once.
func (w *Crowd) Close() {
	w.Leave()
	w.Lasting.Wait()
}

// Operations returns the number of completed operations.
func (w *Crowd) Operations() (n int) {
	for _, x := range w.Writers {
		for _, p := range x.Posts {
			n += len(p.answers)
		}
	}
	for _, x := range w.Waiters {
		for _, c := range x.waits {
			if c.answered {
				n++
			}
		}
	}
	n += len(w.TimelineReader.timelineReads)
	if w.Work != nil {
		n += w.Work.ended()
	}
	return n
}

// Harm counts the effects of the faults.
type Harm struct{ posts, CutPosts, waits, CutWaits, Redelivered, replays int }

// Harm counts the effects of the faults so far.
func (w *Crowd) Harm() (h Harm) {
	for _, x := range w.Writers {
		h.posts, h.replays, h.CutPosts = h.posts+len(x.Posts), h.replays+x.replays, h.CutPosts+x.cut
	}
	for _, x := range w.Waiters {
		h.waits += len(x.waits)
		for _, c := range x.waits {
			if !c.answered {
				h.CutWaits++
			}
			for _, m := range c.batch {
				if m.delivery > 1 {
					h.Redelivered++
				}
			}
		}
	}
	return h
}

// String lists the effects for a note.
func (h Harm) String() string {
	return fmt.Sprintf("%d posts, %d attempts interrupted, %d repeated after their response, %d waits, %d interrupted, %d repeated deliveries",
		h.posts, h.CutPosts, h.replays, h.waits, h.CutWaits, h.Redelivered)
}

// Probed is the space of probes; it is not part of the history.
const Probed shoal.SpaceID = "probes"
