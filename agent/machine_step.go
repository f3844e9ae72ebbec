package agent

import (
	"fmt"
	"slices"
)

// needsMoreSteps reports whether the step would be followed by one that the
// limit forbids and a person may grant. It makes the request for it.
func (m *machine) needsMoreSteps() bool {
	o := m.rules.opts
	if o.Continuation <= 0 || m.step.Index+1 < m.maxSteps || m.step.Closing != "" || !m.goesOn() {
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
	return (len(m.open) > 0 || m.step.Finish == FinishPaused) && m.output == nil && !m.tooManyErrors(m.errorsAfter()) && transferredTo(m.results()) == ""
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
		Step: m.step.Index, Agent: m.rules.agent, Finish: m.step.Finish, Attempts: m.attempt,
		Usage: m.step.Usage, Cost: m.step.Cost, Duration: m.elapsed - m.stepBegan,
	})
}

// advance counts the closed step and sets the phase that follows it.
func (m *machine) advance() {
	m.spend(m.step.Usage, m.step.Cost)
	m.errors = m.errorsAfter()
	m.countCalls()
	m.extend()
	m.phase = phaseStep
	m.target = transferredTo(m.results())
	switch {
	case m.end != nil:
		m.phase = phaseEnded
	case m.target != "":
		m.phase = phaseTransfer
	case m.step.Closing != "":
		m.afterClosing()
	case m.output != nil:
		m.succeed(ReasonDone)
	case len(m.open) == 0 && m.step.Finish != FinishPaused && !m.readsOn():
		m.endOfText()
	case m.tooManyErrors(m.errors):
		m.reachLimit(ReasonMaxErrors)
	case m.step.Index+1 >= m.maxSteps && m.denied():
		m.reachLimit(ReasonDenied)
	case m.step.Index+1 >= m.maxSteps:
		m.reachLimit(ReasonMaxSteps)
	}
}

// interjected takes messages that the next step is to read.
func (m *machine) interjected(messages []Message) {
	for i := range messages {
		if id := messages[i].ID; !containsID(m.queue, id) && !containsID(m.step.Before, id) {
			m.queue = append(m.queue, messages[i])
		}
	}
}

// readsOn reports whether the turn goes on after an answer without calls, because a
// message arrived meanwhile, and may.
func (m *machine) readsOn() bool {
	return len(m.queue) > 0 && m.step.Finish != FinishFiltered && m.step.Index+1 < m.maxSteps && m.budgetUsed() == ""
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
		m.end.message = m.answer.whyNoText()
	default:
		m.succeed(ReasonDone)
		m.end.message = m.answer.whyNoText()
	}
}
