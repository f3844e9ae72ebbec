package anthropic

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/internal/wire"
)

// conversation writes the messages as turns of user and assistant in
// alternation. Results come first in theirs, where the API wants them: right
// after the calls.
func conversation(messages []agent.Message) []sdk.MessageParam {
	var turns []sdk.MessageParam
	h := newHistory(messages)
	for _, msg := range messages {
		if msg.Role == agent.System {
			continue
		}
		role := sdk.MessageParamRoleUser
		if msg.Role == agent.Assistant {
			role = sdk.MessageParamRoleAssistant
		}
		content := h.blocks(msg)
		if len(content) == 0 {
			continue
		}
		if n := len(turns); n > 0 && turns[n-1].Role == role {
			turns[n-1].Content = append(turns[n-1].Content, content...)
			continue
		}
		turns = append(turns, sdk.MessageParam{Role: role, Content: content})
	}
	for _, turn := range turns {
		if turn.Role == sdk.MessageParamRoleUser {
			slices.SortStableFunc(turn.Content, func(a, b sdk.ContentBlockParamUnion) int {
				return rank(a) - rank(b)
			})
		}
	}
	return turns
}

func rank(b sdk.ContentBlockParamUnion) int {
	if b.OfToolResult != nil {
		return 0
	}
	return 1
}

// blocks writes the parts of a message that the API takes.
func (h *history) blocks(msg agent.Message) []sdk.ContentBlockParamUnion {
	var list []sdk.ContentBlockParamUnion
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
			list = append(list, sdk.NewToolUseBlock(callID(part.Call.ID), wire.Object(part.Call.Arguments), part.Call.Name))
		case agent.ResultPart:
			list = append(list, sdk.ContentBlockParamUnion{OfToolResult: result(part.Result)})
		}
		if msg.Role == agent.Assistant {
			list = append(list, h.said(part, given)...)
		}
	}
	if !slices.ContainsFunc(list, func(b sdk.ContentBlockParamUnion) bool { return b.OfThinking == nil && b.OfRedactedThinking == nil }) {
		return nil // the API refuses an answer that is thoughts alone
	}
	return list
}

func result(r *agent.ToolResult) *sdk.ToolResultBlockParam {
	block := &sdk.ToolResultBlockParam{ToolUseID: callID(r.CallID)}
	if r.Status.Flagged() {
		block.IsError = sdk.Bool(true)
	}
	if strings.TrimSpace(r.Text) != "" {
		block.Content = append(block.Content, sdk.ToolResultBlockParamContentUnion{OfText: &sdk.TextBlockParam{Text: r.Text}})
	}
	for i := range r.Files {
		b := file(&r.Files[i])
		block.Content = append(block.Content, sdk.ToolResultBlockParamContentUnion{
			OfText: b.OfText, OfImage: b.OfImage, OfDocument: b.OfDocument,
		})
	}
	return block
}

// file writes an image or a document; what the API cannot take becomes a line
// that says so, since one odd file would make every later call fail.
func file(f *agent.File) sdk.ContentBlockParamUnion {
	switch kind := wire.Kind(f); kind {
	case "image/jpeg", "image/png", "image/gif", "image/webp":
		if len(f.Data) > 0 {
			return sdk.NewImageBlockBase64(kind, base64.StdEncoding.EncodeToString(f.Data))
		}
		return sdk.NewImageBlock(sdk.URLImageSourceParam{URL: f.URL})
	case "application/pdf":
		if len(f.Data) > 0 {
			return document(f, sdk.DocumentBlockParamSourceUnion{
				OfBase64: &sdk.Base64PDFSourceParam{Data: base64.StdEncoding.EncodeToString(f.Data)},
			})
		}
		return document(f, sdk.DocumentBlockParamSourceUnion{OfURL: &sdk.URLPDFSourceParam{URL: f.URL}})
	}
	if wire.IsText(f) {
		return document(f, sdk.DocumentBlockParamSourceUnion{OfText: &sdk.PlainTextSourceParam{Data: string(f.Data)}})
	}
	return sdk.NewTextBlock(fmt.Sprintf("[A file %q of type %q is here that this model cannot read.]", f.Name, f.MediaType))
}

func document(f *agent.File, source sdk.DocumentBlockParamSourceUnion) sdk.ContentBlockParamUnion {
	block := &sdk.DocumentBlockParam{Source: source}
	if f.Name != "" {
		block.Title = sdk.String(f.Name)
	}
	return sdk.ContentBlockParamUnion{OfDocument: block}
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
