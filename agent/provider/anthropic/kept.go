package anthropic

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/shoal-dev/shoal/agent"
)

// opaque is what this package writes into a part: the blocks that the part and
// what is hidden after it came in.
type opaque struct {
	Provider  string     `json:"provider"`
	Blocks    []kept     `json:"blocks"`
	Container *container `json:"container,omitempty"`
}

// kept is one block as far as the part's text does not say it. Bytes is how much
// of that text is its own: from the front in a part of text, where all blocks of
// text are kept or none; from the end in a part of thoughts.
type kept struct {
	Signature string `json:"signature,omitempty"` // of thoughts
	Redacted  string `json:"redacted,omitempty"`
	Bytes     int    `json:"bytes,omitempty"`
	// Text marks a block of text, with its citations.
	Text      bool              `json:"text,omitempty"`
	Citations []json.RawMessage `json:"citations,omitempty"`
	// Raw is a block of a tool of the provider's own: its use or its result.
	Raw json.RawMessage `json:"raw,omitempty"`
}

// container is where the provider's tools work. It is sent back while the turn goes
// on.
type container struct {
	ID        string    `json:"id"`
	ExpiresAt time.Time `json:"expiresAt,omitzero"`
}

// key identifies a block: two parts with the same key belong to one block.
func (k *kept) key() string { return k.Signature + "\x00" + k.Redacted + "\x00" + string(k.Raw) }

// readOpaque returns what this package wrote into a part, or nothing.
func readOpaque(raw json.RawMessage) opaque {
	var own opaque
	if len(raw) == 0 || json.Unmarshal(raw, &own) != nil || own.Provider != provider {
		return opaque{}
	}
	return own
}

// serverBlock is what pairs the use of a provider's tool with its result.
type serverBlock struct {
	Type string `json:"type"`
	ID   string `json:"id"`
	Of   string `json:"tool_use_id"`
}

func readServerBlock(raw json.RawMessage) serverBlock {
	var b serverBlock
	if json.Unmarshal(raw, &b) != nil {
		return serverBlock{}
	}
	return b
}

func (b serverBlock) isUse() bool { return strings.HasSuffix(b.Type, "_tool_use") }

// history writes the messages of one request.
type history struct {
	// alone are the uses of the provider's tools that will never get a result, and
	// the results whose use is gone. The API refuses both.
	alone map[string]bool
}

// newHistory finds what is alone in messages. A use that has no result yet is not
// while the turn goes on: the API executes the tool when it gets the answer back,
// together with the results of the agent's own tools.
func newHistory(messages []agent.Message) *history {
	h := &history{alone: map[string]bool{}}
	uses, open := map[string]bool{}, map[string]bool{}
	abandon := func() {
		for id := range open {
			h.alone[id] = true
		}
		clear(open)
	}
	for _, msg := range messages {
		if msg.Role == agent.User {
			abandon()
		}
		if msg.Role != agent.Assistant {
			continue
		}
		for _, part := range msg.Parts {
			for _, b := range readOpaque(part.Opaque).Blocks {
				switch block := readServerBlock(b.Raw); {
				case block.isUse():
					uses[block.ID], open[block.ID] = true, true
				case block.Of != "" && !uses[block.Of]:
					h.alone[block.Of] = true
				case block.Of != "":
					delete(open, block.Of)
				}
			}
		}
		if msg.Interrupted {
			abandon()
		}
	}
	return h
}

// said writes a part of an answer with what was kept of its blocks. Blocks that a
// part before has given already are left out.
func (h *history) said(part agent.Part, given map[string]bool) []block {
	own := readOpaque(part.Opaque).Blocks
	if part.Type != agent.TextPart {
		text := ""
		if part.Type == agent.ReasoningPart {
			text = part.Text
		}
		return h.hidden(own, text, given)
	}
	texts := 0
	for _, b := range own {
		if b.Text {
			texts += b.Bytes
		}
	}
	if texts == 0 || texts > len(part.Text) {
		own = slices.DeleteFunc(own, func(b kept) bool { return b.Text })
		return append(textBlock(part.Text, nil), h.hidden(own, "", given)...)
	}
	var list []block
	rest := part.Text
	for _, b := range own {
		if b.Text {
			list = append(list, textBlock(rest[:b.Bytes], b.Citations)...)
			rest = rest[b.Bytes:]
			continue
		}
		list = append(list, h.hidden([]kept{b}, "", given)...)
	}
	return append(list, textBlock(rest, nil)...) // an answer that was cut short
}

// textBlock writes a text; nothing for a blank one, which the API refuses.
func textBlock(text string, citations []json.RawMessage) []block {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	if len(citations) > 0 {
		raw, err := json.Marshal(map[string]any{"type": "text", "text": text, "citations": citations})
		if err == nil {
			return []block{requestBlock(raw)}
		}
	}
	return []block{{Type: typeText, Text: &text}}
}

// hidden gives thoughts back as they came, or not at all, since the API checks the
// signature; and what the provider's tools did. text is that of the thoughts.
func (h *history) hidden(own []kept, text string, given map[string]bool) []block {
	var list []block
	for _, b := range slices.Backward(own) { // the last block's text is at the end
		if given[b.key()] || b.Bytes > len(text) {
			continue
		}
		given[b.key()] = true
		at := len(text) - b.Bytes
		switch {
		case len(b.Raw) > 0:
			if own := readServerBlock(b.Raw); !h.alone[own.ID] && !h.alone[own.Of] {
				list = append(list, requestBlock(b.Raw))
			}
		case b.Redacted != "":
			list = append(list, block{Type: typeRedacted, Data: b.Redacted})
		default:
			own := text[at:]
			list = append(list, block{Type: typeThinking, Signature: b.Signature, Thinking: &own})
		}
		text = text[:at]
	}
	slices.Reverse(list)
	return list
}

// working returns the container of the turn that goes on with these messages,
// empty if there is none or it is gone.
func working(messages []agent.Message, now time.Time) string {
	for _, msg := range slices.Backward(messages) {
		if msg.Role == agent.ToolRole {
			continue
		}
		if msg.Role != agent.Assistant {
			return ""
		}
		for _, part := range slices.Backward(msg.Parts) {
			if c := readOpaque(part.Opaque).Container; c != nil {
				if !c.ExpiresAt.IsZero() && !now.Before(c.ExpiresAt) {
					return ""
				}
				return c.ID
			}
		}
	}
	return ""
}
