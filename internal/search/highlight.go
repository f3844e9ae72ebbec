package search

import (
	"slices"
	"unicode"
	"unicode/utf8"
)

const (
	// pieceSize is how many bytes of a text a highlight shows, about.
	pieceSize = 160
	// lead is how many of them stand before the first match.
	lead = 40
	// mostMarks bounds the matches that are looked at in one text.
	mostMarks = 1000
)

// mark is where a term stands in a text.
type mark struct{ from, to, term int }

// Highlight returns the piece of a text that says most about why it was found,
// and the byte ranges in it that match, in order and apart from each other. The
// piece is plain text, cut between characters.
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

// marks returns where the terms stand, in the order of the text.
func (m *Matcher) marks(text string) (marks []mark) {
	for i := range m.spans {
		for n, t := range m.query.Terms {
			if t.Not || !m.stands(t, i) {
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

// prefixEnd returns where the first n bytes of a word end in its text.
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

// window chooses the piece of a text that shows the most terms, the first of
// several.
func window(text string, marks []mark) (from, to int) {
	if len(marks) > 0 {
		from = max(0, marks[best(marks)].from-lead)
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
	if len(marks) > 0 { // the first match shows whole, unless it is a long one
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

// best returns the mark with which a piece begins that shows the most terms.
func best(marks []mark) (at int) {
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

// forward moves the beginning of a piece behind the next space, if there is one
// before limit, or else to the beginning of a character.
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

// backward moves the end of a piece before the last space, if there is one behind
// limit, or else to the end of a character.
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
