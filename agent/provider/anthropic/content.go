package anthropic

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/internal/wire"
)

// conversation writes the messages as turns of user and assistant in
// alternation. Results come first in theirs, where the API wants them: right
// after the calls.
func conversation(messages []agent.Message) []turn {
	var turns []turn
	h := newHistory(messages)
	for _, msg := range messages {
		if msg.Role == agent.System {
			continue
		}
		role := roleUser
		if msg.Role == agent.Assistant {
			role = roleAssistant
		}
		content := h.blocks(msg)
		if len(content) == 0 {
			continue
		}
		content[len(content)-1].boundary = msg.CacheBoundary
		if n := len(turns); n > 0 && turns[n-1].Role == role {
			turns[n-1].Content = append(turns[n-1].Content, content...)
			continue
		}
		turns = append(turns, turn{Content: content, Role: role})
	}
	for _, turn := range turns {
		if turn.Role == roleUser {
			slices.SortStableFunc(turn.Content, func(a, b block) int { return rank(a) - rank(b) })
		}
	}
	return turns
}

func rank(b block) int {
	if b.Type == typeToolResult {
		return 0
	}
	return 1
}

// blocks writes the parts of a message that the API takes.
func (h *history) blocks(msg agent.Message) []block {
	var list []block
	given := map[string]bool{}
	for _, part := range msg.Parts {
		switch part.Type {
		case agent.TextPart:
			if msg.Role != agent.Assistant {
				list = append(list, textBlock(part.Text, nil)...)
			}
		case agent.FilePart:
			list = append(list, file(part.File))
		case agent.CallPart:
			list = append(list, block{Type: typeToolUse, ID: callID(part.Call.ID), Input: wire.Object(part.Call.Arguments), Name: &part.Call.Name})
		case agent.ResultPart:
			list = append(list, result(part.Result))
		}
		if msg.Role == agent.Assistant {
			list = append(list, h.said(part, given)...)
		}
	}
	if !slices.ContainsFunc(list, func(b block) bool { return !b.isThought() }) {
		return nil // the API refuses an answer that is thoughts alone
	}
	return list
}

func result(r *agent.ToolResult) block {
	b := block{Type: typeToolResult, ToolUseID: callID(r.CallID), IsError: r.Status.Flagged()}
	if strings.TrimSpace(r.Text) != "" {
		b.Content = append(b.Content, block{Type: typeText, Text: &r.Text})
	}
	for i := range r.Files {
		b.Content = append(b.Content, file(&r.Files[i]))
	}
	return b
}

// file writes an image or a document; what the API cannot take becomes a line
// that says so, since one odd file would make every later call fail.
func file(f *agent.File) block {
	kind := wire.Kind(f)
	switch kind {
	case "image/jpeg", "image/png", "image/gif", "image/webp":
		return block{Type: "image", Source: dataOrURL(f, kind)}
	case "application/pdf":
		return block{Type: "document", Source: dataOrURL(f, kind), Title: f.Name}
	}
	if wire.IsText(f) {
		text := string(f.Data)
		return block{Type: "document", Source: &source{Type: "text", MediaType: "text/plain", Data: &text}, Title: f.Name}
	}
	text := fmt.Sprintf("[A file %q of type %q is here that this model cannot read.]", f.Name, f.MediaType)
	return block{Type: typeText, Text: &text}
}

func dataOrURL(f *agent.File, kind string) *source {
	if len(f.Data) == 0 {
		return &source{Type: "url", URL: f.URL}
	}
	data := base64.StdEncoding.EncodeToString(f.Data)
	return &source{Type: "base64", MediaType: kind, Data: &data}
}

// callID replaces what the API refuses in the id of a call; ids of other
// providers may hold dots and colons.
func callID(id string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, id)
}
