package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/script"
)

// heard is a scripted model that keeps the requests that it received.
type heard struct {
	agent.Model
	requests []*agent.Request
}

func hear(t *testing.T, text string) *heard {
	h := &heard{}
	answers, at := parse(t, text), 0
	h.Model = script.Func(func(r *agent.Request) script.Answer {
		h.requests = append(h.requests, r)
		if at++; at > len(answers) {
			return script.Answer{Err: &agent.ModelError{Class: agent.ClassInvalid, Detail: "no answer is left"}}
		}
		return answers[at-1]
	})
	return h
}

// read returns what a request contains, as text.
func read(r *agent.Request) []string {
	out := []string{"instructions: " + r.Instructions}
	for _, m := range r.Messages {
		line := string(m.Role) + ":"
		for _, p := range m.Parts {
			switch p.Type {
			case agent.CallPart:
				line += " " + p.Call.Name + p.Call.Arguments
			case agent.ResultPart:
				line += " " + string(p.Result.Status) + " " + p.Result.Text
			default:
				line += " " + string(p.Type) + " " + p.Text
			}
		}
		out = append(out, line)
	}
	var tools []string
	for _, spec := range r.Tools {
		tools = append(tools, spec.Name)
	}
	return append(out, "tools: "+strings.Join(tools, " "))
}

// An agent looks something up and transfers: the other one continues the turn with its own
// instructions and tools, and sees what was said and found, not what was thought. It also
// has the next turn.
func TestHandoff(t *testing.T) {
	first := hear(t, "think My orders are secret.\nsay Moment.\ncall echo#c1 {\"a\":\"7\"}\ncall transfer_to_billing#c2 {\"note\":\"invoice 7\"}")
	second := hear(t, "think Easy.\ncall pay#c3 {\"a\":\"7\"}\n---\nsay Paid.\n---\nsay You are welcome.")
	billing := newAgentOn(t, second, agent.Options{
		Name: "billing", Description: "Pays.", Instructions: "You pay.",
		Tools: []agent.Tool{agent.Configure(storyTools()[1], func(s *agent.ToolSpec) { s.RequiresPermission = false })},
	})
	desk := newAgentOn(t, first, agent.Options{
		Name: "desk", Instructions: "You are the desk.", Tools: []agent.Tool{storyTools()[0], agent.AsHandoff(billing, agent.Handoff{})},
		Price: func(_ agent.ModelInfo, u agent.Usage) float64 { return float64(u.OutputTokens) },
	})
	c := agent.NewConversation()
	events := all(t, desk, t.Context(), c, agent.Say("Pay my invoice."))
	checkBalance(t, events)
	var shown []string
	for _, e := range events {
		switch e := e.(type) {
		case agent.TurnStarted:
			shown = append(shown, "turn of "+e.Agent)
		case agent.StepStarted:
			shown = append(shown, fmt.Sprintf("step %d of %d by %s", e.Step, e.MaxSteps, e.Agent))
		case agent.StepFinished:
			shown = append(shown, "ended by "+e.Agent)
		case agent.Transferred:
			shown = append(shown, fmt.Sprintf("%s to %s from %d", e.From, e.To, e.Step))
		}
	}
	if d := cmp.Diff([]string{
		"turn of desk", "step 0 of 10 by desk", "ended by desk", "desk to billing from 1",
		"step 1 of 11 by billing", "ended by billing", "step 2 of 11 by billing", "ended by billing",
	}, shown); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{
		"instructions: You pay.", "user: text Pay my invoice.", `assistant: text Moment. echo{"a":"7"}`, "tool: ok echo 7",
		"user: text The agent desk has transferred this conversation to you, the agent billing. Its note: invoice 7",
		"tools: pay",
	}, read(second.requests[0])); d != "" {
		t.Error(d)
	}
	if got := first.requests[0].Tools[1]; got.Description != "Transfers the conversation to the agent billing, which answers from now on. Pays." {
		t.Error(got.Description)
	}
	again := read(second.requests[1])
	if d := cmp.Diff(append(slices.Clone(read(second.requests[0])[:5]), `assistant: reasoning Easy. pay{"a":"7"}`, "tool: ok echo 7", "tools: pay"), again); d != "" {
		t.Error(d)
	}

	end := finished(t, events)
	if end.Agent != "billing" || len(end.ByAgent) != 2 || end.ByAgent[0].Agent != "desk" || end.ByAgent[1].Agent != "billing" {
		t.Errorf("%+v", end)
	}
	sum := agent.Spending{}
	for _, by := range end.ByAgent {
		if by.Cost != float64(by.Usage.OutputTokens) || by.Cost == 0 {
			t.Errorf("%+v: the other agent has no price of its own", by)
		}
		sum.Usage, sum.Cost = sum.Usage.Add(by.Usage), sum.Cost+by.Cost
	}
	if sum.Usage != end.Usage || sum.Cost != end.Cost {
		t.Errorf("%+v is not the sum of %+v", end, end.ByAgent)
	}

	result, err := desk.Run(t.Context(), c, agent.Say("Thanks."))
	if err != nil || result.Agent != "billing" || result.Text() != "You are welcome." || len(first.requests) != 1 {
		t.Errorf("%+v, %v: the conversation is with billing now", result, err)
	}
	stored, _ := c.Messages(t.Context())
	var authors []string
	for _, m := range stored {
		if m.Role == agent.Assistant {
			authors = append(authors, m.Agent)
		}
	}
	if d := cmp.Diff([]string{"desk", "billing", "billing", "billing"}, authors); d != "" {
		t.Error(d)
	}
}

