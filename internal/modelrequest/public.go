// Package modelrequest records the requests to models and converts them for the API. A
// [Recorder] stores each text of the requests once, although later steps and runs repeat
// it.
package modelrequest

import (
	"encoding/json"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
)

// Public returns a request as readers of a run see it. It leaves out what only the
// provider reads, and the bytes of files.
func Public(model string, r *agent.Request) shoal.ModelRequest {
	out := shoal.ModelRequest{Model: model, System: r.Instructions, Tools: publicTools(r.Tools), Messages: make([]shoal.ModelMessage, len(r.Messages))}
	for i, m := range r.Messages {
		out.Messages[i] = PublicMessage(m)
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

// PublicMessage returns one message of a request as readers of a run see it.
func PublicMessage(m agent.Message) shoal.ModelMessage {
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
				Type: shoal.ModelToolCall, ToolCallID: p.Call.ID, ToolName: p.Call.Name, Args: publicArgs(p.Call.Arguments),
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
	info := shoal.ModelFileInfo{Name: f.Name, MediaType: f.MediaType, Size: int64(len(f.Data))}
	if f.URL != "" {
		info.URL = &f.URL
	}
	return info
}

// publicArgs returns arguments as the model wrote them: JSON unchanged, anything else
// as a JSON string.
func publicArgs(arguments string) json.RawMessage {
	if json.Valid([]byte(arguments)) {
		return json.RawMessage(arguments)
	}
	text, err := shoal.EncodeJSON(arguments)
	if err != nil {
		return json.RawMessage(`""`)
	}
	return text
}
