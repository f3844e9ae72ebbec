package metrics_test

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/shoal-dev/shoal/internal/metrics"
)

// read parses the output of a set with the parser of Prometheus.
func read(t *testing.T, s *metrics.Set) map[string]*dto.MetricFamily {
	t.Helper()
	var text bytes.Buffer
	if err := s.Write(&text); err != nil {
		t.Fatal(err)
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(text.Bytes()))
	if err != nil {
		t.Fatalf("%v\n%s", err, text.Bytes())
	}
	return families
}

// Prometheus reads the values that were counted.
func TestPrometheusReadsWhatWasCounted(t *testing.T) {
	s := metrics.New()
	posts := s.Counter("posts_total", `A \ and a
line.`)
	posts.Add(2)
	posts.Add(.5)
	open := s.Gauge("open", "Open.")
	open.Add(3)
	open.Add(-1)
	calls := s.Counters("calls_total", "Calls.", "route", "status")
	calls.With("GET /x", "200").Add(7)
	calls.With("a\"b\\c\nd\xff", "500").Add(1)
	took := s.Histogram("took_seconds", "Time.", []float64{.1, 1})
	for _, v := range []float64{.1, .05, .5, 3} { // a bound belongs to its own bucket
		took.Observe(v)
	}
	s.GaugeFunc("depth", "Depth.", func() float64 { return 4 })
	s.CounterFunc("forever_total", "For ever.", func() float64 { return math.Inf(1) })

	all := read(t, s)
	for name, want := range map[string]float64{"posts_total": 2.5, "forever_total": math.Inf(1)} {
		if got := all[name].GetMetric()[0].GetCounter().GetValue(); got != want {
			t.Errorf("%s = %v, want %v", name, got, want)
		}
	}
	for name, want := range map[string]float64{"open": 2, "depth": 4} {
		if got := all[name].GetMetric()[0].GetGauge().GetValue(); got != want {
			t.Errorf("%s = %v, want %v", name, got, want)
		}
	}
	if got := all["posts_total"].GetHelp(); got != "A \\ and a\nline." {
		t.Errorf("help = %q", got)
	}
	series := all["calls_total"].GetMetric()
	if len(series) != 2 || series[0].GetLabel()[0].GetValue() != "GET /x" || series[0].GetCounter().GetValue() != 7 ||
		series[1].GetLabel()[0].GetValue() != "a\"b\\c\nd�" {
		t.Errorf("calls_total = %v", series)
	}
	h := all["took_seconds"].GetMetric()[0].GetHistogram()
	var counts []uint64
	for _, b := range h.GetBucket() {
		counts = append(counts, b.GetCumulativeCount())
	}
	if fmt.Sprint(counts) != "[2 3 4]" || h.GetSampleCount() != 4 || math.Abs(h.GetSampleSum()-3.65) > 1e-9 {
		t.Errorf("took_seconds: buckets %v, count %d, sum %v", counts, h.GetSampleCount(), h.GetSampleSum())
	}
}

// A set is bounded: further series are counted together.
func TestSeriesAreBounded(t *testing.T) {
	s := metrics.New()
	calls := s.Counters("calls_total", "Calls.", "route")
	const routes = 3 * metrics.MaxSeries
	for i := range routes {
		calls.With(fmt.Sprint(i)).Add(1)
	}
	series := read(t, s)["calls_total"].GetMetric()
	if len(series) != metrics.MaxSeries {
		t.Errorf("%d series, want %d", len(series), metrics.MaxSeries)
	}
	sum := 0.
	for _, m := range series {
		sum += m.GetCounter().GetValue()
	}
	if sum != routes {
		t.Errorf("%v calls counted, want %d", sum, routes)
	}
}

// A nil set accepts values and outputs nothing.
func TestNilSet(t *testing.T) {
	var s *metrics.Set
	n := s.Counter("n_total", "N.")
	n.Add(1)
	s.Histogram("h", "H.", metrics.Seconds).Observe(1)
	s.GaugeFunc("g", "G.", func() float64 { return 1 })
	if n.Value() != 1 || len(read(t, s)) != 0 {
		t.Errorf("got the value %v and the output %v, want no output", n.Value(), read(t, s))
	}
}

// Counts of concurrent goroutines add up.
func TestCountingTogether(t *testing.T) {
	s := metrics.New()
	n, h := s.Counters("n_total", "N.", "of"), s.Histogram("h", "H.", metrics.Seconds)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 1000 {
				n.With("us").Add(1)
				h.Observe(.5)
			}
		})
	}
	all.Wait()
	if n.With("us").Value() != 8000 || h.Count() != 8000 {
		t.Errorf("counted %v and %v, want 8000", n.With("us").Value(), h.Count())
	}
}

// The metrics of the process are plausible.
func TestProcess(t *testing.T) {
	s := metrics.New()
	s.Process("v1.2.3")
	all := read(t, s)
	for name, least := range map[string]float64{
		"go_goroutines": 2, "go_heap_objects_bytes": 1 << 10, "go_memory_bytes": 1 << 20, "process_resident_memory_bytes": 1 << 20,
		"process_open_fds": 3, "process_max_fds": 64,
	} {
		if got := all[name].GetMetric()[0].GetGauge().GetValue(); got < least || got > 1<<50 {
			t.Errorf("%s = %v, want at least %v", name, got, least)
		}
	}
	if got := all["process_cpu_seconds_total"].GetMetric()[0].GetCounter().GetValue(); got < 0 || got > 1e6 {
		t.Errorf("process_cpu_seconds_total = %v", got)
	}
	if got := all["shoal_build_info"].String(); !strings.Contains(got, "v1.2.3") {
		t.Errorf("shoal_build_info = %s", got)
	}
}

// Counting does not allocate.
func TestCountingAllocatesNothing(t *testing.T) {
	s := metrics.New()
	n, h := s.Counters("n_total", "N.", "route", "status"), s.Histograms("h", "H.", metrics.Seconds, "route")
	if got := testing.AllocsPerRun(100, func() {
		n.With("GET /v1/sessions", "200").Add(1)
		h.With("GET /v1/sessions").Observe(.01)
	}); got != 0 {
		t.Errorf("%v allocations, want none", got)
	}
}
