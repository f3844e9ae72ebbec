package limit_test

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shoal-dev/shoal/internal/limit"
)

// pass advances the time of a synctest bubble.
func pass(d time.Duration) { <-time.After(d) }

// A key may use its burst at once and then continues at its rate. A refusal returns the exact
// time until the next permitted call.
func TestRates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := limit.NewRates[string](10, 3, 100)
		take := func(key string, want time.Duration) {
			t.Helper()
			if got := r.Peek(key); got != want {
				t.Errorf("Peek(%s) = %v, want %v", key, got, want)
			}
			if got := r.Take(key); got != want {
				t.Errorf("Take(%s) = %v, want %v", key, got, want)
			}
		}
		pass(time.Hour) // the uptime of the server does not add to the burst
		for range 3 {
			take("ann", 0)
		}
		take("ann", 100*time.Millisecond)
		take("ann", 100*time.Millisecond) // a refusal is not counted
		take("bob", 0)                    // ann's calls do not count for bob
		pass(99 * time.Millisecond)
		take("ann", time.Millisecond)
		pass(time.Millisecond)
		take("ann", 0)
		take("ann", 100*time.Millisecond)
		pass(time.Second) // time for more than a burst, which is the maximum
		for range 3 {
			take("ann", 0)
		}
		take("ann", 100*time.Millisecond)
	})
}

// Over a long time a key gets at most a burst and its rate, for any pattern of calls.
func TestRatesOverTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const perSecond, burst, seconds = 50, 20, 30
		r := limit.NewRates[string](perSecond, burst, 100)
		passed := 0
		for range seconds * 1000 {
			if r.Take("greedy") == 0 {
				passed++
			}
			pass(time.Millisecond)
		}
		if want := seconds*perSecond + burst; passed < want-2 || passed > want {
			t.Errorf("%d calls passed in %d s, want %d", passed, seconds, want)
		}
	})
}

// Memory is bounded for any number of keys; recent callers are remembered.
func TestRatesRememberABoundedNumber(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := limit.NewRates[string](1, 1, 10)
		for i := range 1000 {
			key := fmt.Sprint(i)
			if r.Take(key) != 0 {
				t.Fatalf("key %s is refused its first call", key)
			}
			for j := max(0, i-9); j <= i; j++ {
				if r.Peek(fmt.Sprint(j)) == 0 {
					t.Fatalf("after %s, key %d is forgotten", key, j)
				}
			}
		}
		if remembered := limit.Remembered(r); remembered > 20 {
			t.Errorf("%d keys are remembered, want at most 20", remembered)
		}
	})
}

// Without a rate there is no limit.
func TestNoRate(t *testing.T) {
	r := limit.NewRates[string](0, 1, 10)
	for range 100 {
		if r.Take("ann") != 0 || r.Peek("ann") != 0 {
			t.Fatal("refused")
		}
	}
}

// The limits apply to each key and to all together; a released slot is free again.
func TestOpen(t *testing.T) {
	o := limit.NewOpen(2, 3)
	for i, step := range []struct {
		key   string
		leave bool
		want  limit.Verdict
	}{
		{key: "ann"},
		{key: "ann"},
		{key: "ann", want: limit.KeyFull},
		{key: "bob"},
		{key: "bob", want: limit.AllFull},
		{key: "cat", want: limit.AllFull},
		{key: "ann", leave: true},
		{key: "cat"},
		{key: "ann", want: limit.AllFull},
		{key: "cat", leave: true},
		{key: "bob", leave: true},
		{key: "ann", leave: true},
	} {
		if step.leave {
			o.Leave(limit.From(step.key))
		} else if got := o.Enter(limit.From(step.key)); got != step.want {
			t.Errorf("step %d: %v, want %v", i, got, step.want)
		}
	}
	if o.Count() != 0 || limit.KeysOpen(o) != 0 {
		t.Errorf("%d are open, of %d keys; want none", o.Count(), limit.KeysOpen(o))
	}
}

// Concurrent callers never exceed the limit.
func TestOpenTogether(t *testing.T) {
	o := limit.NewOpen(3, 10)
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			for range 1000 {
				if o.Enter(limit.From(fmt.Sprint(i%4))) != limit.Entered {
					continue
				}
				if n := o.Count(); n > 10 {
					t.Errorf("%d are open", n)
				}
				o.Leave(limit.From(fmt.Sprint(i % 4)))
			}
		})
	}
	all.Wait()
	if o.Count() != 0 {
		t.Errorf("%d are open at the end", o.Count())
	}
}
