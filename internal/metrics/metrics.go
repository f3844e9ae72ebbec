// Package metrics collects the metrics of a server and writes them in the Prometheus text
// format.
//
//	set := metrics.New()
//	posts := set.Counter("shoal_posts_total", "Messages that were posted.")
//	posts.Add(1)
//	err := set.Write(w)
//
// Guarantees:
//   - Counting costs a few atomic operations and allocates nothing. Nothing is computed
//     before a read.
//   - The memory of a set is bounded: a name has at most MaxSeries combinations of labels;
//     all others are counted together under "other".
//   - A nil Set accepts everything and outputs nothing, so code that counts need not check
//     whether metrics are enabled.
//
// Label values come from closed sets of the program: routes, tools, states. Values that a
// caller chooses, such as ids and names, must not be labels.
package metrics

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// MaxSeries limits the combinations of labels of a name.
const MaxSeries = 2000

// maxLabels limits the labels of a name.
const maxLabels = 3

// Set contains the metrics of one server. It is safe for concurrent use.
type Set struct {
	mu       sync.Mutex
	families map[string]*family
}

// New returns an empty Set.
func New() *Set { return &Set{families: map[string]*family{}} }

// labels are the label values of a series, one for each name of the family.
type labels [maxLabels]string

// family is all series of one name.
type family struct {
	name, help, kind string
	names            []string // of the labels

	mu     sync.RWMutex
	series map[labels]sample
	read   func() float64 // used instead of series
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

// add registers a family. It panics if the name is already registered.
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
		panic("metrics: " + f.name + " is already registered")
	}
	s.families[f.name] = f
	return f
}

// of returns the series with the given label values, and creates it if necessary.
func (f *family) of(values ...string) sample {
	var key labels
	if copy(key[:], values) != len(f.names) {
		panic(fmt.Sprintf("metrics: %s needs one value for each of the labels %q", f.name, f.names))
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

// Number is the value of a counter or a gauge. It is safe for concurrent use.
type Number struct{ bits atomic.Uint64 }

// Add adds by, which must not be negative for a counter.
func (n *Number) Add(by float64) {
	for {
		old := n.bits.Load()
		if n.bits.CompareAndSwap(old, math.Float64bits(math.Float64frombits(old)+by)) {
			return
		}
	}
}

// Set sets the value of a gauge.
func (n *Number) Set(to float64) { n.bits.Store(math.Float64bits(to)) }

// Value returns the value.
func (n *Number) Value() float64 { return math.Float64frombits(n.bits.Load()) }

func newNumber() sample { return &Number{} }

// Counter registers and returns a counter. Its name must end in _total.
func (s *Set) Counter(name, help string) *Number {
	return s.add(&family{name: name, help: help, kind: counterKind, make: newNumber}).of().(*Number)
}

// Gauge registers and returns a gauge.
func (s *Set) Gauge(name, help string) *Number {
	return s.add(&family{name: name, help: help, kind: gaugeKind, make: newNumber}).of().(*Number)
}

// GaugeFunc registers a gauge whose value is the result of read at the time of a scrape. read
// must be safe for concurrent use and must not block for long.
func (s *Set) GaugeFunc(name, help string, read func() float64) {
	s.add(&family{name: name, help: help, kind: gaugeKind, read: read})
}

// CounterFunc does the same as GaugeFunc for a counter.
func (s *Set) CounterFunc(name, help string, read func() float64) {
	s.add(&family{name: name, help: help, kind: counterKind, read: read})
}

// Counters are the counters of one name with labels.
type Counters struct{ family *family }

// Counters registers and returns counters with the given labels, at most three.
func (s *Set) Counters(name, help string, labels ...string) Counters {
	return Counters{s.add(&family{name: name, help: help, kind: counterKind, names: labels, make: newNumber})}
}

// With returns the counter with the given label values, in their order.
func (c Counters) With(values ...string) *Number { return c.family.of(values...).(*Number) }

// Gauges are the gauges of one name with labels.
type Gauges struct{ family *family }

// Gauges registers and returns gauges with the given labels, at most three.
func (s *Set) Gauges(name, help string, labels ...string) Gauges {
	return Gauges{s.add(&family{name: name, help: help, kind: gaugeKind, names: labels, make: newNumber})}
}

// With returns the gauge with the given label values, in their order.
func (g Gauges) With(values ...string) *Number { return g.family.of(values...).(*Number) }

// sorted returns the families, sorted by name.
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
