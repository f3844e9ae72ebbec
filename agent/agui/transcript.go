package agui

import (
	"encoding/json"
	"slices"
)

// transcript mirrors the messages that the client has, in its order.
type transcript struct {
	entries []*entry
	results map[string]bool // calls that have a result
}

// entry is one message: as the client sent it, or as it was shown.
type entry struct {
	message
	raw  json.RawMessage // nil for what was shown
	text []byte
	args [][]byte // of message.ToolCalls
}

// message is a message of the protocol, in the fields that are used here.
type message struct {
	ID            string         `json:"id"`
	Role          string         `json:"role"`
	SubagentRunID string         `json:"subagentRunId,omitempty"`
	Content       any            `json:"content,omitempty"`
	ToolCalls     []MessageCall  `json:"toolCalls,omitempty"`
	ToolCallID    string         `json:"toolCallId,omitempty"`
	Metadata      map[string]any `json:"metadata,omitempty"`
}

// The roles of messages.
const (
	roleAssistant = "assistant"
	roleReasoning = "reasoning"
	roleTool      = "tool"
)

// open takes the messages that the client sent. Activities are its own: a
// snapshot that named some would delete the others.
func (t *transcript) open(messages []Message) {
	t.results = map[string]bool{}
	for _, m := range messages {
		if m.Role == "activity" {
			continue
		}
		raw := m.raw
		if raw == nil {
			raw, _ = json.Marshal(m) // the content of a Message is valid JSON
		}
		e := &entry{message: message{ID: m.ID, Role: m.Role, ToolCalls: m.ToolCalls}, raw: raw}
		if m.Role == roleTool {
			t.results[m.ToolCallID] = true
		}
		t.entries = append(t.entries, e)
	}
}

func (t *transcript) find(id string) *entry {
	// From the end: what grows is young.
	for i := len(t.entries) - 1; i >= 0; i-- {
		if t.entries[i].ID == id {
			return t.entries[i]
		}
	}
	return nil
}

func (t *transcript) addThought(id, subagent string) {
	t.entries = append(t.entries, &entry{message: message{ID: id, Role: roleReasoning, SubagentRunID: subagent}})
}

// addAssistant adds an assistant message unless it is there.
func (t *transcript) addAssistant(id, subagent string) *entry {
	e := t.find(id)
	if e == nil {
		e = &entry{message: message{ID: id, Role: roleAssistant, SubagentRunID: subagent}}
		t.entries = append(t.entries, e)
	}
	return e
}

func (t *transcript) append(id, text string) {
	if e := t.find(id); e != nil {
		e.text = append(e.text, text...)
	}
}

func (t *transcript) addCall(messageID, subagent, id, name string) {
	e := t.addAssistant(messageID, subagent)
	e.ToolCalls = append(e.ToolCalls, MessageCall{ID: id, Type: "function", Function: CallFunction{Name: name}})
	e.args = append(e.args, nil)
}

func (t *transcript) appendArguments(callID, text string) {
	if e, at := t.caller(callID); e != nil && at < len(e.args) {
		e.args[at] = append(e.args[at], text...)
	}
}

// caller returns the message with the call, and the call's place in it.
func (t *transcript) caller(callID string) (e *entry, at int) {
	for i := len(t.entries) - 1; i >= 0; i-- {
		e := t.entries[i]
		if at := slices.IndexFunc(e.ToolCalls, func(c MessageCall) bool { return c.ID == callID }); at >= 0 {
			return e, at
		}
	}
	return nil, 0
}

// ownerOf returns the id of the message with the call, or "".
func (t *transcript) ownerOf(callID string) string {
	if e, _ := t.caller(callID); e != nil {
		return e.ID
	}
	return ""
}

func (t *transcript) answered(callID string) bool { return t.results[callID] }

// addResult adds a result where the client puts it: after the message with the
// call and the results that are there.
func (t *transcript) addResult(e Event, subagent string) {
	t.results[e.ToolCallID] = true
	added := &entry{message: message{
		ID: e.MessageID, Role: roleTool, SubagentRunID: subagent,
		Content: e.Content, ToolCallID: e.ToolCallID, Metadata: e.Metadata,
	}}
	owner, _ := t.caller(e.ToolCallID)
	at := slices.Index(t.entries, owner) + 1
	if owner == nil {
		at = len(t.entries)
	}
	for at < len(t.entries) && t.entries[at].Role == roleTool {
		at++
	}
	t.entries = slices.Insert(t.entries, at, added)
}

// withdraw takes back a message and its thoughts. It returns the id of the
// thought that had to stay, as an empty message, or "".
func (t *transcript) withdraw(messageID string, thoughts []string) (spare string) {
	t.entries = slices.DeleteFunc(t.entries, func(e *entry) bool {
		return e.raw == nil && (e.ID == messageID || slices.Contains(thoughts, e.ID) && e.ID != thoughts[0])
	})
	if len(thoughts) == 0 {
		return ""
	}
	others := slices.ContainsFunc(t.entries, func(e *entry) bool { return e.Role == roleReasoning && e.ID != thoughts[0] })
	if others {
		t.entries = slices.DeleteFunc(t.entries, func(e *entry) bool { return e.raw == nil && e.ID == thoughts[0] })
		return ""
	}
	t.find(thoughts[0]).text = nil
	return thoughts[0]
}

// snapshot returns all messages as JSON objects.
func (t *transcript) snapshot() []json.RawMessage {
	out := make([]json.RawMessage, 0, len(t.entries))
	for _, e := range t.entries {
		if e.raw != nil {
			out = append(out, e.raw)
			continue
		}
		m := e.message
		switch {
		case m.Role == roleReasoning, m.Role == roleAssistant && len(e.text) > 0:
			m.Content = string(e.text)
		}
		m.ToolCalls = slices.Clone(m.ToolCalls)
		for i := range m.ToolCalls {
			m.ToolCalls[i].Function.Arguments = string(e.args[i])
		}
		text, _ := json.Marshal(m) // strings and what was decoded from JSON can always be marshalled
		out = append(out, text)
	}
	return out
}
