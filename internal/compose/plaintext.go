package compose

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
)

// Plain text is the model's text outside of tool calls. The composer treats it like a call
// of sendSpaceMessage for the trigger's space with an id that no other call has.
// [Options.Stream] shows all of it while the model writes; [Composer.Say] shows the final
// answer of a run that has shown nothing.

// plainText is the plain text that the model is writing.
type plainText struct {
	source      string // id of the model's message
	part, piece int    // the text of that message, and the piece of that text
	call        *call  // nil before the first non-space character
}

// Say shows the final text of a run in the trigger's space. It mentions an entity there
// unless mention is empty. Surrounding white space is dropped. Say does nothing for an
// empty text or a run without a space.
func (c *Composer) Say(text string, mention shoal.EntityID) []Effect {
	text = strings.TrimSpace(text)
	if c.ended || c.opts.Trigger == "" || text == "" {
		return nil
	}
	c.calls, c.head, c.last = c.plainCalls("say", 0, text), 0, nil
	c.calls[len(c.calls)-1].mention = mention
	for _, k := range c.calls {
		c.askSpace(k)
	}
	return c.drainEffects()
}

// HasOutput reports whether the run has shown a text, or a call for which the model named a
// space. A part that shows only a permission request does not count.
func (c *Composer) HasOutput() bool {
	return c.hasOutput || slices.ContainsFunc(c.messages, (*message).hasOutput)
}

func (m *message) hasOutput() bool {
	return slices.ContainsFunc(m.parts, func(p *part) bool { return !p.RequestOnly })
}

// startText starts a plain text of the model.
func (c *Composer) startText(source string) {
	next := plainText{source: source}
	if c.text.source == source {
		next.part = c.text.part + 1
	}
	c.text = next
}

// appendText shows a piece of the plain text. Leading white space is dropped.
func (c *Composer) appendText(text string) {
	t := &c.text
	if t.call == nil && t.piece == 0 {
		text = strings.TrimLeftFunc(text, unicode.IsSpace)
	}
	for text != "" {
		if t.call == nil {
			t.call = c.plainCall(t.source, t.part, t.piece)
			c.calls = append(c.calls, t.call)
		}
		n := fittingPrefix(text, c.opts.MaxPart-t.call.fed, t.call.fed == 0)
		t.call.fed += n
		t.call.appendBuffer(text[:n])
		c.askSpace(t.call)
		c.advance()
		t.call.settleFresh()
		if text = text[n:]; text != "" {
			c.finishText()
			t.piece++
		}
	}
}

// finishText ends the last piece of the text.
func (c *Composer) finishText() {
	if c.text.call != nil {
		c.text.call.ended = true
		c.advance()
	}
	c.text.call = nil
}

// acceptPlain accepts the plain texts of a finished message of the model.
func (c *Composer) acceptPlain(source string) {
	for _, k := range c.calls {
		if k.plain && k.source == source {
			k.autoAccept = true
			c.accept(k)
		}
	}
}

func (c *Composer) plainCall(source string, part, piece int) *call {
	return &call{
		id: fmt.Sprintf("%s/%d.%d", source, part, piece), source: source, tool: Tool{Send: true},
		space: c.opts.Trigger, plain: true,
	}
}

// plainCalls returns the calls of a complete text: more than one if it exceeds the limit of
// a part.
func (c *Composer) plainCalls(source string, part int, text string) (out []*call) {
	for text = strings.TrimLeftFunc(text, unicode.IsSpace); text != ""; {
		n := fittingPrefix(text, c.opts.MaxPart, true)
		k := c.plainCall(source, part, len(out))
		k.buffer = []byte(k.showable(text[:n]))
		k.ended, k.autoAccept = true, true
		out, text = append(out, k), text[n:]
	}
	return out
}

// fittingPrefix returns how many bytes of a text, at most most, can be taken without splitting a
// character. With some set it takes at least one character.
func fittingPrefix(text string, most int, some bool) int {
	if len(text) <= most {
		return len(text)
	}
	n := max(most, 0)
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	if n == 0 && some {
		_, n = utf8.DecodeRuneInString(text)
	}
	return n
}

// plainTexts returns the calls of the plain texts of a message, by the index of the text
// among the message's parts.
func (c *Composer) plainTexts(m agent.Message) map[int][]*call {
	if !c.opts.Stream || c.opts.Trigger == "" {
		return nil
	}
	out, n := map[int][]*call{}, 0
	for i, p := range m.Parts {
		if p.Type == agent.TextPart {
			out[i] = c.plainCalls(m.ID, n, p.Text)
			n++
		}
	}
	return out
}
