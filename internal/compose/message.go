package compose

import (
	"encoding/json"

	"github.com/shoal-dev/shoal"
)

// Message is the stored form of a composite message. Fields that the contract does not
// show are for [Restore].
type Message struct {
	ID     shoal.MessageID     `json:"id"`
	Space  shoal.SpaceID       `json:"spaceId"`
	Status shoal.MessageStatus `json:"status"`
	// Mention is the entity that the message mentions, once it is sealed.
	Mention shoal.EntityID `json:"mention,omitempty"`
	// Sealed means that the message accepts no more parts; SealedBy is the call that
	// sealed it. Starts means that the mention starts when the message is completed.
	Sealed   bool   `json:"sealed,omitempty"`
	SealedBy string `json:"sealedBy,omitempty"`
	Starts   bool   `json:"starts,omitempty"`
	// Opened counts all parts that were ever added, including removed ones.
	Opened int    `json:"opened"`
	Parts  []Part `json:"parts"`
}

// Part is one part of a composite message: text, or a tool call.
type Part struct {
	ID     shoal.PartID     `json:"id"`
	Type   shoal.PartType   `json:"type"`
	Status shoal.PartStatus `json:"status"`
	// Call is the tool call that the part comes from, also for a text part.
	Call string `json:"call"`

	// Text is set in a text part. Accepted means that its call was permitted.
	Text     string `json:"text,omitempty"`
	Accepted bool   `json:"accepted,omitempty"`

	// The following fields are set in a tool part. Args contains no routing fields.
	// Input is the incomplete JSON of the arguments while the model writes them.
	Tool       string          `json:"toolName,omitempty"`
	Args       json.RawMessage `json:"args,omitempty"`
	Input      string          `json:"input,omitempty"`
	Result     json.RawMessage `json:"result,omitempty"`
	Error      string          `json:"error,omitempty"`
	Rendering  json.RawMessage `json:"display,omitempty"`
	AnsweredBy shoal.EntityID  `json:"answeredBy,omitempty"`
	// EditedArgs are the arguments that were approved instead of Args, if they differ.
	EditedArgs json.RawMessage `json:"editedArgs,omitempty"`
	// Decision is the outcome of the permission that the call needed; nil without one.
	Decision *shoal.Decision `json:"decision,omitempty"`
	// Target is the one member that may see the part; empty for all.
	Target shoal.EntityID `json:"targetEntityId,omitempty"`
	// Pending is the request that the part shows or has shown. RequestOnly means that
	// the part shows only a request: its result is the answer, not the tool's.
	Pending     string `json:"pending,omitempty"`
	RequestOnly bool   `json:"requestOnly,omitempty"`
}

// VisibleTo reports whether a member may see more of the part than its id, its
// type and that it is private.
func (p Part) VisibleTo(reader shoal.EntityID) bool { return p.Target == "" || p.Target == reader }

// isFinal reports whether the part is final.
func (p *Part) isFinal() bool {
	switch p.Status {
	case shoal.PartStreaming, shoal.PartInputStreaming, shoal.PartRunning, shoal.PartRequiresAction:
		return false
	}
	return p.Type != shoal.TextPart || p.Accepted
}

// message is a composite message that is open.
type message struct {
	Message // without its parts
	parts   []*part
	changed bool // since the last snapshot that was returned
	due     bool // to be saved with the next effects
}

// part is a part of an open message. buf collects the content; Text or Args is set when it
// is complete.
type part struct {
	Part
	place *PartRef
	in    *message
	buf   []byte
}

// snapshot returns the message in its current state. It shares no memory that changes.
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
