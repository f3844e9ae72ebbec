package otlp

import (
	"context"
	"crypto/sha256"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/exemplar"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/telemetry"
	"github.com/shoal-dev/shoal/internal/metrics"
)

const (
	// exportTimeout is how long a batch is tried.
	exportTimeout = 10 * time.Second
	// queued is how many spans wait at most, and queuedTexts how many with their texts, which
	// are up to a few hundred KiB each.
	queued, queuedTexts = 2048, 256
)

// Options configure Start.
type Options struct {
	// Endpoint is the base URL of the receiver: /v1/traces and /v1/metrics are below it. A
	// user and a password in it are sent as basic authentication.
	Endpoint string
	// Headers are sent with every request, such as the key of a vendor. [ParseHeaders]
	// reads them.
	Headers map[string]string
	// Content also sends what models and tools were sent and answered.
	Content bool
	// Version and Node are those of the server.
	Version, Node string
	// Log receives failures of the receiver; nil discards them.
	Log *slog.Logger
	// Metrics counts spans; it may be nil.
	Metrics *metrics.Set
}

// Telemetry sends spans and metrics until it is stopped. It is safe for concurrent use.
type Telemetry struct {
	observer *telemetry.Observer
	exporter *exporter
	tracers  *sdktrace.TracerProvider
	meters   *metric.MeterProvider
}

// Start starts sending. The error names what is wrong in o; the receiver is not asked.
func Start(o Options) (*Telemetry, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	e, err := newExporter(o)
	if err != nil {
		return nil, err
	}
	from, err := resource.New(context.Background(), resource.WithAttributes(
		attribute.String("service.name", "shoal"), attribute.String("service.version", o.Version), attribute.String("service.instance.id", o.Node),
	), resource.WithFromEnv())
	if err != nil {
		return nil, shoal.E("otlp.Start", shoal.InvalidArgument, "OTEL_RESOURCE_ATTRIBUTES cannot be used: "+err.Error())
	}
	size := queued
	if o.Content {
		size = queuedTexts
	}
	t := &Telemetry{exporter: e}
	t.tracers = sdktrace.NewTracerProvider(
		sdktrace.WithResource(from), sdktrace.WithIDGenerator(ids{}), sdktrace.WithSpanProcessor(marker{e}),
		sdktrace.WithBatcher(spanExporter{e}, sdktrace.WithMaxQueueSize(size), sdktrace.WithExportTimeout(exportTimeout)),
	)
	t.meters = metric.NewMeterProvider(
		metric.WithResource(from), metric.WithExemplarFilter(exemplar.AlwaysOffFilter),
		metric.WithReader(metric.NewPeriodicReader(metricExporter{e}, metric.WithTimeout(exportTimeout))),
	)
	otel.SetTracerProvider(t.tracers)
	otel.SetMeterProvider(t.meters)
	t.observer = telemetry.New(telemetry.Options{Content: o.Content})
	return t, nil
}

// Stop sends what was recorded and stops; it is called once. Each request is tried once more,
// at once, so that a receiver that is down does not delay it. What has not been sent when ctx
// ends is lost. A nil Telemetry has nothing to stop.
func (t *Telemetry) Stop(ctx context.Context) {
	if t == nil {
		return
	}
	close(t.exporter.stopping)
	ended := context.AfterFunc(ctx, t.exporter.cancel)
	defer ended()
	_ = t.tracers.Shutdown(ctx) // the exporter has logged why
	_ = t.meters.Shutdown(ctx)
	t.exporter.close()
}

// Run is a run, as its spans name it.
type Run struct {
	Session shoal.SessionID
	ID      shoal.RunID
	Space   shoal.SpaceID
	Agent   shoal.EntityID
	// Parent is the traceparent of the request that started the run, empty for none. Each
	// execution of the run has a link to it; an invalid one counts as none.
	Parent string
}

// TraceID returns the id of the run's trace, in hexadecimal. It is the same on every server
// and at any time.
func (r Run) TraceID() string { return r.trace().String() }

func (r Run) trace() trace.TraceID {
	sum := sha256.Sum256([]byte("shoal/" + string(r.Session) + "/" + string(r.ID)))
	return trace.TraceID(sum[:16])
}

// caller returns the span of the request that started the run; it is invalid for none.
func (r Run) caller() trace.SpanContext {
	carrier := propagation.MapCarrier{"traceparent": r.Parent}
	return trace.SpanContextFromContext(propagation.TraceContext{}.Extract(context.Background(), carrier))
}

// Observer returns the observer of the turns of a run and of its sub-agents.
func (t *Telemetry) Observer(r Run) agent.Observer { return observer{t.observer, r} }

type observer struct {
	*telemetry.Observer
	run Run
}

// Start implements [agent.Observer].
func (o observer) Start(ctx context.Context, op agent.Operation) (context.Context, func(agent.OperationResult)) {
	return o.Observer.Start(context.WithValue(ctx, runKey{}, o.run), op)
}

// runKey is the key under which a context has the run that its spans belong to.
type runKey struct{}

func runOf(ctx context.Context) (Run, bool) {
	r, ok := ctx.Value(runKey{}).(Run)
	return r, ok
}

// ids makes the ids of spans, and takes those of traces from their runs.
type ids struct{}

// NewIDs implements [sdktrace.IDGenerator].
func (g ids) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	r, ok := runOf(ctx)
	if !ok {
		r.ID = shoal.NewID[shoal.RunID]("") // a trace of its own
	}
	id := r.trace()
	return id, g.NewSpanID(ctx, id)
}

// NewSpanID implements [sdktrace.IDGenerator].
func (ids) NewSpanID(context.Context, trace.TraceID) trace.SpanID {
	return newSpanID()
}

// marker says on each span which run it belongs to, and counts spans.
type marker struct{ e *exporter }

// OnStart implements [sdktrace.SpanProcessor].
func (marker) OnStart(ctx context.Context, s sdktrace.ReadWriteSpan) {
	if r, ok := runOf(ctx); ok {
		s.SetAttributes(
			attribute.String("shoal.session.id", string(r.Session)), attribute.String("shoal.run.id", string(r.ID)),
			attribute.String("shoal.space.id", string(r.Space)), attribute.String("shoal.agent.id", string(r.Agent)),
		)
		if caller := r.caller(); caller.IsValid() && !s.Parent().IsValid() {
			s.AddLink(trace.Link{SpanContext: caller})
		}
	}
}

// OnEnd implements [sdktrace.SpanProcessor].
func (m marker) OnEnd(sdktrace.ReadOnlySpan) { m.e.recorded.Add(1) }

// Shutdown implements [sdktrace.SpanProcessor].
func (marker) Shutdown(context.Context) error { return nil }

// ForceFlush implements [sdktrace.SpanProcessor].
func (marker) ForceFlush(context.Context) error { return nil }
