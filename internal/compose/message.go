package compose

import (
	"encoding/json"

	"github.com/shoal-dev/shoal"
)

// Message is a composite message as it is stored. What the contract does not
// show of it is what [Restore] needs.
type Message struct {
	ID     shoal.MessageID     `json:"id"`
	Space  shoal.SpaceID       `json:"spaceId"`
	Status shoal.MessageStatus `json:"status"`
	// Mention is whom the message mentions, once it is sealed.
	Mention shoal.EntityID `json:"mention,omitempty"`
	// Sealed says that no part is added any more; SealedBy is the call that did it.
	// Starts says that the mention is due when the message is completed.
	Sealed   bool   `json:"sealed,omitempty"`
	SealedBy string `json:"sealedBy,omitempty"`
	Starts   bool   `json:"starts,omitempty"`
	// Opened counts all parts that the message ever had.
	Opened int    `json:"opened"`
	Parts  []Part `json:"parts"`
}

// Part is one part of a composite message: text, or a tool call.
type Part struct {
	ID     shoal.PartID     `json:"id"`
	Type   shoal.PartType   `json:"type"`
	Status shoal.PartStatus `json:"status"`
	// Call is the tool call that the part comes from, also of a text.
	Call string `json:"call"`

	// Text belongs to a text part. Accepted says that its call was let through.
	Text     string `json:"text,omitempty"`
	Accepted bool   `json:"accepted,omitempty"`

	// These belong to a tool part. Args have no routing fields; Input is what there
	// is of their JSON while they grow.
	Tool       string          `json:"toolName,omitempty"`
	Args       json.RawMessage `json:"args,omitempty"`
	Input      string          `json:"input,omitempty"`
	Result     json.RawMessage `json:"result,omitempty"`
	Error      string          `json:"error,omitempty"`
	Hints      json.RawMessage `json:"display,omitempty"`
	AnsweredBy shoal.EntityID  `json:"answeredBy,omitempty"`
	// EditedArgs are what the call was approved with in place of Args, if changed.
	EditedArgs json.RawMessage `json:"editedArgs,omitempty"`
	// Target is the one member who may see the part; empty for all.
	Target shoal.EntityID `json:"targetEntityId,omitempty"`
	// Pending is the request that the part shows or showed. RequestOnly says that
	// the part is there for it alone: its result is the answer, not the tool's.
	Pending     string `json:"pending,omitempty"`
	RequestOnly bool   `json:"requestOnly,omitempty"`
}

// VisibleTo reports whether a member may see more of the part than its id, its
// type and that it is private.
func (p Part) VisibleTo(reader shoal.EntityID) bool { return p.Target == "" || p.Target == reader }

// whole reports whether the part waits for nothing.
func (p *Part) whole() bool {
	switch p.Status {
	case shoal.PartStreaming, shoal.PartInputStreaming, shoal.PartRunning, shoal.PartRequiresAction:
		return false
	}
	return p.Type != shoal.TextPart || p.Accepted
}

// message is a composite message that is not closed.
type message struct {
	Message // without its parts
	parts   []*part
	changed bool // since it was last handed out
	due     bool // to be saved now
}

// part is a part of an open message. buf grows in place; Text and Args are set
// when it is whole.
type part struct {
	Part
	place *Place
	in    *message
	buf   []byte
}

// snapshot returns the message as it stands, sharing nothing that changes.
func (m *message) snapshot() Message {
	out := m.Message
	out.Parts = make([]Part, len(m.parts))
	for i, p := range m.parts {
		out.Parts[i] = p.snapshot()
	}
	return out
}

func (p *part) snapshot() Part {
	out := p.Part
	switch p.Status {
	case shoal.PartStreaming:
		out.Text = string(p.buf)
	case shoal.PartInputStreaming:
		out.Input = string(p.buf)
	}
	return out
}
