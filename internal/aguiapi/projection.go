package aguiapi

import (
	"encoding/json"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent/agui"
	"github.com/shoal-dev/shoal/internal/exchange"
)

// projection maps what runs write into a space to the protocol. It is a pure state
// machine: no clock, no I/O. A client that has a part already, from an earlier run
// of the protocol, gets the rest of it.
type projection struct {
	thread, run string

	had   transcript // what the client sent
	parts map[shoal.PartID]*part
	order []*part // in which they were first shown
	gone  map[string]bool
	out   []agui.Event
}

// part is a part of a message as far as the client has it.
type part struct {
	id      string // on the wire: of the message, or of the tool call
	tool    string // empty for text and thoughts
	message shoal.MessageID
	parent  string // of a tool call
	thought bool
	text    []byte // of the text, or of the arguments
	shown   bool   // the client has something of it
	open    bool   // a start was sent and no end
	whole   bool   // nothing more comes
	result  *agui.Event
}

func newProjection(in *agui.Input, body []byte) (*projection, error) {
	p := &projection{thread: in.ThreadID, run: in.RunID, parts: map[shoal.PartID]*part{}, gone: map[string]bool{}}
	return p, p.had.read(body)
}

// take returns the events since the last call.
func (p *projection) take() []agui.Event {
	out := p.out
	p.out = nil
	return out
}

func (p *projection) emit(e agui.Event) { p.out = append(p.out, e) }

func (p *projection) begin() {
	p.emit(agui.Event{Type: agui.RunStarted, ThreadID: p.thread, RunID: p.run, ProtocolVersion: agui.Version})
}

// text returns a text part.
func (p *projection) text(h shoal.PartHead) *part {
	x := p.parts[h.PartID]
	if x == nil {
		x = &part{id: string(h.PartID), message: h.MessageID}
		if said, ok := p.had.texts[x.id]; ok {
			x.text, x.shown = []byte(said), true
			p.order = append(p.order, x)
		}
		x.whole = p.had.whole[x.id]
		p.parts[h.PartID] = x
	}
	return x
}

// call returns a tool part of a run's message.
func (p *projection) call(h shoal.PartHead, run shoal.RunID, callID, name string) *part {
	x := p.parts[h.PartID]
	if x == nil {
		x = &part{id: exchange.CallID(run, callID), message: h.MessageID, tool: name, parent: p.before(h.MessageID)}
		x.whole = p.had.calls[x.id]
		x.shown = x.whole
		p.parts[h.PartID] = x
	}
	return x
}

// before returns the id of the message that a tool call belongs to: the text that
// was shown last of the same message of the space, or a message of its own for the
// calls that come first.
func (p *projection) before(message shoal.MessageID) string {
	for i := len(p.order) - 1; i >= 0; i-- {
		if x := p.order[i]; x.tool == "" && !x.thought && x.message == message {
			return x.id
		}
	}
	return string(message)
}

// grow shows the text of a part from an offset on, without the text that the client
// already has.
func (p *projection) grow(x *part, offset int, text string) {
	text = exchange.Rest(text, offset, len(x.text))
	if text == "" || x.whole {
		return
	}
	p.start(x)
	x.text = append(x.text, text...)
	e := agui.Event{Type: agui.TextMessageContent, MessageID: x.id, Delta: text}
	switch {
	case x.tool != "":
		e = agui.Event{Type: agui.ToolCallArgs, ToolCallID: x.id, Delta: text}
	case x.thought:
		e.Type = agui.ReasoningMessageContent
	}
	p.emit(e)
}

// start opens a part, for the first time or again.
func (p *projection) start(x *part) {
	if x.open || x.whole {
		return
	}
	if !x.shown {
		p.order = append(p.order, x)
	}
	x.open, x.shown = true, true
	switch {
	case x.tool != "":
		p.emit(agui.Event{Type: agui.ToolCallStart, ToolCallID: x.id, ToolCallName: x.tool, ParentMessageID: x.parent})
	case x.thought:
		p.emit(agui.Event{Type: agui.ReasoningStart, MessageID: x.id})
		p.emit(agui.Event{Type: agui.ReasoningMessageStart, MessageID: x.id, Role: roleReasoning})
	default:
		p.emit(agui.Event{Type: agui.TextMessageStart, MessageID: x.id, Role: roleAssistant})
	}
}

