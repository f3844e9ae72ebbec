package shoal

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// MessageStatus states whether a message can still change.
type MessageStatus string

// The states of a message. A posted message is completed at once.
const (
	MessageStreaming MessageStatus = "streaming"
	MessageCompleted MessageStatus = "completed"
	MessageFailed    MessageStatus = "failed"
	MessageCanceled  MessageStatus = "canceled"
)

// Message is one entry of a space's timeline. Seq is its position there, unique
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
	// OnBehalfOf are the entities for which the run acts, if it posted the message to a
	// space other than its trigger's; empty for all other messages.
	OnBehalfOf []EntityID `json:"onBehalfOf"`
	// ReplyTo is the message of the same space that this one replies to, nil for none.
	// That one may have been deleted since.
	ReplyTo *MessageID `json:"replyTo"`
	// Reactions are in the order in which their emoji were first given.
	Reactions []Reaction `json:"reactions"`
	// DeletedAt is when the message was deleted, nil if it was not. A deleted message
	// keeps its position, sender and times; it has no parts and mentions nobody.
	DeletedAt *Time `json:"deletedAt"`
	// EditedAt is when its sender edited the message last, nil if that never happened.
	EditedAt *Time `json:"editedAt"`
	// SkippedAgents are the agents that do not act on the message, because they are
	// running and refuse a second message. Only the response to a post contains them.
	SkippedAgents []EntityID `json:"skippedAgents,omitempty"`
	// Reach contains how the message reaches each mentioned agent, and Runs the runs that
	// it started. Only the response to a post contains them.
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

// Draft is the input that posts a message. Mentions of entities that are not members of
// the space are dropped and named in the message.
//
// TriggerAgents false keeps hosted agents from acting on the message; nil is true.
// ReplyTo is the message of the same space that it replies to, empty if it replies to none.
type Draft struct {
	Parts         []Part     `json:"parts"`
	Mentions      []EntityID `json:"mentions,omitempty"`
	TriggerAgents *bool      `json:"triggerAgents,omitempty"`
	ReplyTo       MessageID  `json:"replyTo,omitempty"`
}

// MessageEdit is the input with which a sender edits its message.
type MessageEdit struct {
	Parts []Part `json:"parts"`
	// Mentions replaces the mentions; nil keeps them. Nobody is notified: an added entity
	// is shown as mentioned and is not woken, and for a removed one an unread message stops
	// being a mention.
	Mentions []EntityID `json:"mentions,omitzero"`
	// UpdatedAt is the UpdatedAt of the message that was edited, as the caller has read it.
	// The edit is refused with [Conflict] if the message has changed since; nil edits any.
	UpdatedAt *Time `json:"updatedAt,omitempty"`
}

// Validate is that of a [Draft] with the same content.
func (e MessageEdit) Validate() error { return Draft{Parts: e.Parts, Mentions: e.Mentions}.Validate() }

// MessageVersion is the content of a message before an edit. Version counts from 1; At is
// when the message got this content.
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

// Reaction is an emoji with which entities have reacted to a message, in the order in
// which they did.
type Reaction struct {
	Emoji     string     `json:"emoji"`
	EntityIDs []EntityID `json:"entityIds"`
}

// Limits of the reactions to one message.
const (
	// MaxReactions is how many different emoji there are, MaxReactors how many entities
	// share one of them, and MaxOwnReactions how many one entity gives.
	MaxReactions    = 20
	MaxReactors     = 100
	MaxOwnReactions = 5
	// MaxEmoji is how many bytes an emoji has.
	MaxEmoji = 64
)

// CheckEmoji checks that s is one emoji: a single visible character, such as a flag, a key
// cap, or a joined sequence.
func CheckEmoji(field, s string) error {
	rest, ok := s, s != "" && len(s) <= MaxEmoji && utf8.ValidString(s)
	for first := true; ok && (first || rest != ""); first = false {
		if !first {
			rest, ok = strings.CutPrefix(rest, "\u200d")
		}
		if ok {
			rest, ok = cutEmoji(rest)
		}
	}
	if !ok {
		return Invalid(field, "must be one emoji")
	}
	return nil
}

// SameEmoji reports whether two emoji are equal except for their variation selectors.
func SameEmoji(a, b string) bool {
	return strings.ReplaceAll(a, "\ufe0f", "") == strings.ReplaceAll(b, "\ufe0f", "")
}

// cutEmoji removes a single emoji, not a joined sequence, from the beginning of s.
func cutEmoji(s string) (rest string, ok bool) {
	r, size := utf8.DecodeRuneInString(s)
	rest = s[size:]
	switch {
	case isFlagLetter(r):
		second, size := utf8.DecodeRuneInString(rest)
		return rest[size:], isFlagLetter(second)
	case r == '#', r == '*', '0' <= r && r <= '9':
		return strings.CutPrefix(strings.TrimPrefix(rest, "\ufe0f"), "\u20e3")
	case !isEmoji(r):
		return s, false
	}
	rest = strings.TrimPrefix(rest, "\ufe0f")
	if tone, size := utf8.DecodeRuneInString(rest); isTone(tone) && !isTone(r) {
		rest = rest[size:]
	}
	// The flags of regions are spelled in tags.
	tags := strings.TrimLeftFunc(rest, func(r rune) bool { return 0xE0020 <= r && r <= 0xE007E })
	if len(tags) < len(rest) {
		return strings.CutPrefix(tags, "\U000E007F")
	}
	return rest, true
}

// isTone reports whether r modifies the skin tone.
func isTone(r rune) bool { return 0x1F3FB <= r && r <= 0x1F3FF }

func isFlagLetter(r rune) bool { return 0x1F1E6 <= r && r <= 0x1F1FF }

// emoji are the ranges of characters that are emoji, those including those
// that later versions of Unicode will assign. A few other symbols are among them.
var emoji = [][2]rune{
	{0xA9, 0xA9},
	{0xAE, 0xAE},
	{0x203C, 0x203C},
	{0x2049, 0x2049},
	{0x2122, 0x2122},
	{0x2139, 0x2139},
	{0x2194, 0x2199},
	{0x21A9, 0x21AA},
	{0x231A, 0x231B},
	{0x2328, 0x2328},
	{0x23CF, 0x23CF},
	{0x23E9, 0x23F3},
	{0x23F8, 0x23FA},
	{0x24C2, 0x24C2},
	{0x25AA, 0x25AB},
	{0x25B6, 0x25B6},
	{0x25C0, 0x25C0},
	{0x25FB, 0x25FE},
	{0x2600, 0x27BF},
	{0x2934, 0x2935},
	{0x2B05, 0x2B07},
	{0x2B1B, 0x2B1C},
	{0x2B50, 0x2B50},
	{0x2B55, 0x2B55},
	{0x3030, 0x3030},
	{0x303D, 0x303D},
	{0x3297, 0x3297},
	{0x3299, 0x3299},
	{0x1F004, 0x1F004},
	{0x1F0CF, 0x1F0CF},
	{0x1F170, 0x1F251},
	{0x1F300, 0x1FAFF},
}

func isEmoji(r rune) bool {
	for _, in := range emoji {
		if in[0] <= r && r <= in[1] {
			return !isFlagLetter(r)
		}
	}
	return false
}
