package anthropic

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/internal/wire"
)

// opaque is what this package writes into a part: the blocks of thoughts that
// came with it. A part of thoughts holds their text too; on any other part they
// are hidden ones that came right after it.
type opaque struct {
	Provider string   `json:"provider"`
	Blocks   []sealed `json:"blocks"`
}

// sealed is what the API wants back with one block of thoughts, and how much of
// the part's text is its own.
type sealed struct {
	Signature string `json:"signature,omitempty"`
	Redacted  string `json:"redacted,omitempty"`
	Bytes     int    `json:"bytes,omitempty"`
}

// conversation writes the messages as turns of user and assistant in
// alternation. Results come first in theirs, where the API wants them: right
// after the calls.
func conversation(messages []agent.Message) []sdk.MessageParam {
	var turns []sdk.MessageParam
	for _, msg := range messages {
		if msg.Role == agent.System {
			continue
		}
		role := sdk.MessageParamRoleUser
		if msg.Role == agent.Assistant {
			role = sdk.MessageParamRoleAssistant
		}
		content := blocks(msg)
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
func blocks(msg agent.Message) []sdk.ContentBlockParamUnion {
	var list []sdk.ContentBlockParamUnion
	given := map[sealed]bool{}
	for _, part := range msg.Parts {
		switch part.Type {
		case agent.TextPart:
			if strings.TrimSpace(part.Text) != "" { // the API refuses blank texts
				list = append(list, sdk.NewTextBlock(part.Text))
			}
		case agent.FilePart:
			list = append(list, file(part.File))
		case agent.CallPart:
			list = append(list, sdk.NewToolUseBlock(callID(part.Call.ID), wire.Object(part.Call.Arguments), part.Call.Name))
		case agent.ResultPart:
			list = append(list, sdk.ContentBlockParamUnion{OfToolResult: result(part.Result)})
		}
		if msg.Role == agent.Assistant {
			list = append(list, thoughts(part, given)...)
		}
	}
	if !slices.ContainsFunc(list, func(b sdk.ContentBlockParamUnion) bool { return b.OfThinking == nil && b.OfRedactedThinking == nil }) {
		return nil // the API refuses an answer that is thoughts alone
	}
	return list
}

// thoughts gives thinking back as it came, or not at all: the API checks the
// signature. Blocks that a part before has given already are left out.
func thoughts(part agent.Part, given map[sealed]bool) []sdk.ContentBlockParamUnion {
	var own opaque
	if len(part.Opaque) == 0 || json.Unmarshal(part.Opaque, &own) != nil || own.Provider != provider {
		return nil
	}
	text := ""
	if part.Type == agent.ReasoningPart {
		text = part.Text
	}
	var list []sdk.ContentBlockParamUnion
	for _, block := range slices.Backward(own.Blocks) { // the last block's text is at the end
		if given[block] || block.Bytes > len(text) {
			continue
		}
		given[block] = true
		at := len(text) - block.Bytes
		if block.Redacted != "" {
			list = append(list, sdk.NewRedactedThinkingBlock(block.Redacted))
		} else {
			list = append(list, sdk.NewThinkingBlock(block.Signature, text[at:]))
		}
		text = text[:at]
	}
	slices.Reverse(list)
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
