package openaiapi

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/chatapi"
	"github.com/shoal-dev/shoal/internal/exchange"
	"github.com/shoal-dev/shoal/internal/guard"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// request is the body of a chat completion as far as it is read.
type request struct {
	Model         string          `json:"model"`
	Messages      []message       `json:"messages"`
	Stream        bool            `json:"stream"`
	StreamOptions *streamOptions  `json:"stream_options"`
	Tools         []tool          `json:"tools"`
	ToolChoice    json.RawMessage `json:"tool_choice"`
	N             *int            `json:"n"`
	Modalities    []string        `json:"modalities"`
	Format        *struct {
		Type string `json:"type"`
	} `json:"response_format"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

type message struct {
	Role       string          `json:"role"`
	Content    json.RawMessage `json:"content"`
	ToolCallID string          `json:"tool_call_id"`
}

type tool struct {
	Type     string `json:"type"`
	Function struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	} `json:"function"`
}

// contentPart is a part of a message's content.
type contentPart struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	ImageURL *struct {
		URL string `json:"url"`
	} `json:"image_url"`
}

func (p contentPart) plain() string { return p.Text }

// inputBounds is how much of each list and text of a request is taken; the body as a whole
// has 1 MiB at most. "messages[].content" is the number of parts of any message. What is posted has the
// bounds of a message besides.
var inputBounds = map[string]int{
	"messages": 5_000, "messages[].content": 200, "messages[].tool_call_id": maxCallID,
	"tools": 100, "tools[].function.name": 64, "tools[].function.description": 8 << 10, "modalities": 10,
}

// maxCallID is how many bytes the id of a call has at most.
const maxCallID = 256

// complete serves POST chat/completions.
func (c *call) complete() error {
	in, err := decode(guard.Body(c.r))
	if err != nil {
		return err
	}
	said, err := in.said()
	if err != nil {
		return err
	}
	p := prompt{model: in.Model, stream: in.Stream, said: said, client: in.clientInput, form: func(x *turn) form {
		return newChatForm(x, in.StreamOptions != nil && in.StreamOptions.IncludeUsage)
	}}
	for _, t := range in.Tools {
		p.tools = append(p.tools, t.Function.Name)
	}
	return c.take(p)
}

// decode reads the body of a chat completion.
func decode(body []byte) (*request, error) {
	in := new(request)
	if err := chatapi.Decode(body, in, "Send a chat completion request."); err != nil {
		return nil, err
	}
	if err := in.checkBounds(); err != nil {
		return nil, err
	}
	return in, in.check()
}

// checkBounds refuses what of a request is more than its bound.
func (in *request) checkBounds() error {
	sizes := chatapi.Sizes{Bounds: inputBounds}
	check := sizes.Check
	check("messages", "messages", len(in.Messages), "entries")
	check("tools", "tools", len(in.Tools), "entries")
	check("modalities", "modalities", len(in.Modalities), "entries")
	for i, m := range in.Messages {
		at := fmt.Sprintf("messages[%d]", i)
		check("messages[].tool_call_id", at+".tool_call_id", len(m.ToolCallID), "bytes")
		if parts, _, ok := partsOf[contentPart](m.Content); ok {
			check("messages[].content", at+".content", len(parts), "entries")
		}
	}
	for i, t := range in.Tools {
		at := fmt.Sprintf("tools[%d].function", i)
		check("tools[].function.name", at+".name", len(t.Function.Name), "bytes")
		check("tools[].function.description", at+".description", len(t.Function.Description), "bytes")
	}
	return sizes.Err
}

// check refuses what an agent cannot do.
func (in *request) check() error {
	switch {
	case in.Model == "":
		return shoal.Invalid("model", "is required: the id of an agent")
	case len(in.Messages) == 0:
		return shoal.Invalid("messages", "is required")
	case in.N != nil && *in.N != 1:
		return shoal.Invalid("n", "must be 1: an agent answers once")
	case in.Format != nil && in.Format.Type != "text":
		return shoal.Invalid("response_format.type", `must be "text": the agent decides on the form of its answer`)
	case len(in.Modalities) > 0 && (len(in.Modalities) > 1 || in.Modalities[0] != "text"):
		return shoal.Invalid("modalities", `must be ["text"]`)
	}
	for i, t := range in.Tools {
		if t.Type != "function" {
			return shoal.Invalid(fmt.Sprintf("tools[%d].type", i), `must be "function"`)
		}
	}
	return nil
}

// clientInput returns what the runs get of the request: its tools, and its instructions as context.
func (in *request) clientInput() (*storage.ClientInput, error) {
	var tools []storage.ClientTool
	if string(in.ToolChoice) != `"none"` {
		for _, t := range in.Tools {
			tools = append(tools, storage.ClientTool{Name: t.Function.Name, Description: t.Function.Description, Schema: t.Function.Parameters})
		}
	}
	var texts []string
	for i, m := range in.Messages {
		if m.Role != "system" && m.Role != "developer" {
			continue
		}
		text, err := plainText[contentPart](m.Content, fmt.Sprintf("messages[%d].content", i))
		if err != nil {
			return nil, err
		}
		texts = append(texts, text)
	}
	return exchange.ClientInput(tools, instructions(texts), func(i int) string { return fmt.Sprintf("tools[%d].function.parameters", i) })
}

// said returns what follows the last message of the assistant.
func (in *request) said() (out said, err error) {
	first := 0
	for i, m := range in.Messages {
		if m.Role == "assistant" {
			first = i + 1
		}
	}
	for i, m := range in.Messages[first:] {
		i += first
		switch m.Role {
		case "user":
			parts, err := m.draft(i)
			if err != nil {
				return out, err
			}
			out.draft.Parts = append(out.draft.Parts, parts...)
		case "tool":
			a, err := answerOf[contentPart](fmt.Sprintf("messages[%d]", i), "tool_call_id", m.ToolCallID, "content", m.Content)
			if err != nil {
				return out, err
			}
			out.answers = append(out.answers, a)
		case "system", "developer":
		default:
			return out, shoal.Invalid(fmt.Sprintf("messages[%d].role", i), "must be system, developer, user, assistant or tool")
		}
	}
	if len(out.draft.Parts) == 0 && len(out.answers) == 0 {
		err = shoal.Invalid("messages", "must end with a message of the user, or with the results of calls")
	}
	return out, err
}

// draft returns the parts of the i-th message, which is the user's, as they are posted.
func (m message) draft(i int) (out []shoal.Part, err error) {
	at := fmt.Sprintf("messages[%d].content", i)
	parts, text, ok := partsOf[contentPart](m.Content)
	if !ok {
		return nil, shoal.Invalid(at, notParts)
	}
	if text != "" {
		out = append(out, shoal.Text(text))
	}
	for k, p := range parts {
		switch {
		case p.Type == "text" && p.Text != "":
			out = append(out, shoal.Text(p.Text))
		case p.Type == "text":
		case p.Type == "image_url" && p.ImageURL != nil && !strings.HasPrefix(p.ImageURL.URL, "data:"):
			out = append(out, shoal.Part{Type: shoal.FilePart, Name: "image", MediaType: "image/*", URL: p.ImageURL.URL})
		default:
			return nil, shoal.Invalid(fmt.Sprintf("%s[%d]", at, k), "cannot be posted: send text, or an image by its http or https URL")
		}
	}
	return out, nil
}
