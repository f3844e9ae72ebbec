package openai

import (
	"encoding/json"

	"github.com/shoal-dev/shoal/agent"
)

// responseItem is one item of an answer of the Responses wire.
type responseItem struct {
	Type      string         `json:"type"`
	ID        string         `json:"id"`
	Phase     string         `json:"phase"`
	CallID    string         `json:"call_id"`
	Name      string         `json:"name"`
	Arguments jsonText       `json:"arguments"`
	Encrypted string         `json:"encrypted_content"`
	Content   []responsePart `json:"content"`
	Summary   []responsePart `json:"summary"`

	raw json.RawMessage
}

type responsePart struct {
	Type    string `json:"type"`
	Text    string `json:"text"`
	Refusal string `json:"refusal"`

	Annotations []json.RawMessage `json:"annotations"`
}

// UnmarshalJSON keeps the item's own bytes besides, to send it back.
func (i *responseItem) UnmarshalJSON(raw []byte) error {
	type plainItem responseItem
	if err := json.Unmarshal(raw, (*plainItem)(i)); err != nil {
		return err
	}
	i.raw = append(json.RawMessage(nil), raw...)
	return nil
}

// ofClients are the items that ask the client to do something. Nobody here does,
// and the API refuses them without an answer, so they are not kept.
var ofClients = map[string]bool{
	"computer_call": true, "local_shell_call": true, "shell_call": true, "shell_call_output": true,
	"apply_patch_call": true, "custom_tool_call": true, "mcp_approval_request": true,
}

// keep keeps an item of one of the provider's own tools, such as a web search, with
// the thoughts around it.
func (a *responsesAnswer) keep(item *responseItem) {
	if ofClients[item.Type] || item.Type == "" {
		return
	}
	a.inText = false
	a.out.Emit(agent.Chunk{Kind: agent.ChunkReasoning}) // they may be the first
	a.thoughts = append(a.thoughts, item.raw)
	a.out.Emit(agent.Chunk{Kind: agent.ChunkOpaque, Opaque: a.m.opaque(opaque{Items: a.thoughts})})
}

// messageDone keeps where a message came from, and its annotations.
func (a *responsesAnswer) messageDone(item *responseItem) {
	own := opaque{ID: item.ID, Phase: item.Phase}
	several, start := false, 0
	for _, t := range a.texts {
		start += t.Bytes
	}
	for _, p := range item.Content {
		a.cite(p.Text, p.Annotations, start)
		start += len(p.Text) + len(p.Refusal)
		if n := len(p.Text) + len(p.Refusal); n > 0 {
			a.texts = append(a.texts, textPiece{ID: item.ID, Phase: item.Phase, Bytes: n, Annotations: p.Annotations})
		}
	}
	for _, t := range a.texts {
		several = several || len(t.Annotations) > 0 || t.ID != item.ID
	}
	if several {
		own.Texts = a.texts
	}
	if own.ID != "" || own.Phase != "" || own.Texts != nil {
		a.out.Emit(agent.Chunk{Kind: agent.ChunkOpaque, Opaque: a.m.opaque(own)})
	}
}

// textItems appends a text that the model said before as the items in which it came.
func textItems(items []any, text string, own opaque) []any {
	whole := 0
	for _, t := range own.Texts {
		whole += t.Bytes
	}
	if whole != len(text) || whole == 0 { // another text than the one that came
		own.Texts = []textPiece{{ID: own.ID, Phase: own.Phase, Bytes: len(text)}}
	}
	var open *inputItem
	var content []outputPart
	for _, t := range own.Texts {
		part := outputPart{Type: "output_text", Text: text[:t.Bytes], Annotations: []any{}}
		for _, a := range t.Annotations {
			part.Annotations = append(part.Annotations, a)
		}
		text = text[t.Bytes:]
		if open == nil || open.ID != t.ID {
			content = nil
			open = &inputItem{Type: "message", ID: t.ID, Role: "assistant", Phase: t.Phase, Status: "completed"}
			items = append(items, open)
		}
		content = append(content, part)
		open.Content = content
	}
	return items
}
