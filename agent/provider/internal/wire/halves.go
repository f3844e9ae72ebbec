package wire

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/shoal-dev/shoal/agent"
)

// A character beyond U+FFFF has two halves in UTF-16, and servers that count in UTF-16
// cut their text between them: one event ends with the escape of the first half, the next
// one begins with that of the second. A JSON decoder makes two replacement characters of
// them, and no Go string can hold a half. So an unpaired half goes through the
// decoder as a mark and four hexadecimal digits, which [Exchange.Emit] joins again.

// mark is U+FDD0, a noncharacter that Unicode reserves for internal use.
const mark = '\uFDD0'

// markBytes is how many bytes of a text a marked half has.
var markBytes = utf8.RuneLen(mark) + 4

// escapeBytes is the length of an escape such as ❄.
const escapeBytes = 6

// halvesReader marks the unpaired halves in a stream of JSON.
type halvesReader struct {
	src  io.ReadCloser
	read []byte // as it came; room for a read
	in   []byte // what was not inspected yet
	out  []byte // what can be returned
	err  error  // of src
}

// MarkHalves returns one event with its unpaired halves marked, for events that do not come
// as text.
func MarkHalves(event []byte) []byte {
	marked, _ := appendMarked(nil, event, true)
	return marked
}

func markHalves(src io.ReadCloser) io.ReadCloser {
	return &halvesReader{src: src, read: make([]byte, 16<<10)}
}

// Read implements [io.Reader]. It holds back only what may be half an escape.
func (r *halvesReader) Read(p []byte) (int, error) {
	for len(r.out) == 0 {
		if r.err != nil {
			return 0, r.err
		}
		n, err := r.src.Read(r.read)
		r.in, r.err = append(r.in, r.read[:n]...), err
		done := 0
		r.out, done = appendMarked(r.out[:0], r.in, errors.Is(err, io.EOF))
		r.in = append(r.in[:0], r.in[done:]...)
		if err != nil && len(r.in) > 0 { // whatever it would have become
			r.out, r.in = append(r.out, r.in...), nil
		}
	}
	n := copy(p, r.out)
	r.out = r.out[n:]
	return n, nil
}

func (r *halvesReader) Close() error { return r.src.Close() }

// appendMarked appends in to out with its lone halves marked. done is how much of in it
// has looked at; the rest has to wait for what follows, of which last says that there is
// none.
func appendMarked(out, in []byte, last bool) (marked []byte, done int) {
	for done < len(in) {
		at := bytes.IndexByte(in[done:], '\\')
		if at < 0 {
			return append(out, in[done:]...), len(in)
		}
		out, done = append(out, in[done:done+at]...), done+at
		rest := in[done:]
		size, half, whole := escape(rest)
		if !whole && !last {
			return out, done
		}
		if half {
			out = append(out, `\ufdd0`...)
			rest, size = rest[2:], size-2 // its digits
			done += 2
		}
		size = min(size, len(rest))
		out, done = append(out, rest[:size]...), done+size
	}
	return out, done
}

// escape reads the escape at the beginning of b: how long it is, both halves of a pair
// together, and whether it is a half alone. whole is false where more bytes may change
// that.
func escape(b []byte) (size int, half, whole bool) {
	if len(b) < 2 {
		return 2, false, false
	}
	if b[1] != 'u' {
		return 2, false, true
	}
	if len(b) < escapeBytes {
		return 2, false, false
	}
	first, ok := unit(b)
	if !ok || !utf16.IsSurrogate(first) {
		return 2, false, true // the digits mean what they are
	}
	if first >= 0xDC00 {
		return escapeBytes, true, true
	}
	next := b[escapeBytes:min(2*escapeBytes, len(b))]
	if second, ok := unit(next); ok && second >= 0xDC00 && second < 0xE000 {
		return 2 * escapeBytes, false, true
	}
	if len(next) < escapeBytes && strings.HasPrefix(`\u`, string(next[:min(2, len(next))])) {
		return escapeBytes, true, false
	}
	return escapeBytes, true, true
}

// unit reads \u and four hexadecimal digits.
func unit(b []byte) (rune, bool) {
	if len(b) < escapeBytes || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(b[2:escapeBytes]), 16, 16)
	return rune(n), err == nil
}

// stream is what a text of an answer belongs to.
type stream struct {
	kind  agent.ChunkKind
	index int
}

// join returns a text with the halves in it joined, beginning with what was held back
// before it. A first half at its end is held back; one that stays alone is U+FFFD.
func (x *Exchange) join(of stream, text string) string {
	if held, some := x.held[of]; some {
		text = held + text
		delete(x.held, of)
	}
	if !strings.ContainsRune(text, mark) {
		return text
	}
	var out strings.Builder
	for {
		at := strings.IndexRune(text, mark)
		if at < 0 {
			out.WriteString(text)
			return out.String()
		}
		out.WriteString(text[:at])
		text = text[at:]
		first, ok := marked(text)
		if !ok {
			out.WriteRune(mark)
			text = text[utf8.RuneLen(mark):]
			continue
		}
		if len(text) == markBytes && first < 0xDC00 {
			if x.held == nil {
				x.held = map[stream]string{}
			}
			x.held[of] = text
			return out.String()
		}
		text = text[markBytes:]
		second, _ := marked(text)
		if whole := utf16.DecodeRune(first, second); whole != utf8.RuneError {
			out.WriteRune(whole)
			text = text[markBytes:]
			continue
		}
		out.WriteRune(utf8.RuneError)
	}
}

// marked reads a half that was marked at the beginning of a text.
func marked(text string) (half rune, ok bool) {
	if len(text) < markBytes || !strings.HasPrefix(text, string(mark)) {
		return 0, false
	}
	n, err := strconv.ParseUint(text[utf8.RuneLen(mark):markBytes], 16, 16)
	return rune(n), err == nil && utf16.IsSurrogate(rune(n))
}
