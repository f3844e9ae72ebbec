package agent_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/script"
)

// boss calls the sub-agent once.
func boss(t *testing.T, sub *agent.Agent, s agent.SubAgent, o agent.Options) *agent.Agent {
	t.Helper()
	o.Name = "boss"
	o.Tools = []agent.Tool{agent.AsTool(sub, s)}
	return newAgentOn(t, script.PerTurn(parse(t, "call clerk#c1 {\"input\":\"pay it\"}\n---\nsay All done.")...), o)
}

// A35, A70: a sub-agent has a conversation of its own, and its events come up.
func TestSubAgentEventsAreNested(t *testing.T) {
	clerk := newAgent(t, "call echo#e1 {\"a\":\"x\"}\n---\nsay Paid.", agent.Options{Name: "clerk"})
	c := agent.NewConversation()
	events := all(t, boss(t, clerk, agent.SubAgent{WithoutPermission: true}, agent.Options{}), t.Context(), c, agent.Say("pay"))
	checkBalance(t, events)
	nested := of[agent.Nested](events)
	var inner []agent.Event
	for _, n := range nested {
		if n.CallID != "c1" || n.TurnID == "" || !slices.Equal(n.Chain, []string{"boss", "clerk"}) {
			t.Fatalf("nested %+v", n)
		}
		inner = append(inner, n.Event)
	}
	checkBalance(t, inner)
	if end := finished(t, inner); end.Outcome != agent.Completed {
		t.Errorf("the clerk ends as %s", end.Outcome)
	}
	want := []string{"user: pay", `assistant: [clerk {"input":"pay it"}]`, "tool: [ok Paid.]", "assistant: All done."}
	if d := cmp.Diff(want, messages(t, c)); d != "" {
		t.Error(d)
	}
}

// A sub-agent that needs a person makes its caller wait; the answer goes where it
// belongs, and both go on without asking a model twice.
func TestSubAgentWaitsThroughItsCaller(t *testing.T) {
	clerk := newAgentOn(t, script.PerTurn(parse(t, "call pay#p1 {\"a\":\"7\"}\n---\nsay Paid.")...), agent.Options{Name: "clerk", Tools: storyTools()})
	store := agent.NewMemory()
	c := agent.OpenConversation(store, "c")
	b := boss(t, clerk, agent.SubAgent{}, agent.Options{})

	end := finished(t, all(t, b, t.Context(), c, agent.Say("pay")))
	if end.Outcome != agent.Waiting || len(end.Pending) != 1 || end.Pending[0].Call.Name != "clerk" {
		t.Fatalf("first the sub-agent itself is asked for: %+v", end)
	}
	mustAnswer(t, c, agent.Answer{PendingID: end.Pending[0].ID, Approved: true})

	end = finished(t, all(t, b, t.Context(), c))
	if end.Outcome != agent.Waiting || len(end.Pending) != 1 || end.Pending[0].Call.Name != "pay" || end.Pending[0].Via != "c1" {
		t.Fatalf("then the clerk asks: %+v", end)
	}
	if p, err := c.Pending(t.Context()); err != nil || len(p) != 1 || p[0].Agent != "clerk" {
		t.Fatalf("the caller's conversation shows %+v, %v", p, err)
	}
	// Without the answer both go on waiting.
	if end = finished(t, all(t, b, t.Context(), c)); end.Outcome != agent.Waiting || len(end.Pending) != 1 {
		t.Fatalf("%+v", end)
	}
	mustAnswer(t, c, agent.Answer{PendingID: end.Pending[0].ID, Approved: true})

	events := all(t, b, t.Context(), c)
	if end = finished(t, events); end.Outcome != agent.Completed {
		t.Fatalf("%+v", end)
	}
	want := []string{"user: pay", `assistant: [clerk {"input":"pay it"}]`, "tool: [ok Paid.]", "assistant: All done."}
	if d := cmp.Diff(want, messages(t, c)); d != "" {
		t.Error(d)
	}
	sub := agent.OpenConversation(store, end0(t, events))
	want = []string{"user: pay it", `assistant: [pay {"a":"7"}]`, "tool: [ok echo 7]", "assistant: Paid."}
	if d := cmp.Diff(want, messages(t, sub)); d != "" {
		t.Error(d)
	}
}

// end0 returns the conversation of the first nested turn.
func end0(t *testing.T, events []agent.Event) string {
	t.Helper()
	for _, n := range of[agent.Nested](events) {
		if s, ok := n.Event.(agent.TurnStarted); ok {
			return s.Conversation
		}
	}
	t.Fatal("no nested turn")
	return ""
}

func mustAnswer(t *testing.T, c *agent.Conversation, a agent.Answer) {
	t.Helper()
	if err := c.Answer(t.Context(), a); err != nil {
		t.Fatal(err)
	}
}

