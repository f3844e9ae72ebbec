package run_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/internal/agentconfig"
	"github.com/shoal-dev/shoal/internal/compose"
	"github.com/shoal-dev/shoal/internal/run"
	"github.com/shoal-dev/shoal/internal/spacetool"
)

// The agent's own reasons are the contract's codes.
func TestEnding(t *testing.T) {
	for _, c := range []struct {
		outcome agent.Outcome
		reason  agent.Reason
		status  shoal.RunStatus
		code    string
		again   bool
	}{
		{agent.Completed, agent.ReasonDone, shoal.RunCompleted, "", false},
		{agent.Completed, agent.ReasonLength, shoal.RunCompleted, "", false},
		{agent.Canceled, agent.ReasonCanceled, shoal.RunCanceled, "canceled", false},
		{agent.Failed, agent.ReasonDenied, shoal.RunFailed, "max_steps", false},
		{agent.Failed, agent.ReasonEmpty, shoal.RunFailed, "provider_unavailable", true},
		{agent.Failed, agent.ReasonInvalidRequest, shoal.RunFailed, "internal", false},
		{agent.Failed, agent.ReasonRateLimited, shoal.RunFailed, "provider_rate_limited", true},
		{agent.Failed, agent.ReasonStorage, shoal.RunFailed, "storage", true},
		{agent.Failed, agent.ReasonMaxErrors, shoal.RunFailed, "max_errors", false},
	} {
		status, failure := run.Ending(agent.TurnEnd{Outcome: c.outcome, Reason: c.reason, Message: "so"})
		got := shoal.RunError{}
		if failure != nil {
			got = *failure
		}
		if status != c.status || got.Code != c.code || got.Retryable != c.again {
			t.Errorf("%s %s: %s %+v", c.outcome, c.reason, status, got)
		}
	}
}

// Deltas in front of what is stored are told before it, the others behind.
func TestSplit(t *testing.T) {
	a, b, c := compose.AppendPart{Delta: "a"}, compose.AppendPart{Delta: "b"}, compose.AppendPart{Delta: "c"}
	end, save := compose.EndText{Text: "ab"}, compose.SaveMessage{}
	before, stored, after := run.Split([]compose.Effect{a, end, b, save, c})
	if got := fmt.Sprint(len(before), len(stored), len(after)); got != "1 2 2" {
		t.Errorf("split into %s", got)
	}
}

func TestSummaryCoversTheSameMessagesForAll(t *testing.T) {
	said := map[shoal.RunID][]agent.Message{}
	for _, id := range []shoal.RunID{"r1", "r2", "r3", "r4"} {
		said[id] = []agent.Message{{ID: string(id) + "a"}, {ID: string(id) + "b"}}
	}
	ids := func(messages []agent.Message) string {
		var out []string
		for _, m := range messages {
			out = append(out, m.ID)
		}
		return strings.Join(out, " ")
	}
	for _, c := range []struct {
		name   string
		gone   shoal.RunID
		covers int
		order  []shoal.RunID
		want   string
		left   int
	}{
		{"r2 ran beside r1 and r3, and ended behind the summary", "", 3, []shoal.RunID{"r1", "r3"}, "r1a r1b r3a r3b r2a r2b r4a r4b", 3},
		{"the oldest is too far back", "r1", 3, []shoal.RunID{"r1", "r3"}, "r3a r3b r2a r2b r4a r4b", 1},
		{"the one that made it is not seen", "r3", 4, []shoal.RunID{"r1", "r3"}, "r1a r1b r2a r2b r4a r4b", 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			var began []shoal.RunID
			here := map[shoal.RunID][]agent.Message{}
			for _, id := range []shoal.RunID{"r1", "r2", "r3", "r4"} {
				if id != c.gone {
					began, here[id] = append(began, id), said[id]
				}
			}
			messages, covers, _ := run.Arrange(began, here, "so far", c.covers, c.order, []int{2, 2})
			if ids(messages) != c.want || covers != c.left {
				t.Errorf("covers %d of %s", covers, ids(messages))
			}
		})
	}
}

// Blocks that read the same message of a space show it once, and what a summary
// covers ends at the same message when an earlier block is gone.
func TestBlocksDoNotRepeatMessages(t *testing.T) {
	shows := func(id, status string) agent.Message {
		return agent.Say(`<message id="` + id + `" spaceId="shop"` + status + ` at="now">hello</message>`)
	}
	said := map[shoal.RunID][]agent.Message{
		"r1": {shows("m1", ""), shows("m2", ""), {ID: "r1"}},
		"r2": {shows("m1", ""), shows("m2", ""), shows("m3", ""), {ID: "r2"}},
		"r3": {shows("m2", ` status="streaming"`), shows("m3", ""), shows("m4", ""), {ID: "r3"}},
	}
	inputs := map[shoal.RunID]int{"r1": 2, "r2": 3, "r3": 3}
	for _, c := range []struct {
		began  []shoal.RunID
		covers int
		want   string
		left   int
	}{
		{[]shoal.RunID{"r1", "r2", "r3"}, 4, "m1 m2 r1 m3 r2 m2+ m4 r3", 4},
		{[]shoal.RunID{"r2", "r3"}, 4, "m1 m2 m3 r2 m2+ m4 r3", 3},
	} {
		messages, summary := run.ArrangeBlocks(c.began, said, inputs, c.covers, c.covers+1, []shoal.RunID{"r1", "r2"}, []int{3, 2})
		var got []string
		for _, m := range messages {
			key := m.ID
			if key == "" {
				key = strings.TrimSpace(strings.ReplaceAll(spacetool.MessageKey(m), " streaming", "+"))
			}
			got = append(got, key)
		}
		if text := strings.Join(got, " "); text != c.want || summary.Covers != c.left || summary.Thoughtless != c.left+1 {
			t.Errorf("%v shows %s with the summary %+v, want %s and %d covered", c.began, text, summary, c.want, c.left)
		}
	}
}

func decoded(t *testing.T, settings string) *agentconfig.Config {
	t.Helper()
	c, err := agentconfig.Decode([]byte(`{"version":"1.0","agent":{"id":"bot","system":"Serve."},`+settings+`}`), agentconfig.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// No limit in a configuration is none for the agent; what an author leaves out is
// the contract's default.
func TestAgentOptions(t *testing.T) {
	model := `"model":{"provider":"script","name":"s","providerOptions":{"script":"say hi","x":1}}`
	o := run.AgentOptions(decoded(t, model+`,"loop":{"toolTimeoutMs":0,"maxConsecutiveErrors":0,"maxIdenticalCalls":0,"maxParallelTools":0}`))
	if o.ToolTimeout >= 0 || o.MaxErrors >= 0 || o.MaxIdenticalCalls >= 0 || o.MaxParallelTools < 1000 {
		t.Errorf("without limits: %+v", o)
	}
	if d := cmp.Diff(map[string]any{"x": 1.0}, o.Settings.ProviderOptions); d != "" {
		t.Error(d)
	}
	o = run.AgentOptions(decoded(t, model))
	if o.MaxSteps != 5 || o.ToolTimeout.Seconds() != 30 || o.MaxErrors != 3 || o.MaxIdenticalCalls != 5 || o.MaxParallelTools != 8 || o.Continuation != 0 {
		t.Errorf("by default: %+v", o)
	}
}
