package agent

import (
	"fmt"
)

// validate checks that a turn can continue from the record: counters are not negative,
// steps are consecutive and only the last is open, results belong to calls, and the
// number of messages agrees with the open turn. The zero record is valid. Errors are of
// kind ErrConflict if the parts contradict each other, and of kind ErrInvalidArgument
// if a part is invalid by itself.
func (r Record) validate() error {
	for _, n := range []struct {
		name  string
		value int64
	}{{"revision", r.Revision}, {"summary coverage", int64(r.covers())}, {"messages without thoughts", int64(r.thoughtless())}} {
		if n.value < 0 {
			return invalidCheckpoint(n.name, n.value)
		}
	}
	if err := checkHistory("messages", r.Messages); err != nil {
		return err
	}
	if n := countCoverable(r.Messages); r.covers() > n {
		return stale(fmt.Sprintf("Conversation has %d messages but its summary covers %d.", n, r.covers()))
	}
	if r.Open == nil {
		return nil
	}
	return r.Open.validate(len(r.Messages))
}

func (r Record) covers() int {
	if r.Summary == nil {
		return 0
	}
	return r.Summary.Covers
}

func (r Record) thoughtless() int {
	if r.Summary == nil {
		return 0
	}
	return r.Summary.Thoughtless
}

// validate checks an open turn in a record with n messages.
func (o *OpenTurn) validate(n int) error {
	switch {
	case o.ID == "":
		return NewError("agent.Checkpoint", ErrInvalidArgument, "Checkpoint has a turn without an id; take an older checkpoint.")
	case o.Attempt < 1:
		return invalidCheckpoint("attempt", int64(o.Attempt))
	case o.Base < 0:
		return invalidCheckpoint("base", int64(o.Base))
	}
	if err := checkHistory("input", o.Input); err != nil {
		return err
	}
	if err := checkHistory("interjected", o.Interjected); err != nil {
		return err
	}
	want := o.Base + len(o.Input)
	for i := range o.Steps {
		s := &o.Steps[i]
		if err := s.validate(i, i == len(o.Steps)-1); err != nil {
			return err
		}
		if s.Done {
			want += len(s.Messages())
		}
	}
	if n != want {
		return stale(fmt.Sprintf("Conversation has %d messages but checkpoint expects %d.", n, want))
	}
	return nil
}

// validate checks a step that must have the given index.
func (s *Step) validate(index int, last bool) error {
	switch {
	case s.Index < 0:
		return invalidCheckpoint("step index", int64(s.Index))
	case s.Index != index:
		return stale(fmt.Sprintf("It has step %d where step %d is due.", s.Index, index))
	case !s.Done && !last:
		return stale(fmt.Sprintf("Step %d is open although another follows it.", index))
	case s.Cost < 0:
		return NewError("agent.Checkpoint", ErrInvalidArgument, fmt.Sprintf("Checkpoint has invalid cost %g; take an older checkpoint.", s.Cost))
	case s.Assistant.Role != Assistant:
		return stale(fmt.Sprintf("Step %d has a message of role %q where the assistant's is due.", index, s.Assistant.Role))
	}
	for _, tokens := range []int64{s.Usage.InputTokens, s.Usage.OutputTokens, s.Usage.CachedTokens, s.Usage.CacheWriteTokens, s.Usage.ReasoningTokens} {
		if tokens < 0 {
			return invalidCheckpoint("token count", tokens)
		}
	}
	if err := checkHistory("before", s.Before); err != nil {
		return err
	}
	if err := checkParts("assistant", s.Assistant); err != nil {
		return err
	}
	return s.validateResults()
}

// validateResults checks that the results belong to the calls and have their order,
// and that a completed step has all of them.
func (s *Step) validateResults() error {
	calls := s.Assistant.Calls()
	at := 0
	for i := range s.Results {
		for at < len(calls) && calls[at].ID != s.Results[i].CallID {
			at++
		}
		if at == len(calls) {
			return stale(fmt.Sprintf("Step %d has a result of call %q, which is not among its calls or not in their order.", s.Index, s.Results[i].CallID))
		}
		at++
	}
	if s.Done && len(s.Results) != len(calls) {
		return stale(fmt.Sprintf("Step %d is done with %d results for %d calls.", s.Index, len(s.Results), len(calls)))
	}
	return nil
}

func stale(what string) error {
	return NewError("agent.Checkpoint", ErrConflict,
		"Checkpoint is stale. "+what+" Take a checkpoint and messages of the same moment, or clear the conversation.")
}

func invalidCheckpoint(what string, value int64) error {
	return NewError("agent.Checkpoint", ErrInvalidArgument, fmt.Sprintf("Checkpoint has invalid %s %d; take an older checkpoint.", what, value))
}

// checkHistory checks that every provider accepts messages as part of a history: known
// roles, parts whose content matches their type, and tool calls that are followed by
// one tool message with all their results, in order. No messages are a valid history.
// Errors refer to the messages as name.
func checkHistory(name string, messages []Message) error {
	var owed []ToolCall
	for i := range messages {
		m, field := messages[i], fmt.Sprintf("%s[%d]", name, i)
		if err := checkParts(field, m); err != nil {
			return err
		}
		if len(owed) > 0 && m.Role != ToolRole {
			return Invalid(field, "must hold the results of the tool calls before it")
		}
		if m.Role != ToolRole {
			owed = m.Calls()
			continue
		}
		results := m.Results()
		if len(results) == 0 || len(results) != len(owed) {
			return Invalid(field, fmt.Sprintf("has %d tool results; the message before it has %d tool calls", len(results), len(owed)))
		}
		for j := range results {
			if results[j].CallID != owed[j].ID {
				return Invalid(field, fmt.Sprintf("has a result of call %q where that of %q is due", results[j].CallID, owed[j].ID))
			}
		}
		owed = nil
	}
	if len(owed) > 0 {
		return Invalid(fmt.Sprintf("%s[%d]", name, len(messages)-1), "has tool calls whose results do not follow")
	}
	return nil
}

// checkParts checks one message by itself.
func checkParts(field string, m Message) error {
	allowed, known := partsOf[m.Role]
	if !known {
		return Invalid(field+".role", fmt.Sprintf("is %q; it must be system, user, assistant or tool", m.Role))
	}
	if len(m.Parts) == 0 && m.Role != Assistant {
		return Invalid(field+".parts", "must not be empty")
	}
	for i, p := range m.Parts {
		at := fmt.Sprintf("%s.parts[%d]", field, i)
		held, ok := allowed[p.Type]
		if !ok {
			return Invalid(at, fmt.Sprintf("has the type %q, which a message of role %s cannot have", p.Type, m.Role))
		}
		if held != nil && !held(p) {
			return Invalid(at, fmt.Sprintf("has the type %q but does not hold one", p.Type))
		}
	}
	return nil
}

// partsOf returns the types of parts that a role may have, with a function that
// reports whether the content of a part matches its type.
var partsOf = func() map[Role]map[PartType]func(Part) bool {
	file := func(p Part) bool { return p.File != nil }
	call := func(p Part) bool { return p.Call != nil && p.Call.ID != "" }
	result := func(p Part) bool { return p.Result != nil }
	return map[Role]map[PartType]func(Part) bool{
		System:    {TextPart: nil},
		User:      {TextPart: nil, FilePart: file},
		Assistant: {TextPart: nil, ReasoningPart: nil, FilePart: file, CallPart: call},
		ToolRole:  {ResultPart: result},
	}
}()
