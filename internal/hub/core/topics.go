package core

import (
	"github.com/shoal-dev/shoal"
)

// Topics of the bus. An id has no slash, so topics never meet by accident.

// SessionTopic is hinted at by every event of a session and carries the passing
// events about its entities.
func SessionTopic(s shoal.SessionID) string { return "session/" + string(s) }

// SpaceTopic is hinted at by every event of a space.
func SpaceTopic(s shoal.SessionID, p shoal.SpaceID) string {
	return "space/" + string(s) + "/" + string(p)
}

// InboxTopic is hinted at by every new entry of an inbox.
func InboxTopic(s shoal.SessionID, e shoal.EntityID) string {
	return "inbox/" + string(s) + "/" + string(e)
}

// EntityTopic is hinted at when an entity joins or leaves a space, and carries
// the passing events about the entity.
func EntityTopic(s shoal.SessionID, e shoal.EntityID) string {
	return "entity/" + string(s) + "/" + string(e)
}

// RunTopic is hinted at by every event of a run and by every change of it that
// whoever executes or cancels it has to see, and carries its deltas.
func RunTopic(s shoal.SessionID, r shoal.RunID) string { return "run/" + string(s) + "/" + string(r) }

// WorkTopic is hinted at when there may be something to do for whoever executes
// runs.
const WorkTopic = "work"

// DueTopic is hinted at when a pending row has a time at which it is due.
const DueTopic = "due"
