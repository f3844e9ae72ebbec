package aisdkapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/chatapi"
	"github.com/shoal-dev/shoal/internal/exchange"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// request is the body of a message as far as it is read. Message is the last message, which clients send
// that are configured to leave the others out.
type request struct {
	ID        string            `json:"id"`
	Messages  []uiMessage       `json:"messages"`
	Message   *uiMessage        `json:"message"`
	Trigger   string            `json:"trigger"`
	MessageID string            `json:"messageId"`
	Mentions  []shoal.EntityID  `json:"mentions"`
	Resume    bool              `json:"resume"`
	System    string            `json:"system"`
	Tools     map[string]uiTool `json:"tools"`

	ignored []chatapi.Ignored // what of the body has no effect
}

// uiTool is a tool that the client executes. Parameters is another name of InputSchema.
type uiTool struct {
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"inputSchema"`
	Parameters  json.RawMessage `json:"parameters"`
}

// knownFields are the fields of a body that are read, or that only say what is known.
var knownFields = []string{"id", "messages", "message", "trigger", "messageId", "mentions", "resume", "system", "tools"}

// inputBounds is how much of each list and text of a request is taken; the body as a whole
// has 1 MiB at most. "messages[].parts" is the number of parts of any message. What is posted has the
// bounds of a message besides.
var inputBounds = map[string]int{
	"id": maxClientID, "messageId": maxClientID, "messages": 5_000, "messages[].id": maxClientID, "messages[].parts": 2_000, "messages[].parts[].toolCallId": maxClientID,
	"mentions": shoal.MaxMentions, "system": 64 << 10, "tools": 100, "tools[].name": 64, "tools[].description": 8 << 10,
}

// maxClientID is how many bytes an id may have that a client sends.
const maxClientID = 256

// regenerate is the trigger of a client that wants another answer to the same message.
const regenerate = "regenerate-message"

// decode reads the body of a message.
func decode(body []byte) (*request, error) {
	in, all := new(request), map[string]json.RawMessage{}
	const send = "Send the messages of the chat."
	if err := chatapi.Decode(body, in, send); err != nil {
		return nil, err
	}
	if err := chatapi.Decode(body, &all, send); err != nil {
		return nil, err
	}
	for _, name := range knownFields {
		delete(all, name)
	}
	in.ignored = chatapi.IgnoredProps("", all, "Shoal reads mentions, resume, system and tools beside the messages.")
	if in.Message != nil && len(in.Messages) == 0 {
		in.Messages = []uiMessage{*in.Message}
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
	check("id", "id", len(in.ID), "bytes")
	check("messageId", "messageId", len(in.MessageID), "bytes")
	check("system", "system", len(in.System), "bytes")
	check("messages", "messages", len(in.Messages), "entries")
	check("mentions", "mentions", len(in.Mentions), "entries")
	check("tools", "tools", len(in.Tools), "entries")
	for i, m := range in.Messages {
		at := fmt.Sprintf("messages[%d]", i)
		check("messages[].id", at+".id", len(m.ID), "bytes")
		check("messages[].parts", at+".parts", len(m.Parts), "entries")
		for k, p := range m.Parts {
			check("messages[].parts[].toolCallId", fmt.Sprintf("%s.parts[%d].toolCallId", at, k), len(p.ToolCallID), "bytes")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(in.Tools)) {
		check("tools[].name", "tools", len(name), "bytes in the name of a tool")
		check("tools[].description", "tools."+name+".description", len(in.Tools[name].Description), "bytes")
	}
	return sizes.Err
}

// check refuses what is not a chat.
func (in *request) check() error {
	for i, m := range in.Messages {
		if m.Role != roleUser && m.Role != roleAssistant && m.Role != roleSystem {
			return shoal.Invalid(fmt.Sprintf("messages[%d].role", i), "must be system, user or assistant")
		}
	}
	switch in.Trigger {
	case "", "submit-message", regenerate:
		return nil
	}
	return shoal.Invalid("trigger", `must be "submit-message" or "regenerate-message"`)
}

// The roles of messages.
const (
	roleUser      = "user"
	roleAssistant = "assistant"
	roleSystem    = "system"
)

// clientInput returns what the runs get of the request: its tools in the order of their names, and its
// instructions as context.
func (in *request) clientInput() (*storage.ClientInput, error) {
	names := slices.Sorted(maps.Keys(in.Tools))
	var tools []storage.ClientTool
	for _, name := range names {
		t := in.Tools[name]
		if chatapi.Empty(t.InputSchema) {
			t.InputSchema = t.Parameters
		}
		tools = append(tools, storage.ClientTool{Name: name, Description: t.Description, Schema: t.InputSchema})
	}
	var context []storage.ClientContext
	texts := []string{in.System}
	for _, m := range in.Messages {
		if m.Role == roleSystem {
			texts = append(texts, m.text())
		}
	}
	for _, text := range texts {
		if text != "" {
			context = append(context, storage.ClientContext{Description: "instructions of the client", Value: text})
		}
	}
	return exchange.ClientInput(tools, context, func(i int) string { return "tools." + names[i] + ".inputSchema" })
}

// text returns the text of a message.
func (m uiMessage) text() (text string) {
	for _, p := range m.Parts {
		if p.Type == "text" && p.Text != nil {
			text += *p.Text
		}
	}
	return text
}
