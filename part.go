package shoal

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// PartType states what a part contains.
type PartType string

// The types of parts. A client may post text, files and data; tool calls are
// composed by runs.
const (
	TextPart PartType = "text"
	ToolPart PartType = "tool_call"
	FilePart PartType = "file"
	DataPart PartType = "data"
)

// PromptsPart is the name of a data part that offers messages to its readers:
// {"prompts": ["…"]}. The console shows each as a button that sends it.
const PromptsPart = "prompts"

// PartStatus is the progress of a text or a tool call.
type PartStatus string

// The states of a text part. A posted part is done at once.
const (
	PartStreaming   PartStatus = "streaming"
	PartDone        PartStatus = "done"
	PartInterrupted PartStatus = "interrupted"
)

// The states of a tool part besides done.
const (
	PartInputStreaming PartStatus = "input_streaming"
	PartRunning        PartStatus = "running"
	PartRequiresAction PartStatus = "requires_action"
	PartError          PartStatus = "error"
	PartDenied         PartStatus = "denied"
	PartCanceled       PartStatus = "canceled"
)

// Part is one piece of a message. Type determines which fields are used; its JSON has
// exactly the fields of that type.
type Part struct {
	ID   PartID
	Type PartType

	// Status belongs to text and tool parts, Text to a text part.
	Text   string
	Status PartStatus

	// These belong to a tool part. Args is {} until the arguments are complete; Result is
	// nil for null; Display is how the tool's author wants clients to render the call.
	ToolName   string
	ToolCallID string
	Args       json.RawMessage
	Result     json.RawMessage
	Error      string // empty for null
	Display    json.RawMessage
	AnsweredBy EntityID // empty for null
	// EditedArgs are what the call was executed with in place of Args; nil for null.
	EditedArgs json.RawMessage
	Decision   *Decision // of a permission that the call needed; nil if it has none
	// Target is the one member that may see the part; empty for all. Private means
	// that the reader is not that member: only ID and Type are set.
	Target  EntityID
	Private bool

	// Name belongs to file and data parts; the others to file parts.
	Name      string
	MediaType string
	Size      int64
	URL       string

	// Data belongs to a data part: any JSON value.
	Data json.RawMessage
}

// Text returns a text part.
func Text(s string) Part { return Part{Type: TextPart, Text: s, Status: PartDone} }

// size returns how many bytes the part adds to the content of its message.
func (p Part) size() int {
	return len(p.Text) + len(p.Name) + len(p.MediaType) + len(p.URL) + len(p.Data)
}

func (p Part) validate(at string) error {
	var all problems
	switch p.Type {
	case TextPart:
		if p.Text == "" {
			all.add(Invalid(at+".text", "is empty"))
		} else if len(p.Text) <= MaxContent {
			all.add(checkText(at+".text", p.Text, MaxContent))
		}
	case FilePart:
		all.add(checkLine(at+".name", p.Name, MaxName, true))
		all.add(checkLine(at+".mediaType", p.MediaType, MaxName, true))
		all.add(checkLine(at+".url", p.URL, MaxDescription, true))
		if _, _, here := p.File(); !here && !strings.HasPrefix(p.URL, "https://") && !strings.HasPrefix(p.URL, "http://") {
			all.add(Invalid(at+".url", "must start with https:// or http://, or be the url of an uploaded file"))
		}
		if p.Size < 0 || p.Size > MaxFileSize {
			all.add(Invalid(at+".size", fmt.Sprintf("must be at least 0 and at most %d", int64(MaxFileSize))))
		}
	case DataPart:
		all.add(checkLine(at+".name", p.Name, MaxName, true))
		if !json.Valid(p.Data) {
			all.add(Invalid(at+".data", "is missing: it holds any JSON value"))
		} else {
			all.add(checkObject(at+".data", wrapped(p.Data), MaxContent))
		}
	default:
		all.add(Invalid(at+".type", `must be "text", "file" or "data"`))
	}
	return all.err()
}

// wrapped makes an object of any JSON value, so that one check covers both.
func wrapped(raw json.RawMessage) json.RawMessage {
	return append(append([]byte(`{"v":`), raw...), '}')
}

