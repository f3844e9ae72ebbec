package metrics

import (
	"slices"
	"sync/atomic"
	"time"
)

// Seconds are the bucket bounds of histograms of durations: from a tenth of a millisecond to
// a minute.
var Seconds = []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60}

// Sizes are the bucket bounds of histograms of counts.
var Sizes = []float64{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024}

// Histogram counts values by their size. It is safe for concurrent use.
type Histogram struct {
	bounds []float64
	counts []atomic.Uint64 // values up to the bound and above the previous bound; the last has no bound
	sum    Number
}

func newHistogram(bounds []float64) *Histogram {
	return &Histogram{bounds: bounds, counts: make([]atomic.Uint64, len(bounds)+1)}
}

// Observe counts a value.
func (h *Histogram) Observe(value float64) {
	at, _ := slices.BinarySearch(h.bounds, value)
	h.counts[at].Add(1)
	h.sum.Add(value)
}

// Took observes the time since a moment, in seconds.
func (h *Histogram) Took(since time.Time) { h.Observe(time.Since(since).Seconds()) }

// Count returns the number of observed values.
func (h *Histogram) Count() (n uint64) {
	for i := range h.counts {
		n += h.counts[i].Load()
	}
	return n
}

// Histogram returns a histogram with the given upper bounds in ascending order.
func (s *Set) Histogram(name, help string, bounds []float64) *Histogram {
	return s.add(histograms(name, help, bounds)).of().(*Histogram)
}

// Histograms are the histograms of one name with labels.
type Histograms struct{ family *family }

// Histograms returns histograms with the given upper bounds and labels, at most three.
func (s *Set) Histograms(name, help string, bounds []float64, labels ...string) Histograms {
	f := histograms(name, help, bounds)
	f.names = labels
	return Histograms{s.add(f)}
}

// With returns the histogram with these values of the labels, in their order.
func (h Histograms) With(values ...string) *Histogram { return h.family.of(values...).(*Histogram) }

func histograms(name, help string, bounds []float64) *family {
	return &family{name: name, help: help, kind: histogramKind, make: func() sample { return newHistogram(bounds) }}
}
