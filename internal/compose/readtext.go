package compose

import (
	"fmt"
	"unicode/utf16"
	"unicode/utf8"
)

// textState is the state of the reader inside a string.
type textState struct {
	escape  int  // bytes of the escape read so far, including the backslash
	unit    rune // the digits of a \u escape so far
	high    rune // high surrogate that waits for the low one
	partial [utf8.UTFMax]byte
	n       int // number of bytes in partial, the start of a character
}

// plainBytes marks the bytes of a string that represent themselves.
var plainBytes = func() (t [256]bool) {
	for c := ' '; c < utf8.RuneSelf; c++ {
		t[c] = c != '"' && c != '\\'
	}
	return t
}()

// readText continues to read a string and returns the next offset: after the closing quote,
// or at the end of the piece.
func (r *Reader) readText(piece string, i int) int {
	for i < len(piece) && (r.state == inKey || r.state == inString) {
		c := piece[i]
		switch {
		case r.text.n > 0:
			i = r.readPartial(piece, i)
		case r.text.escape > 0:
			i = r.readEscape(piece, i)
		case c == '"':
			r.flushSurrogate()
			i = r.endText(piece, i+1)
		case c == '\\':
			r.text.escape = 1
			i++
		case c < ' ':
			r.setError(piece, i, fmt.Sprintf("%q must be written as an escape", c))
		default:
			r.flushSurrogate()
			i = r.readRun(piece, i)
		}
	}
	return i
}

func (r *Reader) endText(piece string, end int) int {
	if r.state == inKey {
		r.endKey(piece, end)
	} else {
		r.endValue(piece, end)
	}
	return end
}

// readRun reads characters that represent themselves.
func (r *Reader) readRun(piece string, i int) int {
	j := i
	for j < len(piece) {
		if plainBytes[piece[j]] {
			j++
			continue
		}
		if piece[j] < utf8.RuneSelf {
			break
		}
		c, size := utf8.DecodeRuneInString(piece[j:])
		if c != utf8.RuneError || size > 1 {
			j += size
			continue
		}
		r.writeRun(piece, i, j)
		if !utf8.FullRuneInString(piece[j:]) {
			r.text.n = copy(r.text.partial[:], piece[j:])
			r.flushVerbatim(piece, j)
			r.from = len(piece)
			return len(piece)
		}
		r.flushVerbatim(piece, j)
		r.writeReplacement()
		r.from = j + 1
		return j + 1
	}
	r.writeRun(piece, i, j)
	return j
}

// readPartial completes a character that started in an earlier piece.
func (r *Reader) readPartial(piece string, i int) int {
	t := &r.text
	if c := piece[i]; c&0xC0 == 0x80 {
		t.partial[t.n] = c
		t.n++
		i++
		if !utf8.FullRune(t.partial[:t.n]) {
			r.from = i
			return i
		}
	}
	if c, size := utf8.DecodeRune(t.partial[:t.n]); size == t.n && (c != utf8.RuneError || size > 1) {
		r.writeBoth(string(t.partial[:t.n]))
	} else {
		for range t.n { // each byte is invalid by itself
			r.writeReplacement()
		}
	}
	t.n, r.from = 0, i
	return i
}

// readEscape reads one byte of an escape.
func (r *Reader) readEscape(piece string, i int) int {
	c := piece[i]
	t := &r.text
	if t.escape == 1 {
		if c == 'u' {
			t.escape, t.unit = 2, 0
			return i + 1
		}
		at := simpleEscape(c)
		if at < 0 {
			r.setError(piece, i, fmt.Sprintf("%q follows a backslash", c))
			return i
		}
		r.flushSurrogate()
		t.escape = 0
		r.writeDecoded(simpleEscapes[2*at : 2*at+1])
		return i + 1
	}
	d, ok := hexDigit(c)
	if !ok {
		r.setError(piece, i, fmt.Sprintf("%q is not a hexadecimal digit", c))
		return i
	}
	t.unit = t.unit<<4 | d
	if t.escape++; t.escape == len(`\uXXXX`) {
		t.escape = 0
		r.decodeUnit(t.unit)
	}
	return i + 1
}

// decodeUnit processes a complete \u escape.
func (r *Reader) decodeUnit(u rune) {
	t := &r.text
	if t.high != 0 {
		if pair := utf16.DecodeRune(t.high, u); pair != utf8.RuneError {
			t.high = 0
			r.writeDecoded(string(pair))
			return
		}
		r.flushSurrogate()
	}
	if 0xD800 <= u && u < 0xDC00 {
		t.high = u
		return
	}
	r.writeDecoded(string(u)) // a lone low surrogate becomes U+FFFD
}

// flushSurrogate replaces a high surrogate without a low one.
func (r *Reader) flushSurrogate() {
	if r.text.high != 0 {
		r.text.high = 0
		r.writeDecoded("\uFFFD")
	}
}

// simpleEscapes contains the characters that two-byte escapes represent, each followed by the
// letter of its escape.
const simpleEscapes = "\"\"\\\\//\bb\ff\nn\rr\tt"

func simpleEscape(c byte) int {
	for at := 0; 2*at < len(simpleEscapes); at++ {
		if simpleEscapes[2*at+1] == c {
			return at
		}
	}
	return -1
}

func hexDigit(c byte) (rune, bool) {
	switch {
	case '0' <= c && c <= '9':
		return rune(c - '0'), true
	case 'a' <= c && c <= 'f':
		return rune(c-'a') + 10, true
	case 'A' <= c && c <= 'F':
		return rune(c-'A') + 10, true
	}
	return 0, false
}

// writeRun decodes piece[i:j], which represents itself.
func (r *Reader) writeRun(piece string, i, j int) {
	if i < j {
		r.writeDecoded(piece[i:j])
	}
}

// writeBoth writes a character that was split between pieces or replaced.
func (r *Reader) writeBoth(s string) {
	r.writeDecoded(s)
	r.writeVerbatim(s)
}

// writeReplacement writes the replacement of one byte that is not valid UTF-8.
func (r *Reader) writeReplacement() { r.writeBoth("\uFFFD") }

// writeDecoded writes text into the sink of decoded text.
func (r *Reader) writeDecoded(s string) {
	switch r.sink {
	case sinkStream:
		r.emit(TokenText, r.field, s)
	case sinkKey:
		if r.over = r.over || len(r.key)+len(s) > maxValue; !r.over {
			r.key = append(r.key, s...)
		}
	case sinkWhole:
		r.appendValue(s)
	}
}
