package agent_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/script"
)

// countingModel answers every call with how many messages it sees, and calls a tool
// as long as it has scripted calls left.
func countingModel(calls int) agent.Model {
	made := 0
	return script.Func(func(r *agent.Request) script.Answer {
		if made++; made <= calls {
			return script.Answer{Calls: []agent.ToolCall{{Name: "echo", Arguments: fmt.Sprintf(`{"a":"%d"}`, made)}}}
		}
		return script.Answer{Text: fmt.Sprint(len(r.Messages))}
	})
}

// addTexts puts texts at the end of the history, users and assistants in turn.
func addTexts(t *testing.T, c *agent.Conversation, texts ...string) {
	t.Helper()
	for i, text := range texts {
		m := agent.Say(text)
		if i%2 == 1 {
			m.Role = agent.Assistant
		}
		if err := c.Add(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
}

// A47, A52: the trigger is checked before every model call of a turn, and needs
// more than target and threshold.
func TestA52ReductionIsCheckedBeforeEveryModelCall(t *testing.T) {
	a := newAgentOn(t, countingModel(4), agent.Options{Tools: storyTools(), Reduction: agent.Reduction{Strategy: agent.ReduceCount, Target: 3, Threshold: 2}})
	var got []string
	for _, e := range all(t, a, t.Context(), agent.NewConversation(), agent.Say("go")) {
		switch e := e.(type) {
		case agent.Reduced:
			got = append(got, fmt.Sprint("reduced to ", e.After))
		case agent.ModelCallStarted:
			got = append(got, fmt.Sprint("sees ", len(e.Request.Messages)))
		}
	}
	want := []string{"sees 1", "sees 3", "sees 5", "reduced to 5", "sees 5", "reduced to 5", "sees 5"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// A47, A51: a soft reduction is the model's view; the store keeps everything, and
// the next turn takes the summary without another call.
func TestA51SoftReductionKeepsTheStore(t *testing.T) {
	written := 0
	sum := script.Func(func(*agent.Request) script.Answer { written++; return script.Answer{Text: "so far"} })
	o := agent.Options{Reduction: agent.Reduction{Strategy: agent.ReduceSummary, Target: 2, Threshold: 2, Summarizer: sum}}
	c := agent.NewConversation()
	addTexts(t, c, "a", "b", "c", "d")
	a := newAgentOn(t, countingModel(0), o)
	for i, cached := range []bool{false, true} {
		events := all(t, a, t.Context(), c, agent.Say("go"))
		did := of[agent.Reduced](events)
		if len(did) != 1 || did[0].Cached != cached || did[0].Hard {
			t.Errorf("turn %d: %+v", i, did)
		}
	}
	if n, err := c.Count(t.Context()); err != nil || n != 8 || written != 1 {
		t.Errorf("%d messages are stored (%v), %d summaries were written", n, err, written)
	}
}

// A51: a hard reduction rewrites the store at the start of a turn, and says so.
func TestA51HardReductionRewritesTheStore(t *testing.T) {
	sum := script.Func(func(*agent.Request) script.Answer { return script.Answer{Text: "so far"} })
	o := agent.Options{Reduction: agent.Reduction{Strategy: agent.ReduceSummary, Target: 2, Threshold: 2, Hard: true, Summarizer: sum}}
	c := agent.NewConversation()
	addTexts(t, c, "a", "b", "c", "d", "e", "f")
	events := all(t, newAgentOn(t, countingModel(0), o), t.Context(), c, agent.Say("go"))
	if did := of[agent.Reduced](events); len(did) != 1 || !did[0].Hard {
		t.Fatalf("%+v", did)
	}
	want := []string{"user: Summary of the conversation so far:\n\nso far", "user: e", "assistant: f", "user: go", "assistant: 4"}
	if d := cmp.Diff(want, messages(t, c)); d != "" {
		t.Error(d)
	}
}

// A56: a resumed turn sees the stored messages; context providers are asked
// again, since what they add is not stored.
func TestA56ResumedTurnCallsContextProvidersAgain(t *testing.T) {
	fact := agent.Message{Role: agent.User, Parts: []agent.Part{agent.Text("fact")}}
	p := &remembering{provide: agent.ProvidedContext{Messages: []agent.Message{fact}}}
	var seen [][]string
	answers := parse(t, "call pay {}\n---\nsay done")
	m := script.Func(func(r *agent.Request) script.Answer {
		var texts []string
		for _, m := range r.Messages {
			texts = append(texts, string(m.Role)+" "+m.Text())
		}
		seen = append(seen, texts)
		return answers[len(seen)-1]
	})
	c := agent.NewConversation()
	a := newAgentOn(t, m, agent.Options{Tools: storyTools(), Context: []agent.ContextProvider{p}})
	end := finished(t, all(t, a, t.Context(), c, agent.Say("go")))
	if len(end.Pending) != 1 || len(p.invoked) != 0 {
		t.Fatalf("%+v; invoked %d times before the turn has ended", end, len(p.invoked))
	}
	mustAnswer(t, c, agent.Answer{PendingID: end.Pending[0].ID, Approved: true})
	all(t, a, t.Context(), c)
	if d := cmp.Diff([][]string{{"user fact", "user go"}, {"user fact", "user go", "assistant ", "tool "}}, seen); d != "" {
		t.Error(d)
	}
	if len(p.invoking) != 2 || len(p.invoked) != 1 || p.invoking[1].Input[0].Text() != "go" {
		t.Errorf("invoking %d times, invoked %d times", len(p.invoking), len(p.invoked))
	}
}

// A63: context providers hear of turns that were canceled.
func TestA63ProvidersAreNotifiedOfCanceledTurns(t *testing.T) {
	p := &remembering{}
	enough := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	for e, err := range newAgent(t, "say One two.", agent.Options{Context: []agent.ContextProvider{p}}).Stream(ctx, agent.NewConversation(), agent.Say("go")) {
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := e.(agent.TextDelta); ok {
			cancel(enough)
		}
	}
	if len(p.invoked) != 1 || !errors.Is(p.invoked[0].Err, enough) || len(p.invoked[0].Response) != 1 {
		t.Errorf("%+v", p.invoked)
	}
}
