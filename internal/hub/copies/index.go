package copies

import (
	"hash/maphash"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/shoal-dev/shoal"
)

// Index finds which of many erasers a stored text is for, in one pass over the text. It keeps a
// few numbers for each, so that a session with many messages can be searched for the copies of
// thousands of them at once.
type Index struct {
	seed    maphash.Seed
	erasers []*Eraser
	whole   map[uint64][]int32 // by ids and short texts, which stand between separators
	windows map[uint64][]int32 // by the last bytes of a stretch of a longer text
}

// windowSize is how many bytes of a text are searched for within others.
const windowSize = 8

// NewIndex returns an index without erasers.
func NewIndex() *Index {
	return &Index{seed: maphash.MakeSeed(), whole: map[uint64][]int32{}, windows: map[uint64][]int32{}}
}

// Add adds an eraser.
func (x *Index) Add(c *Eraser) {
	n := int32(len(x.erasers)) //nolint:gosec // G115: a part of a session has some thousands
	x.erasers = append(x.erasers, c)
	for id := range c.ids {
		x.addWhole(id, n)
	}
	for _, piece := range c.pieces {
		piece = strings.TrimSpace(piece)
		if len(piece) < windowSize {
			x.addWhole(piece, n)
			continue
		}
		var h window
		for i := range windowSize {
			h.add(piece[len(piece)-windowSize+i])
		}
		x.windows[h.sum] = append(x.windows[h.sum], n)
	}
}

func (x *Index) addWhole(text string, n int32) {
	h := maphash.String(x.seed, text)
	x.whole[h] = append(x.whole[h], n)
}

// Size returns how many bytes of text the eraser of a message with these parts keeps, about.
func Size(parts []shoal.Part) (n int) {
	for _, p := range parts {
		n += len(p.Text) + len(p.Data) + len(p.Args) + len(p.Result) + len(p.EditedArgs)
	}
	return n
}

// Len returns the number of erasers.
func (x *Index) Len() int { return len(x.erasers) }

// For returns one eraser for all copies that a text may contain; it is empty if there are none.
func (x *Index) For(text string) *Eraser { return Join(x.candidates(text)...) }

// In returns the erasers that find something in a text, in any order.
func (x *Index) In(text string) []*Eraser {
	return slices.DeleteFunc(x.candidates(text), func(c *Eraser) bool { return c.Erase(text) == text })
}

// Erase returns a stored text without the copies in it, and without what the eraser of a person, which
// may be nil, erases.
func (x *Index) Erase(text string, person *Eraser) string {
	by := x.For(text)
	if person != nil && person.MayName(text) {
		by = Join(by, person)
	}
	if by.Empty() {
		return text
	}
	return by.Erase(text)
}

// candidates returns the erasers of copies that a text may contain.
func (x *Index) candidates(text string) (found []*Eraser) {
	seen := map[int32]bool{}
	hit := func(all []int32) {
		for _, n := range all {
			if !seen[n] {
				seen[n] = true
				found = append(found, x.erasers[n])
			}
		}
	}
	escaped := false
	for len(text) > 0 {
		end, size := strings.IndexFunc(text, separates), 0
		if end < 0 {
			end = len(text)
		} else {
			_, size = utf8.DecodeRuneInString(text[end:])
		}
		x.find(text[:end], hit)
		if escaped { // \n and \u003c in JSON: the text goes on after them
			for _, skip := range []int{1, 5} {
				if skip < end {
					x.find(text[skip:end], hit)
				}
			}
		}
		escaped = size == 1 && text[end] == '\\'
		text = text[end+size:]
	}
	return found
}

// find calls hit for a stretch of a text without separators.
func (x *Index) find(stretch string, hit func([]int32)) {
	if trimmed := strings.TrimSpace(stretch); trimmed != "" && len(trimmed) <= maxPiece {
		hit(x.whole[maphash.String(x.seed, trimmed)])
	}
	if len(x.windows) == 0 || len(stretch) < windowSize {
		return
	}
	var h window
	for i := range len(stretch) {
		if i >= windowSize {
			h.remove(stretch[i-windowSize])
		}
		if h.add(stretch[i]); i >= windowSize-1 {
			hit(x.windows[h.sum])
		}
	}
}

// window is a hash of windowSize bytes that moves along a text.
type window struct{ sum uint64 }

const windowBase = 0x9E3779B97F4A7C15

// oldest is the weight of the byte that leaves a window: windowBase to the power of
// windowSize - 1.
var oldest = func() uint64 {
	power := uint64(1)
	for range windowSize - 1 {
		power *= windowBase
	}
	return power
}()

func (w *window) add(b byte)    { w.sum = w.sum*windowBase + uint64(b) + 1 }
func (w *window) remove(b byte) { w.sum -= (uint64(b) + 1) * oldest }
