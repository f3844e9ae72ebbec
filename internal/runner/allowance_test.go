package runner

import (
	"testing"
	"time"

	"github.com/shoal-dev/shoal/internal/harness"
)

// A budget ends with its hour or its day, and says when.
func TestBudget(t *testing.T) {
	start := time.Date(2026, 11, 27, 9, 0, 0, 0, time.UTC)
	at := func(minutes int) time.Time { return start.Add(time.Duration(minutes) * time.Minute) }
	cost := 0.5
	for _, c := range []struct {
		name   string
		budget Budget
		steps  []any // minutes at which a turn begins, or what one uses
		late   int
		err    string
		well   int // when a turn may begin again
	}{
		{
			"turns",
			Budget{MaxTurnsPerHour: 2},
			[]any{0, 10},
			59, "budget_exhausted: Scout has had its 2 turns of an hour. It can work again at 10:00 UTC.", 60,
		},
		{
			"tokens",
			Budget{MaxTurnsPerHour: 99, MaxTokensPerDay: 100},
			[]any{0, harness.Usage{InputTokens: 70, OutputTokens: 30}},
			1439,
			"budget_exhausted: Scout has used its 100 tokens of a day. It can work again at 09:00 UTC.", 1440,
		},
		{
			"cost",
			Budget{MaxTurnsPerHour: 99, MaxCostPerDay: 1},
			[]any{0, harness.Usage{Cost: &cost}, 30, harness.Usage{}, harness.Usage{Cost: &cost}},
			40,
			"budget_exhausted: Scout has cost its 1.00 dollars of a day. It can work again at 09:00 UTC.", 1440,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := &allowance{budget: c.budget, title: "Scout"}
			now := start
			for _, step := range c.steps {
				switch step := step.(type) {
				case int:
					now = at(step)
					if err := a.begin(now); err != nil {
						t.Fatalf("at %d minutes: %v", step, err)
					}
				case harness.Usage:
					a.use(now, step)
				}
			}
			if err := a.begin(at(c.late)); err == nil || err.Error() != c.err {
				t.Errorf("at %d minutes: %v\nwant %s", c.late, err, c.err)
			}
			if err := a.begin(at(c.well)); err != nil {
				t.Errorf("at %d minutes: %v", c.well, err)
			}
		})
	}
}

// An agent that fails again and again is not started any more; one that works in between is.
func TestFailuresDisable(t *testing.T) {
	start := time.Date(2026, 11, 27, 9, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name    string
		every   time.Duration
		turns   string // x for a failure, o for success
		ends    bool
		allowed bool
	}{
		{"five failures at once", time.Second, "xxxxx", true, false},
		{"four", time.Second, "xxxx", false, true},
		{"a success in between", time.Second, "xxxxoxxxx", false, true},
		{"rare failures", 3 * time.Minute, "xxxxxxxxxx", false, true},
	} {
		a := &allowance{budget: Budget{MaxTurnsPerHour: 99}, title: "Scout"}
		now, disabled := start, false
		for _, turn := range c.turns {
			now = now.Add(c.every)
			disabled = a.end(now, turn == 'x')
		}
		if err := a.begin(now); disabled != c.ends || (err == nil) != c.allowed {
			t.Errorf("%s: disabled %v, %v", c.name, disabled, err)
		}
	}
}