type (
	textShape struct {
		ID     PartID     `json:"id"`
		Type   PartType   `json:"type"`
		Text   string     `json:"text"`
		Status PartStatus `json:"status"`
	}
	toolShape struct {
		ID         PartID          `json:"id"`
		Type       PartType        `json:"type"`
		ToolName   string          `json:"toolName"`
		ToolCallID string          `json:"toolCallId"`
		Args       json.RawMessage `json:"args"`
		Result     json.RawMessage `json:"result"`
		Error      *string         `json:"error"`
		Status     PartStatus      `json:"status"`
		Display    json.RawMessage `json:"display"`
		AnsweredBy *EntityID       `json:"answeredBy"`
		EditedArgs json.RawMessage `json:"editedArgs"`
		Decision   *Decision       `json:"decision"`
		Target     *EntityID       `json:"targetEntityId"`
	}
	privateShape struct {
		ID      PartID   `json:"id"`
		Type    PartType `json:"type"`
		Private bool     `json:"private"`
	}
	fileShape struct {
		ID        PartID   `json:"id"`
		Type      PartType `json:"type"`
		Name      string   `json:"name"`
		MediaType string   `json:"mediaType"`
		Size      int64    `json:"size"`
		URL       string   `json:"url"`
	}
	dataShape struct {
		ID   PartID          `json:"id"`
		Type PartType        `json:"type"`
		Name string          `json:"name"`
		Data json.RawMessage `json:"data"`
	}
)

// MarshalJSON writes exactly the fields of the part's type.
func (p Part) MarshalJSON() ([]byte, error) {
	if p.Private {
		return EncodeJSON(privateShape{p.ID, p.Type, true})
	}
	switch p.Type {
	case TextPart:
		if plain(string(p.ID)) && plain(p.Text) && plain(string(p.Status)) { // nearly all
			b := make([]byte, 0, len(p.ID)+len(p.Text)+len(p.Status)+len(`{"id":"","type":"text","text":"","status":""}`))
			b = append(append(b, `{"id":"`...), p.ID...)
			b = append(append(b, `","type":"text","text":"`...), p.Text...)
			return append(append(append(b, `","status":"`...), p.Status...), `"}`...), nil
		}
		return EncodeJSON(textShape{p.ID, p.Type, p.Text, p.Status})
	case ToolPart:
		return EncodeJSON(toolShape{p.ID, p.Type, p.ToolName, p.ToolCallID, orObject(p.Args), p.Result, orNil(p.Error), p.Status, p.Display, orNil(p.AnsweredBy), p.EditedArgs, p.Decision, orNil(p.Target)})
	case FilePart:
		return EncodeJSON(fileShape{p.ID, p.Type, p.Name, p.MediaType, p.Size, p.URL})
	case DataPart:
		return EncodeJSON(dataShape{p.ID, p.Type, p.Name, p.Data})
	}
	return nil, E("shoal.Part", Internal, fmt.Sprintf("a part of the unknown type %q", p.Type))
}

// orObject returns raw, or {} if raw is empty.
func orObject(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("{}")
	}
	return raw
}

// orNil returns a pointer to v, or nil for an empty v.
func orNil[T ~string](v T) *T {
	if v == "" {
		return nil
	}
	return &v
}

func orEmpty[T ~string](p *T) T {
	if p == nil {
		return ""
	}
	return *p
}

// UnmarshalJSON reads a part of any type; unknown fields are ignored.
func (p *Part) UnmarshalJSON(b []byte) error {
	var all struct {
		toolShape
		Text      string          `json:"text"`
		Name      string          `json:"name"`
		MediaType string          `json:"mediaType"`
		Size      int64           `json:"size"`
		URL       string          `json:"url"`
		Data      json.RawMessage `json:"data"`
		Private   bool            `json:"private"`
	}
	if err := json.Unmarshal(b, &all); err != nil {
		return err
	}
	*p = Part{
		ID: all.ID, Type: all.Type, Text: all.Text, Status: all.Status, Name: all.Name, MediaType: all.MediaType, Size: all.Size,
		URL: all.URL, Data: all.Data, ToolName: all.ToolName, ToolCallID: all.ToolCallID, Args: all.Args, Result: known(all.Result),
		Error: orEmpty(all.Error), Display: known(all.Display), AnsweredBy: orEmpty(all.AnsweredBy), EditedArgs: known(all.EditedArgs), Decision: all.Decision, Target: orEmpty(all.Target), Private: all.Private,
	}
	return nil
}

// known returns raw, or nil for null.
func known(raw json.RawMessage) json.RawMessage {
	if string(raw) == "null" {
		return nil
	}
	return raw
}

// VisibleTo reports whether reader may see more of the part than its id, its
// type and that it is private. An empty reader, an admin or a service, sees all.
func (p Part) VisibleTo(reader EntityID) bool {
	return p.Target == "" || reader == "" || p.Target == reader
}

// For returns the message as reader may see it; its own sender sees all of it. The
// message itself is not changed.
func (m Message) For(reader EntityID) Message {
	if reader == m.EntityID {
		return m
	}
	if !slices.ContainsFunc(m.Parts, func(p Part) bool { return !p.VisibleTo(reader) }) {
		return m
	}
	m.Parts = slices.Clone(m.Parts)
	for i, p := range m.Parts {
		if !p.VisibleTo(reader) {
			m.Parts[i] = Part{ID: p.ID, Type: p.Type, Private: true}
		}
	}
	return m
}

// plain reports whether a text needs no escaping in JSON.
func plain(text string) bool {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}
