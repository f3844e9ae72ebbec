package telemetry

import (
	"context"
	"errors"
	"net"
	"strconv"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/shoal-dev/shoal/agent"
)

// open starts the span of op with what is known from the start, so that a
// sampler can decide by it.
func (o *Observer) open(ctx context.Context, op agent.Operation) (context.Context, trace.Span) {
	attrs := []attribute.KeyValue{agentName.String(op.Agent), agentTurnID.String(op.TurnID)}
	if op.Conversation != "" {
		attrs = append(attrs, conversationID.String(op.Conversation))
	}
	name, kind := "agent."+string(op.Kind), trace.SpanKindInternal
	switch op.Kind {
	case agent.OpTurn:
		name = opInvokeAgent + " " + op.Agent
		attrs = append(attrs, operationName.String(opInvokeAgent))
		attrs = append(attrs, modelAttrs(op.Model)...)
		if op.Description != "" {
			attrs = append(attrs, agentDescription.String(op.Description))
		}
	case agent.OpStep:
		attrs = append(attrs, agentStep.Int(op.Step))
	case agent.OpModel:
		name, kind = opChat+" "+op.Model.Name, trace.SpanKindClient
		attrs = append(attrs, operationName.String(opChat), agentStep.Int(op.Step), agentAttempt.Int(op.Attempt))
		attrs = append(attrs, modelAttrs(op.Model)...)
		attrs = append(attrs, serverAttrs(op.Model.Address)...)
		attrs = append(attrs, requestAttrs(op.Request)...)
	case agent.OpTool:
		name = opExecuteTool + " " + op.Call.Name
		attrs = append(attrs, operationName.String(opExecuteTool), agentStep.Int(op.Step),
			toolName.String(op.Call.Name), toolCallID.String(op.Call.ID), toolType.String("function"))
	}
	ctx, span := o.tracer.Start(ctx, name, trace.WithSpanKind(kind), trace.WithAttributes(attrs...))
	if o.content && span.IsRecording() {
		span.SetAttributes(contentBefore(op)...)
	}
	return ctx, span
}

// closeSpan ends span with what op came to. The status has no description: the
// words of an error may quote a prompt.
func (o *Observer) closeSpan(span trace.Span, op agent.Operation, e agent.OperationResult, failure string) {
	defer span.End()
	if !span.IsRecording() {
		return
	}
	switch op.Kind {
	case agent.OpTurn:
		span.SetAttributes(usageAttrs(e.Usage)...)
		span.SetAttributes(
			agentTotalIterations.Int(e.Steps), agentTotalFunctionCalls.Int(e.Calls), agentCost.Float64(e.Cost),
			agentOutcome.String(string(e.Outcome)), agentTerminationReason.String(string(e.Reason)),
			agentWasTerminated.Bool(e.Outcome == agent.Failed || e.Outcome == agent.Canceled),
		)
	case agent.OpStep:
		span.SetAttributes(agentTotalFunctionCalls.Int(e.Calls), agentCost.Float64(e.Cost))
	case agent.OpModel:
		span.SetAttributes(responseAttrs(e)...)
		var m *agent.ModelError
		if errors.As(e.Err, &m) && m.Status != 0 {
			span.SetAttributes(httpStatusCode.Int(m.Status))
		}
	case agent.OpTool:
		if e.Result.Status != "" {
			span.SetAttributes(agentToolStatus.String(string(e.Result.Status)))
		}
	}
	if o.content {
		span.SetAttributes(contentAfter(op, e)...)
	}
	if failure != "" {
		span.SetAttributes(errorType.String(failure))
		span.SetStatus(codes.Error, "")
	}
}

func modelAttrs(m agent.ModelInfo) []attribute.KeyValue {
	var attrs []attribute.KeyValue
	if m.Provider != "" {
		attrs = append(attrs, providerName.String(m.Provider))
	}
	if m.Name != "" {
		attrs = append(attrs, requestModel.String(m.Name))
	}
	return attrs
}

