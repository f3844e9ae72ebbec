package runs

import (
	"encoding/json"
	"errors"
	"slices"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/pending"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// emitRunEvent stores an event of a run for the followers of a space, unless it is empty,
// and, if inStream is set, for those of the run.
func emitRunEvent(ch *core.Change, r storage.Run, space shoal.SpaceID, inStream bool, what shoal.EventType, data func(shoal.EventHead) any) error {
	ev := storage.Event{Session: r.SessionID, Space: space, Type: what}
	if inStream {
		ev.Run = r.ID
	}
	_, err := core.Emit(ch, ev, func(h shoal.EventHead) any {
		h.RunID = &r.ID
		return data(h)
	})
	return err
}

// emitRun emits the current state of a run to its followers and to those of its trigger's
// space.
func emitRun(ch *core.Change, r storage.Run, what shoal.EventType) error {
	ch.Core.Metrics.CountRun(ch, what)
	receiptChanged(ch, r)
	run := r.Run
	run.PendingToolCalls, run.WaitingForProgram = []shoal.PendingToolCall{}, waitsForProgram(r)
	return emitRunEvent(ch, r, r.Space, true, what, func(h shoal.EventHead) any { return shoal.RunData{EventHead: h, Run: run} })
}

// receiptChanged announces that the receipt of the message that started a run has changed.
func receiptChanged(ch *core.Change, r storage.Run) {
	if t := r.Trigger; t.Type == shoal.SpaceMessageTrigger {
		ch.OnCommit(func() {
			ch.Core.Receipts.Changed(core.ReceiptsOf{Session: r.SessionID, Space: r.Space, Message: t.MessageID})
		})
	}
}

// ReceiptChanged announces that what became of the message of a run may have changed.
func (c *RunChange) ReceiptChanged(id shoal.RunID) error {
	r, err := c.Tx.Run(c.Run.SessionID, id)
	if errors.Is(err, shoal.NotFound) {
		return nil
	}
	if err == nil {
		receiptChanged(c.Change, r)
	}
	return err
}

// waitsForProgram reports whether a program has to claim a run before anything happens in it.
func waitsForProgram(r storage.Run) bool {
	return r.Remote && r.Awake && r.Owner == "" && !r.Status.Ended()
}

// emitWaitingTool emits run.waiting_tool. The run's own followers receive everything that
// it waits for; a space receives what it shows to all of its members.
func emitWaitingTool(ch *core.Change, r storage.Run, rows []storage.Pending) error {
	what, all := shoal.EventRunWaitingTool, PendingCalls(rows, func(storage.Pending) bool { return true })
	ch.Core.Metrics.CountRun(ch, what)
	emit := func(space shoal.SpaceID, inStream bool, run shoal.Run, calls []shoal.PendingToolCall) error {
		run.PendingToolCalls = calls
		return emitRunEvent(ch, r, space, inStream, what, func(h shoal.EventHead) any { return shoal.RunData{EventHead: h, Run: run} })
	}
	emitted := false
	for _, space := range waitingSpaces(r, rows) {
		calls := PendingCalls(rows, func(p storage.Pending) bool { return isShownIn(p, space) && p.Target == "" })
		whole := !emitted && space == r.Space && len(calls) == len(all)
		emitted = emitted || whole
		if err := emit(space, whole, RedactRun(r.Run, space == r.Space), calls); err != nil {
			return err
		}
	}
	if emitted {
		return nil
	}
	return emit("", true, r.Run, all)
}

// waitingSpaces returns the trigger's space and those that show what the run waits for,
// each once.
func waitingSpaces(r storage.Run, rows []storage.Pending) (out []shoal.SpaceID) {
	if r.Space != "" {
		out = append(out, r.Space)
	}
	for _, p := range rows {
		if p.Status == shoal.PendingOpen && !pending.IsServerWait(p.Kind) && p.SpaceID != nil && !slices.Contains(out, *p.SpaceID) {
			out = append(out, *p.SpaceID)
		}
	}
	return out
}

func isShownIn(p storage.Pending, space shoal.SpaceID) bool {
	return p.SpaceID != nil && *p.SpaceID == space
}

// PendingCalls lists the open actions that include selects, in the order in which they were
// opened.
func PendingCalls(rows []storage.Pending, include func(storage.Pending) bool) []shoal.PendingToolCall {
	out := []shoal.PendingToolCall{}
	for _, p := range rows {
		if p.Status == shoal.PendingOpen && !pending.IsServerWait(p.Kind) && include(p) {
			out = append(out, shoal.PendingToolCall{
				ToolCallID: p.ToolCallID, ToolName: p.ToolName, Args: core.ObjectOrEmpty(p.Args), PendingActionID: p.ID, SpaceID: p.SpaceID, ExpiresAt: p.ExpiresAt,
			})
		}
	}
	return out
}

// RedactRun returns a run as a reader may see it. A reader outside of the trigger's space
// does not see what was said there, nor by whom.
func RedactRun(run shoal.Run, inside bool) shoal.Run {
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

// addReportedActions adds the actions of a run.waiting_tool event to reported.
func addReportedActions(ev storage.Event, reported map[shoal.PendingID]bool) error {
	var data shoal.RunData
	if err := json.Unmarshal(ev.Data, &data); err != nil {
		return err
	}
	for _, call := range data.Run.PendingToolCalls {
		reported[call.PendingActionID] = true
	}
	return nil
}
