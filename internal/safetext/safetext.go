// Package safetext makes the text of others harmless for a terminal.
//
//	fmt.Fprintln(terminal, safetext.Clean(message.Text()))
//
// What comes out of [Clean] and [Line] is valid UTF-8 that a terminal can only
// show: no escape sequences, no control characters but newline and tab, nothing
// that turns the direction of text around. Both take time linear in their input,
// cleaning twice changes nothing, and harmless text stays as it is.
package safetext

import (
	"strings"
	"unicode/utf8"
)

// Clean returns s without what could do something to a terminal instead of
// being shown on it: escape sequences, control characters other than newline
// and tab, and the characters that turn the direction of text around. Bytes that
// are no UTF-8 become U+FFFD. It takes time linear in len(s).
func Clean(s string) string {
	if !strings.ContainsFunc(s, Unsafe) && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case Introduces(r):
			i += sequence(s[i:])
			continue
		case !Unsafe(r):
			b.WriteRune(r)
		}
		i += size
	}
	return b.String()
}

// Line is [Clean] for what must stay in one line and one cell.
func Line(s string) string {
	return strings.Join(strings.FieldsFunc(Clean(s), func(r rune) bool { return r == '\n' || r == '\t' }), " ")
}

const (
	esc = '\u001b'
	csi = '\u009b'
	st  = '\u009c'
)

// Unsafe tells whether a terminal may obey r instead of showing it.
func Unsafe(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r < ' ' || r >= 0x7f && r <= 0x9f:
		return true
	}
	return r == 0x061c || r == 0x200e || r == 0x200f || // marks
		r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || // embeddings, overrides, isolates
		r == 0x2028 || r == 0x2029 // line ends that not everything knows as such
}

// Introduces tells whether r may begin a sequence that a terminal obeys: text that
// comes in pieces is held back from there on, until the sequence is whole.
func Introduces(r rune) bool { return r == esc || r == csi || stringIntroducer(r) }

// stringIntroducer tells whether r begins a sequence that holds a string: a
// device control, an operating system command and the like.
func stringIntroducer(r rune) bool {
	return r == '\u0090' || r == '\u0098' || r >= '\u009d' && r <= '\u009f'
}

// sequence returns the length of the escape sequence at the start of s. Of one
// that is not complete, only its beginning counts, so that it hides nothing of
// what follows.
func sequence(s string) int {
	r, n := utf8.DecodeRuneInString(s)
	if r == esc {
		if n == len(s) {
			return n
		}
		next := s[n]
		switch {
		case next == '[':
			r, n = csi, n+1
		case strings.IndexByte("]PX^_", next) >= 0:
			r, n = '\u0090', n+1
		default:
			return n + escape(s[n:])
		}
	}
	if r == csi {
		return n + control(s[n:])
	}
	return n + text(s[n:])
}

// escape returns the length of what belongs to an ESC besides it.
func escape(s string) int {
	i := span(s, ' ', '/')
	if i < len(s) && s[i] >= '0' && s[i] <= '~' {
		return i + 1
	}
	return 0
}

// control returns the length of the parameters and the end of a control
// sequence.
func control(s string) int {
	i := span(s, '0', '?')
	i += span(s[i:], ' ', '/')
	if i < len(s) && s[i] >= '@' && s[i] <= '~' {
		return i + 1
	}
	return 0
}

// text returns the length of a string and its terminator.
func text(s string) int {
	for i, r := range s {
		switch {
		case r == '\a':
			return i + 1
		case r == st:
			return i + 2
		case r == esc && strings.HasPrefix(s[i+1:], `\`):
			return i + 2
		case Unsafe(r) || r == '\n':
			return 0
		}
	}
	return 0
}

// span returns how many of the first bytes of s lie between from and to.
func span(s string, from, to byte) int {
	i := 0
	for i < len(s) && s[i] >= from && s[i] <= to {
		i++
	}
	return i
}
