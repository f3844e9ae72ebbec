package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/script"
)

// The defects D1 to D13 of earlier systems (checklist, section D), one test each.

// D1: persistence errors were swallowed, and the input was saved only at the end
// of the turn.
func TestD01InputIsStoredFirstAndFailuresAreLoud(t *testing.T) {
	store := &tap{Store: agent.NewMemory()}
	asked := false
	m := script.Func(func(*agent.Request) script.Answer {
		asked = true
		if got := store.wrote(); !slices.Equal(got, []string{"begin 1"}) {
			t.Errorf("when the model is called first, the store has %q", got)
		}
		return script.Answer{Text: "hi"}
	})
	all(t, newAgentOn(t, m, agent.Options{}), t.Context(), agent.OpenConversation(store, "c"), agent.Say("hello"))
	if !asked {
		t.Fatal("the model was never called")
	}

	for _, refused := range []string{"open 0", "whole 0", "open 1", "whole 1", "whole 2", "end"} {
		store := &tap{Store: agent.NewMemory(), refuse: refused}
		a := newAgent(t, "call echo {\"a\":\"1\"}\n---\ncall echo {\"a\":\"2\"}\n---\nsay done", agent.Options{})
		c := agent.OpenConversation(store, "c")
		events := all(t, a, t.Context(), c, agent.Say("hello"))
		end := finished(t, events)
		if end.Outcome != agent.Failed || end.Reason != agent.ReasonStorage || !end.Unsaved || !errors.Is(end.Err, errDisk) {
			t.Errorf("%s refused: the turn ends as %s %s, unsaved=%v, %v", refused, end.Outcome, end.Reason, end.Unsaved, end.Err)
		}
		checkBalance(t, events)
		if log := store.wrote(); !strings.HasPrefix(log[len(log)-1], refused) {
			t.Errorf("%s refused, and then the store is asked on: %q", refused, log)
		}
		if got := messages(t, c); got[0] != "user: hello" {
			t.Errorf("%s refused: the history is %q", refused, got)
		}
	}
}

// A store that refuses the input: nothing begins.
func TestInvalidInputStartsNoTurn(t *testing.T) {
	store := &tap{Store: agent.NewMemory(), refuse: "begin"}
	a := newAgent(t, "say never", agent.Options{})
	r, err := a.Run(t.Context(), agent.OpenConversation(store, "c"), agent.Say("hello"))
	if r != nil || !errors.Is(err, errDisk) {
		t.Errorf("got %v, %v", r, err)
	}
}

// D2: what a canceled stream had shown was lost.
func TestD02CanceledTextStays(t *testing.T) {
	c := agent.NewConversation()
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	a := newAgent(t, "say One two three four.", agent.Options{})
	var events []agent.Event
	for e, err := range a.Stream(ctx, c, agent.Say("count")) {
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
		if d, ok := e.(agent.TextDelta); ok && d.Text == "two " {
			cancel(errors.New("enough"))
		}
	}
	end := finished(t, events)
	if end.Outcome != agent.Canceled || end.Reason != agent.ReasonCanceled {
		t.Errorf("ends as %s %s", end.Outcome, end.Reason)
	}
	checkBalance(t, events)
	if d := cmp.Diff([]string{"user: count", "assistant: One two "}, messages(t, c)); d != "" {
		t.Error(d)
	}
	if stored, _ := c.Messages(t.Context()); !stored[1].Interrupted {
		t.Error("the cut text is not marked")
	}
	if _, err := newAgent(t, "say fine", agent.Options{}).Run(t.Context(), c, agent.Say("go on")); err != nil {
		t.Errorf("the conversation does not go on: %v", err)
	}
}

// D3: context providers were not notified of failures while streaming.
func TestD03ProvidersAreNotifiedHoweverTheTurnEnds(t *testing.T) {
	for name, test := range map[string]struct {
		script string
		fails  bool
	}{
		"completed": {"say done", false},
		"failed":    {"say half\nfail auth", true},
		"max steps": {`call echo {}`, true},
	} {
		t.Run(name, func(t *testing.T) {
			p := &remembering{}
			a := newAgent(t, test.script, agent.Options{MaxSteps: 1, Context: []agent.ContextProvider{p}})
			all(t, a, t.Context(), agent.NewConversation(), agent.Say("hello"))
			if len(p.invoked) != 1 || (p.invoked[0].Err != nil) != test.fails {
				t.Fatalf("invoked %d times: %+v", len(p.invoked), p.invoked)
			}
			if len(p.invoked[0].Response) == 0 {
				t.Error("the provider did not receive the answer")
			}
		})
	}
}

