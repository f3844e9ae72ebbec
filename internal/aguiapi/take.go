package aguiapi

import (
	"encoding/json"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent/agui"
)

// take shows one event of the space. moves says that a run may be over by it.
func (x *exchange) take(e shoal.Event) (moves bool, err error) {
	switch e.Type {
	case shoal.EventSnapshot:
		var s shoal.SnapshotData
		if s, err = decode[shoal.SnapshotData](e); err == nil {
			x.catchUp(s)
			x.stale = true
		}
		return true, err
	case shoal.EventRunCreated, shoal.EventRunStarted, shoal.EventRunResumed, shoal.EventRunStalled, shoal.EventRunWaitingTool, shoal.EventRunWaitingReply,
		shoal.EventRunCompleted, shoal.EventRunFailed, shoal.EventRunCanceled:
		d, err := decode[shoal.RunData](e)
		return err == nil && x.heard(d.Run), err
	case shoal.EventPendingOpened, shoal.EventPendingSettled:
		d, err := decode[shoal.PendingData](e)
		if err == nil && e.Type == shoal.EventPendingSettled {
			x.settled(d.PendingAction)
		}
		return err == nil && x.runs[d.PendingAction.RunID] != nil, err
	case shoal.EventMessageCreated, shoal.EventMessageUpdated, shoal.EventMessageCompleted:
		d, err := decode[shoal.MessageData](e)
		if err != nil {
			return false, err
		}
		if run, ok := x.own(d.Message); ok {
			x.view.message(d.Message, run)
		}
		return false, nil
	}
	return false, x.takePart(e)
}

// takePart shows an event of a part.
func (x *exchange) takePart(e shoal.Event) error {
	switch e.Type {
	case shoal.EventTextDelta, shoal.EventToolInputDelta, shoal.EventReasoningStart, shoal.EventReasoningDelta, shoal.EventReasoningEnd:
		return takes(e, func(d shoal.DeltaData) { x.delta(e.Type, d) })
	case shoal.EventTextEnd:
		return takes(e, func(d shoal.TextData) {
			if _, ok := x.run(d.PartHead); ok {
				x.view.finish(x.view.text(d.PartHead), d.Text)
			}
		})
	case shoal.EventToolInputStart:
		return takes(e, func(d shoal.ToolInputData) {
			if run, ok := x.run(d.PartHead); ok {
				x.view.start(x.view.call(d.PartHead, run, d.ToolCallID, d.ToolName))
			}
		})
	case shoal.EventToolInputAvailable:
		return takes(e, func(d shoal.ToolInputData) {
			if run, ok := x.run(d.PartHead); ok {
				x.view.finish(x.view.call(d.PartHead, run, d.ToolCallID, d.ToolName), string(d.Args))
			}
		})
	case shoal.EventToolOutputAvailable, shoal.EventToolOutputError:
		return takes(e, x.output)
	case shoal.EventPartReset, shoal.EventPartRemoved:
		return takes(e, func(d shoal.PartResetData) {
			if _, ok := x.run(d.PartHead); !ok {
				return
			}
			if e.Type == shoal.EventPartRemoved {
				x.view.remove(d.PartID)
			} else {
				x.view.reset(d.PartID, d.Offset)
			}
		})
	}
	return nil
}

// takes decodes an event and hands it to do.
func takes[T any](e shoal.Event, do func(T)) error {
	d, err := decode[T](e)
	if err == nil {
		do(d)
	}
	return err
}

// run returns the run of a part, if it is shown and the part is for the caller.
func (x *exchange) run(h shoal.PartHead) (shoal.RunID, bool) {
	if h.Private {
		return "", false
	}
	if run, ok := x.messages[h.MessageID]; ok {
		return run, true
	}
	if h.RunID == nil || x.runs[*h.RunID] == nil {
		return "", false
	}
	return *h.RunID, true
}

// delta shows a piece of a part.
func (x *exchange) delta(what shoal.EventType, d shoal.DeltaData) {
	run, ok := x.run(d.PartHead)
	if !ok {
		return
	}
	switch what {
	case shoal.EventTextDelta:
		x.view.grow(x.view.text(d.PartHead), d.Offset, d.Delta)
	case shoal.EventToolInputDelta:
		x.view.grow(x.view.call(d.PartHead, run, d.ToolCallID, d.ToolName), d.Offset, d.Delta)
	default:
		thought := x.view.text(d.PartHead)
		thought.thought = true
		x.view.grow(thought, d.Offset, d.Delta)
		if what == shoal.EventReasoningEnd {
			x.view.end(thought)
		}
	}
}

// output shows the result of a call.
func (x *exchange) output(d shoal.ToolOutputData) {
	run, ok := x.run(d.PartHead)
	if !ok {
		return
	}
	failure := ""
	if d.Error != nil {
		failure = *d.Error
	}
	x.view.answered(x.view.call(d.PartHead, run, d.ToolCallID, d.ToolName), d.Result, failure, d.Status)
}

// The forms of answers to interrupts.
var (
	permissionSchema = json.RawMessage(`{"type":"object","properties":{` +
		`"approved":{"type":"boolean"},` +
		`"reason":{"type":"string","description":"Why not; the model sees it."},` +
		`"choice":{"enum":["ask","always_allow","always_deny"],"description":"Whether later calls of the tool ask again."}},` +
		`"required":["approved"]}`)
	answerSchema = json.RawMessage(`{"type":"object","properties":{"answer":{"type":"string"}},"required":["answer"]}`)
)

// outcome says how runs ended that did not fail, with what waits for the caller.
func outcome(waiting []shoal.PendingAction) *agui.Outcome {
	out := &agui.Outcome{Type: agui.OutcomeSuccess}
	for _, p := range waiting {
		if p.Kind == shoal.PendingClientTool {
			out.PendingToolCallIDs = append(out.PendingToolCallIDs, wireID(p.RunID, p.ToolCallID))
		} else {
			out.Interrupts = append(out.Interrupts, interrupt(p))
		}
	}
	if len(out.Interrupts) > 0 {
		// Both at once is nothing that the protocol knows; calls that are not answered
		// count as pending for the client anyway.
		out.Type, out.PendingToolCallIDs = agui.OutcomeInterrupt, nil
	}
	return out
}

func interrupt(p shoal.PendingAction) agui.Interrupt {
	out := agui.Interrupt{ID: string(p.ID), Reason: "input_required", ResponseSchema: answerSchema}
	if p.Question != nil {
		out.Message = *p.Question
	}
	if p.ExpiresAt != nil {
		out.ExpiresAt = p.ExpiresAt.String()
	}
	if p.PartID != nil {
		out.ToolCallID = wireID(p.RunID, p.ToolCallID)
	}
	if p.Kind == shoal.PendingQuestion {
		if len(p.Options) > 0 {
			out.Metadata = map[string]any{"options": p.Options}
		}
		return out
	}
	out.ResponseSchema = permissionSchema
	if p.ToolName == "" {
		out.Reason = "confirmation"
		return out
	}
	out.Reason = "tool_call"
	out.Metadata = map[string]any{"toolCallName": p.ToolName, "arguments": string(p.Args)}
	if out.Message == "" {
		out.Message = "May the tool " + p.ToolName + " run?"
	}
	return out
}
