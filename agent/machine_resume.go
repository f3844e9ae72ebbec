package agent

import (
	"encoding/json"
	"slices"
)

// resume sets the machine to the point where an unfinished turn stopped: after its last
// complete step, or in the calls of its open step. made are the rules with which each step
// was made, and now are those that hold after them.
func (m *machine) resume(turn *OpenTurn, made []*rules, now *rules) {
	for i, s := range turn.Steps {
		m.step, m.attempt = s, 0
		m.openCalls()
		for _, id := range s.Started {
			if at := slices.IndexFunc(m.open, func(c callState) bool { return c.call.ID == id }); at >= 0 {
				m.complete = append(m.complete, m.open[at].call.Name)
				m.calls++
			}
		}
		m.remember()
		m.restoreResults()
		if s.Done {
			m.restoreOutput()
			if s.Ends != nil {
				m.end = &ending{outcome: s.Ends.Outcome, reason: s.Ends.Reason, message: s.Ends.Message}
			}
			m.advance()
			m.events = m.events[:0]
			m.step = Step{Index: s.Index + 1}
			if m.phase == phaseTransfer {
				next := now
				if i+1 < len(made) {
					next = made[i+1]
				}
				m.transfer(next)
				m.events = m.events[:0]
				continue
			}
			if i < len(turn.Steps)-1 { // a message that the next step has read made it go on
				m.end, m.closing, m.phase = nil, "", phaseStep
			}
			continue
		}
		m.resumeOpen()
	}
}

// remember adopts the rules that came with answers.
func (m *machine) remember() {
	for _, p := range m.step.Pending {
		if p.Kind == Permission && p.Via == "" && p.Answer != nil && p.Answer.Rule != "" && p.Answer.Rule != AskEachTime {
			m.choices[m.rules.choicePrefix+p.Call.Name] = p.Answer.Rule
		}
	}
}

func (m *machine) restoreResults() {
	for _, r := range m.step.Results {
		for i := range m.open {
			if c := &m.open[i]; c.call.ID == r.CallID {
				c.stage, c.result, c.repeated = callDone, r, true
			}
		}
	}
}

func (m *machine) restoreOutput() {
	for i := range m.open {
		c := &m.open[i]
		if name, ok := m.rules.returnTool[c.call.Name]; ok && c.result.Status == ResultOK {
			m.output, m.outName = json.RawMessage(c.call.Arguments), name
		}
	}
}

// resumeOpen continues a step whose calls lack results. A call that has its result keeps
// it; an interrupted call runs again only if its tool is idempotent. Calls that have yet
// to run are decided again like new ones, because the tools and the rules may have
// changed.
func (m *machine) resumeOpen() {
	m.emitStepStarted(true)
	if len(m.step.Before) > 0 {
		m.emit(Interjected{Step: m.step.Index, Messages: m.step.Before, Repeated: true})
	}
	m.restored = map[string]bool{}
	for _, p := range m.step.Pending {
		m.restored[p.ID] = true
	}
	m.restoreOutput()
	m.phase = phaseDecide
	m.show()
	for _, p := range m.step.Pending {
		if p.Kind == Continuation && p.Answer != nil {
			m.emit(RequestAnswered{Pending: p})
		}
	}
	for i := range m.open {
		c := &m.open[i]
		switch {
		case c.stage == callDone:
		case c.tool == nil:
			m.settle(c, ResultUnknown, m.unknown(c.call.Name))
		case slices.Contains(m.step.Started, c.call.ID) && !c.tool.spec.Idempotent:
			m.settle(c, ResultInterrupted, "Error: interrupted, effect unknown.")
		default:
			m.resumeRequests(c)
		}
	}
	for _, p := range slices.Clone(m.step.Pending) {
		if p.Answer == nil && p.Via == "" && p.expired(m.now()) {
			m.answered(overdue(p.ID))
		}
	}
}

// resumeRequests restores the requests of a call that is to run. An approval takes
// effect after the call was decided.
func (m *machine) resumeRequests(c *callState) {
	for _, p := range slices.Clone(m.step.Pending) {
		if p.Call.ID != c.call.ID || p.Via != "" {
			continue
		}
		if p.Kind != Permission {
			c.stage = callExternal
		}
		if p.Answer == nil {
			continue
		}
		m.emit(RequestAnswered{Pending: p})
		if p.Kind != Permission || !p.Answer.Approved {
			m.apply(&p)
		}
	}
}

// dismiss answers the requests about calls whose result came from a rule, because
// their answers would have no effect.
func (m *machine) dismiss() {
	for _, p := range slices.Clone(m.step.Pending) {
		at := m.placeOf(p.Call.ID)
		if p.Answer != nil || p.Via != "" || at < 0 || m.open[at].stage != callDone {
			continue
		}
		m.answered(Answer{PendingID: p.ID, Reason: "The call was settled by a rule.", Text: "Error: the call was settled by a rule.", Failed: true})
	}
}
