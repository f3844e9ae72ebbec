package shoal

import "encoding/json"

// EventType names what happened, as in the contract's table of server-sent
// events.
type EventType string

// The types of events.
const (
	EventSnapshot       EventType = "snapshot"
	EventSnapshotEnd    EventType = "snapshot.end"
	EventMessageCreated EventType = "message.created"
	EventMemberJoined   EventType = "member.joined"
	EventMemberLeft     EventType = "member.left"
	EventSpaceUpdated   EventType = "space.updated"
	EventSpaceClosed    EventType = "space.closed"
	EventSpaceDeleted   EventType = "space.deleted"
	EventEntityUpdated  EventType = "entity.updated"
)

// Cursor is an opaque place in the events of a session. Resuming with it
// continues right behind the event that carried it.
type Cursor string

// Event is one thing that happened, as followers see it. Data is the complete
// JSON object {type, spaceId, at, …} that clients receive; it is encoded once and shared, so
// nobody may change it. Cursor is empty for events that pass by and are not
// stored, such as entity.updated.
type Event struct {
	Type   EventType
	Cursor Cursor
	Data   json.RawMessage
}

// EventHead is what the data of every event starts with.
type EventHead struct {
	Type    EventType `json:"type"`
	SpaceID *SpaceID  `json:"spaceId"`
	RunID   *RunID    `json:"runId"`
	At      Time      `json:"at"`
}

// The data of the events. They are exported so that clients can decode what
// they follow.
type (
	// SnapshotData opens a stream: the space as it is, its newest messages in
	// ascending order, and the cursor from which the following events continue.
	SnapshotData struct {
		EventHead
		Space    Space     `json:"space"`
		Members  []Member  `json:"members"`
		Messages []Message `json:"messages"`
		Cursor   Cursor    `json:"cursor"`
	}
	// SnapshotEndData closes the snapshots of a stream over many spaces.
	SnapshotEndData struct {
		EventHead
		Cursor Cursor `json:"cursor"`
	}
	// MessageData belongs to message.created.
	MessageData struct {
		EventHead
		Message Message `json:"message"`
	}
	// MemberData belongs to member.joined and member.left.
	MemberData struct {
		EventHead
		Member Member `json:"member"`
	}
	// SpaceDeletedData belongs to space.deleted, the last event of a space.
	SpaceDeletedData struct{ EventHead }
	// SpaceData belongs to space.updated and space.closed. The counts in it are
	// 0: they differ from reader to reader.
	SpaceData struct {
		EventHead
		Space Space `json:"space"`
	}
	// EntityData belongs to entity.updated.
	EntityData struct {
		EventHead
		Entity Entity `json:"entity"`
	}
)