// remembering is a context provider that counts and keeps.
type remembering struct {
	invoking []agent.ContextRequest
	invoked  []agent.EndedTurn
	provide  agent.ProvidedContext
	fail     error
}

func (p *remembering) Name() string { return "remembering" }

func (p *remembering) Provide(_ context.Context, in agent.ContextRequest) (agent.ProvidedContext, error) {
	p.invoking = append(p.invoking, in)
	return p.provide, p.fail
}

func (p *remembering) AfterTurn(_ context.Context, in agent.EndedTurn) (json.RawMessage, error) {
	p.invoked = append(p.invoked, in)
	return json.RawMessage(fmt.Sprintf(`{"turns":%d}`, len(p.invoked))), nil
}

// D4: messages that were built from events lost the arguments of tools and took
// thoughts for the answer.
func TestD04MessagesSeparateArgumentsAndReasoning(t *testing.T) {
	a := newAgent(t, "think Hm.\nsay Look:\ncall echo#c1 {\"a\":\"x\"}\n---\nsay done", agent.Options{})
	r, err := a.Run(t.Context(), agent.NewConversation(), agent.Say("hello"))
	if err != nil {
		t.Fatal(err)
	}
	want := []agent.Part{
		{Type: agent.ReasoningPart, Text: "Hm."},
		{Type: agent.TextPart, Text: "Look:"},
		{Type: agent.CallPart, Call: &agent.ToolCall{ID: "c1", Name: "echo", Arguments: `{"a":"x"}`}},
	}
	if d := cmp.Diff(want, r.Messages[0].Parts); d != "" {
		t.Error(d)
	}
	if len(r.Messages) != 3 || r.Text() != "done" {
		t.Errorf("the turn's own messages: %d, text %q", len(r.Messages), r.Text())
	}
}

// D5: the breaker's text came after the message's end, and the step had none.
func TestD05LoopDetectionClosesStoppedCalls(t *testing.T) {
	same := `call echo {"a":"x"}`
	a := newAgent(t, strings.Repeat(same+"\n---\n", 5)+"say again\n"+same, agent.Options{})
	c := agent.NewConversation()
	events := all(t, a, t.Context(), c, agent.Say("hello"))
	checkBalance(t, events)
	checkResults(t, c)
	if end := finished(t, events); end.Reason != agent.ReasonIdenticalCalls || end.Steps != 6 {
		t.Errorf("ends as %s after %d steps", end.Reason, end.Steps)
	}
	if got := len(of[agent.StepFinished](events)); got != 6 {
		t.Errorf("%d steps are finished", got)
	}
}

// D6: calls were stored without results, which providers refuse later.
func TestD06EveryCallHasOneResultOnEveryPath(t *testing.T) {
	two := "call echo#a {\"a\":\"1\"}\ncall %s#b {\"a\":\"2\"}"
	for name, test := range map[string]struct {
		opts agent.Options
		call string
		end  agent.Reason
	}{
		"ran":          {agent.Options{MaxSteps: 1}, "echo", agent.ReasonMaxSteps},
		"failed":       {agent.Options{MaxSteps: 1}, "fail", agent.ReasonMaxSteps},
		"panicked":     {agent.Options{MaxSteps: 1}, "panic", agent.ReasonMaxSteps},
		"unknown":      {agent.Options{MaxSteps: 1}, "nothing", agent.ReasonMaxSteps},
		"unknown stop": {agent.Options{StopOnUnknownTool: true}, "nothing", agent.ReasonUnknownTool},
		"refused":      {agent.Options{MaxIdenticalCalls: 1, MaxSteps: 1}, "echo", agent.ReasonMaxSteps},
		"denied":       {agent.Options{MaxSteps: 1, Answer: no}, "pay", agent.ReasonMaxSteps},
		"timed out":    {agent.Options{MaxSteps: 1, ToolTimeout: time.Second}, "stuck", agent.ReasonMaxSteps},
		"turn over":    {agent.Options{TurnTimeout: time.Second}, "stuck", agent.ReasonTimeout},
		"too large":    {agent.Options{MaxAnswerBytes: 12}, "echo", agent.ReasonUnavailable},
		"errors":       {agent.Options{MaxErrors: 1}, "fail", agent.ReasonMaxErrors},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := agent.NewConversation()
				events := all(t, newAgent(t, fmt.Sprintf(two, test.call), test.opts), t.Context(), c, agent.Say("hello"))
				if end := finished(t, events); end.Reason != test.end {
					t.Errorf("ends as %s, not %s", end.Reason, test.end)
				}
				checkBalance(t, events)
				checkResults(t, c)
				<-time.After(time.Hour)
			})
		})
	}
}

