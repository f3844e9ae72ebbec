package aisdkapi

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/exchange"
)

// Message shows a message of a run as it is; see [exchange.View].
func (p *projection) Message(m shoal.Message, run shoal.RunID) {
	if p.hidden[m.ID] {
		return
	}
	for _, held := range m.Parts {
		h := shoal.PartHead{MessageID: m.ID, PartID: held.ID}
		switch {
		case held.Private:
		case held.Type == shoal.TextPart:
			p.stored(p.text(h, run, textPart), held)
		case held.Type == shoal.ToolPart:
			p.storedCall(p.call(h, run, exchange.CallID(run, held.ToolCallID), held.ToolName), held)
		case held.Type == shoal.FilePart || held.Type == shoal.DataPart:
			p.single(h, run, held)
		}
	}
}

// stored shows a text as it is stored.
func (p *projection) stored(x *part, held shoal.Part) {
	switch {
	case held.Status != shoal.PartStreaming:
		p.finish(x, held.Text)
	case !strings.HasPrefix(string(x.text), held.Text): // else the deltas are newer than the stored text
		p.become(x, held.Text)
	}
}

// storedCall shows a call as it is stored.
func (p *projection) storedCall(x *part, held shoal.Part) {
	switch held.Status {
	case shoal.PartInputStreaming:
		p.open(x)
	case shoal.PartRunning, shoal.PartRequiresAction:
		p.finish(x, string(held.Args))
	default:
		p.finish(x, string(held.Args))
		p.settle(x, held.Result, held.Error, held.Status)
	}
}

// Delta shows a piece of a part.
func (p *projection) Delta(what shoal.EventType, d shoal.DeltaData, run shoal.RunID) {
	var x *part
	switch what {
	case shoal.EventTextDelta:
		x = p.text(d.PartHead, run, textPart)
	case shoal.EventToolInputDelta:
		x = p.call(d.PartHead, run, exchange.CallID(run, d.ToolCallID), d.ToolName)
	default:
		x = p.text(d.PartHead, run, reasoningPart)
	}
	if x == nil {
		return
	}
	p.grow(x, d.Offset, d.Delta)
	if what == shoal.EventReasoningEnd {
		p.close(x)
		x.whole = true
	}
}

// EndText shows a whole text.
func (p *projection) EndText(d shoal.TextData) {
	run := shoal.RunID("")
	if d.RunID != nil {
		run = *d.RunID
	}
	if x := p.text(d.PartHead, run, textPart); x != nil {
		p.finish(x, d.Text)
	}
}

// BeginCall shows the start of a call.
func (p *projection) BeginCall(d shoal.ToolInputData, run shoal.RunID) {
	if x := p.call(d.PartHead, run, exchange.CallID(run, d.ToolCallID), d.ToolName); x != nil {
		p.open(x)
	}
}

// EndInput shows the arguments of a call.
func (p *projection) EndInput(d shoal.ToolInputData, run shoal.RunID) {
	if x := p.call(d.PartHead, run, exchange.CallID(run, d.ToolCallID), d.ToolName); x != nil {
		p.finish(x, string(d.Args))
	}
}

// Output shows the result of a call.
func (p *projection) Output(d shoal.ToolOutputData, run shoal.RunID) {
	failure := ""
	if d.Error != nil {
		failure = *d.Error
	}
	if x := p.call(d.PartHead, run, exchange.CallID(run, d.ToolCallID), d.ToolName); x != nil {
		p.settle(x, d.Result, failure, d.Status)
	}
}

// offer asks the client to answer an action: to execute a call, or to approve it.
func (p *projection) offer(w shoal.PendingAction) {
	x := p.waiting(w)
	if x == nil || x.settled {
		return
	}
	known, asked := x.whole, x.asked
	x.asked = x.asked || w.Kind != shoal.PendingPermission
	p.finish(x, string(w.Args))
	switch {
	case w.Kind == shoal.PendingPermission && x.approval == nil:
		x.approval = &approval{ID: string(w.ID)}
		if w.Question != nil {
			x.approval.Reason = *w.Question
		}
		p.begin()
		p.emit(x.request())
	case x.asked && !asked && known:
		p.begin()
		p.show(x)
		p.emit(x.available())
	}
}

// waiting returns the call that an action is about. One that no message shows is in the part that has the id of
// the action.
func (p *projection) waiting(w shoal.PendingAction) *part {
	if w.MessageID != nil && w.PartID != nil {
		return p.call(shoal.PartHead{MessageID: *w.MessageID, PartID: *w.PartID}, w.RunID, callID(w), toolName(w))
	}
	return p.call(shoal.PartHead{MessageID: shoal.MessageID(w.ID), PartID: shoal.PartID(w.ID)}, w.RunID, callID(w), toolName(w))
}

// callID returns the id of the call that an action is about. An action without a call, such as whether a
// run may go on beyond its last step, is a call, too.
func callID(w shoal.PendingAction) string {
	return exchange.CallID(w.RunID, cmp.Or(w.ToolCallID, string(w.ID)))
}

// toolName returns the name of the tool that an action is about.
func toolName(w shoal.PendingAction) string { return cmp.Or(w.ToolName, "continue") }

// Settled gives a call that the client has and no message shows its end, when somebody has answered it, or
// nobody in time.
func (p *projection) Settled(w shoal.PendingAction) {
	if _, has := p.had.calls[callID(w)]; w.PartID != nil || !has && p.parts[shoal.PartID(w.ID)] == nil {
		return
	}
	x := p.waiting(w)
	status, result, failure := shoal.PartDone, json.RawMessage(nil), ""
	if w.Status != shoal.PendingAnswered {
		status, failure = shoal.PartCanceled, "Nobody has answered: "+string(w.Status)+"."
	}
	if n := len(w.Votes); n > 0 {
		last := w.Votes[n-1]
		result = last.Result
		switch {
		case last.Approved != nil && !*last.Approved:
			status = shoal.PartDenied
		case last.Error != nil:
			status, failure = shoal.PartError, *last.Error
		}
	}
	p.settle(x, result, failure, status)
}
