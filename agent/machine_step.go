package agent

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// needsMoreSteps reports whether the step would be followed by one that the
// limit forbids and a person may grant. It makes the request for it.
func (m *machine) needsMoreSteps() bool {
	o := m.rules.opts
	if o.Continuation <= 0 || m.step.Index+1 < m.maxSteps || !m.goesOn() {
		return false
	}
	for i := range m.step.Pending {
		if p := &m.step.Pending[i]; p.Kind == Continuation {
			return p.Answer == nil
		}
	}
	m.step.Pending = append(m.step.Pending, Pending{
		ID: fmt.Sprintf("%s.%d.%s", m.turn.ID, m.step.Index, Continuation), Kind: Continuation,
		Agent: m.rules.agent, Conversation: m.conv, RequestedAt: m.now(), Step: m.step.Index, MaxSteps: m.maxSteps,
	})
	m.dirty = true
	return true
}

// goesOn reports whether the model is to be asked again after this step, limits
// aside.
func (m *machine) goesOn() bool {
	return len(m.open) > 0 && m.output == nil && !m.tooManyErrors(m.errorsAfter())
}

func (m *machine) errorsAfter() int {
	if slices.ContainsFunc(m.open, func(c callState) bool { return c.stage == callDone && c.result.Status.Failed() }) {
		return m.errors + 1
	}
	return 0
}

func (m *machine) tooManyErrors(errors int) bool {
	limit := m.rules.opts.MaxErrors
	return limit > 0 && errors >= limit
}

// closeStep ends the step and decides what follows. It returns the action that
// stores the whole step, unless the store is broken.
func (m *machine) closeStep() action {
	m.step.Results = m.results()
	m.step.Done = true
	m.emitStepFinished()
	m.advance()
	if m.end != nil {
		m.step.Ends = &TurnEnd{Outcome: m.end.outcome, Reason: m.end.reason, Message: m.end.message}
	}
	closed := m.step
	m.step = Step{Index: closed.Index + 1}
	m.open = nil
	if m.end != nil && m.end.unsaved {
		return action{kind: actFinish}
	}
	return action{kind: actSave, step: closed}
}

func (m *machine) emitStepFinished() {
	m.emit(StepFinished{
		Step: m.step.Index, Finish: m.step.Finish, Attempts: m.attempt,
		Usage: m.step.Usage, Cost: m.step.Cost, Duration: m.elapsed - m.stepBegan,
	})
}

// advance counts the closed step and sets the phase that follows it.
func (m *machine) advance() {
	m.usage = m.usage.Add(m.step.Usage)
	m.cost += m.step.Cost
	m.errors = m.errorsAfter()
	m.extend()
	o := m.rules.opts
	m.phase = phaseStep
	switch {
	case m.end != nil:
		m.phase = phaseEnded
	case m.output != nil:
		m.succeed(ReasonDone)
	case len(m.open) == 0:
		m.endOfText()
	case m.tooManyErrors(m.errors):
		m.fail(ReasonMaxErrors, fmt.Sprintf("Exceeded maximum consecutive errors (%d).", o.MaxErrors), nil)
	case m.step.Index+1 >= m.maxSteps && m.denied():
		m.fail(ReasonDenied, fmt.Sprintf("More than %d steps were not granted.", m.maxSteps), nil)
	case m.step.Index+1 >= m.maxSteps:
		m.fail(ReasonMaxSteps, fmt.Sprintf("The turn used all of its %d steps.", m.maxSteps), nil)
	}
}

// extend adds the steps that were granted with this one.
func (m *machine) extend() {
	for i := range m.step.Pending {
		if p := &m.step.Pending[i]; p.Kind == Continuation && p.Answer != nil && p.Answer.Approved {
			m.maxSteps = p.MaxSteps + m.rules.opts.Continuation
		}
	}
}

func (m *machine) denied() bool {
	return slices.ContainsFunc(m.step.Pending, func(p Pending) bool {
		return p.Kind == Continuation && p.Answer != nil && !p.Answer.Approved
	})
}

// endOfText ends a turn whose model called nothing.
func (m *machine) endOfText() {
	out := m.rules.output
	switch {
	case m.step.Finish == FinishFiltered:
		m.fail(ReasonFiltered, "The model provider stopped the answer because of its content.", nil)
	case out != nil && out.Mode == OutputNative:
		text := m.step.Assistant.Text()
		if err := m.rules.native.check(text); err != nil {
			m.fail(ReasonOutput, "The model's answer does not have the form that was asked for.", err)
			return
		}
		m.output, m.outName = []byte(text), out.Types[0].Name
		m.succeed(ReasonDone)
	case out != nil:
		m.fail(ReasonOutput, "The model answered with text instead of the form that was asked for.", nil)
	case m.step.Finish == FinishLength:
		m.succeed(ReasonLength)
	default:
		m.succeed(ReasonDone)
	}
}

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

// canonical returns arguments with their keys sorted, so that identical calls
// are seen as such; what is no JSON is its own form.
func canonical(arguments string) string {
	var v any
	d := json.NewDecoder(strings.NewReader(arguments))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return arguments
	}
	out, err := json.Marshal(v)
	if err != nil {
		return arguments
	}
	return string(out)
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

// cut bounds a result's text, at the end of a character, with a mark.
func cut(text string, limit int) string {
	if limit <= 0 || len(text) <= limit {
		return text
	}
	at := limit
	for at > 0 && !utf8.RuneStart(text[at]) {
		at--
	}
	return text[:at] + fmt.Sprintf("\n[cut: %d of %d bytes]", at, len(text))
}
