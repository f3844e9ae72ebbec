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

// plain marks the bytes of a string that represent themselves.
var plain = func() (t [256]bool) {
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
			r.loneSurrogate()
			i = r.endText(piece, i+1)
		case c == '\\':
			r.text.escape = 1
			i++
		case c < ' ':
			r.fail(piece, i, fmt.Sprintf("%q must be written as an escape", c))
		default:
			r.loneSurrogate()
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
		if plain[piece[j]] {
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
		r.run(piece, i, j)
		if !utf8.FullRuneInString(piece[j:]) {
			r.text.n = copy(r.text.partial[:], piece[j:])
			r.verbatim(piece, j)
			r.from = len(piece)
			return len(piece)
		}
		r.verbatim(piece, j)
		r.replaced()
		r.from = j + 1
		return j + 1
	}
	r.run(piece, i, j)
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
		r.both(string(t.partial[:t.n]))
	} else {
		for range t.n { // each byte is invalid by itself
			r.replaced()
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
			r.fail(piece, i, fmt.Sprintf("%q follows a backslash", c))
			return i
		}
		r.loneSurrogate()
		t.escape = 0
		r.decoded(simple[2*at : 2*at+1])
		return i + 1
	}
	d, ok := hexDigit(c)
	if !ok {
		r.fail(piece, i, fmt.Sprintf("%q is not a hexadecimal digit", c))
		return i
	}
	t.unit = t.unit<<4 | d
	if t.escape++; t.escape == len(`\uXXXX`) {
		t.escape = 0
		r.unit(t.unit)
	}
	return i + 1
}

// unit processes a complete \u escape.
func (r *Reader) unit(u rune) {
	t := &r.text
	if t.high != 0 {
		if pair := utf16.DecodeRune(t.high, u); pair != utf8.RuneError {
			t.high = 0
			r.decoded(string(pair))
			return
		}
		r.loneSurrogate()
	}
	if 0xD800 <= u && u < 0xDC00 {
		t.high = u
		return
	}
	r.decoded(string(u)) // a lone low surrogate becomes U+FFFD
}

// loneSurrogate replaces a high surrogate without a low one.
func (r *Reader) loneSurrogate() {
	if r.text.high != 0 {
		r.text.high = 0
		r.decoded("\uFFFD")
	}
}

// simple contains the characters that two-byte escapes represent, each followed by the
// letter of its escape.
const simple = "\"\"\\\\//\bb\ff\nn\rr\tt"

func simpleEscape(c byte) int {
	for at := 0; 2*at < len(simple); at++ {
		if simple[2*at+1] == c {
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

// run decodes piece[i:j], which represents itself.
func (r *Reader) run(piece string, i, j int) {
	if i < j {
		r.decoded(piece[i:j])
	}
}

// both writes a character that was split between pieces or replaced.
func (r *Reader) both(s string) {
	r.decoded(s)
	r.written(s)
}

// replaced writes the replacement of one byte that is not valid UTF-8.
func (r *Reader) replaced() { r.both("\uFFFD") }

// decoded writes text into the sink of decoded text.
func (r *Reader) decoded(s string) {
	switch r.sink {
	case sinkStream:
		r.tell(TokenText, r.field, s)
	case sinkKey:
		if r.over = r.over || len(r.key)+len(s) > maxValue; !r.over {
			r.key = append(r.key, s...)
		}
	case sinkWhole:
		r.keep(s)
	}
}
