package openaiapi

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/chatapi"
	"github.com/shoal-dev/shoal/internal/exchange"
	"github.com/shoal-dev/shoal/internal/guard"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// responseRequest is the body of a response as far as it is read.
type responseRequest struct {
	Model        string          `json:"model"`
	Input        json.RawMessage `json:"input"`
	Instructions string          `json:"instructions"`
	Stream       bool            `json:"stream"`
	Background   bool            `json:"background"`
	Previous     string          `json:"previous_response_id"`
	Conversation json.RawMessage `json:"conversation"`
	Tools        []responseTool  `json:"tools"`
	ToolChoice   json.RawMessage `json:"tool_choice"`
	Text         *struct {
		Format *struct {
			Type string `json:"type"`
		} `json:"format"`
	} `json:"text"`

	items []inputItem
}

// inputItem is an item of the input.
type inputItem struct {
	Type    string          `json:"type"`
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
	CallID  string          `json:"call_id"`
	Output  json.RawMessage `json:"output"`
}

type responseTool struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
}

// inputPart is a part of the content of an item, or of the output of a call.
type inputPart struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	ImageURL string `json:"image_url"`
	FileURL  string `json:"file_url"`
	Filename string `json:"filename"`
}

func (p inputPart) plain() string { return p.Text }

// responseBounds are for a response what inputBounds are for a chat completion.
var responseBounds = map[string]int{
	"input": 5_000, "input[].content": 200, "input[].output": 200, "input[].call_id": maxCallID, "previous_response_id": shoal.MaxID, "conversation": shoal.MaxID,
	"tools": 100, "tools[].name": 64, "tools[].description": 8 << 10,
}

// respond serves POST responses.
func (c *call) respond() error {
	in, err := decodeResponse(guard.Body(c.r))
	if err != nil {
		return err
	}
	p := prompt{model: in.Model, stream: in.Stream, client: in.clientInput}
	if p.said, err = in.said(); err != nil {
		return err
	}
	for _, t := range in.Tools {
		p.tools = append(p.tools, t.Name)
	}
	if p.space, err = c.conversation(in); err != nil {
		return err
	}
	var previous *string
	if in.Previous != "" {
		previous = &in.Previous
	}
	p.form = func(x *turn) form {
		return newResponsesForm(newResponse(x.id(), x.in.model, x.Space, previous, time.Now()))
	}
	return c.take(p)
}

// conversation returns the space that a request names, "" for none: as the conversation, or as that of an
// earlier response, which is a run.
func (c *call) conversation(in *responseRequest) (shoal.SpaceID, error) {
	if in.Previous == "" {
		id, _ := in.space()
		return id, nil
	}
	run, err := c.Hub.Runs.Get(c.r.Context(), c.caller, c.session, shoal.RunID(in.Previous))
	if err != nil {
		return "", at(err, "previous_response_id")
	}
	return run.Trigger.SpaceID, nil
}

// space returns the space that the request names as its conversation.
func (in *responseRequest) space() (id shoal.SpaceID, ok bool) {
	var named struct {
		ID shoal.SpaceID `json:"id"`
	}
	switch {
	case chatapi.Empty(in.Conversation), json.Unmarshal(in.Conversation, &id) == nil:
		return id, true
	case json.Unmarshal(in.Conversation, &named) == nil && named.ID != "":
		return named.ID, true
	}
	return "", false
}

// decodeResponse reads the body of a response.
func decodeResponse(body []byte) (*responseRequest, error) {
	in := new(responseRequest)
	if err := chatapi.Decode(body, in, "Send a response request."); err != nil {
		return nil, err
	}
	var text string
	switch {
	case in.Model == "":
		return nil, shoal.Invalid("model", "is required: the id of an agent")
	case chatapi.Empty(in.Input):
		return nil, shoal.Invalid("input", "is required")
	case json.Unmarshal(in.Input, &text) == nil:
		in.items = []inputItem{{Role: "user", Content: in.Input}}
	case json.Unmarshal(in.Input, &in.items) != nil:
		return nil, shoal.Invalid("input", "must be a text or a list of items")
	}
	if err := in.checkBounds(); err != nil {
		return nil, err
	}
	return in, in.check()
}

// checkBounds refuses what of a request is more than its bound.
func (in *responseRequest) checkBounds() error {
	sizes := chatapi.Sizes{Bounds: responseBounds}
	check := sizes.Check
	check("input", "input", len(in.items), "entries")
	check("tools", "tools", len(in.Tools), "entries")
	check("previous_response_id", "previous_response_id", len(in.Previous), "bytes")
	if id, ok := in.space(); ok {
		check("conversation", "conversation", len(id), "bytes")
	}
	for i, item := range in.items {
		at := fmt.Sprintf("input[%d]", i)
		check("input[].call_id", at+".call_id", len(item.CallID), "bytes")
		for name, content := range map[string]json.RawMessage{"content": item.Content, "output": item.Output} {
			if parts, _, ok := partsOf[inputPart](content); ok {
				check("input[]."+name, at+"."+name, len(parts), "entries")
			}
		}
	}
	for i, t := range in.Tools {
		at := fmt.Sprintf("tools[%d]", i)
		check("tools[].name", at+".name", len(t.Name), "bytes")
		check("tools[].description", at+".description", len(t.Description), "bytes")
	}
	return sizes.Err
}

