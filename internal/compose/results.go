package compose

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
)

// startTool marks the call's part as running.
func (c *Composer) startTool(callID string) {
	if k := c.find(callID); k != nil && k.stage == stageShown {
		c.setStatus(k.part, shoal.PartRunning)
	}
}

// showRequest shows a request: in the part of its call, else in a part of its own
// in the trigger's space.
func (c *Composer) showRequest(p agent.Pending) {
	if k := c.find(p.Call.ID); p.Via == "" && k != nil && k.stage == stageShown {
		if k.part.Pending == p.ID {
			return // a continued turn reports it again
		}
		k.part.Pending, k.part.in.due = p.ID, true
		c.setStatus(k.part, shoal.PartRequiresAction)
		c.emit(ShowPending{p, k.space, k.part.place})
		return
	}
	switch {
	case c.requestOf(p.ID) != nil:
	case c.opts.Trigger == "":
		c.emit(ShowPending{Pending: p})
	case p.Kind == agent.Continuation, p.Kind == agent.ClientCall: // listed as pending, without a part
		c.emit(ShowPending{Pending: p, Space: c.opts.Trigger})
	default:
		c.openRequest(p)
	}
}

// openRequest opens a part for a request that has no other part.
func (c *Composer) openRequest(p agent.Pending) {
	tool := c.tools[p.Call.Name]
	arguments, err := Strip(tool, p.Call.Arguments)
	if err != nil || tool.HideInput || arguments == "" {
		arguments = "{}"
	}
	k := &call{
		id: p.ID, name: p.Call.Name, tool: Tool{Rendering: tool.Rendering}, ended: true, space: c.opts.Trigger,
		buffer: []byte(arguments), request: true, pending: p,
	}
	c.calls = append(c.calls, k)
	c.askSpace(k)
}

func (c *Composer) requestOf(pendingID string) *call {
	at := slices.IndexFunc(c.calls, func(k *call) bool { return k.request && k.pending.ID == pendingID })
	if at < 0 {
		return nil
	}
	return c.calls[at]
}

// applyAnswer applies the answer to a request.
func (c *Composer) applyAnswer(p agent.Pending) {
	if p.Answer == nil {
		return
	}
	by := shoal.EntityID(p.Answer.By)
	if k := c.requestOf(p.ID); k != nil {
		if k.stage == stageShown {
			c.answerRequest(k.part, p)
		}
		k.stage, k.part = stageHidden, nil
		return
	}
	k := c.find(p.Call.ID)
	if k == nil || p.Via != "" || k.stage != stageShown || k.part.isFinal() {
		return
	}
	k.part.AnsweredBy = by
	k.part.decide(p)
	if p.Kind == agent.Permission && p.Answer.Approved {
		c.applyEdit(k.part, p)
		c.setStatus(k.part, shoal.PartRunning)
	}
}

// answerRequest ends a part that shows only a request.
func (c *Composer) answerRequest(p *part, pending agent.Pending) {
	a := pending.Answer
	p.AnsweredBy = shoal.EntityID(a.By)
	p.decide(pending)
	c.applyEdit(p, pending)
	switch {
	case pending.Kind == agent.Permission && a.Approved:
		c.finishTool(p, shoal.PartDone, json.RawMessage(`{"approved":true}`), "")
	case pending.Kind == agent.Permission && a.Ask != "":
		c.finishTool(p, shoal.PartDenied, nil, "Sent back with a question: "+a.Ask)
	case pending.Kind == agent.Permission:
		c.finishTool(p, shoal.PartDenied, nil, a.Reason)
	case a.Failed:
		c.finishTool(p, shoal.PartError, nil, a.Text)
	default:
		c.finishTool(p, shoal.PartDone, resultJSON(a.Text), "")
	}
}

// decide keeps the answer to a permission.
func (p *part) decide(pending agent.Pending) {
	a := pending.Answer
	if pending.Kind != agent.Permission {
		return
	}
	p.Decision = &shoal.Decision{Approved: a.Approved}
	if a.By != "" {
		by := shoal.EntityID(a.By)
		p.Decision.By = &by
	}
	switch {
	case a.Ask != "":
		p.Decision.Ask = &a.Ask
	case a.Reason != "":
		p.Decision.Reason = &a.Reason
	}
}

