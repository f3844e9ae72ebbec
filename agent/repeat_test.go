package agent_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal/agent"
)

// Repeated calls are not a loop while their results differ, or if the tool is Repeatable.
func TestIdenticalCallsCountWithTheirResults(t *testing.T) {
	const calls = 8
	poll := func(answer func(n int) agent.Output, more func(*agent.ToolSpec)) agent.Tool {
		n := 0
		t := agent.Dynamic(agent.ToolSpec{Name: "poll", Schema: []byte(`{"type":"object"}`)}, func(context.Context, agent.ToolCall) (agent.Output, error) {
			n++
			return answer(n), nil
		})
		return agent.Configure(t, more)
	}
	for name, test := range map[string]struct {
		answer func(n int) agent.Output
		more   func(*agent.ToolSpec)
		ran    int
		end    agent.Reason
	}{
		"results that differ": {
			func(n int) agent.Output { return agent.Output{Text: fmt.Sprint(n, " % done")} }, func(*agent.ToolSpec) {}, calls, agent.ReasonDone,
		},
		"results that differ now and then": {
			func(n int) agent.Output { return agent.Output{Text: fmt.Sprint(n / 3)} }, func(*agent.ToolSpec) {}, calls, agent.ReasonDone,
		},
		"files that differ": {
			func(n int) agent.Output {
				return agent.Output{Text: "look", Files: []agent.File{{MediaType: "image/png", Data: []byte{byte(n)}}}}
			}, func(*agent.ToolSpec) {}, calls, agent.ReasonDone,
		},
		"the same result": {
			func(int) agent.Output { return agent.Output{Text: "not yet"} }, func(*agent.ToolSpec) {}, 4, agent.ReasonIdenticalCalls,
		},
		"the same failure": {
			func(int) agent.Output { return agent.Output{Text: "no", Failed: true} }, func(*agent.ToolSpec) {}, 4, agent.ReasonIdenticalCalls,
		},
		"the same result of a repeatable tool": {
			func(int) agent.Output { return agent.Output{Text: "not yet"} }, func(s *agent.ToolSpec) { s.Repeatable = true }, calls, agent.ReasonDone,
		},
	} {
		t.Run(name, func(t *testing.T) {
			ran := 0
			tool := poll(func(n int) agent.Output { ran = n; return test.answer(n) }, test.more)
			a := newAgent(t, strings.Repeat("call poll {}\n---\n", calls)+"say done", agent.Options{Tools: []agent.Tool{tool}, MaxSteps: calls + 1, MaxErrors: -1})
			c := agent.NewConversation()
			if end := finished(t, all(t, a, t.Context(), c, agent.Say("go"))); end.Reason != test.end || ran != test.ran {
				t.Errorf("ends as %s after %d calls, want %s after %d", end.Reason, ran, test.end, test.ran)
			}
		})
	}
}

// The refusal holds across a restart, and what the model does instead lifts it.
func TestDeniedCallMayBeRepeatedAfterAnotherCall(t *testing.T) {
	same := "call echo {\"a\":\"x\"}\n---\n"
	a := newAgent(t, strings.Repeat(same, 2)+"call echo {\"a\":\"y\"}\n---\n"+same+"say done", agent.Options{MaxIdenticalCalls: 2})
	c := agent.NewConversation()
	events := all(t, a, t.Context(), c, agent.Say("go"))
	var got []agent.ResultStatus
	for _, e := range of[agent.ToolFinished](events) {
		got = append(got, e.Result.Status)
	}
	if fmt.Sprint(got) != "[ok repeated ok ok]" || finished(t, events).Reason != agent.ReasonDone {
		t.Errorf("results %v, ends as %s", got, finished(t, events).Reason)
	}
}