// Sub-agents use the same Asker as their parent.
func TestSubAgentUsesCallersAnswerFunc(t *testing.T) {
	clerk := newAgent(t, "call pay {}\n---\nsay Paid.", agent.Options{Name: "clerk"})
	var asked []string
	b := boss(t, clerk, agent.SubAgent{}, agent.Options{Answer: func(_ context.Context, p agent.Pending) (agent.Answer, bool) {
		asked = append(asked, p.Agent+" "+p.Call.Name)
		return agent.Answer{Approved: true}, true
	}})
	if end := finished(t, all(t, b, t.Context(), agent.NewConversation(), agent.Say("pay"))); end.Outcome != agent.Completed {
		t.Errorf("%+v", end)
	}
	if !slices.Equal(asked, []string{"boss clerk", "clerk pay"}) {
		t.Errorf("asked %q", asked)
	}
}

func TestSubAgentFailures(t *testing.T) {
	clerk := newAgent(t, "fail auth", agent.Options{Name: "clerk"})
	c := agent.NewConversation()
	all(t, boss(t, clerk, agent.SubAgent{WithoutPermission: true}, agent.Options{}), t.Context(), c, agent.Say("pay"))
	if got := messages(t, c)[2]; got != "tool: [failed Error: the agent clerk failed: The model provider refused the key.]" {
		t.Error(got)
	}
	if _, err := agent.AsTool(clerk, agent.SubAgent{}).Call(t.Context(), agent.ToolCall{Arguments: `{"input":"x"}`}); err == nil || !strings.Contains(err.Error(), "outside of a turn") {
		t.Errorf("called outside of a turn: %v", err)
	}
}

func TestSubAgentWithHistory(t *testing.T) {
	var seen []int
	m := script.Func(func(r *agent.Request) script.Answer {
		seen = append(seen, len(r.Messages))
		return script.Answer{Text: "ok"}
	})
	for _, with := range []bool{false, true} {
		c := agent.NewConversation()
		if err := c.Add(t.Context(), agent.Say("earlier")); err != nil {
			t.Fatal(err)
		}
		b := boss(t, newAgentOn(t, m, agent.Options{Name: "clerk"}), agent.SubAgent{WithoutPermission: true, WithHistory: with}, agent.Options{})
		if end := finished(t, all(t, b, t.Context(), c, agent.Say("pay"))); end.Outcome != agent.Completed {
			t.Fatalf("%+v", end)
		}
	}
	if !slices.Equal(seen, []int{1, 2}) {
		t.Errorf("the sub-agent saw %v messages", seen)
	}
}

// Models count their calls from one each time: the second turn's c1 is another
// call, with another sub-conversation.
func TestSubAgentsOfDifferentTurnsAreSeparate(t *testing.T) {
	n := 0
	clerk := newAgentOn(t, script.Func(func(*agent.Request) script.Answer {
		n++
		return script.Answer{Text: []string{"", "first", "second", "third"}[n]}
	}), agent.Options{Name: "clerk"})
	c := agent.NewConversation()
	b := boss(t, clerk, agent.SubAgent{WithoutPermission: true}, agent.Options{})
	for i, want := range []string{"first", "second", "third"} {
		if i == 2 {
			if err := c.Clear(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		r, err := b.Run(t.Context(), c, agent.Say("pay"))
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Messages[1].Results()[0].Text; got != want {
			t.Errorf("turn %d: the clerk says %q", i, got)
		}
	}
}

// A choice that is remembered for a sub-agent's tool is not one for its caller's tool of the
// same name.
func TestChoicesOfASubAgentStayWithIt(t *testing.T) {
	clerk := newAgentOn(t, script.PerTurn(parse(t, "call pay#p1 {\"a\":\"7\"}\n---\nsay Paid.")...), agent.Options{Name: "clerk", Tools: storyTools()})
	b := newAgentOn(t, script.PerTurn(parse(t, "call clerk#c1 {\"input\":\"pay it\"}\n---\ncall pay#b1 {\"a\":\"8\"}\n---\nsay All done.")...), agent.Options{
		Name: "boss", Tools: []agent.Tool{agent.AsTool(clerk, agent.SubAgent{WithoutPermission: true}), storyTools()[1]},
	})
	c := agent.OpenConversation(agent.NewMemory(), "c")
	end := finished(t, all(t, b, t.Context(), c, agent.Say("pay")))
	if len(end.Pending) != 1 || end.Pending[0].Via != "c1" {
		t.Fatalf("%+v", end)
	}
	mustAnswer(t, c, agent.Answer{PendingID: end.Pending[0].ID, Approved: true, Rule: agent.AlwaysAllow})
	end = finished(t, all(t, b, t.Context(), c))
	if end.Outcome != agent.Waiting || len(end.Pending) != 1 || end.Pending[0].Agent != "boss" || end.Pending[0].Call.ID != "b1" {
		t.Errorf("the caller's own tool runs without being asked for: %s, %+v", end.Outcome, end.Pending)
	}
}
