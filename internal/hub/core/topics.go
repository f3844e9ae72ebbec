package core

import (
	"strings"

	"github.com/shoal-dev/shoal"
)

// SessionTopic is notified about every event of a session and carries the ephemeral events
// about its entities. Ids contain no slash, so topics are never equal by accident.
func SessionTopic(s shoal.SessionID) string { return "session/" + string(s) }

// SpaceTopic is notified about every event of a space.
func SpaceTopic(s shoal.SessionID, p shoal.SpaceID) string {
	return "space/" + string(s) + "/" + string(p)
}

// ArrivalTopic is notified about every message of a session that enters inboxes.
func ArrivalTopic(s shoal.SessionID) string { return "arrival/" + string(s) }

// InboxTopic is notified about every mention and system message that enters an inbox, and
// about those other messages for which the entity waits on the server that stored them.
func InboxTopic(s shoal.SessionID, e shoal.EntityID) string {
	return "inbox/" + string(s) + "/" + string(e)
}

// Follows reports whether those that are notified about a topic follow a session or a space, or
// wait for whatever is posted in a session: a few milliseconds more do not matter to them.
func Follows(topic string) bool {
	kind, _, _ := strings.Cut(topic, "/")
	return kind == "session" || kind == "space" || kind == "arrival"
}

// PlacedSession returns the session of a topic whose notifications have a place. ok is false for
// other topics.
func PlacedSession(topic string) (session shoal.SessionID, ok bool) {
	rest, ok := strings.CutPrefix(topic, "inbox/")
	if !ok {
		rest, ok = strings.CutPrefix(topic, "arrival/")
	}
	id, _, _ := strings.Cut(rest, "/")
	return shoal.SessionID(id), ok
}

// EntityTopic is notified when an entity joins or leaves a space, and carries the ephemeral
// events about the entity.
func EntityTopic(s shoal.SessionID, e shoal.EntityID) string {
	return "entity/" + string(s) + "/" + string(e)
}

// RunTopic is notified about every event of a run and about every change of it that its
// executor or a caller that cancels it has to see. It carries the deltas of the run.
func RunTopic(s shoal.SessionID, r shoal.RunID) string { return "run/" + string(s) + "/" + string(r) }

// WorkTopic is notified when an executor may have something to do.
const WorkTopic = "work"

// DueTopic is notified when a pending row is stored that has a due time.
const DueTopic = "due"

// RightsTopic is notified when rights have ended.
const RightsTopic = "rights"

// ProgramTopic is notified when a remote run of an agent may have become claimable.
func ProgramTopic(s shoal.SessionID, agent shoal.EntityID) string {
	return "program/" + string(s) + "/" + string(agent)
}
