package faults

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/shoaltest/crowd"
	"github.com/shoal-dev/shoal/internal/shoaltest/program"
)

// Waits start while a message is being posted. There are no other clients whose messages
// could wake a waiter by chance.

const (
	sleepers   = 48
	early      = 10 * time.Millisecond
	sleepLimit = 3 * time.Second                   // of a wait
	lateWake   = sleepLimit - 200*time.Millisecond // a wait that sleeps longer although there is a message is a finding
)

// wakeUp repeatedly starts the waits of many entities close to the time at which one
// message for all of them is posted, and reports the waits that miss it.
func wakeUp(t *testing.T, s *program.Server, rounds int, seed uint64) (o outcome) {
	t.Helper()
	s.Start(t)
	w := newWorld(t, s, seed, 0)
	defer w.Close()
	callers := make([]crowd.RestSpeaker, sleepers)
	var ids []shoal.EntityID
	for i := range callers {
		id := shoal.EntityID(fmt.Sprintf("sleeper-%d", i))
		callers[i] = crowd.RestSpeaker{Caller: &crowd.Caller{HTTP: w.HTTP, URL: s.URL(), Key: w.NewKey(t, id), As: id}}
		ids = append(ids, id)
	}
	post := crowd.RestSpeaker{Caller: &crowd.Caller{HTTP: w.HTTP, URL: s.URL(), Key: w.NewKey(t, "waker"), As: "waker"}}
	if _, err := w.Admin.CreateSpace(t.Context(), shoal.NewSpace{ID: "bedroom", Name: "Bedroom", Members: append([]shoal.EntityID{"waker"}, ids...)}); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	latency := 5 * time.Millisecond // of a post: waits start from before it until after it
	for n := 0; n < rounds && len(o.found) == 0; n++ {
		dice := random(seed, uint64(n))
		p := &alarm{key: fmt.Sprintf("wake-%d", n)}
		began := time.Now()
		var going sync.WaitGroup
		for i, c := range callers {
			// Some waits start before the post, the others during it.
			after := time.Duration(0)
			if i > 3 {
				after = early + time.Duration(dice.Int64N(int64(2*latency)))
			}
			going.Go(func() {
				crowd.Pause(t.Context(), after)
				slept := time.Now()
				r, err := c.Wait(t.Context(), crowd.Waiting{Kind: shoal.WaitMentions, TimeoutMs: sleepLimit.Milliseconds()})
				mu.Lock()
				defer mu.Unlock()
				o.operations++
				switch {
				case err != nil:
					o.found = append(o.found, fmt.Sprintf("rig: a wait: %v", err))
				case r.TimedOut, time.Since(slept) > lateWake:
					// A wait reads once more at its time-out, and so may return a message that it missed.
					o.found = append(o.found, fmt.Sprintf("not delivered: the wait of %s started %v after the round and slept %v without returning %s", c.As, slept.Sub(began), time.Since(slept), p.key))
				}
			})
		}
		crowd.Pause(t.Context(), early)
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
	o.slowest = s.Slowest
	return o
}

// alarm is a message that mentions all waiters.
type alarm struct{ key string }

func (p *alarm) send(ctx context.Context, as crowd.RestSpeaker, to []shoal.EntityID) error {
	_, _, err := as.Exchange(ctx, "/v1/sessions/default/spaces/bedroom/messages", map[string]string{"Idempotency-Key": p.key}, map[string]any{"text": p.key, "mentions": to})
	return err
}

func TestWakeUps(t *testing.T) {
	o := wakeUp(t, program.NewServer(t, productBinary(t)), times(t, "SHOAL_WAKE_UPS", 40), randomSeed(t))
	o.fault = "waits that begin while a message is posted"
	report(t, o)
}
