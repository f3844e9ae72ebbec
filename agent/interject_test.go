package agent_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/script"
)

// steer is a user message with an id.
func steer(id string) agent.Message {
	m := agent.Say(id)
	m.ID = id
	return m
}

// steered takes a turn and interjects messages at the first event that a function names.
func steered(t *testing.T, a *agent.Agent, c *agent.Conversation, at map[string]string, input ...agent.Message) []agent.Event {
	t.Helper()
	var out []agent.Event
	for e, err := range a.Stream(t.Context(), c, input...) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, e)
		line := show(e)
		for point, text := range at {
			if !strings.Contains(line, point) {
				continue
			}
			delete(at, point)
			if err := c.Interject(t.Context(), steer(text)); err != nil {
				t.Fatal(err)
			}
		}
	}
	return out
}

// listener answers with what it has heard: the texts of the user messages of the request.
func listener(calls int) *script.Model {
	n := 0
	return script.Func(func(r *agent.Request) script.Answer {
		var heard []string
		for _, m := range r.Messages {
			if m.Role == agent.User {
				heard = append(heard, m.Text())
			}
		}
		n++
		text := "heard " + strings.Join(heard, "+")
		if n <= calls {
			return script.Answer{Text: text, Calls: []agent.ToolCall{{Name: "echo", Arguments: fmt.Sprintf(`{"a":"%d"}`, n)}}}
		}
		return script.Answer{Text: text}
	})
}

// A message enters before the next step, wherever in a turn it comes, and never in the
// middle of a call and its result.
func TestInterject(t *testing.T) {
	for name, c := range map[string]struct {
		calls   int
		at      map[string]string
		history []string
	}{
		"while the model calls a tool": {1, map[string]string{"call": "stop"}, []string{
			"user: go", `assistant: heard go[echo {"a":"1"}]`, "tool: [ok echo 1]", "user: stop", "assistant: heard go+stop",
		}},
		"while a tool runs": {1, map[string]string{"starts": "stop"}, []string{
			"user: go", `assistant: heard go[echo {"a":"1"}]`, "tool: [ok echo 1]", "user: stop", "assistant: heard go+stop",
		}},
		"while the last answer streams": {0, map[string]string{"text 0": "wait"}, []string{
			"user: go", "assistant: heard go", "user: wait", "assistant: heard go+wait",
		}},
		"before the first step": {0, map[string]string{"turn started": "wait"}, []string{
			"user: go", "user: wait", "assistant: heard go+wait",
		}},
		"at the end of a step": {1, map[string]string{"step 0 finished": "stop"}, []string{
			"user: go", `assistant: heard go[echo {"a":"1"}]`, "tool: [ok echo 1]", "user: stop", "assistant: heard go+stop",
		}},
		"when the turn has ended": {0, map[string]string{"step 0 finished": "late"}, []string{
			"user: go", "assistant: heard go", "user: late",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			conv := agent.NewConversation()
			a := newAgentOn(t, listener(c.calls), agent.Options{Tools: storyTools()})
			events := steered(t, a, conv, c.at, agent.Say("go"))
			checkBalance(t, events)
			if d := cmp.Diff(c.history, messages(t, conv)); d != "" {
				t.Error(d)
			}
			end, entered := finished(t, events), of[agent.Interjected](events)
			if unread := name == "when the turn has ended"; unread != (len(end.Unread) == 1) || unread != (len(entered) == 0) || end.Outcome != agent.Completed {
				t.Errorf("the turn is %s, entered are %+v, unread are %+v", end.Outcome, entered, end.Unread)
			}
			all(t, a, t.Context(), conv) // the history as it is can be answered
			if got := messages(t, conv); !strings.HasPrefix(got[len(got)-1], "assistant: heard go+") {
				t.Errorf("the next turn leaves %q", got)
			}
		})
	}
}

