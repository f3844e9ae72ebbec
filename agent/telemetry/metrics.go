package telemetry

import (
	"context"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/shoal-dev/shoal/agent"
)

// The buckets that the conventions recommend: of tokens, of seconds of a call,
// of seconds of a turn.
var (
	tokenBuckets = []float64{1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864}
	callBuckets  = []float64{0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92}
	turnBuckets  = []float64{0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 51.2, 102.4, 204.8, 409.6}
)

type instruments struct {
	tokens                               metric.Int64Histogram
	call, first, turn, tool              metric.Float64Histogram
	input, output, total, cached, reason metric.Int64Counter
	cost                                 metric.Float64Counter
}

// newInstruments makes the instruments. A provider that refuses one gives a
// dumb one for it; why goes to OpenTelemetry's error handler.
func newInstruments(m metric.Meter) *instruments {
	seconds := func(name, text string, buckets []float64) metric.Float64Histogram {
		return must(m.Float64Histogram(name, metric.WithUnit("s"), metric.WithDescription(text), metric.WithExplicitBucketBoundaries(buckets...)))
	}
	sum := func(name, text string) metric.Int64Counter {
		return must(m.Int64Counter(name, metric.WithUnit("{token}"), metric.WithDescription(text)))
	}
	return &instruments{
		tokens: must(m.Int64Histogram(metricTokenUsage, metric.WithUnit("{token}"),
			metric.WithDescription("Input and output tokens of one model call."), metric.WithExplicitBucketBoundaries(tokenBuckets...))),
		call:   seconds(metricOperationDuration, "Duration of one attempt of a model call.", callBuckets),
		first:  seconds(metricTimeToFirstChunk, "Time from a model call to its first chunk.", callBuckets),
		turn:   seconds(metricInvokeAgent, "Duration of a turn.", turnBuckets),
		tool:   seconds(metricExecuteTool, "Duration of a tool call.", callBuckets),
		input:  sum(metricAgentInput, "Input tokens, cached ones included."),
		output: sum(metricAgentOutput, "Output tokens, reasoning included."),
		total:  sum(metricAgentTotal, "Input and output tokens."),
		cached: sum(metricAgentCached, "Input tokens read from a prompt cache."),
		reason: sum(metricAgentReasoning, "Output tokens that were reasoning."),
		cost:   must(m.Float64Counter(metricAgentCost, metric.WithUnit("{USD}"), metric.WithDescription("Cost of model calls by the agent's prices."))),
	}
}

func must[T any](instrument T, err error) T {
	if err != nil {
		otel.Handle(err)
	}
	return instrument
}

func (i *instruments) record(ctx context.Context, op agent.Operation, e agent.OperationResult, failure string) {
	var failed []attribute.KeyValue
	if failure != "" {
		failed = append(failed, errorType.String(failure))
	}
	with := func(attrs ...attribute.KeyValue) metric.MeasurementOption {
		return metric.WithAttributes(append(attrs, failed...)...) // which copies
	}
	switch op.Kind {
	case agent.OpTurn:
		i.turn.Record(ctx, e.Duration.Seconds(), with(append(modelAttrs(op.Model),
			agentName.String(op.Agent), agentOutcome.String(string(e.Outcome)))...))
	case agent.OpTool:
		i.tool.Record(ctx, e.Duration.Seconds(), with(
			agentName.String(op.Agent), toolName.String(op.Call.Name), toolType.String("function")))
	case agent.OpModel:
		attrs := append(modelAttrs(op.Model), operationName.String(opChat))
		attrs = append(attrs, serverAttrs(op.Model.Address)...)
		attrs = append(attrs, answeredBy(e.Model)...) // the last value of a key counts
		i.call.Record(ctx, e.Duration.Seconds(), with(attrs...))
		if e.First > 0 {
			i.first.Record(ctx, e.First.Seconds(), metric.WithAttributes(attrs...))
		}
		i.usage(ctx, op, e, attrs)
	}
}

// usage counts at every model call and not at the end of turns, because a turn
// that is resumed ends more than once.
func (i *instruments) usage(ctx context.Context, op agent.Operation, e agent.OperationResult, attrs []attribute.KeyValue) {
	if e.Usage == (agent.Usage{}) {
		return
	}
	u := e.Usage
	i.tokens.Record(ctx, u.InputTokens, metric.WithAttributes(attrs...), metric.WithAttributes(tokenType.String("input")))
	i.tokens.Record(ctx, u.OutputTokens, metric.WithAttributes(attrs...), metric.WithAttributes(tokenType.String("output")))
	by := append(modelAttrs(op.Model), answeredBy(e.Model)...)
	whose := metric.WithAttributes(append(by, agentName.String(op.Agent))...)
	i.input.Add(ctx, u.InputTokens, whose)
	i.output.Add(ctx, u.OutputTokens, whose)
	i.total.Add(ctx, u.InputTokens+u.OutputTokens, whose)
	i.cached.Add(ctx, u.CachedTokens, whose)
	i.reason.Add(ctx, u.ReasoningTokens, whose)
	i.cost.Add(ctx, e.Cost, whose)
}
