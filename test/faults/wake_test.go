package faults

import (
	"context"
	"fmt"
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
	o := wakeUp(t, newServer(t, productBinary(t)), times(t, "SHOAL_WAKE_UPS", 40), randomSeed(t))
	o.fault = "waits that begin while a message is posted"
	report(t, o)
}
