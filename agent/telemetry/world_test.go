package telemetry

import (
	"encoding/json"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
)

// world is an observer with what it wrote.
type world struct {
	t        *testing.T
	observer *Observer
	exporter *tracetest.InMemoryExporter
	reader   *metric.ManualReader
}

func newWorld(t *testing.T, o Options) *world {
	t.Helper()
	w := &world{t: t, exporter: tracetest.NewInMemoryExporter(), reader: metric.NewManualReader()}
	tracers := sdktrace.NewTracerProvider(sdktrace.WithSyncer(w.exporter))
	meters := metric.NewMeterProvider(metric.WithReader(w.reader))
	t.Cleanup(func() {
		_ = tracers.Shutdown(t.Context())
		_ = meters.Shutdown(t.Context())
	})
	w.observer = newObserver(o, tracers, meters)
	return w
}

// span returns the only span of that name.
func (w *world) span(name string) tracetest.SpanStub {
	w.t.Helper()
	var found []tracetest.SpanStub
	var names []string
	for _, s := range w.exporter.GetSpans() {
		names = append(names, s.Name)
		if s.Name == name {
			found = append(found, s)
		}
	}
	if len(found) != 1 {
		w.t.Fatalf("there are %d spans %q among %q", len(found), name, names)
	}
	return found[0]
}

// attrs returns a span's attributes by name.
func attrs(s tracetest.SpanStub) map[string]any { return values(s.Attributes) }

func values(list []attribute.KeyValue) map[string]any {
	out := map[string]any{}
	for _, kv := range list {
		out[string(kv.Key)] = kv.Value.AsInterface()
	}
	return out
}

// point is one data point of a metric: a sum's value, or a histogram's.
type point struct {
	attrs map[string]any
	value float64
	count uint64
	unit  string
}

func (w *world) metrics() map[string][]point {
	w.t.Helper()
	var data metricdata.ResourceMetrics
	if err := w.reader.Collect(w.t.Context(), &data); err != nil {
		w.t.Fatal(err)
	}
	out := map[string][]point{}
	for _, scope := range data.ScopeMetrics {
		for _, m := range scope.Metrics {
			add := func(set attribute.Set, value float64, count uint64) {
				out[m.Name] = append(out[m.Name], point{values(set.ToSlice()), value, count, m.Unit})
			}
			switch d := m.Data.(type) {
			case metricdata.Histogram[int64]:
				for _, p := range d.DataPoints {
					add(p.Attributes, float64(p.Sum), p.Count)
				}
			case metricdata.Histogram[float64]:
				for _, p := range d.DataPoints {
					add(p.Attributes, p.Sum, p.Count)
				}
			case metricdata.Sum[int64]:
				for _, p := range d.DataPoints {
					add(p.Attributes, float64(p.Value), 0)
				}
			case metricdata.Sum[float64]:
				for _, p := range d.DataPoints {
					add(p.Attributes, p.Value, 0)
				}
			default:
				w.t.Fatalf("metric %s is a %T", m.Name, d)
			}
		}
	}
	return out
}

// everything returns all that was written, as one text.
func (w *world) everything() string {
	w.t.Helper()
	var data metricdata.ResourceMetrics
	if err := w.reader.Collect(w.t.Context(), &data); err != nil {
		w.t.Fatal(err)
	}
	all := ""
	for _, s := range w.exporter.GetSpans() {
		events := []any{}
		for _, e := range s.Events {
			events = append(events, e.Name, values(e.Attributes))
		}
		all += asText(w.t, []any{s.Name, attrs(s), s.Status, events})
	}
	for name, points := range w.metrics() {
		for _, p := range points {
			all += asText(w.t, []any{name, p.attrs})
		}
	}
	return all
}

func asText(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data) + "\n"
}