// Limits end a turn although a message has arrived; the message stays.
func TestInterjectKeepsTheLimits(t *testing.T) {
	for name, o := range map[string]agent.Options{"steps": {MaxSteps: 1}, "tokens": {MaxTokens: 1}} {
		c := agent.NewConversation()
		events := steered(t, newAgentOn(t, listener(0), o), c, map[string]string{"text 0": "wait"}, agent.Say("go"))
		if end := finished(t, events); end.Reason != agent.ReasonDone || len(end.Unread) != 1 || end.Unread[0].Text() != "wait" {
			t.Errorf("%s: %s, unread %+v", name, end.Reason, end.Unread)
		}
	}
	// A step that fails has read the message, but is not stored.
	c := agent.NewConversation()
	a := newAgent(t, "call echo {\"a\":\"x\"}\n---\nfail invalid", agent.Options{})
	events := steered(t, a, c, map[string]string{"starts": "stop"}, agent.Say("go"))
	if end := finished(t, events); end.Reason != agent.ReasonInvalidRequest || len(end.Unread) != 1 {
		t.Errorf("%s, unread %+v", end.Reason, end.Unread)
	}
	if got := messages(t, c); got[len(got)-1] != "user: stop" {
		t.Errorf("stored is %q", got)
	}
}

// A waiting turn takes messages, and reads them after the calls that it waits for.
func TestInterjectIntoAWaitingTurn(t *testing.T) {
	c := agent.NewConversation()
	a := newAgent(t, "call pay#c1 {\"a\":\"x\"}\n---\nsay done", agent.Options{})
	all(t, a, t.Context(), c, agent.Say("go"))
	for range 2 { // the second one is a repetition
		if err := c.Interject(t.Context(), steer("less")); err != nil {
			t.Fatal(err)
		}
	}
	pending, err := c.Pending(t.Context())
	if err != nil || len(pending) != 1 {
		t.Fatalf("%v, %v", pending, err)
	}
	if err := c.Answer(t.Context(), agent.Answer{PendingID: pending[0].ID, Approved: true}); err != nil {
		t.Fatal(err)
	}
	events := all(t, a, t.Context(), c)
	want := []string{"user: go", `assistant: [pay {"a":"x"}]`, "tool: [ok echo x]", "user: less", "assistant: done"}
	if d := cmp.Diff(want, messages(t, c)); d != "" {
		t.Error(d)
	}
	if steps := of[agent.StepStarted](events); !steps[0].Repeated || steps[1].Repeated {
		t.Errorf("the steps are %+v", steps)
	}
}