// pingPong is a pair of agents, of which each transfers the conversation to the other.
func pingPong(t *testing.T, n int, o agent.Options) (ping *agent.Agent, there, back *heard) {
	there = hear(t, strings.Repeat("call transfer_to_pong {}\n---\n", n)+"say ping stays")
	back = hear(t, strings.Repeat("call transfer_to_ping {}\n---\n", n)+"say pong stays")
	pong := newAgentOn(t, back, agent.Options{Name: "pong"})
	o.Name, o.Tools = "ping", []agent.Tool{agent.AsHandoff(pong, agent.Handoff{Back: true})}
	return newAgentOn(t, there, o), there, back
}

// Two agents that transfer to each other in circles must stop: the ninth handoff of a turn
// fails, and the model that wanted it reads why.
func TestHandoffsInCirclesEnd(t *testing.T) {
	ping, there, _ := pingPong(t, 6, agent.Options{MaxErrors: 9})
	c := agent.NewConversation()
	events := all(t, ping, t.Context(), c, agent.Say("go"))
	if n := len(of[agent.Transferred](events)); n != 8 {
		t.Errorf("transferred %d times", n)
	}
	end := finished(t, events)
	if end.Outcome != agent.Completed || end.Agent != "ping" {
		t.Errorf("%+v", end)
	}
	last := read(there.requests[len(there.requests)-1])
	if !strings.Contains(last[len(last)-2], "failed Error: this turn was transferred 8 times already") {
		t.Errorf("%q", last)
	}
	// An agent sees its own handoffs as they were.
	if last[2] != "assistant: transfer_to_pong{}" || last[3] != "tool: ok Transferred to pong." || !strings.HasPrefix(last[4], "user: text The agent pong has transferred this conversation to you") {
		t.Errorf("%q", last)
	}
	for i, r := range there.requests[1:] { // the view only grows
		before, now := read(there.requests[i]), read(r)
		if !slices.Equal(before[:len(before)-1], now[:len(before)-1]) {
			t.Errorf("the request after %q begins %q", before, now)
		}
	}
}

