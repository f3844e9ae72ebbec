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

// A16: the fields of a permission request.
func TestA16FieldsOfAPermissionRequest(t *testing.T) {
	pay := agent.Configure(agent.Func("pay", "Pays an invoice.", func(context.Context, struct{ Amount int }) (string, error) { return "", nil }),
		func(s *agent.ToolSpec) { s.RequiresPermission = true })
	c := agent.NewConversation()
	end := finished(t, all(t, newAgent(t, `call pay#p {"Amount":7}`, agent.Options{Name: "clerk", Tools: []agent.Tool{pay}}), t.Context(), c, agent.Say("go")))
	if len(end.Pending) != 1 {
		t.Fatalf("%d requests", len(end.Pending))
	}
	got := end.Pending[0]
	if got.ID == "" || time.Since(got.RequestedAt) > time.Minute {
		t.Errorf("id %q, at %s", got.ID, got.RequestedAt)
	}
	got.ID, got.RequestedAt = "", time.Time{}
	want := agent.Pending{
		Kind: agent.Permission, Agent: "clerk", Description: "Pays an invoice.", Conversation: c.ID(),
		Call: agent.ToolCall{ID: "p", Name: "pay", Arguments: `{"Amount":7}`},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// A20: a choice is remembered in its conversation alone; wider rules are
// Options.Authorize's.
func TestA20PermissionRulesBelongToOneConversation(t *testing.T) {
	always := func(context.Context, agent.Pending) (agent.Answer, bool) {
		return agent.Answer{Approved: true, Rule: agent.AlwaysAllow}, true
	}
	c, other := agent.NewConversation(), agent.NewConversation()
	paying := agent.Options{Tools: storyTools()}
	run := func(o agent.Options, c *agent.Conversation) agent.TurnFinished {
		t.Helper()
		return finished(t, all(t, newAgent(t, "call pay {}\n---\nsay done", o), t.Context(), c, agent.Say("go")))
	}
	asked := paying
	asked.Answer = always
	if end := run(asked, c); end.Outcome != agent.Completed {
		t.Fatalf("%+v", end)
	}
	if end := run(paying, c); end.Outcome != agent.Completed {
		t.Errorf("the same conversation asks again: %+v", end)
	}
	if end := run(paying, other); end.Outcome != agent.Waiting {
		t.Errorf("another conversation does not ask: %+v", end)
	}

	for choice, want := range map[agent.PermissionRule]agent.Outcome{
		agent.AlwaysAllow: agent.Completed, agent.AlwaysDeny: agent.Completed, agent.AskEachTime: agent.Waiting, "": agent.Waiting,
	} {
		ruled := paying
		ruled.Authorize = func(context.Context, agent.ToolCall, agent.ToolSpec) agent.PermissionRule { return choice }
		fresh := agent.NewConversation()
		if end := run(ruled, fresh); end.Outcome != want {
			t.Errorf("a rule that says %q: %s", choice, end.Outcome)
		}
		if r, err := fresh.Load(t.Context()); err != nil || len(r.Rules) != 0 {
			t.Errorf("a rule is remembered as %v, %v", r.Rules, err)
		}
	}
}

// A25: full access asks nobody, and leaves what was remembered.
func TestA25FullAccessKeepsPermissionRules(t *testing.T) {
	c := agent.NewConversation()
	o := agent.Options{Tools: storyTools(), Answer: func(context.Context, agent.Pending) (agent.Answer, bool) {
		return agent.Answer{Rule: agent.AlwaysDeny}, true
	}}
	var statuses []agent.ResultStatus
	for _, full := range []bool{false, true, false} {
		o.FullAccess = full
		for _, e := range of[agent.ToolFinished](all(t, newAgent(t, "call pay {}\n---\nsay done", o), t.Context(), c, agent.Say("go"))) {
			statuses = append(statuses, e.Result.Status)
		}
		o.Answer = nil // from now on nobody is there
	}
	if want := []agent.ResultStatus{agent.ResultDenied, agent.ResultOK, agent.ResultDenied}; !slices.Equal(statuses, want) {
		t.Errorf("%q, want %q", statuses, want)
	}
}

// A70: what a sub-agent is as a tool.
func TestA70SubAgentIsAToolWithOneInput(t *testing.T) {
	sub, err := agent.New(script.New(), agent.Options{Name: "clerk", Description: "Pays."})
	if err != nil {
		t.Fatal(err)
	}
	spec := agent.AsTool(sub, agent.SubAgent{}).Spec()
	var schema struct {
		Properties map[string]any
		Required   []string
	}
	if err := json.Unmarshal(spec.Schema, &schema); err != nil {
		t.Fatal(err)
	}
	if spec.Name != "clerk" || spec.Description != "Pays." || !spec.RequiresPermission || len(schema.Properties) != 1 || !slices.Equal(schema.Required, []string{"input"}) {
		t.Errorf("%+v %s", spec, spec.Schema)
	}
}
