package agent

import (
	"encoding/json"
	"fmt"
	"slices"
)

// request adds a pending request about the call.
func (m *machine) request(c *callState, kind PendingKind) {
	id := fmt.Sprintf("%s.%d.%d.%s", m.turn.ID, m.step.Index, m.placeOf(c.call.ID), kind)
	if slices.ContainsFunc(m.step.Pending, func(p Pending) bool { return p.ID == id }) {
		return
	}
	p := Pending{
		ID: id, Kind: kind, Call: c.effective(), Description: c.tool.spec.Description,
		Agent: m.rules.agent, Conversation: m.conv, RequestedAt: m.now(),
	}
	if in := c.tool.spec.ExpiresIn; in > 0 {
		p.ExpiresAt = m.now().Add(in)
	}
	if kind == Clarification {
		p.Question, p.Options = questionOf(c.call.Arguments)
	}
	m.step.Pending = append(m.step.Pending, p)
	m.dirty = true
}

// questionOf reads the arguments of a question.
func questionOf(arguments string) (string, []string) {
	var q struct {
		Question string
		Options  []string
	}
	if json.Unmarshal([]byte(arguments), &q) != nil || q.Question == "" {
		return arguments, nil
	}
	return q.Question, q.Options
}

// placeOf returns the index of a call in its step, -1 if the step does not contain it.
func (m *machine) placeOf(callID string) int {
	return slices.IndexFunc(m.open, func(o callState) bool { return o.call.ID == callID })
}

// permissionOf returns the request for permission about the call, nil if there is
// none.
func (m *machine) permissionOf(c *callState) *Pending {
	for i := range m.step.Pending {
		if p := &m.step.Pending[i]; p.Kind == Permission && p.Via == "" && p.Call.ID == c.call.ID {
			return p
		}
	}
	return nil
}

// announce emits the requests that are stored and were not emitted yet.
func (m *machine) announce() {
	for _, p := range m.step.Pending {
		if p.Answer == nil && !m.announced[p.ID] {
			m.announced[p.ID] = true
			m.emit(RequestOpened{Pending: p, Repeated: m.restored[p.ID]})
		}
	}
}

// settleByChoice answers the permissions of tools whose choice came with the
// answer to another request of the step, and reports whether there were any.
func (m *machine) settleByChoice() bool {
	before := len(m.toApply)
	for _, p := range m.step.Pending {
		choice := m.choices[m.rules.choicePrefix+p.Call.Name]
		if p.Kind == Permission && p.Answer == nil && p.Via == "" && (choice == AlwaysAllow || choice == AlwaysDeny) {
			m.answered(Answer{PendingID: p.ID, Approved: choice == AlwaysAllow})
		}
	}
	return len(m.toApply) > before
}

// overdue is the answer to a request that expired.
func overdue(id string) Answer {
	return Answer{PendingID: id, Reason: "Nobody answered in time.", Text: "Error: nobody answered in time.", Failed: true}
}

// askOrSuspend passes each request to Options.Answer once, those for permission first,
// and then suspends the turn.
func (m *machine) askOrSuspend() action {
	p := m.unasked(Permission)
	if p == nil {
		p = m.unasked("")
	}
	if p == nil {
		return m.suspend()
	}
	m.asked[p.ID] = true
	return action{kind: actAsk, pending: *p}
}

// unasked returns the first request of the kind, or of any kind, that has no answer and was
// not passed to Options.Answer.
func (m *machine) unasked(kind PendingKind) *Pending {
	for i := range m.step.Pending {
		if p := &m.step.Pending[i]; p.Answer == nil && !m.asked[p.ID] && p.Via == "" && (kind == "" || p.Kind == kind) {
			return p
		}
	}
	return nil
}

// suspend ends the turn as waiting; the open step is stored already.
func (m *machine) suspend() action {
	m.end = &ending{outcome: Waiting, reason: ReasonPending, message: "The turn waits for an answer."}
	m.phase = phaseEnded
	return action{kind: actFinish}
}

// answered records the answer to a request; it is emitted after it is stored.
func (m *machine) answered(a Answer) {
	for i := range m.step.Pending {
		if p := &m.step.Pending[i]; p.ID == a.PendingID && p.Answer == nil && !m.stopped {
			m.step.Pending = slices.Clone(m.step.Pending) // the store has the one before
			p = &m.step.Pending[i]
			p.Answer = &a
			m.dirty = true
			m.toApply = append(m.toApply, *p)
			return
		}
	}
}

// apply applies the answer of a request to its call.
func (m *machine) apply(p *Pending) {
	for i := range m.open {
		c := &m.open[i]
		if p.Via != "" || p.Kind == Continuation || c.call.ID != p.Call.ID || c.stage == callDone {
			continue
		}
		if p.Kind == Permission {
			m.applyPermission(c, p.Answer)
			continue
		}
		status := ResultOK
		if p.Answer.Failed {
			status = ResultFailed
		}
		m.settle(c, status, p.Answer.Text, p.Answer.Files...)
	}
}

func (m *machine) applyPermission(c *callState, a *Answer) {
	if a.Rule == AlwaysAllow || a.Rule == AlwaysDeny {
		m.choices[m.rules.choicePrefix+c.call.Name] = a.Rule
	}
	if !a.Approved {
		m.settle(c, ResultDenied, a.refusal())
		return
	}
	if c.edit(a); c.edited != "" {
		if err := c.tool.schema.check(c.edited); err != nil {
			m.settle(c, ResultInvalid, "Error: the changed arguments do not fit: "+err.Error())
			return
		}
	}
	c.granted = true
	m.permit(c)
}

// refusal is the result text for an answer that does not approve its call. It
// states what happened before it quotes the person.
func (a *Answer) refusal() string {
	if a.Ask != "" {
		who := a.By
		if who == "" {
			who = "The user"
		}
		return fmt.Sprintf("%s has not decided and asks: %s\nThe call was not executed. Answer in the space; call again if it is still needed.", who, a.Ask)
	}
	text := "Permission denied"
	if a.By != "" {
		text += " by " + a.By
	}
	text += ". The call was not executed."
	if a.Reason != "" {
		text += " Reason: " + a.Reason
	}
	return text
}

// edit replaces the model's arguments with the approved ones.
func (c *callState) edit(a *Answer) {
	if a.Arguments != "" {
		c.edited, c.editedBy = oneLine(a.Arguments), a.By
	}
}

// effective is the call as it is executed.
func (c *callState) effective() ToolCall {
	call := c.call
	if c.edited != "" {
		call.Arguments = c.edited
	}
	return call
}

// changes is the first line of the result of a call that was executed with other
// arguments than the model's.
func (c *callState) changes() string {
	if c.edited == "" {
		return ""
	}
	by := ""
	if c.editedBy != "" {
		by = " by " + c.editedBy
	}
	return fmt.Sprintf("Approved%s with changes: %s\n", by, c.edited)
}

// oneLine returns JSON without space between its tokens, and other text unchanged.
func oneLine(arguments string) string {
	line, err := json.Marshal(json.RawMessage(arguments))
	if err != nil {
		return arguments
	}
	return string(line)
}

// withdraw drops the nested requests of a call; its tool reports those that are still
// open again.
func (m *machine) withdraw(callID string) {
	m.step.Pending = slices.DeleteFunc(slices.Clone(m.step.Pending), func(p Pending) bool {
		return p.Via != "" && p.Via == callID
	})
}

// waitingFor returns the requests that have no answer.
func (m *machine) waitingFor() []Pending {
	var out []Pending
	for _, p := range m.step.Pending {
		if p.Answer == nil {
			out = append(out, p)
		}
	}
	return out
}