func no(context.Context, agent.Pending) (agent.Answer, bool) { return agent.Answer{}, true }

// checkResults fails unless every stored call has exactly one result, in the
// message after it and in order.
func checkResults(t *testing.T, c *agent.Conversation) {
	t.Helper()
	stored, err := c.Messages(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range stored {
		var called, answered []string
		for _, call := range m.Calls() {
			called = append(called, call.ID)
		}
		if i+1 < len(stored) {
			for _, r := range stored[i+1].Results() {
				answered = append(answered, r.CallID)
			}
		}
		if len(called) > 0 && !slices.Equal(called, answered) {
			t.Errorf("message %d has calls %q with results %q", i, called, answered)
		}
	}
}

// D7: the last checkpoint stayed, so that the next turn was refused.
func TestD07AFinishedTurnLeavesNoCheckpoint(t *testing.T) {
	store := &tap{Store: agent.NewMemory()}
	c := agent.OpenConversation(store, "c")
	if _, err := newAgent(t, "call echo {}\n---\nsay done", agent.Options{}).Run(t.Context(), c, agent.Say("one")); err != nil {
		t.Fatal(err)
	}
	want := []string{"begin 1", "open 0 results=0", "whole 0 results=1", "whole 1 results=0", "end completed"}
	if d := cmp.Diff(want, store.wrote()); d != "" {
		t.Error(d)
	}
	if r, err := newAgent(t, "say two", agent.Options{}).Run(t.Context(), c, agent.Say("two")); err != nil || r.Text() != "two" {
		t.Errorf("the next turn: %v", err)
	}
}

// D8: checkpoints counted messages that were not stored, so that resuming failed
// as stale.
func TestD08CheckpointCountsStoredSteps(t *testing.T) {
	store := &tap{Store: agent.NewMemory(), refuse: "whole 1"}
	c := agent.OpenConversation(store, "c")
	ledger := map[string]int{}
	tools := []agent.Tool{agent.Func("add", "", func(_ context.Context, in struct{ A string }) (string, error) {
		ledger[in.A]++
		return "added", nil
	})}
	script := "call add {\"A\":\"1\"}\n---\ncall add {\"A\":\"2\"}\n---\nsay done"
	all(t, newAgent(t, script, agent.Options{Tools: tools}), t.Context(), c, agent.Say("go"))
	store.mu.Lock()
	store.refuse = ""
	store.mu.Unlock()
	r, err := newAgent(t, "say done", agent.Options{Tools: tools}).Run(t.Context(), c)
	if err != nil {
		t.Fatalf("resuming: %v", err)
	}
	want := []string{
		"user: go", `assistant: [add {"A":"1"}]`, "tool: [ok added]", `assistant: [add {"A":"2"}]`,
		"tool: [interrupted Error: interrupted, effect unknown.]", "assistant: done",
	}
	if d := cmp.Diff(want, messages(t, c)); d != "" {
		t.Error(d)
	}
	if ledger["1"] != 1 || ledger["2"] != 1 || len(r.Messages) != 5 {
		t.Errorf("ledger %v, %d messages", ledger, len(r.Messages))
	}
}

// D9: checkpoints were saved on the side and landed in any order.
func TestD09WritesAreOrderedAndAwaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &tap{Store: agent.NewMemory(), block: make(chan struct{})}
		c := agent.OpenConversation(store, "c")
		a := newAgent(t, "call echo {}\n---\nsay done", agent.Options{})
		text := make(chan struct{})
		ended := make(chan struct{})
		go func() {
			for e, err := range a.Stream(t.Context(), c, agent.Say("go")) {
				if err != nil {
					t.Error(err)
				}
				switch e.(type) {
				case agent.TextEnded:
					close(text)
				case agent.TurnFinished:
					close(ended)
				}
			}
		}()
		<-text // the text of step 1 streams while step 0 is not stored
		if got := store.wrote(); len(got) != 2 {
			t.Errorf("stored so far: %q", got)
		}
		synctest.Wait()
		select {
		case <-ended:
			t.Error("the turn ended before its steps were stored")
		default:
		}
		close(store.block)
		<-ended
		want := []string{"begin 1", "open 0 results=0", "whole 0 results=1", "whole 1 results=0", "end completed"}
		if d := cmp.Diff(want, store.wrote()); d != "" {
			t.Error(d)
		}
	})
}