// The tools of the other agent have their own permissions: a choice for a tool of the first
// agent does not cover one of the same name, nor does its full access. The turn waits and goes
// on in the other agent.
func TestPermissionsDoNotComeWithAHandoff(t *testing.T) {
	for _, o := range []agent.Options{{}, {FullAccess: true}} {
		store := agent.NewMemory()
		build := func() *agent.Agent {
			billing := newAgentOn(t, script.PerTurn(parse(t, "call pay#p2 {\"a\":\"2\"}\n---\nsay Paid.")...), agent.Options{Name: "billing", Tools: storyTools()[1:2]})
			o.Name, o.Tools = "desk", []agent.Tool{storyTools()[1], agent.AsHandoff(billing, agent.Handoff{})}
			return newAgentOn(t, script.PerTurn(parse(t, "call pay#p1 {\"a\":\"1\"}\n---\ncall transfer_to_billing#h {}")...), o)
		}
		c := agent.OpenConversation(store, "c")
		end := finished(t, all(t, build(), t.Context(), c, agent.Say("go")))
		if !o.FullAccess {
			mustAnswer(t, c, agent.Answer{PendingID: end.Pending[0].ID, Approved: true, Rule: agent.AlwaysAllow})
			end = finished(t, all(t, build(), t.Context(), c))
		}
		if end.Outcome != agent.Waiting || len(end.Pending) != 1 || end.Pending[0].Agent != "billing" || end.Agent != "billing" {
			t.Fatalf("%+v", end)
		}
		mustAnswer(t, c, agent.Answer{PendingID: end.Pending[0].ID, Approved: true, Rule: agent.AlwaysAllow})
		events := all(t, build(), t.Context(), c)
		if end = finished(t, events); end.Outcome != agent.Completed || of[agent.TurnStarted](events)[0].Agent != "billing" || len(of[agent.Transferred](events)) > 0 {
			t.Errorf("%+v", end)
		}
		want := []string{
			"user: go", `assistant: [pay {"a":"1"}]`, "tool: [ok echo 1]", "assistant: [transfer_to_billing {}]",
			"tool: [ok Transferred to billing.]", `assistant: [pay {"a":"2"}]`, "tool: [ok echo 2]", "assistant: Paid.",
		}
		if d := cmp.Diff(want, messages(t, c)); d != "" {
			t.Error(d)
		}
		r, _ := c.Load(t.Context())
		rules := map[string]agent.PermissionRule{"pay": agent.AlwaysAllow, "billing/pay": agent.AlwaysAllow}
		if d := cmp.Diff(rules, r.Rules); d != "" && !o.FullAccess {
			t.Error(d)
		}
	}
}

// A handoff is a call: it can need permission, and only one of a step counts.
func TestHandoffIsACall(t *testing.T) {
	silent := newAgent(t, "say Here.", agent.Options{Name: "b"})
	other := newAgent(t, "say Never.", agent.Options{Name: "c"})
	for name, c := range map[string]struct {
		tools  []agent.Tool
		model  string
		answer agent.Answer
		want   []string
	}{
		"denied": {
			[]agent.Tool{agent.NeedsPermission(agent.AsHandoff(silent, agent.Handoff{}))},
			"call transfer_to_b {}\n---\nsay I stay.",
			agent.Answer{Reason: "No."},
			[]string{"tool: [denied Permission denied. The call was not executed. Reason: No.]", "assistant: I stay."},
		},
		"two": {
			[]agent.Tool{agent.AsHandoff(silent, agent.Handoff{}), agent.AsHandoff(other, agent.Handoff{Name: "elsewhere"})},
			"call transfer_to_b {}\ncall elsewhere {}",
			agent.Answer{},
			[]string{"tool: [ok Transferred to b.][skipped Error: not executed, because this step transfers the conversation to b.]", "assistant: Here."},
		},
		"bad arguments": {
			[]agent.Tool{agent.AsHandoff(silent, agent.Handoff{})},
			"call transfer_to_b {\"note\":1}\n---\nsay I stay.",
			agent.Answer{},
			[]string{"tool: [invalid Error:", "assistant: I stay."},
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAgent(t, c.model, agent.Options{Name: "a", Tools: c.tools, Answer: func(context.Context, agent.Pending) (agent.Answer, bool) { return c.answer, true }})
			conv := agent.NewConversation()
			if _, err := a.Run(t.Context(), conv, agent.Say("go")); err != nil {
				t.Fatal(err)
			}
			got := messages(t, conv)[2:]
			if len(got) != len(c.want) || !strings.HasPrefix(got[0], c.want[0]) || got[1] != c.want[1] {
				t.Errorf("%q", got)
			}
		})
	}
}

// A filter decides what the other agent sees of the past, in every request and turn.
func TestHandoffHistory(t *testing.T) {
	second := hear(t, "say One.\n---\nsay Two.")
	billing := newAgentOn(t, second, agent.Options{Name: "billing"})
	last := func(before []agent.Message) []agent.Message { return before[len(before)-1:] }
	desk := newAgent(t, "say Hello.\n---\nsay Moment.\ncall transfer_to_billing {\"note\":\"n\"}", agent.Options{Name: "desk", Tools: []agent.Tool{agent.AsHandoff(billing, agent.Handoff{History: last})}})
	c := agent.NewConversation()
	for _, text := range []string{"hi", "pay", "thanks"} {
		if _, err := desk.Run(t.Context(), c, agent.Say(text)); err != nil {
			t.Fatal(err)
		}
	}
	note := "user: text The agent desk has transferred this conversation to you, the agent billing. Its note: n"
	if d := cmp.Diff([]string{"instructions: ", "assistant: text Moment.", note, "tools: "}, read(second.requests[0])); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"instructions: ", "assistant: text Moment.", note, "assistant: text One.", "user: text thanks", "tools: "}, read(second.requests[1])); d != "" {
		t.Error(d)
	}

	broken := func([]agent.Message) []agent.Message { return []agent.Message{{Role: agent.User}} }
	desk = newAgent(t, "call transfer_to_billing {}", agent.Options{Name: "desk", Tools: []agent.Tool{agent.AsHandoff(billing, agent.Handoff{History: broken})}})
	result, err := desk.Run(t.Context(), agent.NewConversation(), agent.Say("hi"))
	if !errors.Is(err, agent.ErrInvalidArgument) || result.Reason != agent.ReasonInternal || !strings.Contains(err.Error(), "Handoff.History[0].parts") {
		t.Errorf("%+v, %v", result, err)
	}
}

