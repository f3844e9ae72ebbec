package agui

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal/agent"
)

// lines renders each event in short: its type and its relevant fields.
func lines(t *testing.T, events []Event) []string {
	t.Helper()
	var out []string
	for _, e := range events {
		text, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		var fields map[string]any
		if err := json.Unmarshal(text, &fields); err != nil {
			t.Fatal(err)
		}
		line := string(e.Type)
		for _, name := range []string{
			"threadId", "runId", "subagentRunId", "stepName", "messageId", "toolCallId", "toolCallName", "parentMessageId",
			"parentSubagentRunId", "parentToolCallId", "name", "value", "delta", "content", "metadata", "message", "code", "outcome", "usage", "messages",
		} {
			switch v := fields[name].(type) {
			case nil:
			case string:
				line += fmt.Sprintf(" %s=%q", name, v)
			default:
				part, _ := json.Marshal(v)
				line += fmt.Sprintf(" %s=%s", name, part)
			}
		}
		out = append(out, line)
	}
	return out
}

// project shows the events of a run; thread is what the client has before.
func project(t *testing.T, thread []Message, events ...agent.Event) []string {
	t.Helper()
	p := NewProjection(&Input{ThreadID: "t", RunID: "r", Messages: thread})
	check := newSequence()
	var out []string
	for _, e := range events {
		shown := p.Event(e)
		check.all(t, shown)
		out = append(out, lines(t, shown)...)
	}
	check.ended(t)
	return out
}

// said is what one attempt of the model shows.
func said(id string, discarded bool, events ...agent.Event) []agent.Event {
	out := []agent.Event{agent.ModelCallStarted{Model: agent.ModelInfo{Provider: "script", Name: "m"}}, agent.MessageStarted{MessageID: id}}
	return append(append(out, events...), agent.MessageEnded{MessageID: id, Discarded: discarded})
}

func text(id string, pieces ...string) []agent.Event {
	part := id + ".p"
	out := []agent.Event{agent.TextStarted{MessageID: id, PartID: part}}
	for _, piece := range pieces {
		out = append(out, agent.TextDelta{PartID: part, Text: piece})
	}
	return append(out, agent.TextEnded{PartID: part})
}

func thought(id, part string, pieces ...string) []agent.Event {
	out := []agent.Event{agent.ReasoningStarted{MessageID: id, PartID: part}}
	for _, piece := range pieces {
		out = append(out, agent.ReasoningDelta{PartID: part, Text: piece})
	}
	return append(out, agent.ReasoningEnded{PartID: part})
}

func called(id, callID, name string, pieces ...string) []agent.Event {
	out := []agent.Event{agent.ToolCallStarted{MessageID: id, CallID: callID, Name: name}}
	for _, piece := range pieces {
		out = append(out, agent.ToolArgsDelta{CallID: callID, Text: piece})
	}
	return append(out, agent.ToolCallEnded{Call: agent.ToolCall{ID: callID, Name: name, Arguments: strings.Join(pieces, "")}})
}

func story(parts ...any) []agent.Event {
	out := []agent.Event{agent.TurnStarted{TurnID: "trn"}, agent.StepStarted{}}
	for _, p := range parts {
		switch p := p.(type) {
		case []agent.Event:
			out = append(out, p...)
		case agent.Event:
			out = append(out, p)
		}
	}
	return out
}

func done() []agent.Event {
	return []agent.Event{agent.MessageEnded{Usage: agent.Usage{InputTokens: 3, OutputTokens: 2}}, agent.StepFinished{}, agent.TurnFinished{Outcome: agent.Completed, Reason: agent.ReasonDone}}
}

func same(t *testing.T, got []string, want string) {
	t.Helper()
	if told := strings.Join(got, "\n"); told != strings.TrimSpace(want) {
		t.Errorf("the client would see\n%s\nbut it should see\n%s", told, strings.TrimSpace(want))
	}
}

const (
	begin   = `RUN_STARTED threadId="t" runId="r"` + "\n" + `STEP_STARTED stepName="step-0"` + "\n"
	success = `STEP_FINISHED stepName="step-0"` + "\n" +
		`RUN_FINISHED threadId="t" runId="r" outcome={"type":"success"} usage=[{"inputTokens":3,"model":"m","outputTokens":2,"provider":"script","totalTokens":5}]`
)
