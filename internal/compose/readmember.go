package compose

import (
	"fmt"
)

// beginKey opens a key with the quote at i. Only a top-level key can name a field.
func (r *Reader) beginKey(i int) {
	r.state, r.text = inKey, textState{}
	if len(r.stack) == 1 {
		r.sink, r.key, r.raw, r.over, r.from = sinkKey, r.key[:0], r.raw[:0], false, i
	}
}

// endKey closes the key; end is the offset after its last quote.
func (r *Reader) endKey(piece string, end int) {
	r.state = wantColon
	if len(r.stack) > 1 {
		return
	}
	r.flushVerbatim(piece, end)
	r.field = r.fieldOf()
	if r.field < 0 && r.rest {
		r.emitKey()
		r.emit(TokenRest, 0, ":")
	}
	r.sink = sinkNone
}

// fieldOf returns the index of the field that the key names, or -1.
func (r *Reader) fieldOf() int {
	if r.sink == sinkKey && !r.over {
		for i := range r.fields {
			if r.fields[i].Name == string(r.key) {
				return i
			}
		}
	}
	return -1
}

// emitKey writes the key into the rest unless that has been done.
func (r *Reader) emitKey() {
	if r.sink != sinkKey {
		return
	}
	if r.members++; r.members > 1 {
		r.emit(TokenRest, 0, ",")
	}
	r.emit(TokenRest, 0, string(r.raw))
}

// appendKey buffers the key as written. A key that is too long cannot name a field and is no
// longer buffered.
func (r *Reader) appendKey(s string) {
	r.raw = append(r.raw, s...)
	if len(r.raw) <= maxValue {
		return
	}
	if !r.rest {
		r.sink = sinkNone
		return
	}
	r.emitKey()
	r.sink = sinkRest
}

// beginMember opens the value of a top-level member whose first byte is at i.
func (r *Reader) beginMember(i int, text bool) {
	switch {
	case r.field < 0 && r.rest:
		r.sink, r.from = sinkRest, i
	case r.field < 0:
		r.sink = sinkNone
	case r.fields[r.field].Stream && text:
		r.sink = sinkStream
		r.emit(TokenBegin, r.field, "")
	case r.fields[r.field].Stream:
		r.sink = sinkNone
		r.emit(TokenOther, r.field, "")
	case text:
		r.sink, r.value, r.over = sinkWhole, r.value[:0], false
	default:
		r.sink, r.value, r.over, r.from = sinkJSON, r.value[:0], false, i
	}
}

// endMember closes the value of a top-level member; end is the offset after its last byte.
func (r *Reader) endMember(piece string, end int) {
	r.state = afterValue
	r.flushVerbatim(piece, end)
	switch {
	case r.sink != sinkWhole && r.sink != sinkJSON:
	case r.over:
		r.emit(TokenValue, r.field, "")
	case r.sink == sinkWhole:
		r.emit(TokenString, r.field, string(r.value))
	default:
		r.emit(TokenValue, r.field, string(r.value))
	}
	r.sink, r.field = sinkNone, -1
}

// flushVerbatim passes the text before end that is not yet processed to the sink, as written.
func (r *Reader) flushVerbatim(piece string, end int) {
	if r.from >= end {
		return
	}
	r.writeVerbatim(piece[r.from:end])
	r.from = end
}

// writeVerbatim writes s into the sink of values as written.
func (r *Reader) writeVerbatim(s string) {
	switch r.sink {
	case sinkRest:
		r.emit(TokenRest, 0, s)
	case sinkKey:
		r.appendKey(s)
	case sinkJSON:
		r.appendValue(s)
	}
}

// appendValue appends to the buffered value.
func (r *Reader) appendValue(s string) {
	if r.over = r.over || len(r.value)+len(s) > maxValue; !r.over {
		r.value = append(r.value, s...)
	}
}

// endValue closes a string, a number or a literal; end is the offset after its last byte.
func (r *Reader) endValue(piece string, end int) {
	if len(r.stack) == 1 {
		r.endMember(piece, end)
		return
	}
	r.state = afterValue
}

func (r *Reader) readLiteral(piece string, i int) int {
	if piece[i] != r.literal[0] {
		r.setError(piece, i, fmt.Sprintf("unexpected %q in true, false or null", piece[i]))
		return i
	}
	if r.literal = r.literal[1:]; r.literal == "" {
		r.endValue(piece, i+1)
	}
	return i + 1
}

// readNumber reads one byte of a number. It does not consume the byte that ends the number.
func (r *Reader) readNumber(piece string, i int) int {
	c := piece[i]
	digit := '0' <= c && c <= '9'
	switch {
	case digit && r.state == inMinus && c == '0':
		r.state = inZero
	case digit && (r.state == inMinus || r.state == inInt):
		r.state = inInt
	case digit && (r.state == inPoint || r.state == inFraction):
		r.state = inFraction
	case digit && r.state != inZero:
		r.state = inPower
	case c == '.' && (r.state == inZero || r.state == inInt):
		r.state = inPoint
	case (c == 'e' || c == 'E') && (r.state == inZero || r.state == inInt || r.state == inFraction):
		r.state = inExponent
	case (c == '+' || c == '-') && r.state == inExponent:
		r.state = inSign
	case r.state == inZero || r.state == inInt || r.state == inFraction || r.state == inPower:
		r.endValue(piece, i)
		return i
	default:
		r.setError(piece, i, fmt.Sprintf("%q is not expected in a number", c))
		return i
	}
	return i + 1
}
