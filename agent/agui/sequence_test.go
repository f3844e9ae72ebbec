package agui

import (
	"fmt"
	"testing"
)

// sequence checks the order of events as the official client does; test/agui
// has the client itself.
type sequence struct {
	open   map[string]bool // kind, owner and id of what is open
	closed map[string]bool // sub-agents that have ended
	begun  bool
	over   bool
}

func newSequence() *sequence {
	return &sequence{open: map[string]bool{}, closed: map[string]bool{}}
}

func (s *sequence) all(t *testing.T, events []Event) {
	t.Helper()
	for _, e := range events {
		if err := s.one(e); err != nil {
			t.Errorf("%v: %+v", err, e)
		}
	}
}

func (s *sequence) ended(t *testing.T) {
	t.Helper()
	if !s.over {
		t.Error("the run has no end")
	}
}

func (s *sequence) one(e Event) error {
	if s.over {
		return fmt.Errorf("an event after the end")
	}
	if s.begun == (e.Type == RunStarted) {
		return fmt.Errorf("RUN_STARTED is not the first event, or not the only one")
	}
	s.begun = true
	switch e.Type {
	case StepStarted:
		return s.opens("step", e.SubagentRunID+e.StepName)
	case StepFinished:
		return s.closes("step", e.SubagentRunID+e.StepName)
	case TextMessageStart:
		return s.opens("text", e.MessageID)
	case TextMessageContent:
		return s.extends("text", e.MessageID, e.Delta)
	case TextMessageEnd:
		return s.closes("text", e.MessageID)
	case ReasoningStart:
		return s.opens("span", e.MessageID)
	case ReasoningMessageStart:
		return s.opens("thought", e.MessageID)
	case ReasoningMessageContent:
		return s.extends("thought", e.MessageID, e.Delta)
	case ReasoningMessageEnd:
		return s.closes("thought", e.MessageID)
	case ReasoningEnd:
		return s.closes("span", e.MessageID)
	case ToolCallStart:
		return s.opens("call", e.ToolCallID)
	case ToolCallArgs:
		return s.extends("call", e.ToolCallID, e.Delta)
	case ToolCallEnd:
		return s.closes("call", e.ToolCallID)
	case SubagentStarted:
		if s.closed[e.SubagentRunID] {
			return fmt.Errorf("a sub-agent begins twice")
		}
		return s.opens("sub-agent", e.SubagentRunID)
	case SubagentFinished, SubagentError:
		s.closed[e.SubagentRunID] = true
		return s.closes("sub-agent", e.SubagentRunID)
	case RunFinished, RunError:
		s.over = true
		if len(s.open) > 0 {
			return fmt.Errorf("%v are open at the end", s.open)
		}
	}
	return nil
}

func (s *sequence) opens(kind, id string) error {
	if id == "" || s.open[kind+" "+id] {
		return fmt.Errorf("%s %q has no id or is open already", kind, id)
	}
	s.open[kind+" "+id] = true
	return nil
}

func (s *sequence) extends(kind, id, delta string) error {
	if delta == "" || !s.open[kind+" "+id] {
		return fmt.Errorf("%s %q is not open, or the delta is empty", kind, id)
	}
	return nil
}

func (s *sequence) closes(kind, id string) error {
	if !s.open[kind+" "+id] {
		return fmt.Errorf("%s %q is not open", kind, id)
	}
	delete(s.open, kind+" "+id)
	return nil
}
