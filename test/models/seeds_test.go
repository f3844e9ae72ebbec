package models_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/internal/shoaltest/setting"
)

// seedsUsual is how many random turns are taken, unless SHOAL_MODEL_SEEDS names more:
// at night.
const seedsUsual = 200

// trouble is a fault that another attempt helps against, and one that none does.
type trouble struct {
	fault
	// ends says how the turn ends at once; empty where another attempt helps.
	ends agent.Reason
	// shows says that the attempt may show something before it dies.
	shows bool
	// last is how the turn ends when the last attempt of a step fails of it.
	last agent.Reason
}

// drawTrouble draws one, by weight.
func drawTrouble(r *rand.Rand) trouble {
	helps := func(f fault) trouble { return trouble{fault: f, last: agent.ReasonUnavailable} }
	dies := func(f fault) trouble { return trouble{fault: f, last: agent.ReasonUnavailable, shows: true} }
	switch n := r.IntN(100); {
	case n < 14:
		return trouble{fault: retryAfter(vendorSays("rate limited"), ""), last: agent.ReasonRateLimited}
	case n < 22:
		return helps(vendorSays("broken"))
	case n < 30:
		return helps(vendorSays("overloaded"))
	case n < 36:
		return helps(chaos("Drop"))
	case n < 42:
		return helps(chaos("Disconnect"))
	case n < 48:
		return helps(chaos("Malformed"))
	case n < 54:
		return helps(asPage())
	case n < 60:
		return helps(emptied())
	case n < 74:
		return dies(cutAt(0.05 + 0.75*r.Float64()))
	case n < 86:
		return dies(endAt(0.05 + 0.75*r.Float64()))
	case n < 94:
		return dies(garbled())
	case n < 96:
		return dies(stallAt(0.8 * r.Float64()))
	case n < 98:
		return trouble{fault: vendorSays("wrong key"), ends: agent.ReasonProviderAuth}
	default:
		return trouble{fault: vendorSays("refused"), ends: agent.ReasonInvalidRequest}
	}
}

// course is a random turn and what has to come of it.
type course struct {
	wire     wire
	say      string
	steps    int // of the undisturbed play
	calls    int
	text     string
	faults   []fault
	names    []string
	attempts int
	reason   agent.Reason
	shows    bool // the step that fails may have shown something
	done     int  // steps that end before the turn does
}

var courses = []course{
	{say: "text", steps: 1, text: grey},
	{say: "call", steps: 2, calls: 1, text: "It rains in Kiel."},
	{say: "parallel", steps: 2, calls: 2, text: "It rains in both."},
	{say: "text then call", steps: 2, calls: 1, text: "It rains in Kiel."},
	{say: "same ids", steps: 2, calls: 2, text: "It rains in both."},
	{say: "twelve steps", steps: 12, calls: 11, text: "Eleven stops, all wet."},
}

// drawCourse draws a wire, a play and the troubles of its attempts, and works
// out how the turn has to end.
func drawCourse(seed uint64) course {
	r := rand.New(rand.NewPCG(seed, 0x5eed))
	c := courses[r.IntN(len(courses))]
	c.wire = wires[r.IntN(len(wires))]
	c.reason = agent.ReasonDone
	likely := 0.2 + 0.6*r.Float64() // some turns have bad luck all the way
	for c.done < c.steps {
		for attempt := 1; ; attempt++ {
			c.attempts++
			if r.Float64() >= likely {
				c.faults, c.names = append(c.faults, fault{}), append(c.names, "-")
				break
			}
			bad := drawTrouble(r)
			c.faults, c.names = append(c.faults, bad.fault), append(c.names, bad.name)
			if bad.ends == "" && attempt == maxAttempts {
				bad.ends = bad.last
			}
			if bad.ends != "" {
				c.reason, c.shows = bad.ends, bad.shows
				return c
			}
		}
		c.done++
	}
	return c
}

func (c course) String() string {
	return fmt.Sprintf("%s over %s: %s", c.say, c.wire.name, strings.Join(c.names, ", "))
}

