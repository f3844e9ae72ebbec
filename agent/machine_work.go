package agent

import (
	"slices"
)

// nextInCalls drives requests and tools until every call has its result. A call that waits
// for a person holds back no other call. While Options.Answer is called no tool runs, so
// that each result is stored when it is there, and what a program prints about tools does
// not mix with a question.
func (m *machine) nextInCalls() (action, bool) {
	if m.stopped {
		return m.nextInStop()
	}
	m.markStarted()
	running, left := m.tally()
	if left == 0 && len(m.toApply) == 0 && !m.needsMoreSteps() {
		return m.closeStep(), true
	}
	if m.dirty {
		m.dirty = false
		m.step.Results = m.results()
		return action{kind: actSave, step: m.step}, true
	}
	m.announce()
	if m.settleByChoice() {
		return action{}, false // to be stored
	}
	switch {
	case running < m.rules.opts.MaxParallelTools && m.startNext():
		return action{kind: actStart, call: m.open[m.started].effective()}, true
	case running > 0:
		return action{kind: actAwait}, true
	}
	return m.askOrSuspend(), true
}

// mayStart reports whether the call may start now. A call that a person has permitted
// starts after the other permissions of the step were asked for, so that all of them can
// be answered without waiting for tools.
func (m *machine) mayStart(c *callState) bool {
	return c.stage == callReady && (!c.granted || m.unasked(Permission) == nil)
}

// markStarted notes what may begin now, so that it is stored before it begins.
func (m *machine) markStarted() {
	for i := range m.open {
		if c := &m.open[i]; m.mayStart(c) && !slices.Contains(m.step.Started, c.call.ID) {
			m.step.Started = append(m.step.Started, c.call.ID)
			m.dirty = true
		}
	}
}

// startNext moves the first call that may start to running and reports whether there was
// one; m.started is its place.
func (m *machine) startNext() bool {
	for i := range m.open {
		c := &m.open[i]
		if !m.mayStart(c) {
			continue
		}
		m.started = i
		m.calls++
		m.complete = append(m.complete, c.call.Name)
		m.emit(ToolStarted{Call: c.effective()})
		c.stage = callRunning
		return true
	}
	return false
}

// tally returns how many tools run and how many calls have no result.
func (m *machine) tally() (running, left int) {
	for i := range m.open {
		if m.open[i].stage == callRunning {
			running++
		}
		if m.open[i].stage != callDone {
			left++
		}
	}
	return running, left
}

// runs reports whether the call's tool runs.
func (m *machine) runs(callID string) bool {
	return slices.ContainsFunc(m.open, func(c callState) bool { return c.call.ID == callID && c.stage == callRunning })
}

// nextInStop ends a step whose turn is over: running tools are awaited, and all
// other calls get their results.
func (m *machine) nextInStop() (action, bool) {
	for i := range m.open {
		if c := &m.open[i]; c.stage != callRunning {
			m.settle(c, ResultCanceled, "Error: canceled before it could run.")
		}
	}
	if running, _ := m.tally(); running > 0 {
		return action{kind: actAwait}, true
	}
	return m.closeStep(), true
}

// toolEnded reports a tool's result.
func (m *machine) toolEnded(r ToolResult, end toolEnd) {
	for i := range m.open {
		c := &m.open[i]
		if c.call.ID != r.CallID || c.stage != callRunning {
			continue
		}
		if len(end.requests) > 0 && m.stopped { // nobody will go on with it
			r.Status, r.Text = ResultCanceled, "Error: canceled while it waited for an answer."
		}
		if len(end.requests) == 0 || m.stopped {
			c.end = end
			m.settle(c, r.Status, r.Text, r.Files...)
			m.withdraw(c.call.ID)
			return
		}
		c.stage = callSuspended
		m.withdraw(c.call.ID)
		for _, p := range end.requests {
			p.Via = c.call.ID
			m.step.Pending = append(m.step.Pending, p)
		}
		m.dirty = true
	}
}