// end closes a part, if it is open.
func (p *projection) end(x *part) {
	if !x.open {
		return
	}
	x.open = false
	switch {
	case x.tool != "":
		p.emit(agui.Event{Type: agui.ToolCallEnd, ToolCallID: x.id})
	case x.thought:
		p.emit(agui.Event{Type: agui.ReasoningMessageEnd, MessageID: x.id})
		p.emit(agui.Event{Type: agui.ReasoningEnd, MessageID: x.id})
	default:
		p.emit(agui.Event{Type: agui.TextMessageEnd, MessageID: x.id})
	}
}

// finish makes a part what it is in the end.
func (p *projection) finish(x *part, text string) {
	if x.whole {
		return
	}
	p.become(x, text)
	if x.tool != "" {
		p.start(x) // a call without arguments is one, too
	}
	p.end(x)
	x.whole = true
}

// become makes the client's version of a part text, by what is missing, or by a
// snapshot where it has something else.
func (p *projection) become(x *part, text string) {
	if !strings.HasPrefix(text, string(x.text)) {
		x.text = []byte(text)
		p.snapshot()
		return
	}
	p.grow(x, 0, text)
}

// reset cuts a part back.
func (p *projection) reset(id shoal.PartID, offset int) {
	x := p.parts[id]
	if x == nil || len(x.text) <= offset {
		return
	}
	x.text, x.whole = x.text[:offset], false
	p.snapshot()
}

// remove takes a part back. A call without a result would count as pending at the
// client, so it gets one first.
func (p *projection) remove(id shoal.PartID) {
	x := p.parts[id]
	delete(p.parts, id)
	if x == nil || !x.shown {
		return
	}
	p.end(x)
	if x.tool != "" && !p.had.results[x.id] && x.result == nil {
		p.emit(agui.Event{
			Type: agui.ToolCallResult, ToolCallID: x.id, MessageID: x.id + ".result", Role: roleTool,
			Content: "", Metadata: map[string]any{"status": "withdrawn"},
		})
	}
	for i := range p.order {
		if p.order[i] == x {
			p.order = append(p.order[:i], p.order[i+1:]...)
			break
		}
	}
	p.gone[x.id] = true
	p.snapshot()
}

// answered shows the result of a call, unless the client has it.
func (p *projection) answered(x *part, result json.RawMessage, failure string, status shoal.PartStatus) {
	if x.result != nil || p.had.results[x.id] {
		return
	}
	p.end(x)
	e := agui.Event{Type: agui.ToolCallResult, ToolCallID: x.id, MessageID: x.id + ".result", Role: roleTool, Content: failure}
	if failure == "" {
		e.Content = exchange.Plain(result)
	}
	if status != shoal.PartDone {
		e.Metadata = map[string]any{"status": string(status)}
	}
	x.result = &e
	p.emit(e)
}

// closeAll ends whatever is open.
func (p *projection) closeAll() {
	for _, x := range p.order {
		p.end(x)
	}
}

// snapshot sends the client all messages again, which is the only way to retract
// something.
func (p *projection) snapshot() {
	p.closeAll()
	p.emit(agui.Event{Type: agui.MessagesSnapshot, Messages: p.had.with(p.order, p.gone)})
}

// message shows a message of a run as it is.
func (p *projection) message(m shoal.Message, run shoal.RunID) {
	for _, held := range m.Parts {
		h := shoal.PartHead{MessageID: m.ID, PartID: held.ID}
		switch {
		case held.Private:
		case held.Type == shoal.TextPart && held.Status == shoal.PartStreaming:
			p.become(p.text(h), held.Text)
		case held.Type == shoal.TextPart:
			p.finish(p.text(h), held.Text)
		case held.Type == shoal.ToolPart && held.Status != shoal.PartInputStreaming:
			x := p.call(h, run, held.ToolCallID, held.ToolName)
			p.finish(x, string(held.Args))
			if held.Status != shoal.PartRunning && held.Status != shoal.PartRequiresAction {
				p.answered(x, held.Result, held.Error, held.Status)
			}
		}
	}
}
