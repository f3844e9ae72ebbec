package spacetool_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/internal/hub/runs"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/spacetool"
)

type runsAnswer struct {
	CurrentRunID    shoal.RunID
	OtherActiveRuns []struct {
		RunID         shoal.RunID
		TriggerType   string
		TriggerSource string
		Status        string
		StartedAt     *shoal.Time
		Progress      struct {
			ToolsCalled              []string
			TextGenerated, Reasoning string
		}
	}
}

func (w *world) runs(r *spacetool.Run, arguments string) (out runsAnswer) {
	w.t.Helper()
	text := w.call(r, "getMyRuns", arguments)
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		w.t.Fatalf("%s: %v", text, err)
	}
	return out
}

func TestGetMyRuns(t *testing.T) {
	w := newWorld(t)
	w.space("office", "Office", "ann", "shop-agent")
	first := w.ask("ann", "shop", "one")
	w.write(first, func(c *runs.RunChange) error {
		for i, s := range []shoal.Step{
			{Text: strings.Repeat("ä", 150), ToolCalls: []shoal.StepCall{{ToolCallID: "1", ToolName: "search"}, {ToolCallID: "2", ToolName: "search"}}},
			{Text: strings.Repeat("b", 100), Reasoning: "hm", ToolCalls: []shoal.StepCall{{ToolCallID: "3", ToolName: "buy"}}},
		} {
			s.Index, s.StartedAt = i, w.now
			if err := c.PutStep(first.Run.SessionID, first.Run.ID, storage.Step{Step: s, Data: json.RawMessage(`{}`)}); err != nil {
				return err
			}
		}
		return nil
	})
	done := w.ask("ann", "shop", "two")
	w.end(done)
	_, err := w.hub.Runs.Trigger(t.Context(), root, shoal.DefaultSession, "shop-agent", "billing", json.RawMessage(`{"a":1}`), "")
	w.must(err)
	service := w.claim()
	r := w.ask("ann", "office", "three")
	expect(t, "without the one of a service, which is not for this person", len(w.runs(r, `{}`).OtherActiveRuns), 1)
	r.Config.Access.Read = "agent"

	all := w.runs(r, `{}`)
	expect(t, "this run", all.CurrentRunID, r.Run.ID)
	expect(t, "how many others go on", len(all.OtherActiveRuns), 2)
	newest, oldest := all.OtherActiveRuns[0], all.OtherActiveRuns[1]
	expect(t, "the newest", words(newest.RunID, newest.TriggerType, newest.TriggerSource, newest.Status), words(service.Run.ID, "service billing running"))
	expect(t, "the oldest", words(oldest.RunID, oldest.TriggerType, oldest.TriggerSource, oldest.Status), words(first.Run.ID, "space_message shop running"))
	if oldest.StartedAt == nil {
		t.Error("it has no start")
	}
	p := oldest.Progress
	expect(t, "what it called", strings.Join(p.ToolsCalled, " "), "search search buy")
	expect(t, "the end of its text", p.TextGenerated, strings.Repeat("ä", 100)+strings.Repeat("b", 100))
	expect(t, "its thoughts", p.Reasoning, "hm")

	for arguments, want := range map[string]int{
		`{"status":"running"}`: 2, `{"status":"queued"}`: 0, `{"triggerSpaceId":"shop"}`: 1, `{"triggerSpaceId":"office"}`: 0, `{"status":null,"triggerSpaceId":null}`: 2,
	} {
		expect(t, arguments, len(w.runs(r, arguments).OtherActiveRuns), want)
	}
	if text := w.call(r, "getMyRuns", `{"status":"completed"}`); !strings.HasPrefix(text, "failed: Error: status must be queued, running") {
		t.Errorf("a status of ended runs: %s", text)
	}
}

// Only the admin agent of a space with other agents can hand a trigger over.
func TestWhoMayDelegate(t *testing.T) {
	w := newWorld(t)
	has := func(r *spacetool.Run) bool {
		t.Helper()
		tools, err := spacetool.Tools(t.Context(), r)
		w.must(err)
		return slices.ContainsFunc(tools, func(t agent.Tool) bool { return t.Spec().Name == spacetool.DelegateTool })
	}
	alone := w.ask("ann", "shop", "hello")
	expect(t, "without an admin", has(alone), false)
	w.must(w.setAdmin())
	expect(t, "an admin agent without others", has(alone), false)
	w.host("stock-agent")
	w.must(w.join("shop", "stock-agent"))
	expect(t, "an admin agent with others", has(alone), true)
	expect(t, "another agent", has(w.ask("ann", "shop", "you", "stock-agent")), false)
	_, err := w.hub.Runs.Trigger(t.Context(), root, shoal.DefaultSession, "shop-agent", "billing", nil, "")
	w.must(err)
	expect(t, "a run without a space", has(w.claim()), false)
}

func TestDelegate(t *testing.T) {
	w := newWorld(t)
	w.must(w.setAdmin())
	w.host("stock-agent")
	w.must(w.join("shop", "stock-agent"))
	r := w.ask("ann", "shop", "how many are there?")
	var queued shoal.RunID
	r.Delegated = func(id shoal.RunID) { queued = id }

	for _, target := range []string{"ann", "shop-agent", "nobody", "a/b", ""} {
		text := w.call(r, "delegateToAgent", `{"targetAgentEntityId":"`+target+`"}`)
		if !strings.HasPrefix(text, "failed: Error: ") || queued != "" {
			t.Errorf("delegating to %q gives %s", target, text)
		}
	}
	text := w.call(r, "delegateToAgent", `{"targetAgentEntityId":"stock-agent","reason":"it knows"}`)
	if queued == "" || !strings.Contains(text, string(queued)) {
		t.Fatalf("the run %q was queued: %s", queued, text)
	}
	again := w.call(r, "delegateToAgent", `{"targetAgentEntityId":"stock-agent"}`)
	if !strings.HasPrefix(again, "failed: ") {
		t.Errorf("delegating twice: %s", again)
	}
	w.must(w.hub.Work.Read(t.Context(), func(tx storage.Tx) error {
		from, err := tx.Run(shoal.DefaultSession, r.Run.ID)
		if err != nil {
			return err
		}
		to, err := tx.Run(shoal.DefaultSession, queued)
		if err != nil {
			return err
		}
		expect(t, "whether the first is to end", from.Cancel, true)
		expect(t, "the second", words(to.AgentID, to.Trigger.MessageID, to.Depth), words("stock-agent", r.Run.Trigger.MessageID, 0))
		return nil
	}))
}
