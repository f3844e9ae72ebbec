// Package metrics counts what a server does and writes the counts in the text
// format that Prometheus reads.
//
//	set := metrics.New()
//	posts := set.Counter("shoal_posts_total", "Messages that were posted.")
//	posts.Add(1)
//	err := set.Write(w)
//
// Guarantees:
//   - To count costs a few atomic operations and no memory. Nothing is computed
//     before somebody reads.
//   - The memory of a set is bounded: a name has at most MaxSeries combinations of
//     labels, and all further ones are counted together, under "other".
//   - A nil Set takes everything and shows nothing, so that what counts need not
//     ask whether somebody reads.
//
// Values of labels come from closed sets of the program: routes, tools, states.
// Nothing that a caller has chosen, no id and no name of anybody, is a label.
package metrics

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// MaxSeries is how many combinations of labels a name may have.
const MaxSeries = 2000

// maxLabels is how many labels a name may have.
const maxLabels = 3

// Set holds the metrics of one server. It is safe for concurrent use.
type Set struct {
	mu       sync.Mutex
	families map[string]*family
}

// New returns an empty Set.
func New() *Set { return &Set{families: map[string]*family{}} }

// labels are the values of a series, as many as its family has names for.
type labels [maxLabels]string

// family is all that goes by one name.
type family struct {
	name, help, kind string
	names            []string // of the labels

	mu     sync.RWMutex
	series map[labels]sample
	read   func() float64 // in place of series
	make   func() sample
}

// sample is one series: a number or a histogram.
type sample interface {
	write(out []byte, name, labels string) []byte
}

// The kinds of families in the text format.
const (
	counterKind   = "counter"
	gaugeKind     = "gauge"
	histogramKind = "histogram"
)

// add registers a family. To use a name twice is a mistake of the program.
func (s *Set) add(f *family) *family {
	if len(f.names) > maxLabels {
		panic(fmt.Sprintf("metrics: %s has more than %d labels", f.name, maxLabels))
	}
	f.series = map[labels]sample{}
	if s == nil {
		return f
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.families[f.name] != nil {
		panic("metrics: " + f.name + " is there already")
	}
	s.families[f.name] = f
	return f
}

// of returns the series with these values, which it makes if it is new.
func (f *family) of(values ...string) sample {
	var key labels
	if copy(key[:], values) != len(f.names) {
		panic(fmt.Sprintf("metrics: %s has the labels %q and was given another number of values", f.name, f.names))
	}
	f.mu.RLock()
	found := f.series[key]
	f.mu.RUnlock()
	if found != nil {
		return found
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.series) >= MaxSeries-1 && f.series[key] == nil {
		for i := range f.names {
			key[i] = "other"
		}
	}
	if f.series[key] == nil {
		f.series[key] = f.make()
	}
	return f.series[key]
}

// Number is a value that is counted up, or for a gauge up and down. It is safe
// for concurrent use.
type Number struct{ bits atomic.Uint64 }

// Add adds n, which of a counter must not be negative.
func (n *Number) Add(by float64) {
	for {
		old := n.bits.Load()
		if n.bits.CompareAndSwap(old, math.Float64bits(math.Float64frombits(old)+by)) {
			return
		}
	}
}

// Set makes n the value. It is for gauges.
func (n *Number) Set(to float64) { n.bits.Store(math.Float64bits(to)) }

// Value returns the value.
func (n *Number) Value() float64 { return math.Float64frombits(n.bits.Load()) }

func newNumber() sample { return &Number{} }

// Counter returns a number that only grows. Its name ends in _total.
func (s *Set) Counter(name, help string) *Number {
	return s.add(&family{name: name, help: help, kind: counterKind, make: newNumber}).of().(*Number)
}

// Gauge returns a number that rises and falls.
func (s *Set) Gauge(name, help string) *Number {
	return s.add(&family{name: name, help: help, kind: gaugeKind, make: newNumber}).of().(*Number)
}

// GaugeFunc shows what read returns at the moment of a reading. read must be safe
// for concurrent use and must not wait long.
func (s *Set) GaugeFunc(name, help string, read func() float64) {
	s.add(&family{name: name, help: help, kind: gaugeKind, read: read})
}

// CounterFunc is GaugeFunc for a value that only grows.
func (s *Set) CounterFunc(name, help string, read func() float64) {
	s.add(&family{name: name, help: help, kind: counterKind, read: read})
}

// Counters are the counters of one name with labels.
type Counters struct{ family *family }

// Counters returns counters with these labels, at most three.
func (s *Set) Counters(name, help string, labels ...string) Counters {
	return Counters{s.add(&family{name: name, help: help, kind: counterKind, names: labels, make: newNumber})}
}

// With returns the counter with these values of the labels, in their order.
func (c Counters) With(values ...string) *Number { return c.family.of(values...).(*Number) }

// Gauges are the gauges of one name with labels.
type Gauges struct{ family *family }

// Gauges returns gauges with these labels, at most three.
func (s *Set) Gauges(name, help string, labels ...string) Gauges {
	return Gauges{s.add(&family{name: name, help: help, kind: gaugeKind, names: labels, make: newNumber})}
}

// With returns the gauge with these values of the labels, in their order.
func (g Gauges) With(values ...string) *Number { return g.family.of(values...).(*Number) }

// sorted returns the families by name.
func (s *Set) sorted() []*family {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]*family, 0, len(s.families))
	for _, f := range s.families {
		all = append(all, f)
	}
	slices.SortFunc(all, func(a, b *family) int { return strings.Compare(a.name, b.name) })
	return all
}
