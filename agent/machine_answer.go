package agent

import (
	"errors"
	"fmt"
	"strconv"
	"time"
)

// answer is one attempt's message as it grows: parts in the order in which they
// opened. Buffers grow in place, so a delta costs its own length.
type answer struct {
	id      string
	open    bool
	parts   []growing
	current int         // the text or reasoning part that is open, or -1
	calls   map[int]int // index of a call → its place in parts
	bytes   int
	usage   Usage
	finish  FinishReason
}

type growing struct {
	kind   PartType
	id     string // part id, or call id
	name   string
	text   []byte
	opaque []byte
	closed bool
}

// callModelStarted opens the attempt's message.
func (m *machine) callModelStarted(model ModelInfo, req *Request) {
	id := m.turn.ID + "." + strconv.Itoa(m.step.Index)
	if n := m.turn.Attempt - 1 + m.attempt - 1; n > 0 {
		id += fmt.Sprintf(".%d.%d", m.turn.Attempt, m.attempt)
	}
	m.answer = answer{id: id, open: true, current: -1}
	m.emit(ModelCallStarted{Step: m.step.Index, Attempt: m.attempt, Model: model, Request: req})
	m.emit(MessageStarted{MessageID: id})
}

// chunk takes the next piece of the answer. It reports false when the model has
// to be stopped because the answer is too large.
func (m *machine) chunk(c Chunk) bool {
	a := &m.answer
	if a.bytes += len(c.Text); a.bytes > m.rules.opts.MaxAnswerBytes {
		return false
	}
	switch c.Kind {
	case ChunkText, ChunkReasoning:
		m.delta(c)
	case ChunkCallStart:
		m.callStart(c)
	case ChunkCallDelta:
		m.callDelta(c)
	case ChunkCallEnd:
		if at, ok := a.calls[c.Index]; ok {
			m.closePart(at)
		}
	case ChunkOpaque:
		m.opaque(c)
	case ChunkUsage:
		if c.Usage != nil {
			a.usage = *c.Usage
		}
	case ChunkFinish:
		a.finish = c.Reason
	}
	return true
}

func (m *machine) delta(c Chunk) {
	kind := TextPart
	if c.Kind == ChunkReasoning {
		kind = ReasoningPart
	}
	if c.Text == "" && kind == TextPart {
		return
	}
	a := &m.answer
	if a.current < 0 || a.parts[a.current].kind != kind {
		m.openPart(kind)
	}
	p := &a.parts[a.current]
	offset := len(p.text)
	p.text = append(p.text, c.Text...)
	switch {
	case c.Text == "":
	case kind == TextPart:
		m.emit(TextDelta{PartID: p.id, Text: c.Text, Offset: offset})
	default:
		m.emit(ReasoningDelta{PartID: p.id, Text: c.Text})
	}
}

// openPart closes what is open, except calls, and opens a part of text or
// thoughts.
func (m *machine) openPart(kind PartType) {
	m.closeCurrent()
	a := &m.answer
	id := a.id + ".p" + strconv.Itoa(len(a.parts))
	a.current = len(a.parts)
	a.parts = append(a.parts, growing{kind: kind, id: id})
	if kind == TextPart {
		m.emit(TextStarted{MessageID: a.id, PartID: id})
	} else {
		m.emit(ReasoningStarted{MessageID: a.id, PartID: id})
	}
}

func (m *machine) closeCurrent() {
	if m.answer.current >= 0 {
		m.closePart(m.answer.current)
		m.answer.current = -1
	}
}

func (m *machine) closePart(at int) {
	p := &m.answer.parts[at]
	if p.closed {
		return
	}
	p.closed = true
	switch p.kind {
	case TextPart:
		m.emit(TextEnded{PartID: p.id})
	case ReasoningPart:
		m.emit(ReasoningEnded{PartID: p.id})
	default:
		m.emit(ToolCallEnded{Call: p.call()})
	}
}

func (p *growing) call() ToolCall {
	return ToolCall{ID: p.id, Name: p.name, Arguments: string(p.text)}
}

func (m *machine) callStart(c Chunk) {
	a := &m.answer
	if at, ok := a.calls[c.Index]; ok && !a.parts[at].closed {
		return // servers repeat the head of a call
	}
	m.closeCurrent()
	id := c.ID
	if id == "" || m.callIDs[id] {
		id = a.id + ".c" + strconv.Itoa(len(a.parts))
	}
	m.callIDs[id] = true
	if a.calls == nil {
		a.calls = map[int]int{}
	}
	a.calls[c.Index] = len(a.parts)
	a.parts = append(a.parts, growing{kind: CallPart, id: id, name: c.Name})
	m.emit(ToolCallStarted{MessageID: a.id, CallID: id, Name: c.Name})
}

