package compose_test

import (
	"encoding/json"
	"strings"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/internal/compose"
)

func (s *story) modelCommand(words []string, rest func(int) string) bool {
	switch words[0] {
	case "model":
		s.source = words[1]
		s.open = &agent.Step{Index: len(s.steps), Assistant: agent.Message{ID: words[1], Role: agent.Assistant}}
	case "text":
		s.text(rest(1))
	case "call":
		s.begin(words[1], words[2])
		for piece := range strings.SplitSeq(rest(3), "|") {
			s.delta(words[1], piece)
		}
		s.close(words[1])
	case "open":
		s.begin(words[1], words[2])
	case "args":
		for piece := range strings.SplitSeq(rest(2), "|") {
			s.delta(words[1], piece)
		}
	case "close":
		s.close(words[1])
	case "ended":
		e := agent.MessageEnded{MessageID: s.source, Discarded: len(words) > 1 && words[1] == "discarded", Interrupted: len(words) > 1 && words[1] == "interrupted"}
		if e.Discarded {
			s.open = nil
		} else {
			s.steps = append(s.steps, *s.open)
			s.open = nil
		}
		s.apply(e)
	default:
		return false
	}
	return true
}

func (s *story) text(pieces string) {
	pieces = strings.ReplaceAll(pieces, "_", " ")
	whole := strings.ReplaceAll(pieces, "|", "")
	s.apply(agent.TextStarted{MessageID: s.source, PartID: "text"})
	offset := 0
	for piece := range strings.SplitSeq(pieces, "|") {
		s.apply(agent.TextDelta{PartID: "text", Text: piece, Offset: offset})
		offset += len(piece)
	}
	s.apply(agent.TextEnded{PartID: "text"})
	s.open.Assistant.Parts = append(s.open.Assistant.Parts, agent.Text(whole))
}

func (s *story) begin(id, name string) {
	s.names[id], s.args[id] = name, ""
	s.apply(agent.ToolCallStarted{MessageID: s.source, CallID: id, Name: name})
}

func (s *story) delta(id, piece string) {
	s.apply(agent.ToolArgsDelta{CallID: id, Text: piece, Offset: len(s.args[id])})
	s.args[id] += piece
}

func (s *story) close(id string) {
	call := agent.ToolCall{ID: id, Name: s.names[id], Arguments: s.args[id]}
	s.open.Assistant.Parts = append(s.open.Assistant.Parts, agent.Part{Type: agent.CallPart, Call: &call})
	s.apply(agent.ToolCallEnded{Call: call})
}

func (s *story) runCommand(words []string, word func(int) string, rest func(int) string) {
	last := func() *agent.Step { return &s.steps[len(s.steps)-1] }
	switch words[0] {
	case "request":
		p := s.pending(words[1], words[2])
		if word(3) == "via" {
			p.Via = word(4)
		}
		last().Pending = append(last().Pending, p)
		s.apply(agent.RequestOpened{Pending: p})
	case "answer":
		p := s.pending(words[1], words[2])
		p.Answer = &agent.Answer{By: words[3], Approved: words[4] == "yes", Text: rest(4), Reason: rest(5)}
		for i, old := range last().Pending {
			if old.ID == p.ID {
				p.Via = old.Via
				last().Pending[i] = p
			}
		}
		s.apply(agent.RequestAnswered{Pending: p})
	case "start":
		s.apply(agent.ToolStarted{Call: agent.ToolCall{ID: words[1], Name: s.names[words[1]]}})
	case "result":
		r := agent.ToolResult{CallID: words[1], Name: s.names[words[1]], Status: agent.ResultStatus(words[2]), Text: rest(3)}
		last().Results = append(last().Results, r)
		s.apply(agent.ToolFinished{Result: r})
	case "step":
		last().Done = true
		s.apply(agent.StepFinished{})
	case "turn":
		s.apply(agent.TurnFinished{Outcome: agent.Outcome(words[1])})
	default:
		s.t.Fatalf("unknown command %q", strings.Join(words, " "))
	}
}

func (s *story) pending(call, kind string) agent.Pending {
	if s.names[call] == "" { // a call of a sub-agent
		s.names[call] = "deep"
	}
	return agent.Pending{
		ID: call + "." + kind, Kind: agent.PendingKind(kind), Call: agent.ToolCall{ID: call, Name: s.names[call], Arguments: s.args[call]},
	}
}

func toolOf(name string, words []string) compose.Tool {
	t := compose.Tool{Name: name}
	for _, w := range words {
		switch w {
		case "display":
			t.Display = true
		case "targeted":
			t.Targeted = true
		case "hidden":
			t.Hidden = true
		case "hideInput":
			t.HideInput = true
		case "hideOutput":
			t.HideOutput = true
		default:
			t.Rendering = json.RawMessage(w)
		}
	}
	return t
}
