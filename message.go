package shoal

import (
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
	// OnBehalfOf are those that the run acts for which wrote the message into a space
	// other than its trigger's; empty for all other messages.
	OnBehalfOf []EntityID `json:"onBehalfOf"`
	// ReplyTo is the message of the same space that this one replies to, nil for none.
	// That one may have been deleted since.
	ReplyTo *MessageID `json:"replyTo"`
	// Reactions are in the order in which their emoji were first given.
	Reactions []Reaction `json:"reactions"`
	// DeletedAt is when the message was deleted, nil if it was not. A deleted message
	// keeps its place, sender and times; it has no parts and mentions nobody.
	DeletedAt *Time `json:"deletedAt"`
	// EditedAt is when its sender edited the message last, nil if that never happened.
	EditedAt *Time `json:"editedAt"`
	// SkippedAgents are those who would act on the message and do not, because
	// they run and refuse a second message. It is in the answer to a post alone.
	SkippedAgents []EntityID `json:"skippedAgents,omitempty"`
	// Reach says for every agent that the message mentions how it is reached, and Runs
	// which runs the message started. They are in the answer to a post alone.
	Reach []Reach      `json:"reach,omitempty"`
	Runs  []StartedRun `json:"runs,omitempty"`
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
//
// TriggerAgents false keeps hosted agents from acting on the message; nil is true.
// ReplyTo is the message of the same space that it replies to, empty for none.
type Draft struct {
	Parts         []Part     `json:"parts"`
	Mentions      []EntityID `json:"mentions,omitempty"`
	TriggerAgents *bool      `json:"triggerAgents,omitempty"`
	ReplyTo       MessageID  `json:"replyTo,omitempty"`
}

// MessageEdit is what a sender hands in to change what its message says.
type MessageEdit struct {
	Parts []Part `json:"parts"`
	// Mentions are whom the message mentions from now on; nil leaves them as they are.
	// Nobody is notified: who is added is shown as mentioned and is not woken, and for who
	// is removed an unread message is not a mention any more.
	Mentions []EntityID `json:"mentions,omitzero"`
	// UpdatedAt is the UpdatedAt of the message that was edited, as the caller has read it.
	// The edit is refused with [Conflict] if the message has changed since; nil edits any.
	UpdatedAt *Time `json:"updatedAt,omitempty"`
}

// Validate is that of a [Draft] with the same content.
func (e MessageEdit) Validate() error { return Draft{Parts: e.Parts, Mentions: e.Mentions}.Validate() }

// MessageVersion is what a message said before an edit. Version counts from 1, At is
// since when it said that.
type MessageVersion struct {
	Version         int64      `json:"version"`
	At              Time       `json:"at"`
	Mentions        []EntityID `json:"mentions"`
	DroppedMentions []EntityID `json:"droppedMentions"`
	Parts           []Part     `json:"parts"`
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
