package agent_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/script"
)

// A17: a request that has expired counts as denied when its turn goes on.
func TestA17ExpiredRequestsAreDeniedOnResume(t *testing.T) {
	store := agent.NewMemory()
	c := agent.OpenConversation(store, "c")
	a := newAgentOn(t, script.PerTurn(parse(t, "call pay#p {}\ncall client#q {}\n---\nsay done")...), agent.Options{Tools: storyTools()})
	all(t, a, t.Context(), c, agent.Say("go"))
	for range 2 { // the permission, then the client's call
		r, err := c.Load(t.Context())
		if err != nil || r.Open == nil {
			t.Fatalf("%+v, %v", r.Open, err)
		}
		for i := range r.Open.Steps[0].Pending {
			r.Open.Steps[0].Pending[i].ExpiresAt = time.Now().Add(-time.Hour)
		}
		if err := store.Replace(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		if end := finished(t, all(t, a, t.Context(), c)); end.Outcome == agent.Completed {
			break
		}
	}
	want := []string{"user: go", "assistant: [pay {}][client {}]", "tool: [denied Permission denied. The call was not executed. Reason: Nobody answered in time.][failed Error: nobody answered in time.]", "assistant: done"}
	if d := cmp.Diff(want, messages(t, c)); d != "" {
		t.Error(d)
	}
}

// A request with a time waits no longer than that.
func TestRequestExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hasty := agent.Configure(storyTools()[1], func(s *agent.ToolSpec) { s.ExpiresIn = time.Hour })
		a := newAgentOn(t, script.PerTurn(parse(t, "call pay#p {}\n---\nsay done")...), agent.Options{Tools: []agent.Tool{hasty}})
		c := agent.NewConversation()
		p := finished(t, all(t, a, t.Context(), c, agent.Say("go"))).Pending[0]
		<-time.After(time.Hour + time.Second)
		if err := c.Answer(t.Context(), agent.Answer{PendingID: p.ID, Approved: true}); !errors.Is(err, agent.ErrConflict) {
			t.Errorf("a late answer: %v", err)
		}
		all(t, a, t.Context(), c)
		if got := messages(t, c)[2]; got != "tool: [denied Permission denied. The call was not executed. Reason: Nobody answered in time.]" {
			t.Error(got)
		}
	})
}

// A20: a remembered choice settles the other requests of the tool in the step.
func TestA20PermissionRuleAppliesWithinItsStep(t *testing.T) {
	asked := 0
	o := agent.Options{Tools: storyTools(), Answer: func(context.Context, agent.Pending) (agent.Answer, bool) {
		asked++
		return agent.Answer{Approved: true, Rule: agent.AlwaysAllow}, true
	}}
	c := agent.NewConversation()
	events := all(t, newAgent(t, "call pay#a {\"a\":\"1\"}\ncall pay#b {\"a\":\"2\"}\n---\nsay done", o), t.Context(), c, agent.Say("go"))
	if end := finished(t, events); end.Outcome != agent.Completed || asked != 1 {
		t.Errorf("%+v, asked %d times", end, asked)
	}
	if got := messages(t, c)[2]; got != "tool: [ok echo 1][ok echo 2]" {
		t.Error(got)
	}
	if n := len(of[agent.RequestAnswered](events)); n != 2 {
		t.Errorf("%d are answered", n)
	}
}

// A51: what a hard reduction costs is the turn's.
func TestA51HardReductionIsChargedToItsTurn(t *testing.T) {
	sum := script.Func(func(*agent.Request) script.Answer {
		return script.Answer{Text: "so far", Usage: agent.Usage{InputTokens: 1000, OutputTokens: 10}}
	})
	c := agent.NewConversation()
	addTexts(t, c, "a", "b", "c", "d", "e", "f")
	a := newAgentOn(t, countingModel(0), agent.Options{
		Price:     func(agent.ModelInfo, agent.Usage) float64 { return 1 },
		Reduction: agent.Reduction{Strategy: agent.ReduceSummary, Target: 2, Threshold: 2, Hard: true, Summarizer: sum},
	})
	if end := finished(t, all(t, a, t.Context(), c, agent.Say("go"))); end.Usage.InputTokens < 1000 || end.Cost != 2 {
		t.Errorf("%+v", end)
	}
}