// What a resumed turn emits again is marked, and what is new is not.
func TestEventsOfAResumedTurnAreMarked(t *testing.T) {
	c := agent.NewConversation()
	a := newAgent(t, "call echo#c0 {\"a\":\"w\"}\n---\ncall client#c1 {}\ncall client#c2 {}\n---\nsay done", agent.Options{})
	steered(t, a, c, map[string]string{"starts": "psst"}, agent.Say("go"))
	answer := func(call string) []agent.Event {
		pending, err := c.Pending(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		at := slices.IndexFunc(pending, func(p agent.Pending) bool { return p.Call.ID == call })
		if err := c.Answer(t.Context(), agent.Answer{PendingID: pending[at].ID, Text: "yes"}); err != nil {
			t.Fatal(err)
		}
		return all(t, a, t.Context(), c)
	}
	second := answer("c1")
	if e := of[agent.RequestOpened](second); len(e) != 1 || !e[0].Repeated || e[0].Pending.Call.ID != "c2" {
		t.Errorf("requests: %+v", e)
	}
	if e := of[agent.Interjected](second); len(e) != 1 || !e[0].Repeated || e[0].Step != 1 {
		t.Errorf("interjected: %+v", e)
	}
	if e := of[agent.ToolFinished](second); len(e) != 1 || e[0].Repeated {
		t.Errorf("results: %+v", e)
	}
	third := answer("c2")
	if e := of[agent.ToolFinished](third); len(e) != 2 || !e[0].Repeated || e[1].Repeated {
		t.Errorf("results: %+v", e)
	}
	if got := messages(t, c); got[len(got)-1] != "assistant: done" || !slices.Contains(got, "user: psst") {
		t.Errorf("stored is %q", got)
	}
}

// Wherever the consumer of the events dies, what Interject has stored is read once.
func TestInterjectedMessagesSurviveADeath(t *testing.T) {
	for at := 0; ; at++ {
		c := agent.NewConversation()
		a := newAgentOn(t, listener(2), agent.Options{Tools: storyTools()})
		if died := dieAt(t, a, c, at); !died {
			if at < 30 {
				t.Fatalf("a turn has only %d events", at)
			}
			return
		}
		record, err := c.Load(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if record.Open != nil {
			all(t, a, t.Context(), c)
		}
		var once []string
		history := messages(t, c)
		for _, line := range history {
			if line == "user: one" || line == "user: two" {
				once = append(once, line)
			}
		}
		stored, last := len(record.Messages) > 1, history[len(history)-1]
		if !slices.Equal(once, slices.Compact(slices.Clone(once))) || stored && len(once) > 0 && !strings.HasPrefix(last, "assistant: heard go+one") {
			t.Errorf("after a death at event %d the history is %q", at, history)
		}
		said := record.Open != nil && len(record.Open.Interjected) > 0
		if said && len(once) < len(record.Open.Interjected) {
			t.Errorf("after a death at event %d stored were %d messages, and the history is %q", at, len(record.Open.Interjected), history)
		}
	}
}

// dieAt takes a turn, interjects a message at its first tool and another at its last
// answer, and panics at an event.
func dieAt(t *testing.T, a *agent.Agent, c *agent.Conversation, at int) (died bool) {
	defer func() {
		if p := recover(); p != nil {
			died = true
		}
	}()
	n := 0
	for e, err := range a.Stream(t.Context(), c, agent.Say("go")) {
		if err != nil {
			t.Fatal(err)
		}
		switch e := e.(type) {
		case agent.ToolStarted:
			if err := c.Interject(t.Context(), steer("one")); err != nil {
				t.Error(err)
			}
		case agent.TextStarted:
			if strings.Contains(e.MessageID, ".2") {
				if err := c.Interject(t.Context(), steer("two")); err != nil {
					t.Error(err)
				}
			}
		}
		if n == at {
			panic("the consumer dies")
		}
		n++
	}
	return false
}

// Many writers at once: every message that was accepted is read once.
func TestInterjectConcurrently(t *testing.T) {
	c := agent.NewConversation()
	busy := agent.Func("echo", "", func(ctx context.Context, in struct{ A string }) (string, error) {
		done := make(chan error)
		for n := range 8 {
			go func() { done <- c.Interject(ctx, steer(fmt.Sprint(in.A, ".", n))) }()
		}
		for range 8 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		return "ok", nil
	})
	calls := 0
	m := script.Func(func(*agent.Request) script.Answer {
		if calls++; calls <= 5 {
			return script.Answer{Calls: []agent.ToolCall{{Name: "echo", Arguments: fmt.Sprintf(`{"A":"%d"}`, calls)}}}
		}
		return script.Answer{Text: "done"}
	})
	all(t, newAgentOn(t, m, agent.Options{Tools: []agent.Tool{busy}}), t.Context(), c, agent.Say("go"))
	seen := map[string]int{}
	for _, line := range messages(t, c) {
		seen[line]++
	}
	for call := 1; call <= 5; call++ {
		for n := range 8 {
			if line := fmt.Sprintf("user: %d.%d", call, n); seen[line] != 1 {
				t.Errorf("%q is in the history %d times", line, seen[line])
			}
		}
	}
}

func TestInterjectRefuses(t *testing.T) {
	c := agent.NewConversation()
	if err := c.Interject(t.Context(), agent.Say("hi")); !errors.Is(err, agent.ErrConflict) || !strings.Contains(err.Error(), "run it with the message as its input") {
		t.Errorf("without a turn: %v", err)
	}
	for _, m := range []agent.Message{{Role: agent.User}, {Role: agent.System, Parts: []agent.Part{agent.Text("x")}}, {Role: agent.Assistant, Parts: []agent.Part{agent.Text("x")}}} {
		if err := c.Interject(t.Context(), m); !errors.Is(err, agent.ErrInvalidArgument) {
			t.Errorf("%+v: %v", m, err)
		}
	}
}
