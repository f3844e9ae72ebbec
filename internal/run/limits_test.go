package run_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/script"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// limitTokens sets the limit of the session.
func (w *world) limitTokens(tokens int64) {
	w.t.Helper()
	_, err := w.hub.Sessions.Change(w.t.Context(), admin, session, shoal.SessionChange{Limits: &shoal.LimitsChange{MaxTokensPerRequest: &tokens}})
	w.must(err)
}

// spent is what is noted for a root.
func (w *world) spent(root string) (s storage.Spending) {
	w.t.Helper()
	w.must(w.store.Update(w.t.Context(), storage.Global, func(tx storage.Tx) (err error) {
		s, err = tx.Spend(session, root, storage.Spending{})
		return err
	}))
	return s
}

// Three agents that each mention the two others would make runs without end, but for the
// depth. The limit stops all of them together: no model is called that could exceed it,
// each run that needs more says so, and what is noted is what was used.
func TestLimitsStopEveryChain(t *testing.T) {
	const limit, perCall = 60_000, 1100
	w := newWorld(t)
	var used atomic.Int64
	for _, id := range []shoal.EntityID{"one", "two", "three"} {
		model := script.Func(func(req *agent.Request) script.Answer {
			if sum := used.Add(perCall); sum > limit {
				t.Errorf("a call brings what is used to %d", sum)
			}
			a := silent
			if len(req.Messages) > 0 && req.Messages[len(req.Messages)-1].Role == agent.User {
				a = script.Answer{}
				for _, other := range []shoal.EntityID{"one", "two", "three"} {
					if other != id {
						a.Calls = append(a.Calls, call("", "sendSpaceMessage", fmt.Sprintf(`{"spaceId":"shop","text":"Your turn.","mention":%q}`, other)))
					}
				}
			}
			a.Usage = agent.Usage{InputTokens: 1000, OutputTokens: 100}
			return a
		})
		w.hosts(id, model, `"reply":"tool"`)
	}
	w.join("shop", "one")
	lead := shoal.EntityID("one")
	_, err := w.hub.Spaces.Update(t.Context(), ann, session, "shop", shoal.SpaceChange{AdminAgentID: &lead})
	w.must(err)
	w.join("shop", "two")
	w.join("shop", "three")
	w.limitTokens(limit)
	first := w.says("Go.")
	root := w.run(first).CauseRoot
	ended := func() bool {
		for _, r := range w.runs() {
			if !r.Status.Ended() {
				return false
			}
		}
		return true
	}
	w.until("the end of all runs", ended)

	stopped := 0
	for _, r := range w.runs() {
		if r.Status == shoal.RunFailed {
			stopped++
			if r.Error.Code != "budget_exhausted" || !strings.Contains(r.Error.Message, "limits of the session (5.00 USD and 60000 tokens)") {
				t.Errorf("%s fails with %+v", r.ID, r.Error)
			}
		}
		if r.CauseRoot != root {
			t.Errorf("the root of %s is %s, not %s", r.ID, r.CauseRoot, root)
		}
	}
	if stopped == 0 {
		t.Error("no run was stopped, so this test does not see whether the limit works")
	}
	if got := w.spent(root).Tokens; got != used.Load() {
		t.Errorf("%d tokens are noted, %d were used", got, used.Load())
	}
	used.Store(0)
	before := len(w.runs())
	w.says("Once more.") // another request has a budget of its own
	w.until("the end of all runs", func() bool { return len(w.runs()) > before && ended() })
	if used.Load() == 0 {
		t.Error("the next message was not answered")
	}
}

// A call that dies with its server counts as what was reserved for it: nobody knows
// what it has used.
func TestLimitsCountInterruptedCalls(t *testing.T) {
	w := newWorld(t)
	calling, goOn := make(chan struct{}), make(chan struct{})
	var once sync.Once
	w.shopkeeper(script.Func(func(*agent.Request) script.Answer {
		first := false
		once.Do(func() { first = true })
		if first {
			close(calling)
			<-goOn
		}
		return script.Answer{Text: "Done.", Usage: agent.Usage{InputTokens: 10, OutputTokens: 1}}
	}), "")
	id := w.says("Go.")
	root := w.run(id).CauseRoot
	<-calling
	reserved := w.spent(root).Tokens
	if reserved < 1000 { // the answer alone may have so many
		t.Fatalf("%d tokens are reserved", reserved)
	}
	w.store.refuses(errors.New("the process is dead"), 0)
	close(goOn)
	w.crashes()
	w.reaches(id, shoal.RunCompleted)
	if got := w.spent(root).Tokens; got != reserved+11 {
		t.Errorf("%d tokens are noted, want the %d that were reserved and 11", got, reserved)
	}
}

// Without limits nothing is noted, and nothing is stopped.
func TestNoLimits(t *testing.T) {
	w := newWorld(t)
	cost := 0.0
	tokens := int64(0)
	_, err := w.hub.Sessions.Change(t.Context(), admin, session, shoal.SessionChange{Limits: &shoal.LimitsChange{MaxCostPerRequest: &cost, MaxTokensPerRequest: &tokens}})
	w.must(err)
	w.shopkeeper(script.Func(func(*agent.Request) script.Answer {
		return script.Answer{Text: "Done.", Usage: agent.Usage{InputTokens: 1e9, OutputTokens: 1e9}}
	}), "")
	id := w.says("Go.")
	w.reaches(id, shoal.RunCompleted)
	if got := w.spent(w.run(id).CauseRoot); got != (storage.Spending{}) {
		t.Errorf("%+v is noted", got)
	}
}
