package aisdkapi

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/exchange"
)

// projection maps what runs write into a space to the parts of one message of the assistant: an
// [exchange.View]. It is a pure state machine: no clock, no I/O. A client that has a part already, from an
// earlier stream, gets the rest of it.
type projection struct {
	had    held
	agent  func(shoal.RunID) shoal.EntityID // that executes a run
	hidden map[shoal.MessageID]bool         // messages that belong to an earlier answer
	parts  map[shoal.PartID]*part
	order  []*part // those of this stream, in the order in which they were first shown
	step   bool    // the step of this stream has begun
	out    []chunk
}

func newProjection(had held, agent func(shoal.RunID) shoal.EntityID) *projection {
	return &projection{had: had, agent: agent, hidden: map[shoal.MessageID]bool{}, parts: map[shoal.PartID]*part{}}
}

// take returns the chunks since the last call.
func (p *projection) take() []chunk {
	out := p.out
	p.out = nil
	return out
}

func (p *projection) emit(c chunk) { p.out = append(p.out, c) }

// text returns a text or reasoning, nil if it is of an earlier answer.
func (p *projection) text(h shoal.PartHead, run shoal.RunID, kind partKind) *part {
	x := p.parts[h.PartID]
	if x == nil && !p.hidden[h.MessageID] {
		said := p.had.texts[h.PartID]
		x = &part{kind: kind, id: string(h.PartID), from: fromOf(h, run, p.agent(run)), text: []byte(said), base: len(said)}
		p.parts[h.PartID] = x
	}
	return x
}

// call returns a call, nil if it is of an earlier answer.
func (p *projection) call(h shoal.PartHead, run shoal.RunID, id, tool string) *part {
	x := p.parts[h.PartID]
	if x != nil || p.hidden[h.MessageID] {
		return x
	}
	x = &part{kind: callPart, id: id, tool: tool, from: fromOf(h, run, p.agent(run))}
	if old, has := p.had.calls[id]; has {
		x.text, x.whole = old.Input, old.State != inputStreaming
		x.asked = old.ProviderExecuted != nil && !*old.ProviderExecuted
		x.settled = p.had.closed[id] || old.State == outputAvailable || old.State == outputFailed || old.State == outputDenied
		x.approval = old.Approval
	}
	p.parts[h.PartID] = x
	return x
}

// show records that the client has something of a part in this stream.
func (p *projection) show(x *part) {
	if x.shown {
		return
	}
	x.shown = true
	p.order = append(p.order, x)
}

// begin begins the step of this stream, whose parts can be withdrawn.
func (p *projection) begin() {
	if !p.step {
		p.step = true
		p.emit(chunk{Type: "start-step"})
	}
}

// open opens a part.
func (p *projection) open(x *part) {
	if x.open || x.whole {
		return
	}
	p.begin()
	p.show(x)
	x.open = true
	p.emit(x.start())
}

// grow shows a piece of a part, without what the client already has.
func (p *projection) grow(x *part, offset int, piece string) {
	piece = exchange.Rest(piece, offset, len(x.text))
	if piece == "" || x.whole {
		return
	}
	p.open(x)
	x.text = append(x.text, piece...)
	p.emit(x.piece(piece))
}

// become makes the client's version of a part text: by what is missing, or anew where it has something else.
func (p *projection) become(x *part, text string) {
	if strings.HasPrefix(text, string(x.text)) {
		p.grow(x, 0, text)
		return
	}
	x.text, x.base, x.whole = []byte(text), 0, false
	if x.shown {
		p.again()
		return
	}
	p.open(x) // the client has another version in an earlier step, where nothing can be withdrawn
	p.emit(x.piece(text))
}

// finish makes a part what it is in the end.
func (p *projection) finish(x *part, text string) {
	if x.whole {
		return
	}
	p.become(x, text)
	if x.kind == callPart {
		p.open(x) // a call without arguments is one, too
	}
	p.close(x)
	x.whole = true
}

// close ends a part, if it is open.
func (p *projection) close(x *part) {
	if x.open {
		x.open = false
		p.emit(x.end())
	}
}

// again withdraws the step and shows what is left of it, which is the only way to retract something.
func (p *projection) again() {
	p.emit(chunk{Type: "reset-step"})
	for _, x := range p.order {
		if x.kind == singlePart {
			p.emit(*x.single)
			continue
		}
		x.open = false
		rest := string(x.text[x.base:])
		if rest == "" && x.kind != callPart {
			continue // begins when there is something of it
		}
		p.emit(x.start())
		if rest != "" {
			p.emit(x.piece(rest))
		}
		if x.open = !x.whole; x.whole {
			p.emit(x.end())
		}
		if x.kind == callPart && x.approval != nil {
			p.emit(x.request())
			if x.approval.Approved != nil {
				p.emit(x.decided())
			}
		}
		if x.output != nil {
			p.emit(*x.output)
		}
	}
}

// Reset shows that a part has lost text, or is gone.
func (p *projection) Reset(d shoal.PartResetData, removed bool) {
	x := p.parts[d.PartID]
	switch {
	case x == nil:
		return
	case removed:
		delete(p.parts, d.PartID)
		p.order = slices.DeleteFunc(p.order, func(other *part) bool { return other == x })
	case len(x.text) <= d.Offset:
		return
	default:
		x.text, x.whole = x.text[:d.Offset], false
		if d.Offset < x.base { // what is in an earlier step stays, and the text follows whole
			x.base = 0
			p.begin()
			p.show(x)
		}
	}
	if x.shown {
		p.again()
	}
}

// settle shows how a call ended.
func (p *projection) settle(x *part, result json.RawMessage, failure string, status shoal.PartStatus) {
	if x.settled {
		return
	}
	x.settled = true
	if !x.whole { // it ended before its arguments were complete
		p.open(x)
		x.open, x.whole = false, true
		p.emit(x.available())
	}
	out := chunk{Type: "tool-output-available", ToolCallID: x.id, Output: result}
	yes := status == shoal.PartDone
	if x.approval != nil && x.approval.Approved == nil && (yes || status == shoal.PartDenied) {
		x.approval.Approved = &yes // somebody else has decided
		p.emit(x.decided())
	}
	switch {
	case status == shoal.PartDenied && x.approval != nil:
		out = chunk{Type: denied, ToolCallID: x.id}
	case !yes:
		out = chunk{Type: outputError, ToolCallID: x.id, ErrorText: cmp.Or(failure, "The call was not executed: "+string(status)+".")}
	case len(result) == 0:
		out.Output = json.RawMessage("null")
	}
	x.output = &out
	p.emit(out)
}

// denied is the type of the chunk for a call that was denied.
const denied = "tool-output-denied"

// single shows a file or data, once.
func (p *projection) single(h shoal.PartHead, run shoal.RunID, held shoal.Part) {
	if p.parts[h.PartID] != nil || p.had.parts[h.PartID] || p.hidden[h.MessageID] {
		return
	}
	x := &part{kind: singlePart, from: fromOf(h, run, p.agent(run))}
	if held.Type == shoal.FilePart {
		x.from.Name = held.Name
		x.single = &chunk{Type: "file", URL: held.URL, MediaType: held.MediaType, Provider: &origin{x.from}}
	} else {
		x.single = &chunk{Type: "data-" + held.Name, ID: string(h.PartID), Data: held.Data}
	}
	p.parts[h.PartID] = x
	p.begin()
	p.show(x)
	p.emit(*x.single)
}

// closeAll ends whatever is open.
func (p *projection) closeAll() {
	for _, x := range p.order {
		if x.kind != callPart {
			p.close(x)
		}
	}
}
