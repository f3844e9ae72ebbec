package openai

import (
	"regexp"
	"slices"
	"strings"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/internal/wire"
)

// inputItem is one item of the history of the Responses wire.
type inputItem struct {
	Type      string `json:"type"`
	ID        string `json:"id,omitempty"`
	Role      string `json:"role,omitempty"`
	Phase     string `json:"phase,omitempty"`
	Status    string `json:"status,omitempty"`
	Content   any    `json:"content,omitempty"`
	CallID    string `json:"call_id,omitempty"`
	Name      string `json:"name,omitempty"`
	Arguments string `json:"arguments,omitempty"`
	Output    any    `json:"output,omitempty"`
}

type inputPart struct {
	Type     string `json:"type"`
	Text     string `json:"text,omitempty"`
	ImageURL string `json:"image_url,omitempty"`
	Name     string `json:"filename,omitempty"`
	FileData string `json:"file_data,omitempty"`
	FileURL  string `json:"file_url,omitempty"`
}

type outputPart struct {
	Type        string `json:"type"`
	Text        string `json:"text"`
	Annotations []any  `json:"annotations"`
}

type responseTool struct {
	Type        string `json:"type"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Parameters  any    `json:"parameters"`
	Strict      bool   `json:"strict"` // absent means true
}

type responseReasoning struct {
	Effort  string `json:"effort,omitempty"`
	Summary string `json:"summary,omitempty"`
}

func responsesRequest(m *model, req *agent.Request) []field {
	var f fields
	f.add("model", m.sent)
	f.add("stream", true)
	f.add("store", false)
	s := req.Settings
	if thinks(m.Info().Name) {
		f.add("include", []string{"reasoning.encrypted_content"})
	}
	if s.Reasoning.Enabled && thinks(m.Info().Name) {
		r := responseReasoning{Effort: effort(m.Info().Name, s.Reasoning), Summary: s.Reasoning.Summary}
		if r.Summary == "" && s.Reasoning.IncludeThoughts {
			r.Summary = "auto"
		}
		if r != (responseReasoning{}) {
			f.add("reasoning", r)
		}
	}
	addSet(&f, "temperature", s.Temperature)
	addSet(&f, "top_p", s.TopP)
	if s.MaxOutputTokens > 0 {
		f.add("max_output_tokens", s.MaxOutputTokens)
	}
	if req.Output != nil {
		f.add("text", map[string]any{"format": outputSchema("json_schema", req.Output)})
	}
	if len(req.Tools) > 0 {
		tools := make([]responseTool, len(req.Tools))
		for i, t := range req.Tools {
			tools[i] = responseTool{Type: "function", Name: t.Name, Description: t.Description, Parameters: schemaOf(t.Schema)}
		}
		f.add("tools", tools)
		addToolChoice(&f, req.ToolChoice, func(name string) any {
			return map[string]string{"type": "function", "name": name}
		})
	}
	if req.Instructions != "" {
		f.add("instructions", req.Instructions)
	}
	f.add("input", m.inputItems(req.Messages))
	return f
}

// thinks reports whether a model may have encrypted reasoning. The families before the
// vendor's reasoning models refuse a request for it, and only their names distinguish
// them.
func thinks(name string) bool {
	name = strings.TrimPrefix(name[strings.LastIndex(name, "/")+1:], "ft:")
	for _, family := range []string{"gpt-3", "gpt-4", "chatgpt-"} {
		if strings.HasPrefix(name, family) {
			return false
		}
	}
	return !strings.HasPrefix(name, "gpt-5-chat")
}

func (m *model) inputItems(messages []agent.Message) []any {
	items := make([]any, 0, len(messages))
	for i := range messages {
		msg := &messages[i]
		switch msg.Role {
		case agent.Assistant:
			items = m.answerItems(items, msg)
		case agent.ToolRole:
			for _, p := range msg.Parts {
				if p.Result != nil {
					items = append(items, inputItem{Type: "function_call_output", CallID: p.Result.CallID, Output: resultOutput(p.Result)})
				}
			}
		default:
			items = append(items, inputItem{Type: "message", Role: string(msg.Role), Content: inputContent(msg)})
		}
	}
	return items
}

// answerItems appends what the model said before, in its order. The API refuses
// thoughts without the item that followed them, so those of an answer that was
// cut short and those at the end of an answer are left out.
func (m *model) answerItems(items []any, msg *agent.Message) []any {
	for i := range msg.Parts {
		p := &msg.Parts[i]
		own := m.readOpaque(p.Opaque)
		switch p.Type {
		case agent.ReasoningPart:
			if !msg.Interrupted && saysSomething(msg.Parts[i+1:]) {
				for _, item := range own.Items {
					items = append(items, item)
				}
			}
		case agent.TextPart, agent.FilePart:
			text := p.Text
			if p.File != nil {
				text = fileText(p.File)
			}
			if text == "" {
				continue
			}
			items = textItems(items, text, own)
		case agent.CallPart:
			items = append(items, inputItem{
				Type: "function_call", ID: own.ID, CallID: p.Call.ID, Name: p.Call.Name,
				Arguments: string(wire.Object(p.Call.Arguments)),
			})
		}
	}
	return items
}

// saysSomething reports whether one of the parts becomes an item.
func saysSomething(parts []agent.Part) bool {
	return slices.ContainsFunc(parts, func(p agent.Part) bool {
		return p.Type == agent.CallPart || p.Type == agent.FilePart || p.Type == agent.TextPart && p.Text != ""
	})
}

func inputContent(msg *agent.Message) any {
	if len(msg.Parts) == 1 && msg.Parts[0].Type == agent.TextPart && msg.Parts[0].Text != "" {
		return msg.Parts[0].Text
	}
	parts := []inputPart{}
	for i := range msg.Parts {
		switch p := &msg.Parts[i]; p.Type {
		case agent.TextPart:
			parts = append(parts, inputPart{Type: "input_text", Text: p.Text})
		case agent.FilePart:
			parts = append(parts, inputFile(p.File))
		}
	}
	return parts
}

func inputFile(f *agent.File) inputPart {
	switch {
	case isImage(f):
		return inputPart{Type: "input_image", ImageURL: dataURL(f)}
	case wire.IsText(f), !documents.MatchString(f.MediaType):
		return inputPart{Type: "input_text", Text: fileText(f)}
	case len(f.Data) == 0 && f.URL != "":
		return inputPart{Type: "input_file", FileURL: f.URL}
	}
	return inputPart{Type: "input_file", Name: fileName(f), FileData: dataURL(f)}
}

// documents are the types that the vendor reads; another one would make it
// refuse the whole history.
var documents = regexp.MustCompile(`^(application/pdf|text/.*|.*(officedocument|opendocument|msword|ms-excel|ms-powerpoint|rtf).*)$`)

// resultOutput returns a text where a text is all, since not every server of
// this wire takes more.
func resultOutput(r *agent.ToolResult) any {
	if len(r.Files) == 0 {
		return r.Text
	}
	parts := []inputPart{}
	if r.Text != "" {
		parts = append(parts, inputPart{Type: "input_text", Text: r.Text})
	}
	for i := range r.Files {
		parts = append(parts, inputFile(&r.Files[i]))
	}
	return parts
}