// Mistakes are found when the agents are created, or before a turn is resumed.
func TestHandoffMistakes(t *testing.T) {
	model := script.New()
	b := newAgentOn(t, model, agent.Options{Name: "b"})
	price := func(m agent.ModelInfo, _ agent.Usage) float64 {
		if m.Name == "free" {
			return 0
		}
		return 1
	}
	free := newAgentOn(t, titled{model, "free"}, agent.Options{Name: "free"})
	for want, tools := range map[string][]agent.Tool{
		`has the handoff "transfer" to no agent`:               {agent.AsHandoff(nil, agent.Handoff{})},
		`has handoffs that lead to two agents named "a"`:       {agent.AsHandoff(newAgentOn(t, model, agent.Options{Name: "a"}), agent.Handoff{})},
		`has two tools named "transfer_to_b"`:                  {agent.AsHandoff(b, agent.Handoff{}), agent.AsHandoff(b, agent.Handoff{})},
		`needs the price of free, which Price does not know`:   {agent.AsHandoff(free, agent.Handoff{})},
		`tool "transfer_to_my agent" needs a name`:             {agent.AsHandoff(newAgentOn(t, model, agent.Options{Name: "my agent"}), agent.Handoff{})},
		`has handoffs that lead to two agents named "b"; give`: {agent.AsHandoff(b, agent.Handoff{}), agent.AsHandoff(newAgentOn(t, model, agent.Options{Name: "b"}), agent.Handoff{Name: "other"})},
	} {
		_, err := agent.New(model, agent.Options{Name: "a", Tools: tools, Price: price, MaxCost: 1})
		if !errors.Is(err, agent.ErrInvalidArgument) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}

	c := agent.NewConversation()
	asking := newAgent(t, "call pay {}", agent.Options{Name: "asking"})
	desk := newAgent(t, "call transfer_to_asking {}", agent.Options{Name: "desk", Tools: []agent.Tool{agent.AsHandoff(asking, agent.Handoff{})}})
	if end := finished(t, all(t, desk, t.Context(), c, agent.Say("go"))); end.Outcome != agent.Waiting {
		t.Fatalf("%+v", end)
	}
	_, err := b.Run(t.Context(), c)
	var begin *agent.BeginError
	if !errors.Is(err, agent.ErrConflict) || !errors.As(err, &begin) || !strings.Contains(err.Error(), `transferred to the agent "asking", which "b" cannot transfer to`) {
		t.Errorf("got %v", err)
	}
	if r, _ := c.Load(t.Context()); r.Open.Attempt != 1 {
		t.Error("a refused resume has taken the turn over")
	}

	provided := provider{agent.AsHandoff(b, agent.Handoff{})}
	result, err := newAgent(t, "say hi", agent.Options{Context: []agent.ContextProvider{provided}}).Run(t.Context(), agent.NewConversation(), agent.Say("go"))
	if err == nil || result.Reason != agent.ReasonInternal || !strings.Contains(err.Error(), "handoffs are among the tools of the agent") {
		t.Errorf("%v", err)
	}
}

// titled is a model with another name.
type titled struct {
	agent.Model
	name string
}

func (m titled) Info() agent.ModelInfo { return agent.ModelInfo{Provider: "script", Name: m.name} }

// provider adds one tool.
type provider struct{ tool agent.Tool }

func (provider) Name() string { return "tools" }

func (p provider) Provide(context.Context, agent.ContextRequest) (agent.ProvidedContext, error) {
	return agent.ProvidedContext{Tools: []agent.Tool{p.tool}}, nil
}

func (provider) AfterTurn(context.Context, agent.EndedTurn) (json.RawMessage, error) { return nil, nil }
