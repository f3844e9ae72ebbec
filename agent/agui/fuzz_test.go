package agui

import (
	"testing"

	"github.com/shoal-dev/shoal/agent"
)

// FuzzProjection plays events in any order, also in ones that no turn has: what
// comes out passes the client's check all the same.
func FuzzProjection(f *testing.F) {
	f.Add([]byte{0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17})
	f.Add([]byte{0, 1, 2, 4, 7, 9, 13, 2, 4, 7, 9, 13, 2, 4, 5, 12, 14, 15})
	f.Add([]byte{2, 9, 18, 22, 29, 38, 49, 13, 16})
	f.Fuzz(func(t *testing.T, script []byte) {
		p := NewProjection(&Input{ThreadID: "t", RunID: "r"})
		check := newSequence()
		messages := 0
		for _, b := range script {
			kind, who := b%20, []string{"", "a", "b"}[b/20%3]
			if kind == 2 {
				messages++
			}
			e := anyEvent(kind, who, messages)
			if who != "" {
				e = agent.Nested{CallID: "c", TurnID: who, Chain: []string{"agent", who}, Event: e}
			}
			check.all(t, p.Event(e))
		}
		if !check.over {
			check.all(t, p.Event(agent.TurnFinished{Outcome: agent.Completed}))
		}
		check.ended(t)
	})
}

// anyEvent returns an event of a speaker in its n-th message.
func anyEvent(kind byte, who string, n int) agent.Event {
	id := who + string(rune('A'+n%26)) + string(rune('A'+n/26%26))
	call := agent.ToolCall{ID: id + "c", Name: "look", Arguments: `{"a":1}`}
	switch kind {
	case 0:
		return agent.TurnStarted{TurnID: who}
	case 1:
		return agent.StepStarted{Step: n}
	case 2:
		return agent.MessageStarted{MessageID: id}
	case 3:
		return agent.ReasoningStarted{MessageID: id, PartID: id + "p"}
	case 4:
		return agent.ReasoningDelta{PartID: id + "p", Text: "hm"}
	case 5:
		return agent.ReasoningEnded{PartID: id + "p"}
	case 6:
		return agent.TextStarted{MessageID: id}
	case 7:
		return agent.TextDelta{Text: "x"}
	case 8:
		return agent.TextEnded{}
	case 9:
		return agent.ToolCallStarted{MessageID: id, CallID: call.ID, Name: call.Name}
	case 10:
		return agent.ToolArgsDelta{CallID: call.ID, Text: `{"a"`}
	case 11:
		return agent.ToolCallEnded{Call: call}
	case 12:
		return agent.MessageEnded{MessageID: id}
	case 13:
		return agent.MessageEnded{MessageID: id, Discarded: true}
	case 14:
		return agent.ToolFinished{Result: agent.ToolResult{CallID: call.ID, Status: agent.ResultOK}}
	case 15:
		return agent.StepFinished{Step: n}
	case 16:
		return agent.TurnFinished{Outcome: agent.Waiting, Pending: []agent.Pending{{ID: "q", Kind: agent.Permission, Call: call}}}
	case 17:
		return agent.TurnFinished{Outcome: agent.Failed}
	case 18:
		return agent.Warning{Source: "observer"}
	}
	return agent.ReasoningDelta{}
}
