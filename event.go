package shoal

import "encoding/json"

// EventType names what happened, as in the table of server-sent events in
// docs/rest.md.
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

	EventDeliveryUpdated EventType = "delivery.updated"
)

// Cursor is an opaque position in the events of a session. Resuming with it continues
// immediately after the event that carried it.
type Cursor string

// Event is a change that followers receive. Data is the complete JSON object {type,
// spaceId, at, …} that clients receive; it is encoded once and shared, and must not be
// changed. Cursor is empty for ephemeral events, which are not stored, such as
// entity.updated.
type Event struct {
	Type   EventType
	Cursor Cursor
	Data   json.RawMessage
}

// EventHead contains the common fields of all events.
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
	// MemberData belongs to member.joined and member.left. MemberCount is the number of
	// members after the change.
	MemberData struct {
		EventHead
		Member      Member `json:"member"`
		MemberCount int64  `json:"memberCount"`
	}
	// SpaceDeletedData belongs to space.deleted, the last event of a space.
	SpaceDeletedData struct{ EventHead }
	// SpaceData belongs to space.updated and space.closed. The counts in it are
	// 0: they differ from reader to reader.
	SpaceData struct {
		EventHead
		Space Space `json:"space"`
	}
	// DeliveryData belongs to delivery.updated, which only EntityID, the sender of the
	// message, and admins receive.
	DeliveryData struct {
		EventHead
		EntityID   EntityID  `json:"entityId"`
		MessageID  MessageID `json:"messageId"`
		Deliveries []Receipt `json:"deliveries"`
	}
	// EntityData belongs to entity.updated.
	EntityData struct {
		EventHead
		Entity Entity `json:"entity"`
	}
)

// The types of events that runs cause. Deltas are ephemeral; all others are stored.
const (
	EventMessageCompleted EventType = "message.completed"
	EventMessageUpdated   EventType = "message.updated"

	EventTextStart EventType = "text-start"
	EventTextDelta EventType = "text-delta"
	EventTextEnd   EventType = "text-end"

	EventToolInputStart      EventType = "tool-input-start"
	EventToolInputDelta      EventType = "tool-input-delta"
	EventToolInputAvailable  EventType = "tool-input-available"
	EventToolOutputAvailable EventType = "tool-output-available"
	EventToolOutputError     EventType = "tool-output-error"

	EventPartReset   EventType = "part.reset"
	EventPartRemoved EventType = "part.removed"

	EventReasoningStart EventType = "reasoning-start"
	EventReasoningDelta EventType = "reasoning-delta"
	EventReasoningEnd   EventType = "reasoning-end"

	EventRunCreated      EventType = "run.created"
	EventRunStarted      EventType = "run.started"
	EventRunWaitingTool  EventType = "run.waiting_tool"
	EventRunWaitingReply EventType = "run.waiting_reply"
	EventRunResumed      EventType = "run.resumed"
	EventRunStalled      EventType = "run.stalled"
	EventRunCompleted    EventType = "run.completed"
	EventRunFailed       EventType = "run.failed"
	EventRunCanceled     EventType = "run.canceled"

	EventStepStarted   EventType = "step.started"
	EventStepCompleted EventType = "step.completed"

	EventPendingOpened  EventType = "pending.opened"
	EventPendingVoted   EventType = "pending.voted"
	EventPendingSettled EventType = "pending.settled"
)

type (
	// PartHead contains the common fields of all events of parts. TargetEntityID is the one
	// member that may see the part, if it is not for all. Private means that the reader is
	// not that member: the event contains nothing else about the part.
	PartHead struct {
		EventHead
		MessageID      MessageID `json:"messageId"`
		PartID         PartID    `json:"partId"`
		TargetEntityID EntityID  `json:"targetEntityId,omitempty"`
		Private        bool      `json:"private,omitempty"`
	}
	// TextData belongs to text-start (without Text) and text-end.
	TextData struct {
		PartHead
		Text   string     `json:"text,omitempty"`
		Status PartStatus `json:"status,omitempty"`
	}
	// DeltaData belongs to text-delta, tool-input-delta and reasoning-delta. Offset
	// is the number of bytes of UTF-8 that the part had before.
	DeltaData struct {
		PartHead
		ToolCallID string `json:"toolCallId,omitempty"`
		ToolName   string `json:"toolName,omitempty"`
		Offset     int    `json:"offset"`
		Delta      string `json:"delta"`
	}
	// ToolInputData belongs to tool-input-start (Args absent) and
	// tool-input-available. tool-input-start carries Display, so that a client can
	// render the part as intended from its first argument on.
	ToolInputData struct {
		PartHead
		ToolCallID string          `json:"toolCallId"`
		ToolName   string          `json:"toolName"`
		Args       json.RawMessage `json:"args,omitempty"`
		Display    json.RawMessage `json:"display,omitempty"`
	}
	// ToolOutputData belongs to tool-output-available and tool-output-error.
	ToolOutputData struct {
		PartHead
		ToolCallID string          `json:"toolCallId"`
		ToolName   string          `json:"toolName"`
		Status     PartStatus      `json:"status"`
		Result     json.RawMessage `json:"result"`
		Error      *string         `json:"error"`
		AnsweredBy *EntityID       `json:"answeredBy"`
		Decision   *Decision       `json:"decision"`
	}
	// PartResetData belongs to part.reset; part.removed has offset 0.
	PartResetData struct {
		PartHead
		Offset int `json:"offset"`
	}
	// RunData belongs to the events of a run.
	RunData struct {
		EventHead
		Run Run `json:"run"`
	}
	// StepData belongs to step.started and step.completed.
	StepData struct {
		EventHead
		Step Step `json:"step"`
	}
	// PendingData belongs to pending.opened, pending.voted and pending.settled.
	PendingData struct {
		EventHead
		PendingAction PendingAction `json:"pendingAction"`
	}
	// RunSnapshotData opens the stream of a run.
	RunSnapshotData struct {
		EventHead
		Run      Run       `json:"run"`
		Steps    []Step    `json:"steps"`
		Messages []Message `json:"messages"`
		Cursor   Cursor    `json:"cursor"`
	}
)

// Head returns the fields that all events of parts have, for the sender to set.
func (h *PartHead) Head() *PartHead { return h }
