package hub

import "github.com/shoal-dev/shoal"

// Topics of the bus. An id has no slash, so topics never meet by accident.

// sessionTopic is hinted at by every event of a session and carries the passing
// events about its entities.
func sessionTopic(s shoal.SessionID) string { return "session/" + string(s) }

// spaceTopic is hinted at by every event of a space.
func spaceTopic(s shoal.SessionID, p shoal.SpaceID) string {
	return "space/" + string(s) + "/" + string(p)
}

// inboxTopic is hinted at by every new entry of an inbox.
func inboxTopic(s shoal.SessionID, e shoal.EntityID) string {
	return "inbox/" + string(s) + "/" + string(e)
}

// entityTopic is hinted at when an entity joins or leaves a space, and carries
// the passing events about the entity.
func entityTopic(s shoal.SessionID, e shoal.EntityID) string {
	return "entity/" + string(s) + "/" + string(e)
}

// runTopic is hinted at by every event of a run and by every change of it that
// whoever executes or cancels it has to see, and carries its deltas.
func runTopic(s shoal.SessionID, r shoal.RunID) string { return "run/" + string(s) + "/" + string(r) }

// workTopic is hinted at when there may be something to do for whoever executes
// runs.
const workTopic = "work"

// dueTopic is hinted at when a pending row has a time at which it is due.
const dueTopic = "due"
