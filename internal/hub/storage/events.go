package storage

import (
	"github.com/shoal-dev/shoal"
)

// EventTx stores the events of a session in one order without gaps.
type EventTx interface {
	// AppendEvent assigns the next position to the event and stores it.
	AppendEvent(e Event) (position int64, err error)
	// Events returns the first limit events after a position that match filter.
	Events(session shoal.SessionID, filter EventFilter, after int64, limit int) ([]Event, error)
	// EventEnd returns the last position that was assigned, or 0.
	EventEnd(session shoal.SessionID) (int64, error)
	// Descends reports whether the events of the session up to position are those that the
	// store of that epoch had. They are not if the database was meanwhile replaced by a
	// copy from before that event.
	Descends(session shoal.SessionID, epoch string, position int64) (bool, error)
	// EventFloor returns the position up to which matching events may be missing because
	// they were trimmed.
	EventFloor(session shoal.SessionID, filter EventFilter) (int64, error)
	// TrimEvents erases all but the newest keep events of a space, or of no space if space
	// is empty. Events about posted messages and other events are counted separately.
	TrimEvents(session shoal.SessionID, space shoal.SpaceID, keep int) error
}

// Event is an event with its position. Entity is set for events about a
// membership: the entity receives the event even when it is not, or no longer, a member.
//
// Run is the run whose stream contains the event, if any. An event without a space
// appears only there. Private means that Data contains parts for one member (and for
// admins and services): other readers get a redacted copy.
type Event struct {
	Session  shoal.SessionID
	Position int64
	Space    shoal.SpaceID
	Entity   shoal.EntityID
	Run      shoal.RunID
	Private  bool
	Type     shoal.EventType
	Data     []byte
	// Message is set for an event that contains the current state of a message whenever
	// the event is read: it is appended with only the event head as Data and is read with
	// a [shoal.MessageData].
	Message shoal.MessageID
}

// EventFilter selects the events of one run; of one space; of all spaces that an entity is
// in, and those about the entity itself; or, with all fields empty, of all spaces of the
// session. Only the filter by run includes events without a space.
type EventFilter struct {
	Run    shoal.RunID
	Space  shoal.SpaceID
	Entity shoal.EntityID
}
