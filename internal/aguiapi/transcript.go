package aguiapi

import (
	"encoding/json"
	"slices"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent/agui"
	"github.com/shoal-dev/shoal/internal/aguiapi/shorten"
)

// transcript is what the client has said that it has.
type transcript struct {
	messages []json.RawMessage // as they came
	texts    map[string]string // of assistant messages, by id
	calls    map[string]bool
	results  map[string]bool // calls that it has a result of
	whole    map[string]bool // assistant messages whose text is not known here, by id
}

// read takes the messages of an input that agui.Decode has accepted.
func (t *transcript) read(body []byte) error {
	var in struct {
		Messages  []json.RawMessage `json:"messages"`
		Shortened shorten.History   `json:"shortened"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return err
	}
	if err := t.take(in.Messages); err != nil {
		return err
	}
	t.whole = map[string]bool{}
	add(t.whole, in.Shortened.Texts)
	add(t.calls, in.Shortened.Calls)
	add(t.results, in.Shortened.Results)
	return nil
}

// add adds ids to a set.
func add(set map[string]bool, ids []string) {
	for _, id := range ids {
		set[id] = true
	}
}

// take takes messages in place of those that it has.
func (t *transcript) take(messages []json.RawMessage) error {
	t.messages, t.texts, t.calls, t.results = messages, map[string]string{}, map[string]bool{}, map[string]bool{}
	for _, raw := range messages {
		var m agui.Message
		if err := json.Unmarshal(raw, &m); err != nil {
			return err
		}
		switch m.Role {
		case roleAssistant:
			t.texts[m.ID] = contentOf(m)
			for _, c := range m.ToolCalls {
				t.calls[c.ID] = true
			}
		case roleTool:
			t.results[m.ToolCallID] = true
		}
	}
	return nil
}

// shown is a message as a snapshot writes it.
type shown struct {
	ID         string             `json:"id"`
	Role       string             `json:"role"`
	Content    any                `json:"content,omitempty"`
	ToolCalls  []agui.MessageCall `json:"toolCalls,omitempty"`
	ToolCallID string             `json:"toolCallId,omitempty"`
	Metadata   map[string]any     `json:"metadata,omitempty"`

	raw map[string]json.RawMessage // of a message of the client; the rest is empty then
}

// with returns the messages of the client together with what it was shown since.
// Activities are its own: a snapshot that named some would delete the others.
func (t *transcript) with(parts []*part, gone map[string]bool) []json.RawMessage {
	all := t.kept(gone)
	find := func(id string) *shown {
		if i := slices.IndexFunc(all, func(m *shown) bool { return m.ID == id }); i >= 0 {
			return all[i]
		}
		return nil
	}
	add := func(m shown) *shown { all = append(all, &m); return &m }
	for _, p := range parts {
		switch m := find(p.id); {
		case p.tool != "":
			owner := find(p.parent)
			if owner == nil {
				owner = add(shown{ID: p.parent, Role: roleAssistant})
			}
			owner.call(p)
			if p.result != nil {
				add(shown{ID: p.result.MessageID, Role: roleTool, Content: p.result.Content, ToolCallID: p.id, Metadata: p.result.Metadata})
			}
		case m != nil:
			m.say(string(p.text))
		case p.thought:
			add(shown{ID: p.id, Role: roleReasoning, Content: string(p.text)})
		default:
			add(shown{ID: p.id, Role: roleAssistant, Content: string(p.text)})
		}
	}
	out := make([]json.RawMessage, 0, len(all))
	for _, m := range all {
		out = append(out, m.encode())
	}
	return out
}

// kept returns the client's messages without those that are gone.
func (t *transcript) kept(gone map[string]bool) []*shown {
	var all []*shown
	for _, text := range t.messages {
		var m agui.Message
		s := &shown{}
		if json.Unmarshal(text, &m) != nil || json.Unmarshal(text, &s.raw) != nil {
			continue // read has seen that they are messages
		}
		if m.Role == roleActivity || gone[m.ID] || m.Role == roleTool && gone[m.ToolCallID] {
			continue
		}
		s.ID, s.Role = m.ID, m.Role
		calls := slices.DeleteFunc(m.ToolCalls, func(c agui.MessageCall) bool { return gone[c.ID] })
		if _, had := s.raw["toolCalls"]; had {
			s.raw["toolCalls"] = encoded(calls)
		}
		all = append(all, s)
	}
	return all
}

// call adds a tool call, unless it is there.
func (m *shown) call(p *part) {
	call := agui.MessageCall{ID: p.id, Type: "function", Function: agui.CallFunction{Name: p.tool, Arguments: string(p.text)}}
	if m.raw == nil {
		m.ToolCalls = append(m.ToolCalls, call)
		return
	}
	var calls []agui.MessageCall
	_ = json.Unmarshal(m.raw["toolCalls"], &calls) // absent, or what kept has written
	if !slices.ContainsFunc(calls, func(c agui.MessageCall) bool { return c.ID == p.id }) {
		m.raw["toolCalls"] = encoded(append(calls, call))
	}
}

// say replaces the text of a message.
func (m *shown) say(text string) {
	if m.raw != nil {
		m.raw["content"] = encoded(text)
	} else {
		m.Content = text
	}
}

func (m *shown) encode() json.RawMessage {
	if m.raw != nil {
		return encoded(m.raw)
	}
	return encoded(m)
}

// encoded writes what is made of strings and of JSON, which can always be written.
func encoded(v any) json.RawMessage {
	text, _ := json.Marshal(v)
	return text
}

// timeline returns messages of a space as a client shows them that has none.
func timeline(s shoal.SnapshotData) []json.RawMessage {
	people := map[shoal.EntityID]bool{}
	for _, m := range s.Members {
		people[m.EntityID] = m.Kind == shoal.Human
	}
	p := &projection{parts: map[shoal.PartID]*part{}, had: transcript{texts: map[string]string{}}}
	out := []json.RawMessage{}
	for _, m := range s.Messages {
		switch {
		case m.DeletedAt != nil: // the protocol has no word for it, and models refuse an empty message
		case m.RunID != nil:
			p.order = nil
			p.message(m, *m.RunID)
			out = append(out, p.had.with(p.order, nil)...)
		case m.EntityID == shoal.System:
			out = append(out, encoded(shown{ID: string(m.ID), Role: roleSystem, Content: m.Text()}))
		case people[m.EntityID]:
			out = append(out, encoded(shown{ID: string(m.ID), Role: roleUser, Content: m.Text()}))
		default:
			out = append(out, encoded(shown{ID: string(m.ID), Role: roleAssistant, Content: m.Text()}))
		}
	}
	return out
}
