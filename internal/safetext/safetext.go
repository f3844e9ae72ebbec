// Package safetext makes untrusted text safe to print on a terminal.
//
//	fmt.Fprintln(terminal, safetext.Clean(message.Text()))
//
// The output of [Clean] and [Line] is valid UTF-8 that a terminal only displays: it has no
// escape sequences, no control characters except newline and tab, and no characters that
// change the direction of text. Both take time linear in their input, are idempotent, and do
// not change safe text.
package safetext

import (
	"strings"
	"unicode/utf8"
)

// Clean removes everything from s that could control a terminal: escape sequences, control
// characters other than newline and tab, and characters that change the direction of text.
// Invalid UTF-8 becomes U+FFFD. It takes time linear in len(s).
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

// Line does the same as [Clean] for text that must stay in one line and one table cell.
func Line(s string) string {
	return strings.Join(strings.FieldsFunc(Clean(s), func(r rune) bool { return r == '\n' || r == '\t' }), " ")
}

const (
	esc = '\u001b'
	csi = '\u009b'
	st  = '\u009c'
)

// Unsafe reports whether a terminal may interpret r instead of displaying it.
func Unsafe(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r < ' ' || r >= 0x7f && r <= 0x9f:
		return true
	}
	return r == 0x061c || r == 0x200e || r == 0x200f || // marks
		r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || // embeddings, overrides, isolates
		r == 0x2028 || r == 0x2029 // line separators that not every program recognizes
}

// Introduces reports whether r may start a control sequence. A stream of text must be held
// back from r until the sequence is complete.
func Introduces(r rune) bool { return r == esc || r == csi || stringIntroducer(r) }

// stringIntroducer reports whether r starts a sequence that contains a string: a device
// control string, an operating system command and similar.
func stringIntroducer(r rune) bool {
	return r == '\u0090' || r == '\u0098' || r >= '\u009d' && r <= '\u009f'
}

// sequence returns the length of the escape sequence at the start of s. Of an incomplete
// sequence only the introducer counts, so that it hides no following text.
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

// escape returns the length of an escape sequence without its ESC.
func escape(s string) int {
	i := span(s, ' ', '/')
	if i < len(s) && s[i] >= '0' && s[i] <= '~' {
		return i + 1
	}
	return 0
}

// control returns the length of the parameters and the final byte of a control sequence.
func control(s string) int {
	i := span(s, '0', '?')
	i += span(s[i:], ' ', '/')
	if i < len(s) && s[i] >= '@' && s[i] <= '~' {
		return i + 1
	}
	return 0
}

// text returns the length of a control string and its terminator.
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

// span returns the number of leading bytes of s between from and to.
func span(s string, from, to byte) int {
	i := 0
	for i < len(s) && s[i] >= from && s[i] <= to {
		i++
	}
	return i
}
