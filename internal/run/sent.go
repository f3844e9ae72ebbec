package run

import (
	"encoding/json"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
)

// publicRequest returns what a model was sent as others read it.
func publicRequest(model string, r *agent.Request) shoal.ModelRequest {
	out := shoal.ModelRequest{Model: model, System: r.Instructions, Tools: publicTools(r.Tools), Messages: make([]shoal.ModelMessage, len(r.Messages))}
	for i, m := range r.Messages {
		out.Messages[i] = publicMessage(m)
	}
	return out
}

func publicTools(tools []agent.ToolSpec) []shoal.ModelTool {
	out := make([]shoal.ModelTool, len(tools))
	for i, t := range tools {
		out[i] = shoal.ModelTool{Name: t.Name, Description: t.Description, InputSchema: t.Schema}
	}
	return out
}

func publicMessage(m agent.Message) shoal.ModelMessage {
	out := shoal.ModelMessage{Role: string(m.Role), Content: make([]shoal.ModelContent, 0, len(m.Parts))}
	for _, p := range m.Parts {
		switch p.Type {
		case agent.TextPart:
			out.Content = append(out.Content, shoal.ModelContent{Type: shoal.ModelText, Text: p.Text})
		case agent.ReasoningPart:
			out.Content = append(out.Content, shoal.ModelContent{Type: shoal.ModelReasoning, Text: p.Text})
		case agent.FilePart:
			out.Content = append(out.Content, shoal.ModelContent{Type: shoal.ModelFile, File: publicFile(*p.File)})
		case agent.CallPart:
			out.Content = append(out.Content, shoal.ModelContent{
				Type: shoal.ModelToolCall, ToolCallID: p.Call.ID, ToolName: p.Call.Name, Args: sentArgs(p.Call.Arguments),
			})
		case agent.ResultPart:
			c := shoal.ModelContent{
				Type: shoal.ModelToolResult, ToolCallID: p.Result.CallID, ToolName: p.Result.Name, Status: string(p.Result.Status), Text: p.Result.Text,
			}
			for _, f := range p.Result.Files {
				c.Files = append(c.Files, publicFile(f))
			}
			out.Content = append(out.Content, c)
		}
	}
	return out
}

func publicFile(f agent.File) shoal.ModelFileInfo {
	return shoal.ModelFileInfo{Name: f.Name, MediaType: f.MediaType, Size: int64(len(f.Data)), URL: orNil(f.URL)}
}

// sentArgs returns arguments as they were sent: JSON as it is, anything else as a
// string.
func sentArgs(arguments string) json.RawMessage {
	if json.Valid([]byte(arguments)) {
		return json.RawMessage(arguments)
	}
	text, err := shoal.EncodeJSON(arguments)
	if err != nil {
		return json.RawMessage(`""`)
	}
	return text
}
