package guard

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// text scans a string and reports whether it holds escapes.
func (s *scanner) text() (escaped bool, err error) {
	for i := s.pos + 1; ; {
		i = plainEnd(s.data, i)
		if i == len(s.data) {
			return false, s.wrong(i, "the text ends inside a string; send it whole")
		}
		switch s.data[i] {
		case '"':
			s.pos = i + 1
			return escaped, nil
		case '\\':
			escaped = true
			if i, err = s.escape(i); err != nil {
				return false, err
			}
		default:
			return false, s.wrong(i, "a string contains a control character; write it as an escape such as \\n")
		}
	}
}

// escape checks the escape at i and returns the offset after it.
func (s *scanner) escape(i int) (int, error) {
	if i+1 == len(s.data) {
		return 0, s.wrong(i+1, "the text ends inside a string; send it whole")
	}
	switch s.data[i+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 2, nil
	case 'u':
	default:
		return 0, s.wrong(i, "this escape does not exist; a backslash itself is written \\\\")
	}
	unit, ok := codeUnit(s.data[i:])
	if !ok {
		return 0, s.wrong(i, "\\u needs four hexadecimal digits")
	}
	if !utf16.IsSurrogate(unit) {
		return i + 6, nil
	}
	low, ok := codeUnit(s.data[i+6:])
	if !ok || utf16.DecodeRune(unit, low) == utf8.RuneError {
		return 0, s.wrong(i, "the escape %s is half of a character and its other half is missing; send whole characters", string(s.data[i:i+6]))
	}
	return i + 12, nil
}

// plainEnd returns the place of the first quote, backslash or control character
// of data from i on, or len(data).
func plainEnd(data []byte, i int) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	// Eight bytes at a time: a byte below n borrows from its high bit when n is
	// subtracted. Borrows run upwards only, so the lowest marked byte is right.
	for ; i+8 <= len(data); i += 8 {
		word := binary.LittleEndian.Uint64(data[i:])
		quote, backslash := word^(ones*'"'), word^(ones*'\\')
		found := (word-ones*0x20)&^word | (quote-ones)&^quote | (backslash-ones)&^backslash
		if found &= highs; found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	for ; i < len(data); i++ {
		if c := data[i]; c < 0x20 || c == '"' || c == '\\' {
			break
		}
	}
	return i
}

// codeUnit returns the UTF-16 code unit of the \u escape that data starts with.
func codeUnit(data []byte) (unit rune, ok bool) {
	if len(data) < 6 || data[0] != '\\' || data[1] != 'u' {
		return 0, false
	}
	for _, c := range data[2:6] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		unit = unit<<4 | rune(c)
	}
	return unit, true
}

// unescape returns what a checked string means.
func unescape(text []byte) []byte {
	plain := make([]byte, 0, len(text))
	for {
		i := bytes.IndexByte(text, '\\')
		if i < 0 {
			return append(plain, text...)
		}
		plain = append(plain, text[:i]...)
		text = text[i:]
		unit, ok := codeUnit(text)
		switch {
		case !ok:
			plain = append(plain, escapes[text[1]])
			text = text[2:]
		case utf16.IsSurrogate(unit):
			low, _ := codeUnit(text[6:])
			plain = utf8.AppendRune(plain, utf16.DecodeRune(unit, low))
			text = text[12:]
		default:
			plain = utf8.AppendRune(plain, unit)
			text = text[6:]
		}
	}
}

// escapes maps the letter of a short escape to what it means.
var escapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// quoted returns text of the client's for an error message: in quotes, cut to a
// readable length, and without characters that could rewrite a terminal.
func quoted(text string) string {
	const readable = 40
	if len(text) <= readable {
		return strconv.QuoteToGraphic(text)
	}
	cut := readable
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return strconv.QuoteToGraphic(text[:cut]) + "…"
}

// firstInvalid returns the place of the first byte that is not UTF-8 in data,
// which has one.
func firstInvalid(data []byte) int {
	for i := 0; ; {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
}
