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

// Plain text is what a model says outside of its calls. It is treated like a call of
// sendSpaceMessage for the trigger's space whose id no other call has. [Options.Stream]
// shows all of it while it grows; [Composer.Say] shows the answer of a run that has shown
// nothing.

// plainText is the plain text that the model writes now.
type plainText struct {
	source      string // the message of the model's attempt
	part, piece int    // the text of that message, and the piece of that text
	call        *call  // nil before the first character that is no white space
}

// Say shows text in the trigger's space and mentions an entity there, unless mention is
// empty: the last thing that the run says. White space around the text is dropped. Nothing
// is shown of an empty text, nor by a run without a space.
func (c *Composer) Say(text string, mention shoal.EntityID) []Effect {
	text = strings.TrimSpace(text)
	if c.ended || c.opts.Trigger == "" || text == "" {
		return nil
	}
	c.calls, c.head, c.last = c.plainCalls("say", 0, text), 0, nil
	c.calls[len(c.calls)-1].mention = mention
	for _, k := range c.calls {
		c.ask(k)
	}
	return c.take()
}

// Spoke reports whether the run has shown a text, or a call for which the model named a
// space. A part that only asks for a permission does not count.
func (c *Composer) Spoke() bool {
	return c.spoke || slices.ContainsFunc(c.messages, (*message).spoken)
}

func (m *message) spoken() bool {
	return slices.ContainsFunc(m.parts, func(p *part) bool { return !p.RequestOnly })
}

// textStarted begins a plain text of the model.
func (c *Composer) textStarted(source string) {
	next := plainText{source: source}
	if c.text.source == source {
		next.part = c.text.part + 1
	}
	c.text = next
}

// textDelta shows a piece of the plain text. White space in front of it is dropped.
func (c *Composer) textDelta(text string) {
	t := &c.text
	if t.call == nil && t.piece == 0 {
		text = strings.TrimLeftFunc(text, unicode.IsSpace)
	}
	for text != "" {
		if t.call == nil {
			t.call = c.plainCall(t.source, t.part, t.piece)
			c.calls = append(c.calls, t.call)
		}
		n := fits(text, c.opts.MaxPart-t.call.fed, t.call.fed == 0)
		t.call.fed += n
		t.call.hold(text[:n])
		c.ask(t.call)
		c.advance()
		t.call.settleFresh()
		if text = text[n:]; text != "" {
			c.textEnded()
			t.piece++
		}
	}
}

// textEnded says that nothing is added to the text's last piece.
func (c *Composer) textEnded() {
	if c.text.call != nil {
		c.text.call.ended = true
		c.advance()
	}
	c.text.call = nil
}

// keepPlain keeps the plain texts of a message that the model has finished.
func (c *Composer) keepPlain(source string) {
	for _, k := range c.calls {
		if k.plain && k.source == source {
			k.kept = true
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

// plainCalls returns the calls of a text that is whole and stays: several if it does not
// fit into one part.
func (c *Composer) plainCalls(source string, part int, text string) (out []*call) {
	for text = strings.TrimLeftFunc(text, unicode.IsSpace); text != ""; {
		n := fits(text, c.opts.MaxPart, true)
		k := c.plainCall(source, part, len(out))
		k.held = []byte(k.showable(text[:n]))
		k.ended, k.kept = true, true
		out, text = append(out, k), text[n:]
	}
	return out
}

// fits is how many bytes of a text go into so many without splitting a character. With
// some, at least one character does.
func fits(text string, most int, some bool) int {
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

// plainTexts returns the calls of the plain texts of a message, by the place of the text
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
