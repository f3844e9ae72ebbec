package otlp

import (
	"math"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/protobuf/encoding/protowire"
)

// The encoders append to b the fields of messages of opentelemetry-proto 1.x; the numbers are
// those of its .proto files. Only what agent/telemetry uses is encoded: its spans have no
// events, and its metrics are sums and histograms.

type number = protowire.Number

func text(b []byte, n number, s string) []byte {
	if s == "" {
		return b
	}
	return protowire.AppendString(protowire.AppendTag(b, n, protowire.BytesType), s)
}

func message(b []byte, n number, m []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, n, protowire.BytesType), m)
}

func varint(b []byte, n number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, n, protowire.VarintType), v)
}

func fixed(b []byte, n number, v uint64) []byte {
	return protowire.AppendFixed64(protowire.AppendTag(b, n, protowire.Fixed64Type), v)
}

func double(b []byte, n number, v float64) []byte { return fixed(b, n, math.Float64bits(v)) }

func instant(b []byte, n number, t time.Time) []byte { return fixed(b, n, uint64(t.UnixNano())) }

// attributes appends KeyValue messages.
func attributes(b []byte, n number, list []attribute.KeyValue) []byte {
	for _, kv := range list {
		b = message(b, n, message(text(nil, 1, string(kv.Key)), 2, value(kv.Value)))
	}
	return b
}

// value returns an AnyValue.
func value(v attribute.Value) []byte {
	switch v.Type() {
	case attribute.BOOL:
		return varint(nil, 2, protowire.EncodeBool(v.AsBool()))
	case attribute.INT64:
		return varint(nil, 3, uint64(v.AsInt64()))
	case attribute.FLOAT64:
		return double(nil, 4, v.AsFloat64())
	case attribute.STRINGSLICE:
		var list []byte
		for _, s := range v.AsStringSlice() {
			list = message(list, 1, message(nil, 1, []byte(s)))
		}
		return message(nil, 5, list)
	}
	return message(nil, 1, []byte(v.String()))
}

func scope(s instrumentation.Scope) []byte { return text(text(nil, 1, s.Name), 2, s.Version) }

// of returns a Resource.
func of(r *resource.Resource) []byte { return attributes(nil, 1, r.Attributes()) }

// span returns a Span.
func span(s sdktrace.ReadOnlySpan) []byte {
	c := s.SpanContext()
	trace, id := c.TraceID(), c.SpanID()
	b := message(message(nil, 1, trace[:]), 2, id[:])
	if parent := s.Parent().SpanID(); parent.IsValid() {
		b = message(b, 4, parent[:])
	}
	b = text(b, 5, s.Name())
	b = varint(b, 6, uint64(s.SpanKind()))
	b = instant(b, 7, s.StartTime())
	b = instant(b, 8, s.EndTime())
	b = attributes(b, 9, s.Attributes())
	if lost := s.DroppedAttributes(); lost > 0 {
		b = varint(b, 10, uint64(lost))
	}
	for _, l := range s.Links() {
		b = message(b, 13, link(l.SpanContext))
	}
	if s.Status().Code == codes.Error {
		b = message(b, 15, varint(text(nil, 2, s.Status().Description), 3, 2))
	}
	return b
}

// Flags of a link beside those of W3C Trace Context: it says whether the span is of another
// process, and that it is.
const remoteKnown, remote = 0x100, 0x200

// link returns a Span.Link to a span of another process, without attributes.
func link(to trace.SpanContext) []byte {
	trace, id := to.TraceID(), to.SpanID()
	b := message(message(nil, 1, trace[:]), 2, id[:])
	return protowire.AppendFixed32(protowire.AppendTag(b, 6, protowire.Fixed32Type), remoteKnown|remote|uint32(to.TraceFlags()))
}

// spansRequest returns an ExportTraceServiceRequest with encoded spans of one scope.
func spansRequest(r *resource.Resource, s instrumentation.Scope, spans [][]byte) []byte {
	b := message(nil, 1, scope(s))
	for _, one := range spans {
		b = message(b, 2, one)
	}
	return message(nil, 1, message(message(nil, 1, of(r)), 2, b))
}

// metricsRequest returns an ExportMetricsServiceRequest.
func metricsRequest(all *metricdata.ResourceMetrics) []byte {
	b := message(nil, 1, of(all.Resource))
	for _, s := range all.ScopeMetrics {
		of := message(nil, 1, scope(s.Scope))
		for _, m := range s.Metrics {
			of = message(of, 2, metricOf(m))
		}
		b = message(b, 2, of)
	}
	return message(nil, 1, b)
}

func metricOf(m metricdata.Metrics) []byte {
	b := text(text(text(nil, 1, m.Name), 2, m.Description), 3, m.Unit)
	switch data := m.Data.(type) {
	case metricdata.Sum[int64]:
		return message(b, 7, sum(data, func(b []byte, v int64) []byte { return fixed(b, 6, uint64(v)) }))
	case metricdata.Sum[float64]:
		return message(b, 7, sum(data, func(b []byte, v float64) []byte { return double(b, 4, v) }))
	case metricdata.Histogram[int64]:
		return message(b, 9, histogram(data))
	case metricdata.Histogram[float64]:
		return message(b, 9, histogram(data))
	}
	return b
}

// cumulative is the temporality of everything that is sent.
const cumulative = 2

func sum[N int64 | float64](data metricdata.Sum[N], put func([]byte, N) []byte) (b []byte) {
	for _, p := range data.DataPoints {
		point := instant(instant(nil, 2, p.StartTime), 3, p.Time)
		point = attributes(put(point, p.Value), 7, p.Attributes.ToSlice())
		b = message(b, 1, point)
	}
	return varint(varint(b, 2, cumulative), 3, protowire.EncodeBool(data.IsMonotonic))
}

func histogram[N int64 | float64](data metricdata.Histogram[N]) (b []byte) {
	for _, p := range data.DataPoints {
		point := instant(instant(nil, 2, p.StartTime), 3, p.Time)
		point = double(fixed(point, 4, p.Count), 5, float64(p.Sum))
		var counts, bounds []byte
		for _, n := range p.BucketCounts {
			counts = protowire.AppendFixed64(counts, n)
		}
		for _, bound := range p.Bounds {
			bounds = protowire.AppendFixed64(bounds, math.Float64bits(bound))
		}
		point = attributes(message(message(point, 6, counts), 7, bounds), 9, p.Attributes.ToSlice())
		if least, ok := p.Min.Value(); ok {
			point = double(point, 11, float64(least))
		}
		if most, ok := p.Max.Value(); ok {
			point = double(point, 12, float64(most))
		}
		b = message(b, 1, point)
	}
	return varint(b, 2, cumulative)
}