// applyEdit shows the arguments that were approved instead of the model's.
func (c *Composer) applyEdit(p *part, pending agent.Pending) {
	tool := c.tools[pending.Call.Name]
	if pending.Answer.Arguments == "" || tool.HideInput {
		return
	}
	arguments, err := Strip(tool, pending.Answer.Arguments)
	if err == nil && json.Valid([]byte(arguments)) {
		p.EditedArgs, p.in.changed, p.in.due = json.RawMessage(arguments), true, true
	}
}

// applyResult applies the result of a call. Later results are ignored.
func (c *Composer) applyResult(r agent.ToolResult) {
	for _, k := range c.calls { // the result ends requests that have no answer
		if k.request && k.stage == stageShown && (k.pending.Call.ID == r.CallID || k.pending.Via == r.CallID) {
			c.finishTool(k.part, shoal.PartCanceled, nil, "canceled")
		}
	}
	k := c.find(r.CallID)
	if k == nil || k.finished || k.request {
		return
	}
	k.finished = true
	if !k.ended { // the result came before the arguments were complete
		k.ended, k.broken = true, true
		if k.stage == stageShown {
			c.cutShort(k)
		}
	}
	switch {
	case k.stage != stageShown:
		c.hide(k, k.refusal)
		c.advance()
	case k.tool.Send:
		c.finishSend(k, r.Status)
	default:
		c.finishDisplay(k, r)
	}
}

// finishSend keeps the text of a call that was executed or interrupted, and withdraws the
// text of a call that was refused.
func (c *Composer) finishSend(k *call, status agent.ResultStatus) {
	switch p := k.part; {
	case status == agent.ResultOK:
		c.accept(k)
	case p.Accepted:
	case status == agent.ResultCanceled || status == agent.ResultSkipped || status == agent.ResultInterrupted:
		p.Accepted, p.in.due = true, true
		c.settle(p.in)
	default:
		c.hide(k, k.refusal)
	}
}

// accept makes a text permanent and its mention due.
func (c *Composer) accept(k *call) {
	p := k.part
	if k.stage != stageShown || !k.tool.Send || p.Accepted || p.Status == shoal.PartStreaming {
		return
	}
	p.Accepted, p.in.due = true, true
	p.in.Starts = p.in.Starts || p.in.SealedBy == k.id && p.in.Mention != ""
	c.settle(p.in)
}

// partStatuses maps the status of a result to the status of the tool part.
var partStatuses = map[agent.ResultStatus]shoal.PartStatus{
	agent.ResultOK: shoal.PartDone, agent.ResultDenied: shoal.PartDenied, agent.ResultCanceled: shoal.PartCanceled, agent.ResultSkipped: shoal.PartCanceled,
}

// finishDisplay writes the result into the call's part. The mention starts if the tool was
// executed, successfully or not.
func (c *Composer) finishDisplay(k *call, r agent.ToolResult) {
	status, ok := partStatuses[r.Status]
	if !ok {
		status = shoal.PartError
	}
	switch r.Status {
	case agent.ResultDenied:
		if k.part.Decision == nil { // a rule decided, and nobody was asked
			k.part.Decision = &shoal.Decision{}
		}
	case agent.ResultOK, agent.ResultFailed, agent.ResultTimedOut:
		m := k.part.in
		m.Starts = m.Starts || m.SealedBy == k.id && m.Mention != ""
	}
	text := r.Text
	if k.part.EditedArgs != nil && !c.opts.PlainResults { // the first line describes the change for the model only
		_, text, _ = strings.Cut(text, "\n")
	}
	switch {
	case status == shoal.PartDone && k.tool.HideOutput:
		c.finishTool(k.part, status, nil, "")
	case status == shoal.PartDone:
		c.finishTool(k.part, status, resultJSON(text), "")
	case k.tool.HideOutput:
		c.finishTool(k.part, status, nil, "The tool failed.")
	default:
		c.finishTool(k.part, status, nil, text)
	}
}

// resultJSON returns a result as JSON: unchanged if it is JSON that every reader accepts,
// otherwise as a string.
func resultJSON(text string) json.RawMessage {
	if json.Valid([]byte(text)) && !TooDeep(text) {
		return bytes.TrimSpace([]byte(text))
	}
	out, err := json.Marshal(text)
	if err != nil { // a string can always be encoded
		return nil
	}
	return out
}

// TooDeep reports whether valid JSON is nested deeper than the limit for content that others read.
func TooDeep(text string) bool { return shoal.JSONDepth(text) > maxNesting }
