package guard

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/shoal-dev/shoal"
)

// Scan reports whether data is exactly one JSON text (RFC 8259) that every
// decoder after the guard reads alike, nested at most maxDepth arrays and
// objects deep. It takes time linear in len(data) whatever the text holds, and
// allocates nothing unless an object has more than 16 keys, a key is written
// with escapes, or the text is refused. It neither keeps nor changes data.
//
// Beyond the grammar Scan refuses what decoders are known to read differently:
//   - a key that appears twice in one object, compared after decoding, so that
//     "a" and "\u0061" are one key;
//   - bytes that are not UTF-8, and a leading byte order mark;
//   - an escape such as \ud800 that is one half of a character. The grammar has
//     it, I-JSON (RFC 7493, 2.1) forbids it: it is not a character, Go
//     would store U+FFFD in its place, and so a sender would find a text that
//     it never sent, and two different keys would become one.
//
// The error is a *shoal.Error of kind InvalidJSON whose message says what is
// wrong and at which byte, counted from 0. Of several faults, bytes that are
// not UTF-8 are reported first, then the one nearest to the start.
func Scan(data []byte, maxDepth int) error {
	s := scanner{data: data, maxDepth: maxDepth}
	if bytes.HasPrefix(data, []byte("\xef\xbb\xbf")) {
		return s.wrong(0, "it starts with a byte order mark; send it without")
	}
	if !utf8.Valid(data) {
		return s.wrong(firstInvalid(data), "this byte is not UTF-8; encode the text as UTF-8")
	}
	s.space()
	if err := s.value(0); err != nil {
		return err
	}
	s.space()
	if s.pos < len(data) {
		return s.wrong(s.pos, "something follows the end of the value; send one value and nothing after it")
	}
	return nil
}

// scanner is one pass over one text. Its methods start at pos and leave pos
// after what they accepted.
type scanner struct {
	data     []byte
	pos      int
	maxDepth int
	keys     keyStack
}

// value scans one value inside depth open arrays and objects.
func (s *scanner) value(depth int) error {
	switch c := s.peek(); c {
	case '{', '[':
		if depth >= s.maxDepth {
			return s.wrong(s.pos, "it is nested deeper than %d levels; send it flatter", s.maxDepth)
		}
		if c == '{' {
			return s.object(depth + 1)
		}
		return s.array(depth + 1)
	case '"':
		_, err := s.text()
		return err
	case 't':
		return s.literal("true")
	case 'f':
		return s.literal("false")
	case 'n':
		return s.literal("null")
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return s.number()
	}
	return s.unexpected("a value")
}

// array scans an array from its opening bracket on.
func (s *scanner) array(depth int) error {
	s.pos++
	s.space()
	if s.peek() == ']' {
		s.pos++
		return nil
	}
	for {
		if err := s.value(depth); err != nil {
			return err
		}
		s.space()
		switch s.peek() {
		case ',':
			s.pos++
			s.space()
		case ']':
			s.pos++
			return nil
		default:
			return s.unexpected("a comma or the end of the array")
		}
	}
}

// object scans an object from its opening brace on.
func (s *scanner) object(depth int) error {
	keys := keySet{first: s.keys.len}
	s.pos++
	s.space()
	if s.peek() == '}' {
		s.pos++
		return nil
	}
	for {
		if err := s.member(&keys, depth); err != nil {
			return err
		}
		s.space()
		switch s.peek() {
		case ',':
			s.pos++
			s.space()
		case '}':
			s.pos++
			s.keys.len = keys.first
			return nil
		default:
			return s.unexpected("a comma or the end of the object")
		}
	}
}

// member scans a key, a colon and a value, and adds the key to keys.
func (s *scanner) member(keys *keySet, depth int) error {
	start := s.pos
	if s.peek() != '"' {
		return s.unexpected("a key in double quotes")
	}
	escaped, err := s.text()
	if err != nil {
		return err
	}
	key := s.data[start+1 : s.pos-1]
	if escaped {
		key = unescape(key)
	}
	if !keys.add(&s.keys, key) {
		return s.wrong(start, "the key %s appears a second time in its object; send each key once", quoted(string(key)))
	}
	s.space()
	if s.peek() != ':' {
		return s.unexpected("a colon")
	}
	s.pos++
	s.space()
	return s.value(depth)
}

// number scans a number.
func (s *scanner) number() error {
	if s.peek() == '-' {
		s.pos++
	}
	if s.peek() == '0' {
		s.pos++
	} else if !s.digits() {
		return s.unexpected("a digit")
	}
	if s.peek() == '.' {
		s.pos++
		if !s.digits() {
			return s.unexpected("a digit")
		}
	}
	if c := s.peek(); c == 'e' || c == 'E' {
		s.pos++
		if c := s.peek(); c == '+' || c == '-' {
			s.pos++
		}
		if !s.digits() {
			return s.unexpected("a digit")
		}
	}
	return nil
}

// digits skips decimal digits and reports whether there was one.
func (s *scanner) digits() bool {
	start := s.pos
	for s.pos < len(s.data) && '0' <= s.data[s.pos] && s.data[s.pos] <= '9' {
		s.pos++
	}
	return s.pos > start
}

// literal scans true, false or null.
func (s *scanner) literal(word string) error {
	if !bytes.HasPrefix(s.data[s.pos:], []byte(word)) {
		return s.unexpected("a value")
	}
	s.pos += len(word)
	return nil
}

// space skips white space between tokens.
func (s *scanner) space() {
	for s.pos < len(s.data) {
		switch s.data[s.pos] {
		case ' ', '\n', '\r', '\t':
			s.pos++
		default:
			return
		}
	}
}

// peek returns the next byte, or 0 at the end, which starts no token either.
func (s *scanner) peek() byte {
	if s.pos < len(s.data) {
		return s.data[s.pos]
	}
	return 0
}

// unexpected returns the error that something other than want is at pos.
func (s *scanner) unexpected(want string) error {
	if s.pos == len(s.data) {
		return s.wrong(s.pos, "the text ends where %s is expected; send it whole", want)
	}
	r, _ := utf8.DecodeRune(s.data[s.pos:])
	return s.wrong(s.pos, "%s stands where %s is expected", strconv.QuoteRune(r), want)
}

// wrong returns the error that refuses the text because of the byte at offset.
func (s *scanner) wrong(offset int, format string, args ...any) error {
	msg := fmt.Sprintf("The JSON is wrong at byte %d: %s.", offset, fmt.Sprintf(format, args...))
	return shoal.E("guard.Scan", shoal.InvalidJSON, msg)
}
