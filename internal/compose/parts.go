package compose

import (
	"encoding/json"
	"slices"

	"github.com/shoal-dev/shoal"
)

// openPart opens the call's part in the open message of its space.
func (c *Composer) openPart(k *call) {
	m := c.openMessage(k.space)
	p := &part{in: m, Part: Part{ID: c.partID(m), Type: shoal.TextPart, Status: shoal.PartStreaming, Call: k.id}}
	if !k.tool.Send {
		p.Part = Part{
			ID: p.ID, Type: shoal.ToolPart, Status: shoal.PartInputStreaming, Call: k.id, Tool: k.name, Target: k.target, Rendering: k.tool.Rendering,
		}
	}
	if k.request {
		p.Call, p.RequestOnly, p.Pending = k.pending.Call.ID, true, k.pending.ID
	}
	p.place = placeOf(m, &p.Part)
	m.parts, m.changed = append(m.parts, p), true
	k.part, k.stage = p, stageShown
	c.emit(OpenPart{p.place, p.Part})
}

func placeOf(m *message, p *Part) *PartRef {
	return &PartRef{Space: m.Space, Message: m.ID, Part: p.ID, Call: p.Call, Tool: p.Tool, Target: p.Target}
}

// openMessage returns the message of the space that accepts parts. It seals a full one and
// opens another.
func (c *Composer) openMessage(space shoal.SpaceID) *message {
	for _, m := range slices.Backward(c.messages) {
		if m.Space != space || m.Sealed {
			continue
		}
		if len(m.parts) < c.opts.MaxParts && m.size() < c.opts.MaxPart {
			return m
		}
		c.seal(m, "", "")
		c.settle(m)
		break
	}
	m := &message{Message: Message{ID: c.messageID(), Space: space, Status: shoal.MessageStreaming}}
	c.messages = append(c.messages, m)
	c.emit(OpenMessage{m.snapshot()})
	return m
}

func (m *message) size() (n int) {
	for _, p := range m.parts {
		n += len(p.Text) + len(p.Args) + len(p.Result)
	}
	return n
}

// appendHeld appends the buffered content of the call to its part.
func (c *Composer) appendHeld(k *call) {
	text := k.drainBuffer()
	if text == "" {
		return
	}
	p := k.part
	offset := len(p.buf)
	p.buf = append(p.buf, text...)
	p.in.changed = true
	c.emit(AppendPart{p.place, offset, text})
}

// endPart ends the text or the arguments of a part, which are complete.
func (c *Composer) endPart(k *call) {
	p := k.part
	switch p.Status {
	case shoal.PartStreaming:
		c.endText(p, shoal.PartDone)
	case shoal.PartInputStreaming:
		p.Args, p.buf, p.Status = json.RawMessage(p.buf), nil, shoal.PartRunning
		c.emit(InputAvailable{p.place, p.Args})
		p.in.due = true
	default:
		return
	}
	switch {
	case k.request:
		c.setStatus(p, shoal.PartRequiresAction)
		c.emit(ShowPending{k.pending, p.place.Space, p.place})
	case k.mention != "" || k.wait:
		c.seal(p.in, k.mention, k.id)
	}
	if k.autoAccept {
		c.accept(k)
	}
	c.settle(p.in)
}

func (c *Composer) endText(p *part, status shoal.PartStatus) {
	p.Text, p.buf, p.Status = string(p.buf), nil, status
	p.Accepted = p.Accepted || status == shoal.PartInterrupted // no result will follow
	c.emit(EndText{p.place, p.Text, status})
	p.in.due = true
}

// cutShort ends a part that the model did not finish: text stays, arguments that are not
// JSON are removed.
func (c *Composer) cutShort(k *call) {
	p := k.part
	switch p.Status {
	case shoal.PartStreaming:
		c.endText(p, shoal.PartInterrupted)
		c.settle(p.in)
	case shoal.PartInputStreaming:
		c.resetInput(p)
	}
}

func (c *Composer) resetInput(p *part) {
	if p.Status == shoal.PartInputStreaming && len(p.buf) > 0 {
		p.buf, p.in.changed = nil, true
		c.emit(ResetPart{p.place, 0})
	}
}

// setStatus sets the status of a tool part that is not finished.
func (c *Composer) setStatus(p *part, status shoal.PartStatus) {
	if p.Type != shoal.ToolPart || p.isFinal() || p.Status == status || p.Status == shoal.PartInputStreaming {
		return
	}
	p.Status, p.in.due = status, true
	c.emit(ChangePart{p.place, status})
}

// finishTool ends a tool part. Later ends are ignored.
func (c *Composer) finishTool(p *part, status shoal.PartStatus, result json.RawMessage, said string) {
	if p.isFinal() {
		return
	}
	c.resetInput(p)
	p.Status, p.Result, p.Error, p.in.due = status, result, said, true
	c.emit(FinishTool{p.place, status, result, said, p.AnsweredBy, p.Decision})
	c.settle(p.in)
}

// removePart withdraws a part. If the part's call sealed the message, the message is reopened.
func (c *Composer) removePart(p *part) {
	m := p.in
	if m.Status != shoal.MessageStreaming { // closed messages do not change
		return
	}
	m.parts = slices.DeleteFunc(m.parts, func(other *part) bool { return other == p })
	m.due = true
	c.emit(RemovePart{p.place})
	if m.Sealed && m.SealedBy == p.Call {
		c.reopen(m)
	}
	c.settle(m)
}

// withdraw removes everything that a discarded call has shown.
func (c *Composer) withdraw(k *call) {
	if k.stage == stageShown {
		c.removePart(k.part)
	}
	k.stage, k.part = stageHidden, nil
}

// seal stops m from accepting parts.
func (c *Composer) seal(m *message, mention shoal.EntityID, by string) {
	m.Sealed, m.SealedBy, m.Mention, m.due = true, by, mention, true
	c.emit(SealMessage{m.ID, mention})
}

// reopen reverts a seal. Newer messages of the space without parts are canceled. If one has
// parts, m stays sealed, without a mention.
func (c *Composer) reopen(m *message) {
	m.Mention, m.SealedBy, m.Starts = "", "", false
	var newer []*message
	for _, other := range c.messages[slices.Index(c.messages, m)+1:] {
		if other.Space == m.Space {
			newer = append(newer, other)
		}
	}
	if slices.ContainsFunc(newer, func(n *message) bool { return len(n.parts) > 0 }) {
		return
	}
	for _, n := range newer {
		c.close(n, shoal.MessageCanceled)
	}
	m.Sealed = false
	c.emit(ReopenMessage{m.ID})
}

// settle completes a sealed message whose parts are all final.
func (c *Composer) settle(m *message) {
	if !m.Sealed || slices.ContainsFunc(m.parts, func(p *part) bool { return !p.isFinal() }) {
		return
	}
	c.close(m, shoal.MessageCompleted)
}

// close ends a message. A message without parts is canceled. The mention is kept only if it
// starts.
func (c *Composer) close(m *message, status shoal.MessageStatus) {
	if m.Status != shoal.MessageStreaming {
		return
	}
	if len(m.parts) == 0 {
		status = shoal.MessageCanceled
	}
	m.Status, m.Starts = status, m.Starts && status == shoal.MessageCompleted
	if !m.Starts {
		m.Mention = ""
	}
	c.hasOutput = c.hasOutput || m.hasOutput()
	c.messages = slices.DeleteFunc(c.messages, func(other *message) bool { return other == m })
	c.emit(CloseMessage{m.snapshot()})
	if m.Starts {
		c.emit(StartMention{m.Space, m.ID, m.Mention, m.SealedBy})
	}
}
