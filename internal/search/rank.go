package search

import (
	"cmp"
	"slices"
)

const (
	// saturation and byLength are k1 and b of BM25.
	saturation = 1.2
	byLength   = 0.75
	// whole is the weight of a complete word relative to a prefix.
	whole = 2
	// newest is the bonus of the newest message over the oldest, as a fraction of the
	// score of the words.
	newest = 0.25
)

// Rank returns the indexes of texts, which are sorted from new to old, in the order of their
// relevance: by the frequency of the query's words relative to the length of the text, by
// complete words rather than prefixes, by words that are close together, and by age among
// similar texts. The order depends only on the texts and their order.
func (m *Matcher) Rank(texts []string) []int {
	type fit struct {
		weights []float64 // of each term
		length  float64
		close   bool
	}
	fits := make([]fit, len(texts))
	average := 0.0
	for i, text := range texts {
		m.read(text)
		marks := m.marks(text)
		fits[i] = fit{m.weights(), float64(len(m.spans)), m.allClose(marks)}
		average += fits[i].length / float64(len(texts))
	}
	scores := make([]float64, len(texts))
	order := make([]int, len(texts))
	for i, f := range fits {
		order[i] = i
		for _, weight := range f.weights {
			scores[i] += weight * (saturation + 1) / (weight + saturation*(1-byLength+byLength*f.length/max(average, 1)))
		}
		if f.close {
			scores[i] *= 1.5
		}
		scores[i] *= 1 + newest*(1-float64(i)/float64(len(texts)))
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	return order
}

// weights returns the weight of each term in the text that was read.
func (m *Matcher) weights() (weights []float64) {
	for _, t := range m.query.Terms {
		if t.Not {
			continue
		}
		weight, exact := 0.0, Term{Words: t.Words}
		for i := range m.spans {
			switch {
			case m.matchesAt(exact, i):
				weight += whole
			case m.matchesAt(t, i):
				weight++
			}
		}
		weights = append(weights, weight)
	}
	return weights
}

// allClose reports whether one excerpt of the text contains all of several terms.
func (m *Matcher) allClose(marks []mark) bool {
	terms := 0
	for _, t := range m.query.Terms {
		if !t.Not {
			terms++
		}
	}
	if terms < 2 || len(marks) == 0 {
		return false
	}
	start := marks[bestStart(marks)].from
	var seen []int
	for _, k := range marks {
		if k.from >= start && k.to <= start+pieceSize-lead && !slices.Contains(seen, k.term) {
			seen = append(seen, k.term)
		}
	}
	return len(seen) == terms
}
