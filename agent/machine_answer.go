package agent

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// answer is the message of one attempt while it streams: parts in the order in which
// they opened. Texts are appended to in place, so a delta costs only its own length.
type answer struct {
	id      string
	open    bool
	parts   []*growing
	current int         // the text or reasoning part that is open, or -1
	calls   map[int]int // index of a call → its place in parts
	bytes   int
	usage   Usage
	finish  FinishReason
	model   ModelInfo // that answers
}

type growing struct {
	kind   PartType
	id     string // part id, or call id
	name   string
	text   strings.Builder
	opaque []byte
	closed bool
	cited  []Citation
}

// callModelStarted opens the attempt's message.
func (m *machine) callModelStarted(model ModelInfo, req *Request) {
	id := m.turn.ID + "." + strconv.Itoa(m.step.Index)
	if n := m.turn.Attempt - 1 + m.attempt - 1; n > 0 {
		id += fmt.Sprintf(".%d.%d", m.turn.Attempt, m.attempt)
	}
	m.answer = answer{id: id, open: true, current: -1, model: model}
	m.emit(ModelCallStarted{Step: m.step.Index, Attempt: m.attempt, Model: model, Request: req})
	m.emit(MessageStarted{MessageID: id})
}

// chunk adds the next chunk of the answer. It reports false if the model must be
// stopped because the answer is too large.
func (m *machine) chunk(c *Chunk) bool {
	a := &m.answer
	if a.bytes += len(c.Text); a.bytes > m.rules.opts.MaxAnswerBytes {
		return false
	}
	if c.Model != nil {
		a.model = *c.Model
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
	case ChunkCitation:
		m.cite(c.Citation)
	case ChunkUsage:
		if c.Usage != nil {
			a.usage = *c.Usage
		}
	case ChunkFinish:
		a.finish = c.Reason
	}
	return true
}

func (m *machine) delta(c *Chunk) {
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
	p := a.parts[a.current]
	offset := p.text.Len()
	p.text.WriteString(c.Text)
	switch {
	case c.Text == "":
	case kind == TextPart:
		m.emit(TextDelta{PartID: p.id, Text: c.Text, Offset: offset})
	default:
		m.emit(ReasoningDelta{PartID: p.id, Text: c.Text})
	}
}

// openPart closes the open part, except calls, and opens a text or reasoning part.
func (m *machine) openPart(kind PartType) {
	m.closeCurrent()
	a := &m.answer
	id := a.id + ".p" + strconv.Itoa(len(a.parts))
	a.current = len(a.parts)
	a.parts = append(a.parts, &growing{kind: kind, id: id})
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
	p := m.answer.parts[at]
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
	return ToolCall{ID: p.id, Name: p.name, Arguments: p.text.String()}
}

func (m *machine) callStart(c *Chunk) {
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
	a.parts = append(a.parts, &growing{kind: CallPart, id: id, name: c.Name})
	m.emit(ToolCallStarted{MessageID: a.id, CallID: id, Name: c.Name})
}

func (m *machine) callDelta(c *Chunk) {
	at, ok := m.answer.calls[c.Index]
	if !ok || m.answer.parts[at].closed || c.Text == "" {
		return
	}
	p := m.answer.parts[at]
	offset := p.text.Len()
	p.text.WriteString(c.Text)
	m.emit(ToolArgsDelta{CallID: p.id, Text: c.Text, Offset: offset})
}

func (m *machine) opaque(c *Chunk) {
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
		m.openPart(ReasoningPart) // reasoning whose text the provider does not reveal
		at = len(a.parts) - 1
	}
	a.bytes += len(c.Opaque) - len(a.parts[at].opaque)
	a.parts[at].opaque = c.Opaque
}

// cite adds a citation to the last text part. It drops a range that the text does not have.
func (m *machine) cite(c *Citation) {
	if c == nil {
		return
	}
	for _, p := range slices.Backward(m.answer.parts) {
		if p.kind != TextPart {
			continue
		}
		cited, text := *c, p.text.String()
		if cited.Start < 0 || cited.End <= cited.Start || cited.End > len(text) || !isBoundary(text, cited.Start) || !isBoundary(text, cited.End) {
			cited.Start, cited.End = 0, 0
		}
		m.answer.bytes += len(c.URL) + len(c.Title) + len(c.Quote)
		p.cited = append(p.cited, cited)
		m.emit(Cited{MessageID: m.answer.id, PartID: p.id, Citation: cited})
		return
	}
}

// isBoundary reports whether a character of the text begins at the byte, or the text ends.
func isBoundary(text string, at int) bool { return at == len(text) || utf8.RuneStart(text[at]) }

// empty reports whether the attempt has produced nothing.
func (a *answer) empty() bool {
	for _, p := range a.parts {
		if p.kind == CallPart || p.text.Len() > 0 || len(p.opaque) > 0 {
			return false
		}
	}
	return true
}

// argumentBytes returns the size of the arguments of a call of this answer.
func (a *answer) argumentBytes(callID string) int {
	for _, p := range a.parts {
		if p.kind == CallPart && p.id == callID {
			return p.text.Len()
		}
	}
	return 0
}

// closeAnswer ends all parts and the message, and counts its usage.
func (m *machine) closeAnswer(discarded, interrupted bool) {
	if !m.answer.open {
		return
	}
	m.answer.open = false
	m.step.Usage = m.step.Usage.Add(m.answer.usage)
	cost := m.rules.priceOf(m.answer.model, m.answer.usage) // each attempt by itself: prices have steps
	m.step.Cost += cost
	if used := m.answer.usage; (m.rules.opts.MaxCost > 0 || m.root.MaxCost > 0) && cost <= 0 && used.InputTokens+used.OutputTokens > 0 && !m.unpriced {
		m.unpriced = true
		m.emit(Warning{Source: "price", Err: fmt.Errorf("MaxCost does not count what %s costs: its price is not known", m.answer.model.Name)})
	}
	for at := range m.answer.parts {
		m.closePart(at)
	}
	m.emit(MessageEnded{
		MessageID: m.answer.id, Discarded: discarded, Interrupted: interrupted,
		Finish: m.answer.finish, Usage: m.answer.usage, Model: m.answer.model,
	})
}

// message returns the answer as a message.
func (m *machine) message(interrupted bool) Message {
	out := Message{ID: m.answer.id, Role: Assistant, Interrupted: interrupted, CreatedAt: m.now()}
	if m.rules.team != nil {
		out.Agent = m.rules.agent
	}
	for _, p := range m.answer.parts {
		part := Part{Type: p.kind, Text: p.text.String(), Opaque: p.opaque, Citations: p.cited}
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
