package telemetry

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"go.opentelemetry.io/otel/attribute"

	"github.com/shoal-dev/shoal/agent"
)

// maxText bounds every text in a span. The bytes of files are never shown.
const maxText = 32 << 10

// contentBefore returns what op works on, as JSON of the conventions' message
// schema where they have one.
func contentBefore(op agent.Operation) []attribute.KeyValue {
	switch op.Kind {
	case agent.OpTurn:
		return asJSON(nil, inputMessages, messages(op.Input))
	case agent.OpModel:
		if op.Request == nil {
			return nil
		}
		var attrs []attribute.KeyValue
		if op.Request.Instructions != "" {
			attrs = asJSON(attrs, systemInstructions, []any{text("text", op.Request.Instructions)})
		}
		attrs = asJSON(attrs, inputMessages, messages(op.Request.Messages))
		if len(op.Request.Tools) > 0 {
			attrs = asJSON(attrs, toolDefinitions, definitions(op.Request.Tools))
		}
		return attrs
	case agent.OpTool:
		return []attribute.KeyValue{
			toolDescription.String(cut(op.Tool.Description)), toolCallArguments.String(cut(op.Call.Arguments)),
		}
	}
	return nil
}

// contentAfter returns what op came to.
func contentAfter(op agent.Operation, e agent.OperationResult) []attribute.KeyValue {
	switch {
	case op.Kind == agent.OpModel && e.Message != nil:
		m := message(*e.Message)
		m["finish_reason"] = finishReason(e)
		return asJSON(nil, outputMessages, []any{m})
	case op.Kind == agent.OpTool && e.Result.Status != "":
		return []attribute.KeyValue{toolCallResult.String(cut(e.Result.Text))}
	}
	return nil
}

// finishReason is the reason in the words of the message schema.
func finishReason(e agent.OperationResult) string {
	switch {
	case e.Err != nil:
		return "error"
	case e.Finish == agent.FinishCalls:
		return "tool_call"
	}
	return string(e.Finish)
}

func messages(in []agent.Message) []any {
	out := make([]any, len(in))
	for i, m := range in {
		out[i] = message(m)
	}
	return out
}

func message(m agent.Message) map[string]any {
	parts := make([]any, len(m.Parts))
	for i, p := range m.Parts {
		parts[i] = part(p)
	}
	return map[string]any{"role": string(m.Role), "parts": parts}
}

func part(p agent.Part) map[string]any {
	switch {
	case p.Type == agent.CallPart && p.Call != nil:
		return map[string]any{"type": "tool_call", "id": p.Call.ID, "name": p.Call.Name, "arguments": cut(p.Call.Arguments)}
	case p.Type == agent.ResultPart && p.Result != nil:
		return map[string]any{"type": "tool_call_response", "id": p.Result.CallID, "response": cut(p.Result.Text)}
	case p.Type == agent.FilePart && p.File != nil:
		return map[string]any{"type": "file", "name": cut(p.File.Name), "mime_type": p.File.MediaType, "bytes": len(p.File.Data)}
	case p.Type == agent.ReasoningPart:
		return text("reasoning", p.Text)
	}
	return text("text", p.Text)
}

func text(kind, content string) map[string]any {
	return map[string]any{"type": kind, "content": cut(content)}
}

func definitions(tools []agent.ToolSpec) []any {
	out := make([]any, len(tools))
	for i, t := range tools {
		d := map[string]any{"type": "function", "name": t.Name, "description": cut(t.Description)}
		if json.Valid(t.Schema) && len(t.Schema) <= maxText {
			d["parameters"] = t.Schema
		}
		out[i] = d
	}
	return out
}

// asJSON appends v as a JSON text: attributes of spans hold no structures yet.
func asJSON(attrs []attribute.KeyValue, k attribute.Key, v any) []attribute.KeyValue {
	data, err := json.Marshal(v)
	if err != nil {
		return attrs // of texts and numbers; there is nothing to fail
	}
	return append(attrs, k.String(string(data)))
}

func cut(s string) string {
	if len(s) <= maxText {
		return strings.ToValidUTF8(s, "\uFFFD")
	}
	end := maxText
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return strings.ToValidUTF8(s[:end], "\uFFFD") + "… (cut)"
}
