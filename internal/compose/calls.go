package compose

import (
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
)

// stage is the progress of a call towards being shown in a space.
type stage int

const (
	stageReading stage = iota // its space is not known
	stageAsking               // its space is known, the membership is not
	stageReady                // it may be shown when the calls before it are settled
	stageShown                // it has a part
	stageHidden               // it is not shown, or not any longer
)

// call is a tool call of the open step that may appear in a space, or a request that needs
// a part of its own.
type call struct {
	id, name string
	source   string // id of the model's message that contains the call
	tool     Tool
	reader   *Reader
	fed      int  // bytes of the arguments passed to the reader
	ended    bool // the arguments are final
	broken   bool // the arguments are not JSON

	space           shoal.SpaceID
	mention, target shoal.EntityID
	wait            bool
	badSpace        bool // the value of the space field is not an id
	badTarget       bool // the value of the target field is not an id

	stage    stage
	refusal  Refusal
	buffer   []byte // text or arguments that cannot be shown yet
	fresh    string // the same, from the current delta
	part     *part
	finished bool // the call has its result

	plain      bool // a text outside of all calls
	autoAccept bool // a plain text that is accepted as soon as it is complete

	request bool // the part shows only a request
	pending agent.Pending
}

// startCall adds a call that the model starts to write. It returns nil for a call that cannot
// appear in a space.
func (c *Composer) startCall(id, name, source string) *call {
	tool, ok := c.tools[name]
	if !ok || (!tool.Send && !tool.Display) {
		return nil
	}
	k := &call{id: id, name: name, source: source, tool: tool, reader: tool.reader()}
	c.calls = append(c.calls, k)
	c.last = k
	return k
}

// feedCall passes the next piece of arguments to the call's reader.
func (c *Composer) feedCall(k *call, piece string) {
	if k.finished {
		return
	}
	k.fed += len(piece)
	c.applyTokens(k, k.reader.Feed(piece))
}

// endArguments ends the call's arguments. It receives all of them once more, for models
// that do not stream arguments.
func (c *Composer) endArguments(k *call, arguments string) {
	if k.fed < len(arguments) {
		c.feedCall(k, arguments[k.fed:])
	}
	if !k.finished {
		c.applyTokens(k, k.reader.Close())
	}
}

// applyTokens processes the tokens of the call's reader.
func (c *Composer) applyTokens(k *call, tokens []Token) {
	for _, t := range tokens {
		switch t.Kind {
		case TokenText, TokenRest:
			k.appendBuffer(t.Text)
		case TokenBegin, TokenOther:
			c.restart(k)
		case TokenString, TokenValue:
			if k.route(t) {
				c.leavePlace(k)
			}
		case TokenEnd:
			if k.tool.HideInput && !k.tool.Send {
				k.appendBuffer("{}")
			}
			k.ended = true
		case TokenError: // an error after the end is the agent's to refuse
			k.ended, k.broken = true, k.broken || !k.ended
		}
	}
	if !c.refuseTooLarge(k) {
		c.askSpace(k)
		c.advance()
	}
	k.settleFresh()
}

// appendBuffer buffers a piece of text or arguments until it can be shown. It does not copy the
// piece of the current delta.
func (k *call) appendBuffer(s string) {
	if k.stage == stageHidden || s == "" {
		return
	}
	s = k.showable(s)
	if k.fresh == "" && len(k.buffer) == 0 {
		k.fresh = s
		return
	}
	k.settleFresh()
	k.buffer = append(k.buffer, s...)
}

// showable replaces U+0000 in a text, because not every database can store it.
func (k *call) showable(s string) string {
	if k.tool.Send && strings.IndexByte(s, 0) >= 0 {
		return strings.ReplaceAll(s, "\x00", "\uFFFD")
	}
	return s
}

func (k *call) settleFresh() {
	if k.fresh != "" && k.stage != stageHidden {
		k.buffer = append(k.buffer, k.fresh...)
	}
	k.fresh = ""
}

// drainBuffer returns the buffered text and empties the buffer.
func (k *call) drainBuffer() string {
	out := k.fresh
	if len(k.buffer) > 0 {
		k.settleFresh()
		out = string(k.buffer)
		k.buffer = k.buffer[:0]
	}
	k.fresh = ""
	return out
}

// refuseTooLarge refuses a call with more text or arguments than the limit of a part.
func (c *Composer) refuseTooLarge(k *call) bool {
	n := len(k.buffer) + len(k.fresh)
	if k.part != nil {
		n += len(k.part.buf)
	}
	if n <= c.opts.MaxPart || k.stage == stageHidden {
		return false
	}
	c.hide(k, RefusedTooLarge)
	c.advance()
	return true
}

