package agui

import (
	"context"
	"fmt"
	"slices"

	"github.com/shoal-dev/shoal/agent"
)

// thread is a conversation in the store together with what a run brings for it.
type thread struct {
	conv    *agent.Conversation
	history []agent.Message // for a conversation that the store does not have
	answers []agent.Answer
	open    bool            // a turn is unfinished
	input   []agent.Message // of the new turn
	skipped []string        // what the run brought in vain
}

// openThread compares the input with the store and changes nothing. The error is
// of kind ErrConflict when the thread waits for answers that the input lacks.
//
// If the store has the conversation, it takes precedence: new are the messages of
// people after the last stored message, and the results of the calls that it waits
// for. Otherwise the client sends the whole history.
func openThread(ctx context.Context, store agent.Store, in *Input) (*thread, error) {
	t := &thread{conv: agent.OpenConversation(store, in.Conversation)}
	record, err := t.conv.Load(ctx)
	if err != nil {
		return nil, err
	}
	t.open = record.Open != nil
	var pending []agent.Pending
	if t.open && record.Open.Waiting { // after a crash the turn goes on and asks again
		if pending, err = t.conv.Pending(ctx); err != nil {
			return nil, err
		}
	}
	if err := t.takeAnswers(in, pending); err != nil {
		return nil, err
	}
	own := slices.DeleteFunc(numbered(in.Messages), func(m numberedMessage) bool { return m.SubagentRunID != "" })
	if len(record.Messages) == 0 && !t.open {
		return t, t.takeHistory(own)
	}
	return t, t.takeInput(own, record)
}

// numberedMessage is a message with its place in the input, for errors.
type numberedMessage struct {
	Message
	at string
}

func numbered(messages []Message) []numberedMessage {
	out := make([]numberedMessage, len(messages))
	for i, m := range messages {
		out[i] = numberedMessage{m, fmt.Sprintf("messages[%d]", i)}
	}
	return out
}

// takeInput returns the messages after the last one that the record has.
func (t *thread) takeInput(messages []numberedMessage, record agent.Record) error {
	have := map[string]bool{}
	for _, m := range record.Messages {
		have[m.ID] = true
		for _, r := range m.Results() {
			have[resultOf(r.CallID)] = true
		}
	}
	last := -1
	for i, m := range messages {
		if have[m.ID] || m.Role == roleTool && have[resultOf(m.ToolCallID)] {
			last = i
		}
	}
	for _, m := range messages[last+1:] {
		if m.isInput() {
			if err := t.take(&t.input, m); err != nil {
				return err
			}
		}
	}
	return nil
}

// resultOf keeps calls apart from messages in one set of ids.
func resultOf(callID string) string { return "result of " + callID }

func (m *numberedMessage) isInput() bool {
	role := agentRoles[m.Role]
	return role == agent.User || role == agent.System
}

// take appends a message of a person or the application.
func (t *thread) take(to *[]agent.Message, m numberedMessage) error {
	parts, skipped, err := m.parts(m.at)
	t.skipped = append(t.skipped, skipped...)
	if err == nil && len(parts) > 0 {
		*to = append(*to, agent.Message{ID: m.ID, Role: agentRoles[m.Role], Parts: parts})
	}
	return err
}

// takeHistory takes the whole thread from the client. What follows the
// last answer is the input of the turn.
func (t *thread) takeHistory(messages []numberedMessage) error {
	results := map[string]agent.ToolResult{}
	last := -1
	for i, m := range messages {
		switch m.Role {
		case roleTool:
			r, skipped, err := m.result(m.at)
			if err != nil {
				return err
			}
			t.skipped = append(t.skipped, skipped...)
			results[r.CallID] = r
			last = i
		case roleAssistant:
			last = i
		}
	}
	for i, m := range messages {
		var err error
		switch {
		case m.Role == roleAssistant:
			err = t.takeAssistant(m, results)
		case m.isInput() && i > last:
			err = t.take(&t.input, m)
		case m.isInput():
			err = t.take(&t.history, m)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// takeAssistant appends an answer of the agent and the results of its calls,
// which a model has to see in one piece.
func (t *thread) takeAssistant(m numberedMessage, results map[string]agent.ToolResult) error {
	parts, _, err := m.parts(m.at)
	if err != nil {
		return err
	}
	var answers []agent.Part
	for _, c := range m.ToolCalls {
		call := agent.ToolCall{ID: c.ID, Name: c.Function.Name, Arguments: c.Function.Arguments}
		parts = append(parts, agent.Part{Type: agent.CallPart, Call: &call})
		r, ok := results[c.ID]
		if !ok {
			r = agent.ToolResult{CallID: c.ID, Status: agent.ResultInterrupted, Text: "Error: no result was recorded."}
		}
		r.Name = call.Name
		answers = append(answers, agent.Part{Type: agent.ResultPart, Result: &r})
	}
	if len(parts) == 0 {
		return nil
	}
	t.history = append(t.history, agent.Message{ID: m.ID, Role: agent.Assistant, Parts: parts})
	if len(answers) > 0 {
		t.history = append(t.history, agent.Message{Role: agent.ToolRole, Parts: answers})
	}
	return nil
}

// save writes the history and the answers.
func (t *thread) save(ctx context.Context) error {
	if len(t.history) > 0 {
		if err := t.conv.Add(ctx, t.history...); err != nil {
			return err
		}
	}
	for _, a := range t.answers {
		if err := t.conv.Answer(ctx, a); err != nil {
			return err
		}
	}
	return nil
}