// The usual seeds are worth taking: of each wire, play and ending there are some.
func TestSeedsVary(t *testing.T) {
	t.Parallel()
	seen := map[string]int{}
	for seed := uint64(1); seed <= seedsUsual; seed++ {
		c := drawCourse(seed)
		for _, what := range append([]string{c.wire.name, c.say, string(c.reason)}, c.names...) {
			seen[what]++
		}
	}
	t.Logf("%v", seen)
	for what, least := range map[string]int{
		"chat": 30, "responses": 30, "anthropic": 30, "gemini": 30, "text": 15, "twelve steps": 15, "same ids": 15,
		string(agent.ReasonDone): 50, string(agent.ReasonUnavailable): 20, string(agent.ReasonRateLimited): 2,
		string(agent.ReasonProviderAuth): 2, string(agent.ReasonInvalidRequest): 2, "stall": 5, "cut": 20, "ended early": 20, "garbled": 10,
	} {
		if seen[what] < least {
			t.Errorf("%q happens %d times in %d seeds, want %d", what, seen[what], seedsUsual, least)
		}
	}
}

// However the troubles of the wire are mixed, the turn asks as often as it may
// and no more, ends as it has to, says everything once and runs every tool once.
func TestRandomTroubles(t *testing.T) {
	t.Parallel()
	for seed := uint64(1); seed <= setting.Number(t, "SHOAL_MODEL_SEEDS", seedsUsual); seed++ {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			t.Parallel()
			c := drawCourse(seed)
			defer func() {
				if t.Failed() {
					t.Logf("seed %d: %v; ends as %s after %d attempts", seed, c, c.reason, c.attempts)
				}
			}()
			c.test(t)
		})
	}
}

func (c course) test(t *testing.T) {
	t.Helper()
	vendor := newProxy(t, c.faults, fault{})
	l := &ledger{done: map[string]int{}}
	a, err := agent.New(c.wire.model(vendor.URL), agent.Options{
		Tools: []agent.Tool{l.tool()}, MaxSteps: 12,
		AttemptTimeout: 2 * time.Second, StallTimeout: 2 * time.Second,
		Retry: agent.Retry{Base: time.Millisecond, Max: 2 * time.Millisecond},
	})
	if err != nil {
		t.Fatal(err)
	}
	talk := newTalk(t)
	heard := talk.turn(a, agent.Say(c.say))
	stored := talk.added()
	heard.judge(stored)

	end := heard.end()
	outcome := agent.Completed
	if c.reason != agent.ReasonDone {
		outcome = agent.Failed
	}
	if end.Outcome != outcome || end.Reason != c.reason {
		t.Errorf("the turn ended as %s because of %s (%v), want %s because of %s", end.Outcome, end.Reason, end.Err, outcome, c.reason)
	}
	if n := len(vendor.attempts()); n != c.attempts || n != heard.total() {
		t.Errorf("the vendor was asked %d times, the events say %d, want %d", n, heard.total(), c.attempts)
	}
	if want := min(c.calls, c.done*c.calls); l.total() != want && c.steps == 2 {
		t.Errorf("the tool ran %d times, want %d: %v", l.total(), want, l.done)
	}
	if want := min(c.calls, c.done); l.total() != want && c.steps != 2 {
		t.Errorf("the tool ran %d times, want %d: %v", l.total(), want, l.done)
	}
	for city, times := range l.done {
		if times != 1 {
			t.Errorf("the tool ran %d times for %s", times, city)
		}
	}
	if outcome == agent.Completed && heard.text() != c.text {
		t.Errorf("the last message says %q, want %q", heard.text(), c.text)
	}
	c.judgeKept(t, heard)
}

// judgeKept counts the messages that stay: one for each step that ended, and of
// the step that failed at most what was shown of it, marked as cut short.
func (c course) judgeKept(t *testing.T, heard *recorder) {
	t.Helper()
	kept := heard.kept()
	whole := 0
	for _, m := range kept {
		if !m.interrupted {
			whole++
		}
	}
	if whole != c.done {
		t.Errorf("%d whole messages stay of %d steps", whole, c.done)
	}
	if rest := len(kept) - whole; rest > 1 || (rest == 1 && !c.shows) {
		t.Errorf("%d messages were cut short; could something be shown: %v", rest, c.shows)
	}
}
