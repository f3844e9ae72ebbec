package agent

import "fmt"

// seen returns the messages as the model of the agent sees them: those of other agents
// without their reasoning, and their handoffs as messages with the notes. The same messages
// give the same view, so that it only grows at its end.
func (r *rules) seen(messages []Message) ([]Message, error) {
	if r.team == nil {
		return messages, nil
	}
	out := make([]Message, 0, len(messages)+1)
	start := 0 // of the last handoff to this agent, in out
	var filter func([]Message) []Message
	for i := 0; i < len(messages); i++ {
		m := messages[i]
		if m.Role != Assistant || m.Agent == "" || m.Agent == r.agent {
			out = append(out, m)
			continue
		}
		var results *Message
		if i+1 < len(messages) && messages[i+1].Role == ToolRole {
			i++
			results = &messages[i]
		}
		said, left, call, to := ofAnother(m, results)
		if len(said.Parts) > 0 {
			out = append(out, said)
		}
		if left != nil {
			out = append(out, *left)
		}
		if to == "" {
			continue
		}
		if to == r.agent {
			start, filter = len(out), r.filterOf(m.Agent, call.Name)
		}
		out = append(out, r.handoffNote(m, call, to))
	}
	if filter == nil {
		return out, nil
	}
	var before []Message
	err := guarded("Handoff.History", func() error {
		before = filter(out[:start:start])
		return checkHistory("Handoff.History", before)
	})
	if err != nil {
		return nil, err
	}
	return append(before[:len(before):len(before)], out[start:]...), nil
}

// ofAnother returns an answer of another agent and its results without reasoning and without
// the handoff that they hold, which it returns separately.
func ofAnother(m Message, results *Message) (said Message, left *Message, call ToolCall, to string) {
	said = m
	said.Parts = nil
	moved := map[string]string{}
	if results != nil {
		kept := *results
		kept.Parts = nil
		for _, p := range results.Parts {
			if p.Type == ResultPart && p.Result.TransferredTo != "" {
				moved[p.Result.CallID] = p.Result.TransferredTo
				continue
			}
			kept.Parts = append(kept.Parts, p)
		}
		if len(kept.Parts) > 0 {
			left = &kept
		}
	}
	for _, p := range m.Parts {
		switch {
		case p.Type == ReasoningPart:
		case p.Type == CallPart && moved[p.Call.ID] != "":
			call, to = *p.Call, moved[p.Call.ID]
		default:
			said.Parts = append(said.Parts, p)
		}
	}
	return said, left, call, to
}

// handoffNote returns the message that another agent's handoff appears as.
func (r *rules) handoffNote(m Message, call ToolCall, to string) Message {
	whom := "the agent " + to
	if to == r.agent {
		whom = "you, the agent " + to
	}
	text := fmt.Sprintf("The agent %s has transferred this conversation to %s.", m.Agent, whom)
	if note := noteOf(call.Arguments); note != "" {
		text += " Its note: " + note
	}
	return Message{ID: m.ID + ".handoff", Role: User, Parts: []Part{Text(text)}, CreatedAt: m.CreatedAt}
}

// filterOf returns Handoff.History of an agent's tool, nil if it has none.
func (r *rules) filterOf(from, tool string) func([]Message) []Message {
	if at := r.team[from]; at != nil {
		if h := at.rules.handoffs[tool]; h != nil {
			return h.history
		}
	}
	return nil
}