// restart drops the text so far, because the model writes the field again.
func (c *Composer) restart(k *call) {
	k.buffer, k.fresh = k.buffer[:0], ""
	if p := k.part; p != nil && k.stage == stageShown && len(p.buf) > 0 {
		p.buf = p.buf[:0]
		p.in.changed = true
		c.emit(ResetPart{p.place, 0})
	}
}

// route applies a routing field and reports whether the call's destination has changed.
// The last of several equal keys counts.
func (k *call) route(t Token) bool {
	id := ""
	if t.Kind == TokenString {
		id = t.Text
	}
	bad := t.Kind == TokenValue && t.Text != "null" || t.Kind == TokenString && shoal.CheckID("id", id) != nil
	before := *k
	switch {
	case t.Field == atMention:
		k.mention = shoal.EntityID(id)
	case t.Field == atThird && k.tool.Send:
		k.wait = t.Kind != TokenValue || t.Text != "null"
	case t.Field == atThird:
		k.target, k.badTarget = shoal.EntityID(id), bad
	default:
		k.space, k.badSpace = shoal.SpaceID(id), bad
	}
	return k.space != before.space || k.badSpace != before.badSpace || k.target != before.target || k.badTarget != before.badTarget
}

// leavePlace returns a call to the stage in which its destination is not known, and moves
// the content of its part back into the buffer.
func (c *Composer) leavePlace(k *call) {
	if k.stage == stageHidden {
		return
	}
	if p := k.part; p != nil {
		c.removePart(p)
		k.part = nil
		k.settleFresh()
		k.buffer = append(p.buf, k.buffer...)
	}
	k.stage = stageReading
}

// askSpace emits AskSpace as soon as the destination is known.
func (c *Composer) askSpace(k *call) {
	targetKnown := !k.tool.Targeted || k.tool.Send || k.target != "" || k.ended
	if k.stage != stageReading || k.space == "" || k.badSpace || k.badTarget || k.broken || k.tool.Hidden || !targetKnown {
		return
	}
	k.stage = stageAsking
	for _, other := range c.calls {
		if other != k && other.stage == stageAsking && other.space == k.space && other.target == k.target {
			return
		}
	}
	c.emit(AskSpace{k.space, k.target})
}

// advance shows the calls that may be shown now. A call opens its part only when all calls
// before it are settled, so that parts are in the order of the model's output.
func (c *Composer) advance() {
	for c.head < len(c.calls) {
		k := c.calls[c.head]
		c.progress(k)
		if !k.ended || k.stage != stageShown && k.stage != stageHidden {
			return
		}
		c.head++
	}
}

// progress advances a call as far as possible.
func (c *Composer) progress(k *call) {
	switch {
	case k.stage == stageReading && k.ended, k.broken && k.stage < stageShown:
		c.hide(k, k.refusalReason())
	case k.stage == stageReady && k.tool.Send && k.ended && len(k.buffer)+len(k.fresh) == 0:
		c.hide(k, RefusedEmpty)
	case k.stage == stageReady && (!k.tool.Send || len(k.buffer)+len(k.fresh) > 0):
		c.openPart(k)
	}
	if k.stage != stageShown {
		return
	}
	c.appendHeld(k)
	switch {
	case !k.ended || k.broken:
	case k.tool.Send && k.part.Status == shoal.PartStreaming && len(k.part.buf) == 0: // the model wrote the field again, empty
		c.hide(k, RefusedEmpty)
	default:
		c.endPart(k)
	}
}

// refusalReason returns why a call whose arguments have ended cannot be shown; empty for a call
// that is not meant to be shown.
func (k *call) refusalReason() Refusal {
	switch {
	case k.broken && (k.tool.Send || k.space != ""):
		return RefusedMalformed
	case k.broken || k.tool.Hidden:
		return ""
	case k.badTarget:
		return RefusedTarget
	case k.badSpace || k.space == "" && k.tool.Send:
		return RefusedSpace
	}
	return ""
}

// hide hides the call for good and withdraws what it has shown.
func (c *Composer) hide(k *call, why Refusal) {
	if k.stage == stageHidden {
		return
	}
	k.stage, k.refusal, k.buffer, k.fresh = stageHidden, why, nil, ""
	if k.part != nil {
		c.removePart(k.part)
		k.part = nil
	}
	if k.request {
		c.emit(ShowPending{Pending: k.pending})
	}
}
