package runner

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/shoal-dev/shoal/internal/harness"
)

// Budget bounds what an agent uses. A zero field has no bound, but for MaxTurnsPerHour.
type Budget struct {
	MaxTurnsPerHour int     `yaml:"maxTurnsPerHour"`
	MaxTokensPerDay int     `yaml:"maxTokensPerDay"`
	MaxCostPerDay   float64 `yaml:"maxCostPerDay"` // in US dollars
}

// DefaultMaxTurnsPerHour bounds agents that answer each other.
const DefaultMaxTurnsPerHour = 30

// An agent that has failed maxFailures times within failureWindow is broken: more attempts would
// only cost more.
const (
	maxFailures   = 5
	failureWindow = 10 * time.Minute
)

// CodeBudget and CodeDisabled are the codes of turns that were not begun.
const (
	CodeBudget   = "budget_exhausted"
	CodeDisabled = "agent_disabled"
)

// allowance decides whether an agent may begin a turn. What the harness did not report, such as the
// cost of most of them, counts as nothing here; the turns count always.
type allowance struct {
	budget Budget
	title  string

	mu       sync.Mutex
	turns    []time.Time // of the last hour
	used     []spending  // of the last day
	failures []time.Time // of the failure window
	disabled bool
}

// spending is what a turn has used.
type spending struct {
	at     time.Time
	tokens int
	cost   float64
}

// begin counts a turn, or returns why it must not begin.
func (a *allowance) begin(now time.Time) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.turns = after(a.turns, now.Add(-time.Hour), func(t time.Time) time.Time { return t })
	a.used = after(a.used, now.Add(-24*time.Hour), func(s spending) time.Time { return s.at })
	var tokens int
	var cost float64
	for _, s := range a.used {
		tokens, cost = tokens+s.tokens, cost+s.cost
	}
	b := a.budget
	switch {
	case a.disabled:
		return a.disabledFailure()
	case len(a.turns) >= b.MaxTurnsPerHour:
		return &Failure{CodeBudget, fmt.Sprintf("%s has had its %d turns of an hour. It can work again at %s.", a.title, b.MaxTurnsPerHour, clock(a.turns[0].Add(time.Hour)))}
	case b.MaxTokensPerDay > 0 && tokens >= b.MaxTokensPerDay:
		return &Failure{CodeBudget, fmt.Sprintf("%s has used its %d tokens of a day. It can work again at %s.", a.title, b.MaxTokensPerDay, clock(a.used[0].at.Add(24*time.Hour)))}
	case b.MaxCostPerDay > 0 && cost >= b.MaxCostPerDay:
		return &Failure{CodeBudget, fmt.Sprintf("%s has cost its %.2f dollars of a day. It can work again at %s.", a.title, b.MaxCostPerDay, clock(a.used[0].at.Add(24*time.Hour)))}
	}
	a.turns = append(a.turns, now)
	return nil
}

func (a *allowance) disabledFailure() *Failure {
	return &Failure{CodeDisabled, fmt.Sprintf("%s failed %d times within %s and is not started any more. Its runner has to be restarted.", a.title, maxFailures, "10 minutes")}
}

// problem says why the agent is not started any more; empty if it is.
func (a *allowance) problem() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.disabled {
		return ""
	}
	return a.disabledFailure().Text
}

// clock is a time of day with its zone.
func clock(t time.Time) string { return t.UTC().Format("15:04 UTC") }

// after drops what is not after a time from a list in order.
func after[T any](all []T, limit time.Time, at func(T) time.Time) []T {
	i := slices.IndexFunc(all, func(one T) bool { return at(one).After(limit) })
	if i < 0 {
		return all[:0]
	}
	return slices.Delete(all, 0, i)
}

// use books what a turn has used.
func (a *allowance) use(now time.Time, u harness.Usage) {
	s := spending{at: now, tokens: u.InputTokens + u.OutputTokens}
	if u.Cost != nil {
		s.cost = *u.Cost
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.used = append(a.used, s)
}

// end counts how a turn ended. It reports whether the agent is disabled from now on.
func (a *allowance) end(now time.Time, failed bool) (disabled bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !failed {
		a.failures = nil
		return false
	}
	a.failures = append(after(a.failures, now.Add(-failureWindow), func(t time.Time) time.Time { return t }), now)
	if len(a.failures) < maxFailures || a.disabled {
		return false
	}
	a.disabled = true
	return true
}
