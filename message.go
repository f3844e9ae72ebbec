package shoal

import (
	"encoding/json"
	"fmt"
	"strings"
)

// MessageStatus tells whether a message can still change.
type MessageStatus string

// The states of a message. A posted message is completed at once.
const (
	MessageStreaming MessageStatus = "streaming"
	MessageCompleted MessageStatus = "completed"
	MessageFailed    MessageStatus = "failed"
	MessageCanceled  MessageStatus = "canceled"
)

// Message is one entry of a space's timeline. Seq is its place there, unique
// and without gaps.
type Message struct {
	ID              MessageID     `json:"id"`
	SessionID       SessionID     `json:"sessionId"`
	SpaceID         SpaceID       `json:"spaceId"`
	Seq             int64         `json:"seq"`
	EntityID        EntityID      `json:"entityId"`
	RunID           *RunID        `json:"runId"`
	Status          MessageStatus `json:"status"`
	Mentions        []EntityID    `json:"mentions"`
	DroppedMentions []EntityID    `json:"droppedMentions"`
	CreatedAt       Time          `json:"createdAt"`
	UpdatedAt       Time          `json:"updatedAt"`
	Parts           []Part        `json:"parts"`
}

// Text returns the message's text parts, joined by blank lines.
func (m Message) Text() string { return joinText(m.Parts) }

func joinText(parts []Part) string {
	var texts []string
	for _, p := range parts {
		if p.Type == TextPart {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n\n")
}

// Draft is what a caller hands in to post a message. Mentions that are no
// members of the space are dropped and named in the message.
type Draft struct {
	Parts    []Part     `json:"parts"`
	Mentions []EntityID `json:"mentions,omitempty"`
}

// Validate names every wrong field in one error, [TooLarge] when the content is
// over [MaxContent] bytes, else [InvalidArgument].
func (d Draft) Validate() error {
	var p problems
	if len(d.Parts) == 0 {
		p.add(Invalid("parts", "is empty: a message needs text or at least one part"))
	}
	if len(d.Parts) > MaxParts {
		p.add(Invalid("parts", fmt.Sprintf("has %d entries; at most %d are allowed", len(d.Parts), MaxParts)))
	}
	if len(d.Mentions) > MaxMentions {
		p.add(Invalid("mentions", fmt.Sprintf("has %d entries; at most %d are allowed", len(d.Mentions), MaxMentions)))
	}
	size := 0
	for i, part := range d.Parts {
		size += part.size()
		p.add(part.validate(fmt.Sprintf("parts[%d]", i)))
	}
	if size > MaxContent {
		return &Error{
			Kind: TooLarge, Msg: fmt.Sprintf("the content has %d bytes; a message holds at most %d: send it in several messages", size, MaxContent),
			Fields: []FieldError{{Location: "parts", Message: fmt.Sprintf("hold %d bytes; at most %d are allowed", size, MaxContent)}},
		}
	}
	return p.err()
}

// PartType says what a part holds.
type PartType string

// The types of parts that a client may post.
const (
	TextPart PartType = "text"
	FilePart PartType = "file"
	DataPart PartType = "data"
)

// PartStatus tells whether a text part can still grow.
type PartStatus string

// The states of a text part. A posted part is done at once.
const (
	PartStreaming   PartStatus = "streaming"
	PartDone        PartStatus = "done"
	PartInterrupted PartStatus = "interrupted"
)

// Part is one piece of a message. Which fields count depends on Type; its JSON
// has exactly the fields of that type.
type Part struct {
	ID   PartID
	Type PartType

	// Text and Status belong to a text part.
	Text   string
	Status PartStatus

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

// size counts what the part adds to the content of its message.
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
		if !strings.HasPrefix(p.URL, "https://") && !strings.HasPrefix(p.URL, "http://") {
			all.add(Invalid(at+".url", "must start with https:// or http://"))
		}
		if p.Size < 0 {
			all.add(Invalid(at+".size", "must not be negative"))
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

// wrapped makes an object of any JSON value, so that one check serves both.
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
	switch p.Type {
	case TextPart:
		return json.Marshal(textShape{p.ID, p.Type, p.Text, p.Status})
	case FilePart:
		return json.Marshal(fileShape{p.ID, p.Type, p.Name, p.MediaType, p.Size, p.URL})
	case DataPart:
		return json.Marshal(dataShape{p.ID, p.Type, p.Name, p.Data})
	}
	return nil, E("shoal.Part", Internal, fmt.Sprintf("a part of the unknown type %q", p.Type))
}

// UnmarshalJSON reads a part of any type; unknown fields are ignored.
func (p *Part) UnmarshalJSON(b []byte) error {
	var all struct {
		ID        PartID          `json:"id"`
		Type      PartType        `json:"type"`
		Text      string          `json:"text"`
		Status    PartStatus      `json:"status"`
		Name      string          `json:"name"`
		MediaType string          `json:"mediaType"`
		Size      int64           `json:"size"`
		URL       string          `json:"url"`
		Data      json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(b, &all); err != nil {
		return err
	}
	*p = Part{all.ID, all.Type, all.Text, all.Status, all.Name, all.MediaType, all.Size, all.URL, all.Data}
	return nil
}
