package hub

import (
	"encoding/json"
	"slices"

	"github.com/shoal-dev/shoal"
)

// recordRun stores an event of a run: for the followers of a space, if one is
// given, and for those of the run itself.
func recordRun(ch *change, r StoredRun, space shoal.SpaceID, inStream bool, what shoal.EventType, data func(shoal.EventHead) any) error {
	ev := StoredEvent{Session: r.SessionID, Space: space, Type: what}
	if inStream {
		ev.Run = r.ID
	}
	_, err := tellAs(ch, ev, func(h shoal.EventHead) any {
		h.RunID = &r.ID
		return data(h)
	})
	return err
}

// tellRun tells the followers of a run, and those of its trigger's space, how it
// stands.
func tellRun(ch *change, r StoredRun, what shoal.EventType) error {
	ch.core.figures.run(ch, what)
	run := r.Run
	run.PendingToolCalls = []shoal.PendingToolCall{}
	return recordRun(ch, r, r.Space, true, what, func(h shoal.EventHead) any { return shoal.RunData{EventHead: h, Run: run} })
}

// tellWaitingTool tells that a run waits for answers. The run's own followers
// learn of all that it waits for; a space, of what it shows itself to everybody.
func tellWaitingTool(ch *change, r StoredRun, rows []StoredPending) error {
	what, all := shoal.EventRunWaitingTool, pendingCalls(rows, func(StoredPending) bool { return true })
	ch.core.figures.run(ch, what)
	tell := func(space shoal.SpaceID, inStream bool, run shoal.Run, calls []shoal.PendingToolCall) error {
		run.PendingToolCalls = calls
		return recordRun(ch, r, space, inStream, what, func(h shoal.EventHead) any { return shoal.RunData{EventHead: h, Run: run} })
	}
	told := false
	for _, space := range waitingSpaces(r, rows) {
		calls := pendingCalls(rows, func(p StoredPending) bool { return shows(p, space) && p.Target == "" })
		whole := !told && space == r.Space && len(calls) == len(all)
		told = told || whole
		if err := tell(space, whole, outside(r.Run, space == r.Space), calls); err != nil {
			return err
		}
	}
	if told {
		return nil
	}
	return tell("", true, r.Run, all)
}

// waitingSpaces returns the trigger's space and those that show what the run
// waits for, once each.
func waitingSpaces(r StoredRun, rows []StoredPending) (out []shoal.SpaceID) {
	if r.Space != "" {
		out = append(out, r.Space)
	}
	for _, p := range rows {
		if p.Status == shoal.PendingOpen && !ownWait(p.Kind) && p.SpaceID != nil && !slices.Contains(out, *p.SpaceID) {
			out = append(out, *p.SpaceID)
		}
	}
	return out
}

func shows(p StoredPending, space shoal.SpaceID) bool { return p.SpaceID != nil && *p.SpaceID == space }

// pendingCalls lists the open actions that keep chooses, in the order of their
// opening.
func pendingCalls(rows []StoredPending, keep func(StoredPending) bool) []shoal.PendingToolCall {
	out := []shoal.PendingToolCall{}
	for _, p := range rows {
		if p.Status == shoal.PendingOpen && !ownWait(p.Kind) && keep(p) {
			out = append(out, shoal.PendingToolCall{
				ToolCallID: p.ToolCallID, ToolName: p.ToolName, Args: objectOr(p.Args), PendingActionID: p.ID, SpaceID: p.SpaceID, ExpiresAt: p.ExpiresAt,
			})
		}
	}
	return out
}

// outside returns a run as those may see it who are not where it was triggered: what
// was said there, and by whom, is not theirs.
func outside(run shoal.Run, inside bool) shoal.Run {
	switch {
	case inside:
	case run.Trigger.Type == shoal.SpaceMessageTrigger:
		run.Trigger = shoal.Trigger{Type: run.Trigger.Type, Private: true}
	default:
		run.Trigger.MessageContent, run.Trigger.Instruction, run.Trigger.Payload = "", "", nil
	}
	if !inside {
		run.WaitingFor = nil
	}
	return run
}

// noteTold notes which actions an event of the type run.waiting_tool told.
func noteTold(ev StoredEvent, told map[shoal.PendingID]bool) error {
	var data shoal.RunData
	if err := json.Unmarshal(ev.Data, &data); err != nil {
		return err
	}
	for _, call := range data.Run.PendingToolCalls {
		told[call.PendingActionID] = true
	}
	return nil
}
