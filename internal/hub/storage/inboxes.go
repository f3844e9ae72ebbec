package storage

import (
	"github.com/shoal-dev/shoal"
)

// InboxTx stores inboxes: for each entity the messages that it has not acknowledged, in
// an order of their own without gaps.
type InboxTx interface {
	// Deliver puts the message into the inbox of every member of its space as a mention, a
	// system message or a message, except for its sender and for hosted agents, which are
	// started instead. A message of [shoal.System] reaches every other member, or only
	// the mentioned ones if it mentions any. Members that have muted the space get only
	// messages that mention them. Deliver returns the receivers.
	Deliver(m shoal.Message) ([]Receiver, error)
	// Unread returns the first limit entries that match filter, in order.
	Unread(session shoal.SessionID, entity shoal.EntityID, filter InboxFilter, limit int) ([]InboxEntry, error)
	// MarkDelivered counts one more delivery of the entries at these positions and
	// ignores positions that no longer exist.
	MarkDelivered(session shoal.SessionID, entity shoal.EntityID, places []int64) error
	// Acknowledge removes the entries up to and including upTo that match filter.
	Acknowledge(session shoal.SessionID, entity shoal.EntityID, filter InboxFilter, upTo int64) error
	// AcknowledgeSpace removes the entries of a space up to and including seq, whether
	// delivered or not.
	AcknowledgeSpace(session shoal.SessionID, space shoal.SpaceID, entity shoal.EntityID, seq int64) error
	// MarkUnread puts messages of a space, starting with a seq, into the inbox of an entity
	// at new positions, in their order: those that would have entered it and are not in
	// it, at most the newest limit of them. It skips messages in progress, deleted
	// messages and the entity's own.
	MarkUnread(session shoal.SessionID, space shoal.SpaceID, entity shoal.EntityID, seq int64, limit int) error
	// InboxEnd returns the last position that was ever assigned in the inbox, or 0.
	InboxEnd(session shoal.SessionID, entity shoal.EntityID) (int64, error)
	// Counts returns the unread counts of each of the given spaces.
	Counts(session shoal.SessionID, entity shoal.EntityID, spaces []shoal.SpaceID) (map[shoal.SpaceID]Unread, error)
	// Explicit reports whether this key acknowledges explicitly. SetExplicit makes it do
	// so permanently.
	Explicit(session shoal.SessionID, entity shoal.EntityID, key shoal.KeyID) (bool, error)
	SetExplicit(session shoal.SessionID, entity shoal.EntityID, key shoal.KeyID) error
}

// InboxFilter selects inbox entries. With WaitMentions only mentions and system messages
// match. Space and From, if set, narrow the selection further; From never excludes
// system messages.
type InboxFilter struct {
	Kind  shoal.WaitKind
	Space shoal.SpaceID
	From  []shoal.EntityID
}

// Receiver is an entity whose inbox a message entered, with the position and the reason.
type Receiver struct {
	ID     shoal.EntityID
	Place  int64
	Reason shoal.Reason
}

// InboxEntry is one unread message with its position in the inbox. Delivery counts how
// often it has been delivered so far.
type InboxEntry struct {
	Place    int64
	Reason   shoal.Reason
	Delivery int
	Space    shoal.SpaceRef
	Message  shoal.Message
	// EventPlace is the position of an event of the session that was assigned no earlier
	// than this entry, or 0 if no such position is known.
	EventPlace int64
}

// Unread counts the unread messages of a space, and the mentions among them. First is the
// seq of the oldest one, 0 if there is none.
type Unread struct{ Messages, Mentions, First int64 }
