package aguiapi

import (
	"encoding/json"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent/agui"
	"github.com/shoal-dev/shoal/internal/exchange"
)

// Message shows a message of a run as it is; see [exchange.View].
func (x *protocolRun) Message(m shoal.Message, run shoal.RunID) { x.view.message(m, run) }

// Delta shows a piece of a part.
func (x *protocolRun) Delta(what shoal.EventType, d shoal.DeltaData, run shoal.RunID) {
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

// EndText shows a whole text.
func (x *protocolRun) EndText(d shoal.TextData) { x.view.finish(x.view.text(d.PartHead), d.Text) }

// BeginCall shows the start of a call.
func (x *protocolRun) BeginCall(d shoal.ToolInputData, run shoal.RunID) {
	x.view.start(x.view.call(d.PartHead, run, d.ToolCallID, d.ToolName))
}

// EndInput shows the arguments of a call.
func (x *protocolRun) EndInput(d shoal.ToolInputData, run shoal.RunID) {
	x.view.finish(x.view.call(d.PartHead, run, d.ToolCallID, d.ToolName), string(d.Args))
}

// Output shows the result of a call.
func (x *protocolRun) Output(d shoal.ToolOutputData, run shoal.RunID) {
	failure := ""
	if d.Error != nil {
		failure = *d.Error
	}
	x.view.answered(x.view.call(d.PartHead, run, d.ToolCallID, d.ToolName), d.Result, failure, d.Status)
}

// Reset shows that a part has lost text, or is gone.
func (x *protocolRun) Reset(d shoal.PartResetData, removed bool) {
	if removed {
		x.view.remove(d.PartID)
	} else {
		x.view.reset(d.PartID, d.Offset)
	}
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
			out.PendingToolCallIDs = append(out.PendingToolCallIDs, exchange.CallID(p.RunID, p.ToolCallID))
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
		out.ToolCallID = exchange.CallID(p.RunID, p.ToolCallID)
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
