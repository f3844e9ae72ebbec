package agent

import (
	"errors"
	"slices"
	"strings"
	"time"
)

// modelEnded reports the end of an attempt: err is nil after Finish. jitter is
// from 0 to 1; remaining is the time that the turn has left, negative for no
// limit.
func (m *machine) modelEnded(err error, jitter float64, remaining time.Duration) {
	if m.phase != phaseModel || m.stopped {
		return
	}
	if err == nil && m.answersNothing() {
		m.emptyAnswer()
		return
	}
	if err == nil {
		m.answerWhole()
		return
	}
	class := classOf(err)
	if m.fallBack(err, class) {
		return
	}
	if class == ClassContextOverflow && m.overflow == nil {
		m.overflow = err
		m.discard()
		m.phase = phaseReduce
		return
	}
	err = m.failure(err)
	delay, again := m.rules.opts.Retry.next(m.attempt-m.uncounted, err, jitter)
	if again && (remaining < 0 || delay < remaining) {
		m.startOver()
		m.retry(err, delay)
		return
	}
	reason, message := reasonOf(classOf(err))
	m.giveUp(reason, message, err)
}

// giveUp ends the turn after the last attempt.
func (m *machine) giveUp(reason Reason, message string, err error) {
	m.end = &ending{outcome: Failed, reason: reason, message: message, err: err}
	if m.step.Closing != "" {
		m.failClosing("Its closing answer failed: "+message, err)
	}
	m.stopped = true
	m.cutShort()
}

// reducedHistory reports whether the history could be made shorter after an
// overflow. The same request again would only overflow again.
func (m *machine) reducedHistory(shorter bool) {
	switch {
	case m.phase != phaseReduce || m.stopped:
	case shorter:
		m.uncounted++
		m.historyFits()
		m.retry(m.overflow, 0)
	default:
		m.giveUp(ReasonContextOverflow, "The conversation is too long for the model, and nothing of it can be left out. "+overflowAdvice, m.overflow)
	}
}

// discard gives the attempt up: what it has shown did not happen.
func (m *machine) discard() {
	for _, p := range m.answer.parts {
		delete(m.callIDs, p.id)
	}
	m.closeAnswer(true, false)
}

// retry makes another attempt after the delay.
func (m *machine) retry(err error, delay time.Duration) {
	m.discard()
	m.emit(ModelRetrying{Step: m.step.Index, Attempt: m.attempt + 1, Delay: delay, Err: err})
	m.delay = delay
	m.phase = phaseBackoff
}

// answersNothing reports whether an agent begins or closes its turn with an answer of neither words
// nor calls. After tool calls that is how a model says that it is done, and an
// answer that was cut off has a reason of its own.
func (m *machine) answersNothing() bool {
	a := &m.answer
	if m.step.Index > m.begins && m.step.Closing == "" || a.finish == FinishLength || a.finish == FinishFiltered || a.finish == FinishPaused {
		return false
	}
	return !slices.ContainsFunc(a.parts, func(p *growing) bool {
		return p.kind == CallPart || p.kind == TextPart && strings.TrimSpace(p.text.String()) != ""
	})
}

// errEmpty is the cause of [ReasonEmpty].
var errEmpty = errors.New("the model's answer has neither text nor tool calls")

// emptyAnswer asks the model once more, then gives up.
func (m *machine) emptyAnswer() {
	if !m.emptied {
		m.emptied = true
		m.uncounted++
		m.retry(errEmpty, 0)
		return
	}
	m.closeAnswer(true, false)
	m.spend(m.step.Usage, m.step.Cost)
	m.emitStepFinished()
	why := strings.TrimSuffix(m.answer.whyNoText(), ".") + ", also when it was asked again."
	if m.step.Closing != "" {
		m.failClosing(why, errEmpty)
		return
	}
	m.fail(ReasonEmpty, why, errEmpty)
}

// cutShort ends a step whose model call will not be finished. Text that was shown
// stays; calls get their results.
func (m *machine) cutShort() {
	if m.answer.open && !m.answer.empty() {
		m.closeAnswer(false, true)
		m.step.Assistant = m.message(true)
		m.openCalls()
		m.phase = phaseCalls
		return
	}
	m.closeAnswer(true, false)
	m.spend(m.step.Usage, m.step.Cost)
	m.emitStepFinished()
	m.phase = phaseEnded
}

// answerWhole takes a whole answer.
func (m *machine) answerWhole() {
	m.closeAnswer(false, false)
	m.step.Assistant = m.message(false)
	m.step.Finish = m.answer.finish
	m.openCalls()
	if len(m.open) > 0 {
		m.phase, m.dirty = phaseDecide, true
		return
	}
	m.phase = phaseCalls
}

func classOf(err error) ErrorClass {
	var me *ModelError
	if errors.As(err, &me) {
		return me.Class
	}
	return ""
}

const overflowAdvice = "Use a shorter input, smaller tool results, or a model with a larger context window."

// reasonOf returns the reason for a turn that ends with a provider's failure, and the text
// for people.
func reasonOf(class ErrorClass) (Reason, string) {
	switch class {
	case ClassAuth:
		return ReasonProviderAuth, "The model provider refused the key."
	case ClassQuota:
		return ReasonProviderAuth, "The account at the model provider has no credit left."
	case ClassRateLimited:
		return ReasonRateLimited, "The model provider limits the rate of requests; try again later."
	case ClassContextOverflow:
		return ReasonContextOverflow, "The conversation is too long for the model, even without its older messages. " + overflowAdvice
	case ClassFiltered:
		return ReasonFiltered, "The model provider refused the content."
	case ClassInvalid:
		return ReasonInvalidRequest, "The model provider did not accept the request."
	case ClassTooLarge:
		return ReasonUnavailable, "The model's answer did not end."
	case ClassOverloaded, ClassNetwork, ClassTimeout, ClassMalformed:
		return ReasonUnavailable, "The model provider could not be reached or did not answer properly."
	}
	return ReasonInternal, "The model failed."
}
