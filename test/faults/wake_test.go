package faults

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
)

// Waits that begin while a message is being posted. Nobody else is there whose
// messages would wake a sleeper by chance.

const (
	sleepers   = 48
	early      = 10 * time.Millisecond
	sleepLimit = 3 * time.Second                   // of a wait
	lateWake   = sleepLimit - 200*time.Millisecond // whoever sleeps so long beside a message is found
)

// wakeUp lets everybody wait from a moment near to that in which one message for all
// of them is posted, again and again, and says who slept beside it.
func wakeUp(t *testing.T, s *server, rounds int, seed uint64) (o outcome) {
	t.Helper()
	s.start(t)
	w := newWorld(t, s, seed, 0)
	defer w.close()
	callers := make([]restSpeaker, sleepers)
	var ids []shoal.EntityID
	for i := range callers {
		id := shoal.EntityID(fmt.Sprintf("sleeper-%d", i))
		callers[i] = restSpeaker{&caller{http: w.http, url: s.url(), key: w.newKey(t, id), as: id}}
		ids = append(ids, id)
	}
	post := restSpeaker{&caller{http: w.http, url: s.url(), key: w.newKey(t, "waker"), as: "waker"}}
	if _, err := w.admin.CreateSpace(t.Context(), shoal.NewSpace{ID: "bedroom", Name: "Bedroom", Members: append([]shoal.EntityID{"waker"}, ids...)}); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	latency := 5 * time.Millisecond // of a post: waits begin from before it until after it
	for n := 0; n < rounds && len(o.found) == 0; n++ {
		dice := random(seed, uint64(n))
		p := &alarm{key: fmt.Sprintf("wake-%d", n)}
		began := time.Now()
		var going sync.WaitGroup
		for i, c := range callers {
			// Some wait before, the others begin while it is posted.
			after := time.Duration(0)
			if i > 3 {
				after = early + time.Duration(dice.Int64N(int64(2*latency)))
			}
			going.Go(func() {
				pause(t.Context(), after)
				slept := time.Now()
				r, err := c.wait(t.Context(), waiting{kind: shoal.WaitMentions, timeoutMs: sleepLimit.Milliseconds()})
				mu.Lock()
				defer mu.Unlock()
				o.operations++
				switch {
				case err != nil:
					o.found = append(o.found, fmt.Sprintf("rig: a wait: %v", err))
				case r.TimedOut, time.Since(slept) > lateWake:
					// A wait reads once more when its time is up, and so may find what it slept beside.
					o.found = append(o.found, fmt.Sprintf("not delivered: %s began to wait %v after the round did and slept %v beside %s", c.as, slept.Sub(began), time.Since(slept), p.key))
				}
			})
		}
		pause(t.Context(), early)
		sent := time.Now()
		if err := p.send(t.Context(), post, ids); err != nil {
			t.Fatal(err)
		}
		latency = (7*latency + time.Since(sent)) / 8
		going.Wait()
		o.count++
	}
	if len(o.found) > 0 {
		t.Logf("SHOAL_FAULT_SEED=%d, round %d", seed, o.count)
	}
	o.slowest = s.slowest
	return o
}

// alarm is a message that mentions everybody.
type alarm struct{ key string }

func (p *alarm) send(ctx context.Context, as restSpeaker, to []shoal.EntityID) error {
	_, _, err := as.exchange(ctx, "/v1/sessions/default/spaces/bedroom/messages", map[string]string{"Idempotency-Key": p.key}, map[string]any{"text": p.key, "mentions": to})
	return err
}

func TestWakeUps(t *testing.T) {
	o := wakeUp(t, newServer(t, product(t)), times(t, "SHOAL_WAKE_UPS", 40), seeded(t))
	o.fault = "waits that begin while a message is posted"
	report(t, o)
}

// restored starts a server with an older copy of its database, as from a backup, and
// follows with a place that is not there any more: there must be a snapshot.
func restored(t *testing.T, s *server, seed uint64) (o outcome) {
	t.Helper()
	s.start(t)
	w := newWorld(t, s, seed, 0)
	w.live(t, 200*time.Millisecond, s.kill)
	older := t.TempDir()
	copyTo(t, s.data, older)
	s.start(t)
	w.live(t, 500*time.Millisecond, s.kill)
	w.close()
	at := map[shoal.SpaceID]shoal.Cursor{}
	for _, r := range w.readers {
		if r.space != "" {
			at[r.space] = r.cursor
		}
	}
	replaceBy(t, older, s.data)
	s.start(t)
	for space, cursor := range at {
		// A reader that was slow to come back may have seen nothing that the copy lacks.
		if place(t, cursor) <= place(t, w.end(t, space)) {
			continue
		}
		if wrong := w.firstEvent(t, space, cursor); wrong != "" {
			o.found = append(o.found, wrong)
		}
		o.count++
		o.operations++
	}
	if o.count == 0 {
		o.found = append(o.found, "rig: no reader has seen anything that the copy lacks")
	}
	o.slowest = s.slowest
	return o
}

// end is where the events of a space end.
func (w *world) end(t *testing.T, space shoal.SpaceID) shoal.Cursor {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), wakeLimit)
	defer cancel()
	for ev, err := range w.admin.Follow(ctx, followFrom(space, "")) {
		if err != nil {
			t.Fatal(err)
		}
		return ev.Cursor
	}
	t.Fatalf("a reader of %s is told nothing", space)
	return ""
}

// place is the number that a cursor ends with.
func place(t *testing.T, c shoal.Cursor) (n int64) {
	t.Helper()
	_, number, _ := strings.Cut(string(c), ".")
	if _, err := fmt.Sscan(number, &n); err != nil {
		t.Fatalf("the cursor %q has no place: %v", c, err)
	}
	return n
}

// firstEvent follows a space from a cursor that the server cannot know, and says
// what is wrong with what comes.
func (w *world) firstEvent(t *testing.T, space shoal.SpaceID, cursor shoal.Cursor) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), wakeLimit)
	defer cancel()
	for ev, err := range w.admin.Follow(ctx, followFrom(space, cursor)) {
		if err != nil {
			return fmt.Sprintf("stream: %v", err)
		}
		if ev.Type != shoal.EventSnapshot {
			return fmt.Sprintf("stream gap: at %s behind %s, which is not there, %s comes first: %s", space, cursor, ev.Type, ev.Data)
		}
		var d shoal.SnapshotData
		if err := json.Unmarshal(ev.Data, &d); err != nil {
			return fmt.Sprintf("stream: %v", err)
		}
		return ""
	}
	return fmt.Sprintf("stream gap: a reader of %s behind %s, which is not there, is told nothing", space, cursor)
}

func TestRestored(t *testing.T) {
	o := restored(t, newServer(t, product(t)), seeded(t))
	o.fault = "an older copy of the database"
	report(t, o)
}
