package agui

import (
	"strconv"

	"github.com/shoal-dev/shoal/agent"
)

// speaker is the turn of the agent or of one sub-agent, as far as the client has
// seen it.
type speaker struct {
	id    string // of the sub-agent's turn; empty for the agent
	call  string // the agent's call that the sub-agent works for
	chain string // the names of the agents down to this one
	model agent.ModelInfo
	ended bool

	step     string // the open step, if any
	message  string // the message that is being made
	text     bool   // its text is open
	span     string // the open span of thoughts, if any
	thought  string // the open message of thoughts in it, if any
	calls    []call // of the message
	thoughts []string
	visible  bool   // something of the message is on the client
	spare    string // an empty message of thoughts to be taken over
}

// call is a tool call of the message that is being made.
type call struct {
	id   string // on the wire
	sent int    // bytes of its arguments
	open bool
}

// wireID returns the id of a call on the wire. Ids of calls are unique in a turn
// only, and the client looks for a call in all messages.
func (s *speaker) wireID(callID string) string {
	if s.id == "" {
		return callID
	}
	return s.id + "/" + callID
}

// begin opens the next message. Nothing is sent before there is something to
// show: an attempt that failed at once leaves no trace.
func (s *speaker) begin(id string) {
	s.message, s.calls, s.thoughts, s.visible = id, nil, nil, false
}

func (p *Projection) stepStarted(s *speaker, e agent.StepStarted) {
	p.endStep(s)
	s.step = "step-" + strconv.Itoa(e.Step)
	p.emit(s, Event{Type: StepStarted, StepName: s.step})
}

func (p *Projection) endStep(s *speaker) {
	if s.step != "" {
		p.emit(s, Event{Type: StepFinished, StepName: s.step})
		s.step = ""
	}
}

func (p *Projection) thoughtStarted(s *speaker, partID string) {
	p.endThought(s)
	s.span = partID
	p.emit(s, Event{Type: ReasoningStart, MessageID: s.span})
}

func (p *Projection) thoughtDelta(s *speaker, text string) {
	if text == "" || s.span == "" {
		return
	}
	if s.thought == "" {
		s.thought, s.spare = s.spare, ""
		if s.thought == "" {
			s.thought = s.span
			p.shown.addThought(s.thought, s.id)
		}
		s.thoughts = append(s.thoughts, s.thought)
		s.visible = true
		p.emit(s, Event{Type: ReasoningMessageStart, MessageID: s.thought, Role: "reasoning"})
	}
	p.shown.append(s.thought, text)
	p.emit(s, Event{Type: ReasoningMessageContent, MessageID: s.thought, Delta: text})
}

func (p *Projection) endThought(s *speaker) {
	if s.thought != "" {
		p.emit(s, Event{Type: ReasoningMessageEnd, MessageID: s.thought})
		s.thought = ""
	}
	if s.span != "" {
		p.emit(s, Event{Type: ReasoningEnd, MessageID: s.span})
		s.span = ""
	}
}

func (p *Projection) textDelta(s *speaker, text string) {
	if text == "" || s.message == "" {
		return
	}
	if !s.text {
		s.text, s.visible = true, true
		p.shown.addAssistant(s.message, s.id)
		p.emit(s, Event{Type: TextMessageStart, MessageID: s.message, Role: "assistant"})
	}
	p.shown.append(s.message, text)
	p.emit(s, Event{Type: TextMessageContent, MessageID: s.message, Delta: text})
}

func (p *Projection) endText(s *speaker) {
	if s.text {
		p.emit(s, Event{Type: TextMessageEnd, MessageID: s.message})
		s.text = false
	}
}

func (p *Projection) callStarted(s *speaker, e agent.ToolCallStarted) {
	id := s.wireID(e.CallID)
	if s.message == "" || s.openCall(id) != nil {
		return
	}
	s.calls = append(s.calls, call{id: id, open: true})
	s.visible = true
	p.calls = append(p.calls, id)
	p.shown.addCall(s.message, s.id, id, e.Name)
	p.emit(s, Event{Type: ToolCallStart, ToolCallID: id, ToolCallName: e.Name, ParentMessageID: s.message})
}

// openCall returns the open call with the id on the wire, or nil.
func (s *speaker) openCall(id string) *call {
	for i := range s.calls {
		if s.calls[i].id == id && s.calls[i].open {
			return &s.calls[i]
		}
	}
	return nil
}

func (p *Projection) callDelta(s *speaker, callID, text string) {
	c := s.openCall(s.wireID(callID))
	if c == nil || text == "" {
		return
	}
	c.sent += len(text)
	p.shown.appendArguments(c.id, text)
	p.emit(s, Event{Type: ToolCallArgs, ToolCallID: c.id, Delta: text})
}

func (p *Projection) callEnded(s *speaker, whole agent.ToolCall) {
	c := s.openCall(s.wireID(whole.ID))
	if c == nil {
		return
	}
	if c.sent < len(whole.Arguments) {
		p.callDelta(s, whole.ID, whole.Arguments[c.sent:])
	}
	p.endCall(s, c)
}

func (p *Projection) endCall(s *speaker, c *call) {
	c.open = false
	p.emit(s, Event{Type: ToolCallEnd, ToolCallID: c.id})
}

// closeMessage ends whatever of the message is open.
func (p *Projection) closeMessage(s *speaker) {
	p.endThought(s)
	p.endText(s)
	for i := range s.calls {
		if c := &s.calls[i]; c.open {
			p.endCall(s, c)
		}
	}
}

func (p *Projection) messageEnded(s *speaker, discarded bool) {
	p.closeMessage(s)
	if !discarded || !s.visible {
		return
	}
	for _, c := range s.calls {
		p.emit(s, Event{
			Type: ToolCallResult, ToolCallID: c.id, MessageID: resultID(c.id), Role: "tool",
			Content: "", Metadata: map[string]any{"status": "withdrawn"},
		})
		p.uncall(c.id)
	}
	s.spare = p.shown.withdraw(s.message, s.thoughts)
	s.begin("")
	p.out = append(p.out, Event{Type: MessagesSnapshot, Messages: p.shown.snapshot()})
}

// uncall forgets that the run started a call.
func (p *Projection) uncall(id string) {
	for i := range p.calls {
		if p.calls[i] == id {
			p.calls = append(p.calls[:i], p.calls[i+1:]...)
			return
		}
	}
}

// toolFinished shows a result, unless the client has it: because it gave it
// itself, or because an earlier run showed it before it had to wait.
func (p *Projection) toolFinished(s *speaker, r agent.ToolResult) {
	id := s.wireID(r.CallID)
	if p.shown.answered(id) {
		return
	}
	e := Event{Type: ToolCallResult, MessageID: resultID(id), ToolCallID: id, Role: "tool", Content: contentOf(r)}
	if r.Status != agent.ResultOK {
		e.Metadata = map[string]any{"status": string(r.Status)}
	}
	p.shown.addResult(e, s.id)
	p.emit(s, e)
}

// resultID returns the id of the message with a call's result.
func resultID(callID string) string { return callID + ".result" }
