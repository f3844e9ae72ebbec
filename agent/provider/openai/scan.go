package openai

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// Most events of a stream carry a few letters in a well-known envelope. scanner
// reads exactly that shape. Whatever it does not know (another key, a number
// with a fraction, a string that needs care) makes it give up, and encoding/json
// reads the event instead. So it must never accept what encoding/json would
// read otherwise; a fuzz test compares the two.
type scanner struct {
	b []byte
	i int
}

// space skips white space and returns the byte after it, 0 at the end.
func (s *scanner) space() byte {
	for s.i < len(s.b) {
		switch c := s.b[s.i]; c {
		case ' ', '\t', '\r', '\n':
			s.i++
		default:
			return c
		}
	}
	return 0
}

func (s *scanner) atEnd() bool { return s.space() == 0 && s.i == len(s.b) }

// open takes one byte, past white space.
func (s *scanner) open(c byte) bool {
	if s.space() != c {
		return false
	}
	s.i++
	return true
}

// object reads an object; value reads the value of each key.
func (s *scanner) object(value func(key []byte) bool) bool {
	if !s.open('{') {
		return false
	}
	if s.open('}') {
		return true
	}
	for {
		if !s.open('"') {
			return false
		}
		n := bytes.IndexByte(s.b[s.i:], '"')
		if n < 0 {
			return false
		}
		key := s.b[s.i : s.i+n]
		s.i += n + 1
		// No key that is known holds anything to unescape.
		if !s.open(':') || !value(key) {
			return false
		}
		switch s.space() {
		case ',':
			s.i++
		case '}':
			s.i++
			return true
		default:
			return false
		}
	}
}

// one reads a list of exactly one value.
func (s *scanner) one(open, shut byte, value func() bool) bool {
	return s.open(open) && value() && s.open(shut)
}

func (s *scanner) word(w string) bool {
	s.space()
	if !bytes.HasPrefix(s.b[s.i:], []byte(w)) {
		return false
	}
	s.i += len(w)
	return true
}

func (s *scanner) null() bool { return s.word("null") }

// number reads a small count. The next read finds out whether the number continues.
func (s *scanner) number() (int, bool) {
	s.space()
	from, n := s.i, 0
	for s.i < len(s.b) && s.b[s.i] >= '0' && s.b[s.i] <= '9' && s.i-from < 15 {
		n = n*10 + int(s.b[s.i]-'0')
		s.i++
	}
	digits := s.i - from
	return n, digits > 0 && (digits == 1 || s.b[from] != '0')
}

// count reads a number into an empty place.
func (s *scanner) count(into *int) bool {
	n, ok := s.number()
	if !ok || *into != 0 {
		return false
	}
	*into = n
	return true
}

// skip reads a value whose meaning is of no interest: null, a boolean, a small
// number, a plain string, an empty list or object.
func (s *scanner) skip() bool {
	switch s.space() {
	case '"':
		s.i++
		_, plain, ok := s.raw()
		return ok && plain
	case 'n':
		return s.word("null")
	case 't':
		return s.word("true")
	case 'f':
		return s.word("false")
	case '[':
		s.i++
		return s.open(']')
	case '{':
		s.i++
		return s.open('}')
	}
	_, ok := s.number()
	return ok
}

// text reads a string or null into an empty place.
func (s *scanner) text(into *string) bool {
	if s.space() == 'n' {
		return *into == "" && s.null()
	}
	if *into != "" || !s.open('"') {
		return false
	}
	raw, plain, ok := s.raw()
	if !ok {
		return false
	}
	if plain {
		*into = string(raw)
		return true
	}
	*into, ok = unescape(raw)
	return ok
}

// raw reads the rest of a string; plain says that it means what it holds.
func (s *scanner) raw() (raw []byte, plain, ok bool) {
	from := s.i
	plain = true
	for s.i < len(s.b) {
		switch c := s.b[s.i]; {
		case c == '"':
			raw = s.b[from:s.i]
			s.i++
			return raw, plain, true
		case c == '\\':
			plain = false
			s.i++ // whatever is escaped, a quote too
		case c < ' ':
			return nil, false, false
		case c >= utf8.RuneSelf:
			_, n := utf8.DecodeRune(s.b[s.i:])
			if n == 1 {
				return nil, false, false
			}
			s.i += n - 1
		}
		s.i++
	}
	return nil, false, false
}

var escapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// unescape resolves a string's escapes; false if one is wrong or half of a pair.
func unescape(raw []byte) (string, bool) {
	var room [256]byte
	out := room[:0]
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			out = append(out, raw[i])
			continue
		}
		i++
		if i == len(raw) {
			return "", false
		}
		if raw[i] != 'u' {
			c := escapes[raw[i]]
			if c == 0 {
				return "", false
			}
			out = append(out, c)
			continue
		}
		r := hex4(raw[i+1:])
		i += 4
		if utf16.IsSurrogate(r) {
			if i+2 >= len(raw) || raw[i+1] != '\\' || raw[i+2] != 'u' {
				return "", false
			}
			r = utf16.DecodeRune(r, hex4(raw[i+3:]))
			i += 6
			if r == utf8.RuneError {
				return "", false
			}
		}
		if r < 0 {
			return "", false
		}
		out = utf8.AppendRune(out, r)
	}
	return string(out), true
}

// hex4 reads four hexadecimal digits; it returns -1 if they are not.
func hex4(b []byte) rune {
	if len(b) < 4 {
		return -1
	}
	var r rune
	for _, c := range b[:4] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return -1
		}
		r = r<<4 | rune(c)
	}
	return r
}