// check refuses what an agent cannot do.
func (in *responseRequest) check() error {
	_, named := in.space()
	switch {
	case !named:
		return shoal.Invalid("conversation", "must be the id of a space, or an object with it")
	case in.Previous != "" && !chatapi.Empty(in.Conversation):
		return shoal.Invalid("conversation", "cannot be combined with previous_response_id: a response is in one conversation")
	case in.Background:
		return shoal.Invalid("background", "is not offered: stream the response, or follow the conversation in Shoal")
	case in.Text != nil && in.Text.Format != nil && in.Text.Format.Type != "text":
		return shoal.Invalid("text.format.type", `must be "text": the agent decides on the form of its answer`)
	}
	for i, t := range in.Tools {
		if t.Type != "function" {
			return shoal.Invalid(fmt.Sprintf("tools[%d].type", i), `must be "function": the agent has its own tools for the rest`)
		}
	}
	return nil
}

// clientInput returns what the runs get of the request: its tools, and its instructions as context.
func (in *responseRequest) clientInput() (*storage.ClientInput, error) {
	var tools []storage.ClientTool
	if string(in.ToolChoice) != `"none"` {
		for _, t := range in.Tools {
			tools = append(tools, storage.ClientTool{Name: t.Name, Description: t.Description, Schema: t.Parameters})
		}
	}
	texts := []string{in.Instructions}
	for i, item := range in.items {
		if !item.instructs() {
			continue
		}
		text, err := plainText[inputPart](item.Content, fmt.Sprintf("input[%d].content", i))
		if err != nil {
			return nil, err
		}
		texts = append(texts, text)
	}
	return exchange.ClientInput(tools, instructions(texts), func(i int) string { return fmt.Sprintf("tools[%d].parameters", i) })
}

// message reports whether an item is a message, which is the type of those without one.
func (i inputItem) message() bool { return i.Type == "" || i.Type == kindMessage }

// instructs reports whether an item is for the model rather than for the space.
func (i inputItem) instructs() bool {
	return i.message() && (i.Role == "system" || i.Role == "developer")
}

// said returns what follows the last item of the assistant.
func (in *responseRequest) said() (out said, err error) {
	const output = "function_call_output"
	first := 0
	for i, item := range in.items {
		if !item.instructs() && item.Type != output && (!item.message() || item.Role == "assistant") {
			first = i + 1
		}
	}
	for i, item := range in.items[first:] {
		at := fmt.Sprintf("input[%d]", first+i)
		switch {
		case item.Type == output:
			a, err := answerOf[inputPart](at, "call_id", item.CallID, "output", item.Output)
			if err != nil {
				return out, err
			}
			out.answers = append(out.answers, a)
		case item.instructs():
		case item.Role == "user":
			parts, err := item.draft(at + ".content")
			if err != nil {
				return out, err
			}
			out.draft.Parts = append(out.draft.Parts, parts...)
		default:
			return out, shoal.Invalid(at+".role", "must be system, developer, user or assistant")
		}
	}
	if len(out.draft.Parts) == 0 && len(out.answers) == 0 {
		err = shoal.Invalid("input", "must end with a message of the user, or with the outputs of calls")
	}
	return out, err
}

// draft returns the parts of an item as they are posted.
func (i inputItem) draft(at string) (out []shoal.Part, err error) {
	parts, text, ok := partsOf[inputPart](i.Content)
	if !ok {
		return nil, shoal.Invalid(at, notParts)
	}
	if text != "" {
		out = append(out, shoal.Text(text))
	}
	for k, p := range parts {
		switch {
		case p.Type == "input_text" && p.Text != "":
			out = append(out, shoal.Text(p.Text))
		case p.Type == "input_text":
		case p.Type == "input_image" && p.ImageURL != "" && !strings.HasPrefix(p.ImageURL, "data:"):
			out = append(out, shoal.Part{Type: shoal.FilePart, Name: "image", MediaType: "image/*", URL: p.ImageURL})
		case p.Type == "input_file" && p.FileURL != "":
			out = append(out, shoal.Part{Type: shoal.FilePart, Name: cmp.Or(p.Filename, "file"), MediaType: "application/octet-stream", URL: p.FileURL})
		default:
			return nil, shoal.Invalid(fmt.Sprintf("%s[%d]", at, k), "cannot be posted: send input_text, or an image or a file by its http or https URL")
		}
	}
	return out, nil
}