// D10: runs of one agent could read each other's permission requests.
func TestD10TurnsOfOneAgentShareNothing(t *testing.T) {
	a := newAgentOn(t, script.PerTurn(script.Answer{Calls: []agent.ToolCall{{ID: "same", Name: "pay", Arguments: `{}`}}}, script.Answer{Text: "done"}),
		agent.Options{Tools: storyTools()})
	var group sync.WaitGroup
	for i := range 20 {
		group.Go(func() {
			c := agent.NewConversation()
			first := finished(t, all(t, a, t.Context(), c, agent.Say(fmt.Sprint(i))))
			if len(first.Pending) != 1 || first.Pending[0].Conversation != c.ID() {
				t.Errorf("run %d sees %+v", i, first.Pending)
				return
			}
			if err := c.Answer(t.Context(), agent.Answer{PendingID: first.Pending[0].ID, Approved: i%2 == 0}); err != nil {
				t.Error(err)
			}
			for _, r := range of[agent.ToolFinished](all(t, a, t.Context(), c)) {
				if want := map[bool]agent.ResultStatus{true: agent.ResultOK, false: agent.ResultDenied}[i%2 == 0]; r.Result.Status != want {
					t.Errorf("run %d: %s", i, r.Result.Status)
				}
			}
		})
	}
	group.Wait()
}

// D11: the parallel path asked for a permission twice.
func TestD11EachCallRequestsPermissionOnce(t *testing.T) {
	var asked []string
	o := agent.Options{Answer: func(_ context.Context, p agent.Pending) (agent.Answer, bool) {
		asked = append(asked, p.Call.ID)
		return agent.Answer{Approved: true}, true
	}}
	a := newAgent(t, "call pay#a {\"a\":\"1\"}\ncall echo#b {}\ncall pay#c {\"a\":\"2\"}\n---\nsay done", o)
	if _, err := a.Run(t.Context(), agent.NewConversation(), agent.Say("go")); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(asked, []string{"a", "c"}) {
		t.Errorf("asked for %q", asked)
	}
}

// D12: failures were guessed from words, and loops polled.
func TestD12TextDoesNotMarkFailures(t *testing.T) {
	says := agent.Func("says", "", func(context.Context, struct{}) (string, error) {
		return "Error: rate limited, timeout, failed", nil
	})
	a := newAgent(t, "call says {}\n---\nsay Error: timeout", agent.Options{Tools: []agent.Tool{says}, MaxErrors: 1})
	events := all(t, a, t.Context(), agent.NewConversation(), agent.Say("go"))
	if end := finished(t, events); end.Outcome != agent.Completed {
		t.Errorf("ends as %s %s", end.Outcome, end.Reason)
	}
	if r := of[agent.ToolFinished](events)[0].Result; r.Status != agent.ResultOK {
		t.Errorf("a result that talks of errors is %s", r.Status)
	}
	m := script.New(script.Answer{Err: errors.New("429 rate limited, try again")}, script.Answer{Text: "no"})
	if end := finished(t, all(t, newAgentOn(t, m, agent.Options{}), t.Context(), agent.NewConversation(), agent.Say("go"))); end.Reason != agent.ReasonInternal {
		t.Errorf("an error without a class ends as %s", end.Reason)
	}
}

// D13: requests for approval and client tools were not delivered by the stream.
func TestD13RequestsAreEventsAndStoredBefore(t *testing.T) {
	store := &tap{Store: agent.NewMemory()}
	c := agent.OpenConversation(store, "c")
	a := newAgent(t, "call pay#p {}\ncall client#q {}", agent.Options{})
	var kinds []agent.PendingKind
	for e, err := range a.Stream(t.Context(), c, agent.Say("go")) {
		if err != nil {
			t.Fatal(err)
		}
		if r, ok := e.(agent.RequestOpened); ok {
			kinds = append(kinds, r.Pending.Kind)
			stored, err := agent.OpenConversation(store, "c").Pending(t.Context())
			if err != nil || !slices.ContainsFunc(stored, func(p agent.Pending) bool { return p.ID == r.Pending.ID }) {
				t.Errorf("%s is shown and not stored: %v, %v", r.Pending.ID, stored, err)
			}
		}
	}
	if !slices.Equal(kinds, []agent.PendingKind{agent.Permission, agent.ClientCall}) {
		t.Errorf("requested: %q", kinds)
	}
}
