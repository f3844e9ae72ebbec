package openai

import (
	"encoding/base64"
	"strings"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/internal/wire"
)

type chatMessage struct {
	Role             string     `json:"role"`
	Content          any        `json:"content"` // string, []chatPart, or null beside calls
	ReasoningContent string     `json:"reasoning_content,omitempty"`
	Reasoning        string     `json:"reasoning,omitempty"`
	ToolCalls        []chatCall `json:"tool_calls,omitempty"`
	ToolCallID       string     `json:"tool_call_id,omitempty"`
}

type chatPart struct {
	Type     string     `json:"type"`
	Text     string     `json:"text,omitempty"`
	ImageURL *chatImage `json:"image_url,omitempty"`
	Audio    *chatAudio `json:"input_audio,omitempty"`
	File     *chatFile  `json:"file,omitempty"`
}

type chatImage struct {
	URL string `json:"url"`
}

type chatAudio struct {
	Data   string `json:"data"`
	Format string `json:"format"`
}

type chatFile struct {
	Name string `json:"filename"`
	Data string `json:"file_data"`
}

type chatCall struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function chatFunction `json:"function"`
}

type chatFunction struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type chatTool struct {
	Type     string `json:"type"`
	Function any    `json:"function"`
}

type chatToolSpec struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Parameters  any    `json:"parameters"`
}

type namedSchema struct {
	Type        string `json:"type,omitempty"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Schema      any    `json:"schema"`
	Strict      bool   `json:"strict"`
}

func outputSchema(kind string, o *agent.OutputSchema) namedSchema {
	return namedSchema{
		Type: kind, Name: schemaName(o.Name), Description: o.Description,
		Schema: schemaOf(o.Schema), Strict: strict(o.Schema),
	}
}

func chatRequest(m *model, req *agent.Request) []field {
	var f fields
	f.add("model", m.sent)
	f.add("stream", true)
	f.add("stream_options", map[string]any{"include_usage": true})
	s := req.Settings
	addSet(&f, "temperature", s.Temperature)
	addSet(&f, "top_p", s.TopP)
	addSet(&f, "frequency_penalty", s.FrequencyPenalty)
	addSet(&f, "presence_penalty", s.PresencePenalty)
	addSet(&f, "seed", s.Seed)
	if s.MaxOutputTokens > 0 {
		name := "max_tokens"
		if m.modern {
			name = "max_completion_tokens"
		}
		f.add(name, s.MaxOutputTokens)
	}
	if len(s.Stop) > 0 {
		f.add("stop", s.Stop)
	}
	if e := effort(m.Info().Name, s.Reasoning); e != "" {
		f.add("reasoning_effort", e)
	}
	if req.Output != nil {
		f.add("response_format", map[string]any{"type": "json_schema", "json_schema": outputSchema("", req.Output)})
	}
	if len(req.Tools) > 0 {
		tools := make([]chatTool, len(req.Tools))
		for i, t := range req.Tools {
			tools[i] = chatTool{"function", chatToolSpec{t.Name, t.Description, schemaOf(t.Schema)}}
		}
		f.add("tools", tools)
		addToolChoice(&f, req.ToolChoice, func(name string) any {
			return chatTool{"function", map[string]string{"name": name}}
		})
	}
	f.add("messages", m.chatMessages(req))
	return f
}

// addToolChoice is for requests with tools; without tools the wires refuse a choice.
func addToolChoice(f *fields, c agent.ToolChoice, specific func(name string) any) {
	switch c.Mode {
	case agent.ToolsNone, agent.ToolsRequired:
		f.add("tool_choice", string(c.Mode))
	case agent.ToolsSpecific:
		f.add("tool_choice", specific(c.Name))
	}
	addSet(f, "parallel_tool_calls", c.Parallel)
}

func (m *model) chatMessages(req *agent.Request) []chatMessage {
	list := make([]chatMessage, 0, len(req.Messages)+1)
	if req.Instructions != "" {
		list = append(list, chatMessage{Role: "system", Content: req.Instructions})
	}
	for i := range req.Messages {
		msg := &req.Messages[i]
		switch msg.Role {
		case agent.Assistant:
			if answer, ok := m.chatAnswer(msg); ok {
				list = append(list, answer)
			}
		case agent.ToolRole:
			for _, p := range msg.Parts {
				if p.Result != nil {
					list = append(list, chatMessage{Role: "tool", Content: resultText(p.Result), ToolCallID: p.Result.CallID})
				}
			}
		default:
			list = append(list, chatMessage{Role: string(msg.Role), Content: chatContent(msg)})
		}
	}
	return list
}

// chatAnswer returns an earlier message of the model; false if this wire format cannot
// express any of it.
func (m *model) chatAnswer(msg *agent.Message) (chatMessage, bool) {
	out := chatMessage{Role: "assistant"}
	var text strings.Builder
	for i := range msg.Parts {
		p := &msg.Parts[i]
		switch p.Type {
		case agent.TextPart:
			text.WriteString(p.Text)
		case agent.FilePart:
			text.WriteString(fileText(p.File))
		case agent.ReasoningPart:
			if m.Own {
				continue // refuses fields that it does not know
			}
			switch m.readOpaque(p.Opaque).Field {
			case fieldReasoningContent:
				out.ReasoningContent += p.Text
			case fieldReasoning:
				out.Reasoning += p.Text
			}
		case agent.CallPart:
			out.ToolCalls = append(out.ToolCalls, chatCall{
				ID: p.Call.ID, Type: "function",
				Function: chatFunction{p.Call.Name, string(wire.Object(p.Call.Arguments))},
			})
		}
	}
	if text.Len() > 0 {
		out.Content = text.String()
	}
	return out, out.Content != nil || len(out.ToolCalls) > 0
}

// chatContent returns one text as a string, which every server takes, anything
// else as parts.
func chatContent(msg *agent.Message) any {
	if len(msg.Parts) == 1 && msg.Parts[0].Type == agent.TextPart {
		return msg.Parts[0].Text
	}
	parts := []chatPart{}
	for i := range msg.Parts {
		switch p := &msg.Parts[i]; p.Type {
		case agent.TextPart:
			parts = append(parts, chatPart{Type: "text", Text: p.Text})
		case agent.FilePart:
			parts = append(parts, chatFilePart(p.File))
		}
	}
	return parts
}

func chatFilePart(f *agent.File) chatPart {
	format, audio := strings.CutPrefix(f.MediaType, "audio/")
	if format == "mpeg" {
		format = "mp3"
	}
	switch {
	case isImage(f):
		return chatPart{Type: "image_url", ImageURL: &chatImage{dataURL(f)}}
	case audio && (format == "wav" || format == "mp3") && len(f.Data) > 0:
		return chatPart{Type: "input_audio", Audio: &chatAudio{base64.StdEncoding.EncodeToString(f.Data), format}}
	case f.MediaType == "application/pdf" && len(f.Data) > 0:
		return chatPart{Type: "file", File: &chatFile{fileName(f), dataURL(f)}}
	}
	return chatPart{Type: "text", Text: fileText(f)}
}

// fileName returns a name, which the wire requires.
func fileName(f *agent.File) string {
	if f.Name != "" {
		return f.Name
	}
	if f.MediaType == "application/pdf" {
		return "file.pdf"
	}
	return "file"
}
