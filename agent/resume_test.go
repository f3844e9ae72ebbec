package agent_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/script"
)

// resumption is an unfinished turn that is gone on with under other rules than it
// was begun with.
type resumption struct {
	started bool          // the call had begun when the process died
	asked   *agent.Answer // to the permission that was asked for; empty if there is none yet
	opts    agent.Options
	tool    func(*agent.ToolSpec)
	ran     []string // the arguments with which the tool ran
}

// take goes on with the turn and returns its events and the conversation.
func (r *resumption) take(t *testing.T) ([]agent.Event, *agent.Conversation) {
	t.Helper()
	store, ref := agent.NewMemory(), agent.TurnRef{ID: "t", Attempt: 1}
	call := agent.ToolCall{ID: "c1", Name: "wire", Arguments: `{"a":"x"}`}
	step := agent.Step{Assistant: agent.Message{ID: "m", Role: agent.Assistant, Parts: []agent.Part{{Type: agent.CallPart, Call: &call}}}}
	if r.started {
		step.Started = []string{"c1"}
	}
	if r.asked != nil {
		p := agent.Pending{ID: "t.0.0.permission", Kind: agent.Permission, Call: call, Conversation: "c", RequestedAt: time.Now()}
		if r.asked.PendingID != "" {
			p.Answer = r.asked
		}
		step.Pending = []agent.Pending{p}
	}
	if err := store.Begin(t.Context(), "c", agent.Turn{ID: "t", Attempt: 1, Input: []agent.Message{agent.Say("go")}, StartedAt: time.Now()}); err != nil {
		t.Fatal(err)
	}
	if err := store.Commit(t.Context(), "c", ref, step); err != nil {
		t.Fatal(err)
	}
	spec := agent.ToolSpec{Name: "wire", Schema: json.RawMessage(`{"type":"object"}`), Idempotent: true}
	if r.tool != nil {
		r.tool(&spec)
	}
	r.opts.Tools = []agent.Tool{agent.Dynamic(spec, func(_ context.Context, c agent.ToolCall) (agent.Output, error) {
		r.ran = append(r.ran, c.Arguments)
		return agent.Output{Text: "did"}, nil
	})}
	c := agent.OpenConversation(store, "c")
	return all(t, newAgentOn(t, script.PerTurn(parse(t, "say never\n---\nsay done")...), r.opts), t.Context(), c), c
}

func needsPermission(s *agent.ToolSpec) { s.RequiresPermission = true }

func otherSchema(s *agent.ToolSpec) {
	s.Schema = json.RawMessage(`{"type":"object","required":["b"],"properties":{"b":{"type":"string"}}}`)
}

func denies(context.Context, agent.ToolCall, agent.ToolSpec) agent.PermissionRule {
	return agent.AlwaysDeny
}

// A turn that goes on meets the rules of now: what has not run yet, or runs once
// more, passes what a fresh call passes.
func TestResumedCallIsCheckedLikeANewOne(t *testing.T) {
	approved := &agent.Answer{PendingID: "t.0.0.permission", Approved: true}
	edited := &agent.Answer{PendingID: "t.0.0.permission", Approved: true, Arguments: `{"b":"y"}`}
	block := []agent.Middleware{{Name: "block", BeforeTools: func(_ context.Context, b *agent.Batch) error {
		b.Block("c1", agent.ResultDenied, "not today")
		return nil
	}}}
	schemed := func(s *agent.ToolSpec) { needsPermission(s); otherSchema(s) }
	yes := func(context.Context, agent.Pending) (agent.Answer, bool) { return agent.Answer{Approved: true}, true }
	for name, test := range map[string]struct {
		r       resumption
		outcome agent.Outcome
		result  string
		ran     []string
	}{
		"nothing has changed":            {resumption{started: true}, agent.Completed, "[ok did]", []string{`{"a":"x"}`}},
		"needs permission now":           {resumption{started: true, tool: needsPermission}, agent.Waiting, "", nil},
		"needs it, not begun":            {resumption{tool: needsPermission}, agent.Waiting, "", nil},
		"needs it, and is granted":       {resumption{started: true, tool: needsPermission, opts: agent.Options{Answer: yes}}, agent.Completed, "[ok did]", []string{`{"a":"x"}`}},
		"was approved":                   {resumption{asked: approved, tool: needsPermission}, agent.Completed, "[ok did]", []string{`{"a":"x"}`}},
		"was approved and began":         {resumption{asked: approved, started: true, tool: needsPermission}, agent.Completed, "[ok did]", []string{`{"a":"x"}`}},
		"a rule denies":                  {resumption{started: true, tool: needsPermission, opts: agent.Options{Authorize: denies}}, agent.Completed, "[denied Permission denied by a rule. The call was not executed.]", nil},
		"a rule denies what is approved": {resumption{asked: approved, tool: needsPermission, opts: agent.Options{Authorize: denies}}, agent.Completed, "[denied Permission denied by a rule. The call was not executed.]", nil},
		"a rule denies what is asked":    {resumption{asked: &agent.Answer{}, tool: needsPermission, opts: agent.Options{Authorize: denies}}, agent.Completed, "[denied Permission denied by a rule. The call was not executed.]", nil},
		"is still asked":                 {resumption{asked: &agent.Answer{}, tool: needsPermission}, agent.Waiting, "", nil},
		"was blocked":                    {resumption{started: true, opts: agent.Options{Middleware: block}}, agent.Completed, "[denied not today]", nil},
		"the schema misses":              {resumption{started: true, tool: otherSchema}, agent.Completed, "[invalid Error: arguments.b: is missing]", nil},
		"the schema misses the approved": {resumption{asked: approved, tool: schemed}, agent.Completed, "[invalid Error: arguments.b: is missing]", nil},
		"the schema misses the asked":    {resumption{asked: &agent.Answer{}, tool: schemed}, agent.Completed, "[invalid Error: arguments.b: is missing]", nil},
		"the schema fits the edited":     {resumption{asked: edited, tool: schemed}, agent.Completed, "[ok Approved with changes: {\"b\":\"y\"}\ndid]", []string{`{"b":"y"}`}},
		"the arguments are too long":     {resumption{started: true, opts: agent.Options{MaxArgumentBytes: 4}}, agent.Completed, "[invalid Error: the arguments have 9 bytes; at most 4 are allowed.]", nil},
	} {
		t.Run(name, func(t *testing.T) {
			events, c := test.r.take(t)
			end := finished(t, events)
			if end.Outcome != test.outcome || !slices.Equal(test.r.ran, test.ran) {
				t.Errorf("ends as %s %s; the tool ran with %q", end.Outcome, end.Reason, test.r.ran)
			}
			if test.outcome == agent.Waiting {
				if len(end.Pending) != 1 || end.Pending[0].Kind != agent.Permission {
					t.Errorf("it waits for %+v", end.Pending)
				}
				return
			}
			if d := cmp.Diff([]string{"user: go", "assistant: [wire {\"a\":\"x\"}]", "tool: " + test.result, "assistant: done"}, messages(t, c)); d != "" {
				t.Error(d)
			}
			if open, answered := len(of[agent.RequestOpened](events)), len(of[agent.RequestAnswered](events)); test.r.asked != nil && answered != 1 || open > answered {
				t.Errorf("%d requests are shown, %d answers", open, answered)
			}
		})
	}
}
