package agent

import (
	"encoding/json"
	"slices"
)

// resume puts the machine where an unfinished turn stopped: behind its last
// whole step, or into the calls of its open one.
func (m *machine) resume(turn *OpenTurn) {
	for _, s := range turn.Steps {
		m.step, m.attempt = s, 0
		m.openCalls()
		for i := range m.open {
			m.count(m.open[i].call)
		}
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
			continue
		}
		m.resumeOpen()
	}
}

// remember takes over the choices that came with answers.
func (m *machine) remember() {
	for _, p := range m.step.Pending {
		if p.Kind == Permission && p.Answer != nil && p.Answer.Choice != "" && p.Answer.Choice != AskAgain {
			m.choices[p.Call.Name] = p.Answer.Choice
		}
	}
}

func (m *machine) restoreResults() {
	for _, r := range m.step.Results {
		for i := range m.open {
			if c := &m.open[i]; c.call.ID == r.CallID {
				c.stage, c.result = callDone, r
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

// resumeOpen goes on with a step whose calls lack results. What had its result
// keeps it; what was cut off runs again only if that does no harm.
func (m *machine) resumeOpen() {
	m.emitStepStarted()
	m.restoreOutput()
	m.phase = phaseCalls
	m.show()
	for _, p := range m.step.Pending {
		if p.Kind == Continuation && p.Answer != nil {
			m.emit(Answered{Pending: p})
		}
	}
	for i := range m.open {
		c := &m.open[i]
		if c.stage == callDone {
			continue
		}
		started := slices.Contains(m.step.Started, c.call.ID)
		switch {
		case c.tool == nil:
			m.settle(c, ResultUnknown, m.unknown(c.call.Name))
		case started && c.tool.spec.Idempotent:
			c.stage = callReady
		case started:
			m.settle(c, ResultInterrupted, "Error: interrupted, effect unknown.")
		case !m.resumeRequest(c):
			c.stage = callReady
		}
	}
	for _, p := range slices.Clone(m.step.Pending) {
		if p.Answer == nil && p.Via == "" && p.expired(m.now()) {
			m.answered(overdue(p.ID))
		}
	}
}

// resumeRequest takes up the requests of a call that has not begun and reports
// whether there is one.
func (m *machine) resumeRequest(c *callState) bool {
	found := false
	for _, p := range slices.Clone(m.step.Pending) { // apply may add a request
		if p.Call.ID != c.call.ID || p.Via != "" {
			continue
		}
		found = true
		if p.Kind != Permission {
			c.stage = callExternal
		}
		if p.Answer != nil {
			m.emit(Answered{Pending: p})
			m.apply(&p)
		}
	}
	return found
}