// answeredBy names the model that answered and its provider, which are others than
// what was asked for after a fallback.
func answeredBy(m agent.ModelInfo) []attribute.KeyValue {
	var attrs []attribute.KeyValue
	if m.Provider != "" {
		attrs = append(attrs, providerName.String(m.Provider))
	}
	if m.Name != "" {
		attrs = append(attrs, responseModel.String(m.Name))
	}
	return attrs
}

// serverAttrs splits host:port. Whatever else an address holds is not shown.
func serverAttrs(address string) []attribute.KeyValue {
	if address == "" {
		return nil
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return []attribute.KeyValue{serverAddress.String(address)}
	}
	attrs := []attribute.KeyValue{serverAddress.String(host)}
	if n, err := strconv.Atoi(port); err == nil {
		attrs = append(attrs, serverPort.Int(n))
	}
	return attrs
}

func requestAttrs(r *agent.Request) []attribute.KeyValue {
	attrs := []attribute.KeyValue{requestStream.Bool(true)}
	if r == nil {
		return attrs
	}
	number := func(k attribute.Key, v *float64) {
		if v != nil {
			attrs = append(attrs, k.Float64(*v))
		}
	}
	s := r.Settings
	number(requestTemperature, s.Temperature)
	number(requestTopP, s.TopP)
	number(requestFrequencyPenalty, s.FrequencyPenalty)
	number(requestPresencePenalty, s.PresencePenalty)
	if s.Seed != nil {
		attrs = append(attrs, requestSeed.Int64(*s.Seed))
	}
	if s.MaxOutputTokens > 0 {
		attrs = append(attrs, requestMaxTokens.Int(s.MaxOutputTokens))
	}
	if len(s.Stop) > 0 {
		attrs = append(attrs, requestStopSequences.StringSlice(s.Stop))
	}
	if r.Output != nil {
		attrs = append(attrs, outputType.String("json"))
	}
	return attrs
}

func responseAttrs(e agent.OperationResult) []attribute.KeyValue {
	attrs := append(usageAttrs(e.Usage), agentCost.Float64(e.Cost))
	attrs = append(attrs, answeredBy(e.Model)...)
	if e.Finish != "" {
		attrs = append(attrs, responseFinishReasons.StringSlice([]string{string(e.Finish)}))
	}
	if e.First > 0 {
		attrs = append(attrs, responseTimeToFirstChunk.Float64(e.First.Seconds()))
	}
	return attrs
}

// usageAttrs says nothing when nothing was counted: zero tokens would be a
// wrong number, not a missing one.
func usageAttrs(u agent.Usage) []attribute.KeyValue {
	if u == (agent.Usage{}) {
		return nil
	}
	attrs := []attribute.KeyValue{usageInputTokens.Int64(u.InputTokens), usageOutputTokens.Int64(u.OutputTokens)}
	for k, n := range map[attribute.Key]int64{
		usageCacheReadTokens: u.CachedTokens, usageCacheCreationTokens: u.CacheWriteTokens, usageReasoningTokens: u.ReasoningTokens,
	} {
		if n > 0 {
			attrs = append(attrs, k.Int64(n))
		}
	}
	return attrs
}

// errorTypeOf returns error.type, or "" when the operation did not fail.
func errorTypeOf(kind agent.OperationKind, e agent.OperationResult) string {
	var m *agent.ModelError
	switch {
	case kind == agent.OpTool && e.Result.Status != "":
		if e.Result.Status.Failed() {
			return string(e.Result.Status)
		}
		return ""
	case kind == agent.OpTurn && (e.Outcome == agent.Failed || e.Outcome == agent.Canceled) && e.Reason != "":
		return string(e.Reason)
	case e.Err == nil:
		return ""
	case errors.As(e.Err, &m) && m.Class != "":
		return string(m.Class)
	case errors.Is(e.Err, context.Canceled):
		return "canceled"
	case errors.Is(e.Err, context.DeadlineExceeded):
		return "timeout"
	}
	return "_OTHER"
}