func (m *machine) callDelta(c Chunk) {
	at, ok := m.answer.calls[c.Index]
	if !ok || m.answer.parts[at].closed || c.Text == "" {
		return
	}
	p := &m.answer.parts[at]
	offset := len(p.text)
	p.text = append(p.text, c.Text...)
	m.emit(ToolArgsDelta{CallID: p.id, Text: c.Text, Offset: offset})
}

func (m *machine) opaque(c Chunk) {
	a := &m.answer
	at := len(a.parts) - 1
	if c.Call {
		found, ok := a.calls[c.Index]
		if !ok {
			return
		}
		at = found
	}
	if at < 0 {
		m.openPart(ReasoningPart) // thoughts that the provider shows to nobody
		at = len(a.parts) - 1
	}
	a.parts[at].opaque = c.Opaque
}

// empty reports whether the attempt has shown nothing.
func (a *answer) empty() bool {
	for i := range a.parts {
		if a.parts[i].kind == CallPart || len(a.parts[i].text) > 0 || len(a.parts[i].opaque) > 0 {
			return false
		}
	}
	return true
}

// argumentBytes returns how long the arguments of a call are that the model has
// just written.
func (a *answer) argumentBytes(callID string) int {
	for i := range a.parts {
		if p := &a.parts[i]; p.kind == CallPart && p.id == callID {
			return len(p.text)
		}
	}
	return 0
}

// closeAnswer ends all parts and the message, and counts what it used.
func (m *machine) closeAnswer(discarded, interrupted bool) {
	if !m.answer.open {
		return
	}
	m.answer.open = false
	m.step.Usage = m.step.Usage.Add(m.answer.usage)
	m.step.Cost += m.rules.price(m.answer.usage) // each attempt by itself: prices have steps
	for at := range m.answer.parts {
		m.closePart(at)
	}
	m.emit(MessageEnded{
		MessageID: m.answer.id, Discarded: discarded, Interrupted: interrupted,
		Finish: m.answer.finish, Usage: m.answer.usage,
	})
}

// message returns what was said as a message.
func (m *machine) message(interrupted bool) Message {
	out := Message{ID: m.answer.id, Role: Assistant, Interrupted: interrupted, CreatedAt: m.now()}
	for i := range m.answer.parts {
		p := &m.answer.parts[i]
		part := Part{Type: p.kind, Text: string(p.text), Opaque: p.opaque}
		if p.kind == CallPart {
			call := p.call()
			if len(call.Arguments) > m.rules.opts.MaxArgumentBytes {
				call.Arguments = "{}" // it is refused, and later requests need not carry it
			}
			part.Text, part.Call = "", &call
		}
		out.Parts = append(out.Parts, part)
	}
	return out
}

// modelEnded reports the end of an attempt: err is nil after Finish. jitter is
// from 0 to 1; remaining is the time that the turn has left, negative for no
// limit.
func (m *machine) modelEnded(err error, jitter float64, remaining time.Duration) {
	if m.phase != phaseModel || m.stopped {
		return
	}
	if err == nil {
		m.answerWhole()
		return
	}
	class := classOf(err)
	if class == ClassContextOverflow && !m.reduced {
		m.reduced, m.force = true, true
		m.retry(err, 0)
		return
	}
	delay, again := m.rules.opts.Retry.next(m.attempt, err, jitter)
	if again && (remaining < 0 || delay < remaining) {
		m.retry(err, delay)
		return
	}
	reason, message := reasonOf(class)
	m.end = &ending{outcome: Failed, reason: reason, message: message, err: err}
	m.stopped = true
	m.cutShort()
}

// retry gives the attempt up: what it has shown did not happen.
func (m *machine) retry(err error, delay time.Duration) {
	for i := range m.answer.parts {
		delete(m.callIDs, m.answer.parts[i].id)
	}
	m.closeAnswer(true, false)
	m.emit(ModelRetrying{Step: m.step.Index, Attempt: m.attempt + 1, Delay: delay, Err: err})
	m.delay = delay
	m.phase = phaseBackoff
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
	m.usage, m.cost = m.usage.Add(m.step.Usage), m.cost+m.step.Cost
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
		m.phase = phaseDecide
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

// reasonOf says what a provider's failure means for the turn, and tells people.
func reasonOf(class ErrorClass) (Reason, string) {
	switch class {
	case ClassAuth:
		return ReasonProviderAuth, "The model provider refused the key."
	case ClassQuota:
		return ReasonProviderAuth, "The account at the model provider has no credit left."
	case ClassRateLimited:
		return ReasonRateLimited, "The model provider limits the rate of requests; try again later."
	case ClassContextOverflow:
		return ReasonContextOverflow, "The conversation is too long for the model."
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
