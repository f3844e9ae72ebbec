package storage

import (
	"github.com/shoal-dev/shoal"
)

// InboxTx stores inboxes: for each entity the messages that it has not acknowledged, in
// the order in which the session's messages became final. Each message has one place in
// that order. What a message stores does not depend on how many members its space has: a
// member has a position in each of its spaces, and only mentions, system messages and
// messages that were marked as unread have entries of their own.
type InboxTx interface {
	// Deliver gives a message that is final its place. It enters the inbox of every member
	// of its space as a mention, a system message or a message, except for its sender and
	// for hosted agents, which are started instead. A message of [shoal.System] reaches
	// every other member, or only the mentioned ones if it mentions any. Members that have
	// muted the space get only messages that mention them. A message that was delivered
	// before enters the inboxes of the mentioned members again, at a new place.
	//
	// Deliver returns the receivers of mentions and system messages, and those receivers of
	// other messages that are in watching, which may be nil.
	Deliver(m shoal.Message, watching EntitySet) (Delivered, error)
	// Unread returns the first limit entries that match filter, in order.
	Unread(session shoal.SessionID, entity shoal.EntityID, filter InboxFilter, limit int) ([]InboxEntry, error)
	// MarkDelivered counts one more delivery of the entries at these places and
	// ignores places of which no entry is in the inbox. An entry keeps the time and the way
	// of its first delivery.
	MarkDelivered(session shoal.SessionID, entity shoal.EntityID, delivered []DeliveredEntry) error
	// Acknowledge removes the entries up to and including upTo that match filter, and records
	// that mentions among them were resumed, and when they were delivered: known are deliveries
	// that MarkDelivered was not called for.
	Acknowledge(session shoal.SessionID, entity shoal.EntityID, filter InboxFilter, upTo int64, known []DeliveredEntry) (Acknowledged, error)
	// AcknowledgeSpace removes the entries of a space up to and including seq, whether
	// delivered or not. Messages that are not final yet enter the inbox later.
	AcknowledgeSpace(session shoal.SessionID, space shoal.SpaceID, entity shoal.EntityID, seq int64) error
	// MarkUnread puts messages of a space, starting with a seq, into the inbox of an entity
	// at new places, in their order: those that would have entered it and are not in
	// it, at most the newest limit of them. It skips messages in progress, deleted
	// messages and the entity's own.
	MarkUnread(session shoal.SessionID, space shoal.SpaceID, entity shoal.EntityID, seq int64, limit int) error
	// InboxEnd returns the last place that was ever assigned in the session, or 0.
	InboxEnd(session shoal.SessionID) (int64, error)
	// PlaceOfEvent returns the place of the posted message whose event has a position, or 0
	// if there is none.
	PlaceOfEvent(session shoal.SessionID, event int64) (int64, error)
	// Counts returns the unread counts of each of the given spaces.
	Counts(session shoal.SessionID, entity shoal.EntityID, spaces []shoal.SpaceID) (map[shoal.SpaceID]Unread, error)
	// Explicit reports whether this key acknowledges explicitly. SetExplicit makes it do
	// so permanently.
	Explicit(session shoal.SessionID, entity shoal.EntityID, key shoal.KeyID) (bool, error)
	SetExplicit(session shoal.SessionID, entity shoal.EntityID, key shoal.KeyID) error
	// AnswerMentions records that a message answers mentions of its sender in its space: those
	// by the entities that it mentions among the newest MaxAnswered entries, and the one in the
	// message that it replies to. A mention has one answer. One that was neither delivered nor
	// acknowledged is answered only by a reply, unless its seq is in delivered. It returns the
	// seqs of the messages with these mentions.
	AnswerMentions(m shoal.Message, delivered []int64) ([]int64, error)
	// Mentions returns what became of the mentions of the given entities in the message seq of a
	// space. Hosted agents have none.
	Mentions(session shoal.SessionID, space shoal.SpaceID, seq int64, entities []shoal.EntityID) ([]Mention, error)
}

// MaxAnswered is the number of entries among which a message finds the mentions that it
// answers.
const MaxAnswered = 16

// DeliveredEntry is an entry of an inbox that a wait has returned: when, and to what kind of
// wait. Mention is the message, if it mentions the entity.
type DeliveredEntry struct {
	Place   int64
	At      shoal.Time
	Via     string
	Mention MessagePosition
}

// Acknowledged is the effect of an acknowledgment: whether later entries match its filter, and
// the messages whose mentions it has acknowledged.
type Acknowledged struct {
	More     bool
	Mentions []MessagePosition
}

// MessagePosition is the position of a message in a session.
type MessagePosition struct {
	Space shoal.SpaceID
	Seq   int64
}

// Mention is what became of a mention that is in an inbox. Times are nil for what has not
// happened. DeliveredAt is not later than ResumedAt, which is when the agent acknowledged it.
type Mention struct {
	EntityID    shoal.EntityID
	DeliveredAt *shoal.Time
	Via         string // empty if it was not delivered
	ResumedAt   *shoal.Time
	AnsweredBy  shoal.MessageID // empty if it is not answered
	AnsweredAt  *shoal.Time
}

// InboxFilter selects inbox entries. With WaitMentions only mentions and system messages
// match. Space and From, if set, narrow the selection further; From never excludes
// system messages. Only entries at places greater than After match: a caller that knows
// that no earlier entry matches saves the search for one.
type InboxFilter struct {
	Kind  shoal.WaitKind
	Space shoal.SpaceID
	From  []shoal.EntityID
	After int64
}

// EntitySet is a set of entities of a session.
type EntitySet interface {
	// Len returns the number of entities.
	Len() int
	// Has reports whether the set contains an entity.
	Has(id shoal.EntityID) bool
	// All returns the entities in any order.
	All() []shoal.EntityID
}

// Delivered is the place of a message and the receivers that Deliver returns.
type Delivered struct {
	Place     int64
	Receivers []Receiver
}

// Receiver is an entity whose inbox a message entered, with the reason.
type Receiver struct {
	ID     shoal.EntityID
	Reason shoal.Reason
}

// InboxEntry is one unread message with its place. Delivery counts how often it has been
// delivered so far.
type InboxEntry struct {
	Place    int64
	Reason   shoal.Reason
	Delivery int
	Space    shoal.SpaceRef
	Message  shoal.Message
	// Listed is Space with its members as they were when the message was stored, if the message was
	// delivered directly, and nil otherwise. It is shared.
	Listed *shoal.Space
	// EventPosition is the position of an event of the session that was assigned no earlier
	// than this entry, or 0 if no such position is known.
	EventPosition int64
}

// Unread counts the unread messages of a space, and the mentions among them. First is the
// seq of the oldest one, or 0. Muted means that the entity has muted the space.
type Unread struct {
	Messages, Mentions, First int64
	Muted                     bool
}
