// Package telemetry writes what an agent does as OpenTelemetry spans and
// metrics, by the semantic conventions for generative AI.
//
//	a, err := agent.New(model, agent.Options{
//		Observers: []agent.Observer{telemetry.New(telemetry.Options{})},
//	})
//
// It writes to the global providers of go.opentelemetry.io/otel; without any it
// does nothing. A turn is a span invoke_agent NAME, holding one span agent.step
// per step, and a step holds one client span chat MODEL per attempt of a model
// call and one span execute_tool NAME per tool call. A sub-agent's turn hangs
// under the tool call that it works for.
//
// The metrics are gen_ai.client.token.usage, gen_ai.client.operation.duration
// and gen_ai.client.operation.time_to_first_chunk of model calls,
// gen_ai.invoke_agent.duration of turns, gen_ai.execute_tool.duration of tools,
// and the sums agent.usage.{input,output,total,cached_input,reasoning}_tokens
// and agent.cost (USD) of every model call, a failed one included.
//
// The package guarantees:
//   - Prompts, answers, thoughts, arguments, results and the words of errors are
//     written only with Options.Content; without it there are names, ids,
//     numbers, settings and classes.
//   - Metrics carry no ids: the number of series does not grow with use.
//   - error.type is one of the classes agent.ErrorClass, the reasons
//     agent.Reason, the statuses agent.ResultStatus, canceled, timeout or _OTHER.
package telemetry

import (
	"context"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/shoal-dev/shoal/agent"
)

// scope names this package as the source of spans and metrics.
const scope = "github.com/shoal-dev/shoal/agent/telemetry"

// Options configure an [Observer].
type Options struct {
	// Content writes instructions, messages, tool definitions, arguments and
	// results into spans, every text cut at 32 KiB. They can hold personal data
	// and secrets. Default off.
	Content bool
}

// Observer is an agent.Observer that writes spans and metrics. It is immutable
// and safe for concurrent use; one serves any number of agents.
type Observer struct {
	content bool
	tracer  trace.Tracer
	metrics *instruments
}

// New returns an Observer that writes to OpenTelemetry's global providers, also
// to those that are set later.
func New(o Options) *Observer {
	return newObserver(o, otel.GetTracerProvider(), otel.GetMeterProvider())
}

func newObserver(o Options, tracers trace.TracerProvider, meters metric.MeterProvider) *Observer {
	return &Observer{content: o.Content, tracer: tracers.Tracer(scope), metrics: newInstruments(meters.Meter(scope))}
}

// Name returns "telemetry".
func (o *Observer) Name() string { return "telemetry" }

// Start opens a span for op, in the context that it returns. The function that
// it returns closes the span and records the metrics. It never blocks on an
// exporter beyond what the configured span processor does.
func (o *Observer) Start(ctx context.Context, op agent.Operation) (context.Context, func(agent.OperationResult)) {
	began := time.Now()
	ctx, span := o.open(ctx, op)
	return ctx, func(e agent.OperationResult) {
		if e.Duration <= 0 {
			e.Duration = time.Since(began)
		}
		failure := errorTypeOf(op.Kind, e)
		o.metrics.record(ctx, op, e, failure)
		o.closeSpan(span, op, e, failure)
	}
}
