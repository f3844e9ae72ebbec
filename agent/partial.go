package agent

import (
	"encoding/json"
	"time"
)

// partialEvery is the minimum time between two partial values of a structured answer.
const partialEvery = 100 * time.Millisecond

// partialOutput emits the partial values of a native structured answer while it
// streams. All methods do nothing on nil.
type partialOutput struct {
	text  []byte
	shown time.Time
}

func (p *partialOutput) reset() {
	if p != nil {
		p.text = p.text[:0]
		p.shown = time.Time{}
	}
}

// showPartial emits the value so far, unless it did so within partialEvery.
func (t *turn) showPartial(text string) {
	p := t.partial
	p.text = append(p.text, text...)
	now := time.Now()
	if now.Sub(p.shown) < partialEvery {
		return
	}
	if value, ok := completeJSON(p.text); ok {
		p.shown = now
		t.emit(OutputPartial{MessageID: t.m.answer.id, Value: value})
	}
}

// completeJSON completes a JSON text that was truncated anywhere: it closes what is
// open and drops an incomplete token at the end. It reports false if nothing remains or
// the text is not JSON.
func completeJSON(cut []byte) (json.RawMessage, bool) {
	c := completer{text: cut}
	end := c.scan()
	for ; end > 0; end = c.before(end) {
		whole := append(append([]byte(nil), cut[:end]...), c.closers(end)...)
		if json.Valid(whole) {
			return whole, true
		}
		if c.tries++; c.tries > 4 {
			return nil, false
		}
	}
	return nil, false
}

// completer scans a truncated JSON text once and records where it could end.
type completer struct {
	text  []byte
	marks []jsonMark // offsets where the text can be cut, oldest first
	tries int
}

// jsonMark is the offset after a value or an opening bracket, with the brackets that
// are open there.
type jsonMark struct {
	end  int
	open []byte // closing brackets, innermost last
}

// scan finds the marks and returns the offset of the last one.
func (c *completer) scan() int {
	var open []byte
	inString, escaped := false, false
	for i, b := range c.text {
		switch {
		case escaped:
			escaped = false
		case inString && b == '\\':
			escaped = true
		case b == '"':
			if inString = !inString; !inString {
				c.mark(i+1, open)
			}
		case inString:
		case b == '{' || b == '[':
			open = append(open, b+2) // the closing bracket, in ASCII
			c.mark(i+1, open)
		case b == '}' || b == ']':
			if len(open) > 0 {
				open = open[:len(open)-1]
			}
			c.mark(i+1, open)
		case b == ',':
			c.mark(i, open)
		}
	}
	if inString {
		c.markString(open, escaped)
	} else {
		c.mark(len(c.text), open)
	}
	return c.before(len(c.text) + 2)
}

func (c *completer) mark(end int, open []byte) {
	c.marks = append(c.marks, jsonMark{end: end, open: append([]byte(nil), open...)})
	if len(c.marks) > 8 { // the last few are enough
		c.marks = c.marks[1:]
	}
}

// markString allows a cut inside of a string, before an incomplete escape sequence.
func (c *completer) markString(open []byte, escaped bool) {
	end := len(c.text)
	if escaped {
		end--
	}
	for back := 1; back <= 5 && back <= end; back++ { // \uXXXX
		if c.text[end-back] == '\\' && back < len(`\uXXXX`) && end-back+1 < len(c.text) && c.text[end-back+1] == 'u' {
			end -= back
			break
		}
	}
	c.marks = append(c.marks, jsonMark{end: end, open: append(append([]byte(nil), open...), '"')})
}

// before returns the last mark before end.
func (c *completer) before(end int) int {
	for i := len(c.marks) - 1; i >= 0; i-- {
		if c.marks[i].end < end {
			return c.marks[i].end
		}
	}
	return 0
}

func (c *completer) closers(end int) []byte {
	for i := len(c.marks) - 1; i >= 0; i-- {
		if c.marks[i].end != end {
			continue
		}
		out := make([]byte, 0, len(c.marks[i].open))
		for j := len(c.marks[i].open) - 1; j >= 0; j-- {
			out = append(out, c.marks[i].open[j])
		}
		return out
	}
	return nil
}
