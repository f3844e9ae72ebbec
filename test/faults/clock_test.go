package faults

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/shoaltest/crowd"
	"github.com/shoal-dev/shoal/internal/shoaltest/program"
)

const tenYears = 10 * 365 * 24 * time.Hour

// jumps are the offsets that the clock is set to; 0 freezes it.
var jumps = []time.Duration{time.Hour, -time.Hour, tenYears, -tenYears, 0}

// The clock is set forward and back and stopped, under load, with runs in progress: seq
// determines the order, waits end, nothing is done twice, and nothing waits for a time that
// has become distant.
func TestClock(t *testing.T) {
	seed := randomSeed(t)
	clock := &wall{file: filepath.Join(t.TempDir(), "clock")}
	clock.set(t, 0)
	s := program.NewServer(t, clockBinary(t))
	s.Env = []string{"RIG_CLOCK=" + clock.file}
	s.Start(t)
	w := newWorld(t, s, seed, times(t, "SHOAL_CLOCK_AGENTS", 2))
	o := outcome{fault: "the clock is set and stopped", found: w.checkClockIsSet(t, clock)}
	lives, kinds := times(t, "SHOAL_CLOCKS", 2), map[string]int{}
	for n := 0; n < lives && len(o.found)+len(w.Found) == 0; n++ {
		dice := random(seed, uint64(50_000+n))
		l := w.live(t, minLife, func() {
			for range 4 {
				kind := "random"
				switch jump := (o.count + int(seed%uint64(len(jumps)+1))) % (len(jumps) + 1); {
				case jump == len(jumps):
					clock.set(t, time.Duration(dice.Int64N(int64(2*tenYears)))-tenYears)
				case jumps[jump] == 0:
					kind = "frozen"
					clock.freeze(t)
				default:
					kind = jumps[jump].String()
					clock.set(t, jumps[jump])
				}
				kinds[kind]++
				o.count++
				crowd.Pause(t.Context(), minLife+time.Duration(dice.Int64N(int64(2*minLife))))
			}
			clock.set(t, 0)
		})
		if l.died {
			w.Found = append(w.Found, fmt.Sprintf("end: the server exited by itself: %v", s.Process.ProcessState))
		}
		w.Check(t, false)
	}
	w.Found = append(w.Found, o.found...)
	w.finish(t)
	o.found, o.operations, o.slowest = w.Found, w.Operations(), s.Slowest
	o.note = fmt.Sprintf("%v, %v", kinds, w.Harm())
	report(t, o)
}

// checkClockIsSet sets the clock an hour forward and back, twice, and checks the effects:
// a plan that becomes due runs once, although its time comes again, and a key is refused
// while its time is over.
func (w *world) checkClockIsSet(t *testing.T, clock *wall) (wrong []string) {
	t.Helper()
	config := json.RawMessage(`{"version":"1.0","agent":{"id":"planner","system":"You plan."},"model":{"provider":"script","name":"plans","providerOptions":{"script":"say Planned."}}}`)
	if _, err := w.Admin.PutAgent(t.Context(), "planner", client.ConfigJSON, config); err != nil {
		t.Fatal(err)
	}
	wideBounds := shoal.At(time.Now().Add(30 * time.Minute))
	later := shoal.At(time.Now().Add(20 * tenYears))
	if _, err := w.Admin.CreatePlan(t.Context(), "planner", shoal.NewPlan{Name: "soon", Instruction: "Plan.", ScheduledAt: &wideBounds}); err != nil {
		t.Fatal(err)
	}
	admin, err := client.New(client.Options{URL: w.server.URL(), Key: w.Key})
	if err != nil {
		t.Fatal(err)
	}
	key, err := admin.CreateKey(t.Context(), shoal.NewKey{Role: shoal.RoleEntity, EntityID: "guest", ExpiresAt: &wideBounds})
	if err != nil {
		t.Fatal(err)
	}
	guest := &crowd.Caller{HTTP: w.HTTP, URL: w.server.URL(), Key: *key.Secret, As: "guest"}
	visit := func(want int) {
		t.Helper()
		for began := time.Now(); ; crowd.Pause(t.Context(), 10*time.Millisecond) {
			status := w.visit(t, guest)
			if status == want {
				return
			}
			if time.Since(began) > 30*time.Second {
				wrong = append(wrong, fmt.Sprintf("key: got status %d, want %d, with the clock set %v ahead", status, want, clock.ahead))
				return
			}
		}
	}
	visit(http.StatusOK)
	for range 2 {
		clock.set(t, time.Hour)
		visit(http.StatusUnauthorized)
		// The scheduler reads the clock periodically, and when a plan is created.
		if _, err := w.Admin.CreatePlan(t.Context(), "planner", shoal.NewPlan{Name: "later", Instruction: "Plan.", ScheduledAt: &later}); err != nil {
			t.Fatal(err)
		}
		for began := time.Now(); w.runsOf(t, "planner") == 0; crowd.Pause(t.Context(), 10*time.Millisecond) {
			if time.Since(began) > crowd.SettleLimit {
				return append(wrong, fmt.Sprintf("plan: it has not run after %v", time.Since(began)))
			}
		}
		clock.set(t, 0)
		visit(http.StatusOK)
	}
	if n := w.runsOf(t, "planner"); n != 1 {
		wrong = append(wrong, fmt.Sprintf("plan: it ran %d times, want once", n))
	}
	return wrong
}

// visit makes a call that every key allows and returns its status.
func (w *world) visit(t *testing.T, c *crowd.Caller) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.URL+"/v1/sessions/default/spaces", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+c.Key)
	res, err := c.HTTP.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close() // only the status matters
	return res.StatusCode
}

func (w *world) runsOf(t *testing.T, agent shoal.EntityID) (n int) {
	t.Helper()
	for _, err := range w.Admin.Runs(t.Context(), client.RunsOptions{Agent: agent}) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	return n
}
