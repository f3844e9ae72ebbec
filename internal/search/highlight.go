package search

import (
	"slices"
	"unicode"
	"unicode/utf8"
)

const (
	// pieceSize is the approximate length of an excerpt in bytes.
	pieceSize = 160
	// lead is the number of bytes before the first match.
	lead = 40
	// mostMarks limits the matches that are considered in one text.
	mostMarks = 1000
)

// mark is the position of a term in a text.
type mark struct{ from, to, term int }

// Highlight returns the excerpt of a text that best shows why it matches, and the byte
// ranges of the matches in it, in order and without overlap. The excerpt is plain text and
// never splits a character.
func (m *Matcher) Highlight(text string) (piece string, ranges [][2]int) {
	m.read(text)
	marks := m.marks(text)
	from, to := window(text, marks)
	ranges = [][2]int{}
	for _, k := range marks {
		if k.from < from || k.to > to {
			continue
		}
		at := [2]int{k.from - from, k.to - from}
		if n := len(ranges); n > 0 && at[0] <= ranges[n-1][1] {
			ranges[n-1][1] = max(ranges[n-1][1], at[1])
			continue
		}
		ranges = append(ranges, at)
	}
	return text[from:to], ranges
}

// marks returns the positions of the terms, in the order of the text.
func (m *Matcher) marks(text string) (marks []mark) {
	for i := range m.spans {
		for n, t := range m.query.Terms {
			if t.Not || !m.matchesAt(t, i) {
				continue
			}
			last := m.spans[i+len(t.Words)-1]
			to := last.to
			if t.Prefix {
				to = prefixEnd(text, last, len(t.Words[len(t.Words)-1]))
			}
			marks = append(marks, mark{m.spans[i].from, to, n})
		}
		if len(marks) >= mostMarks {
			break
		}
	}
	return marks
}

// prefixEnd returns the offset in the text at which the first n bytes of a word end.
func prefixEnd(text string, word span, n int) int {
	if word.end-word.at == n {
		return word.to
	}
	for i, r := range text[word.from:word.to] {
		end := word.from + i + utf8.RuneLen(r)
		if r == utf8.RuneError {
			return word.to
		}
		size := 0
		Words(text[word.from:end], func(w []byte, _, _ int) bool { size = len(w); return false })
		if size < n {
			continue
		}
		for end < word.to {
			next, width := utf8.DecodeRuneInString(text[end:])
			if !unicode.Is(unicode.Mn, next) {
				break
			}
			end += width
		}
		return end
	}
	return word.to
}

// window returns the range of the excerpt that contains the most terms, the first of
// several.
func window(text string, marks []mark) (from, to int) {
	if len(marks) > 0 {
		from = max(0, marks[bestStart(marks)].from-lead)
	}
	first := len(text)
	for _, k := range marks {
		if k.from >= from {
			first = min(first, k.from)
		}
	}
	if from > 0 {
		from = forward(text, from, first)
	}
	to = min(len(text), from+pieceSize)
	if len(marks) > 0 { // the first match is shown completely, unless it is long
		for _, k := range marks {
			if k.from == first {
				to = max(to, min(k.to, from+4*pieceSize))
			}
		}
	}
	if to < len(text) {
		to = backward(text, to, from+pieceSize/2)
	}
	return from, to
}

// bestStart returns the index of the first mark of the excerpt that contains the most terms.
func bestStart(marks []mark) (at int) {
	most := 0
	for i, k := range marks {
		var seen []int
		for _, other := range marks[i:min(len(marks), i+pieceSize)] {
			if other.to <= k.from-lead+pieceSize && !slices.Contains(seen, other.term) {
				seen = append(seen, other.term)
			}
		}
		if len(seen) > most {
			at, most = i, len(seen)
		}
	}
	return at
}

// forward moves the start of an excerpt after the next space before limit, or otherwise to
// the start of a character.
func forward(text string, from, limit int) int {
	for i := from; i < limit; i++ {
		if text[i] == ' ' || text[i] == '\n' {
			return i + 1
		}
	}
	for from > 0 && !utf8.RuneStart(text[from]) {
		from--
	}
	return from
}

// backward moves the end of an excerpt before the last space after limit, or otherwise to
// the end of a character.
func backward(text string, to, limit int) int {
	for i := to; i > limit; i-- {
		if text[i] == ' ' || text[i] == '\n' {
			return i
		}
	}
	for to < len(text) && !utf8.RuneStart(text[to]) {
		to++
	}
	return to
}
