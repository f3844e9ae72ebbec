package telemetry

import (
	"context"
	"errors"
	"maps"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/shoal-dev/shoal/agent"
)

var gpt = agent.ModelInfo{Provider: "openai", Name: "gpt-5-mini", Address: "api.openai.com:443"}

func modelOp(r *agent.Request) agent.Operation {
	return agent.Operation{
		Kind: agent.OpModel, Agent: "helper", Conversation: "c1", TurnID: "t1", Step: 2, Attempt: 1, Model: gpt, Request: r,
	}
}

func ptr[T any](v T) *T { return &v }

// The calls of Start are nested as the core makes them.
func TestSpansNest(t *testing.T) {
	w := newWorld(t, Options{})
	begin := func(ctx context.Context, op agent.Operation) (context.Context, func()) {
		ctx, end := w.observer.Start(ctx, op)
		return ctx, func() { end(agent.OperationResult{Outcome: agent.Completed, Reason: agent.ReasonDone}) }
	}
	turn, endTurn := begin(t.Context(), agent.Operation{Kind: agent.OpTurn, Agent: "boss"})
	step, endStep := begin(turn, agent.Operation{Kind: agent.OpStep, Agent: "boss"})
	_, endModel := begin(step, agent.Operation{Kind: agent.OpModel, Model: gpt})
	endModel()
	tool, endTool := begin(step, agent.Operation{Kind: agent.OpTool, Call: agent.ToolCall{Name: "ask_expert"}})
	other, endOther := begin(step, agent.Operation{Kind: agent.OpTool, Call: agent.ToolCall{Name: "clock"}})
	_ = other
	sub, endSub := begin(tool, agent.Operation{Kind: agent.OpTurn, Agent: "expert"})
	_, endSubModel := begin(sub, agent.Operation{Kind: agent.OpModel, Model: agent.ModelInfo{Name: "o3"}})
	for _, end := range []func(){endSubModel, endSub, endOther, endTool, endStep, endTurn} {
		end()
	}

	spans := map[string]tracetest.SpanStub{}
	for _, s := range w.exporter.GetSpans() {
		spans[s.Name] = s
	}
	want := map[string]string{
		"invoke_agent boss":       "",
		"agent.step":              "invoke_agent boss",
		"chat gpt-5-mini":         "agent.step",
		"execute_tool ask_expert": "agent.step",
		"execute_tool clock":      "agent.step",
		"invoke_agent expert":     "execute_tool ask_expert",
		"chat o3":                 "invoke_agent expert",
	}
	got := map[string]string{}
	for name, s := range spans {
		got[name] = ""
		for parent, p := range spans {
			if p.SpanContext.SpanID() == s.Parent.SpanID() && p.SpanContext.TraceID() == s.SpanContext.TraceID() {
				got[name] = parent
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("parents (-want +got):\n%s", diff)
	}
}

func TestModelSpan(t *testing.T) {
	w := newWorld(t, Options{})
	_, end := w.observer.Start(t.Context(), modelOp(&agent.Request{
		Output: &agent.OutputSchema{Name: "x"},
		Settings: agent.Settings{
			Temperature: ptr(0.0), TopP: ptr(0.9), FrequencyPenalty: ptr(0.1), PresencePenalty: ptr(0.2),
			Seed: ptr(int64(7)), MaxOutputTokens: 100, Stop: []string{"END"},
		},
	}))
	end(agent.OperationResult{
		Usage: agent.Usage{InputTokens: 100, CachedTokens: 40, CacheWriteTokens: 10, OutputTokens: 50, ReasoningTokens: 20},
		Cost:  0.25, Finish: agent.FinishStop, First: 250 * time.Millisecond, Duration: 2 * time.Second,
		Model: agent.ModelInfo{Provider: "openai", Name: "gpt-5-mini-2025-08-07"},
	})
	s := w.span("chat gpt-5-mini")
	if s.SpanKind != trace.SpanKindClient || s.Status.Code != codes.Unset {
		t.Errorf("kind %v, status %v", s.SpanKind, s.Status)
	}
	want := map[string]any{
		"gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai", "gen_ai.request.model": "gpt-5-mini",
		"gen_ai.response.model":  "gpt-5-mini-2025-08-07",
		"gen_ai.conversation.id": "c1", "gen_ai.agent.name": "helper", "agent.turn_id": "t1",
		"agent.step": int64(2), "agent.attempt": int64(1),
		"server.address": "api.openai.com", "server.port": int64(443),
		"gen_ai.request.stream": true, "gen_ai.output.type": "json",
		"gen_ai.request.temperature": 0.0, "gen_ai.request.top_p": 0.9, "gen_ai.request.frequency_penalty": 0.1,
		"gen_ai.request.presence_penalty": 0.2, "gen_ai.request.seed": int64(7), "gen_ai.request.max_tokens": int64(100),
		"gen_ai.request.stop_sequences": []string{"END"}, "gen_ai.response.finish_reasons": []string{"stop"},
		"gen_ai.response.time_to_first_chunk": 0.25, "gen_ai.usage.input_tokens": int64(100), "gen_ai.usage.output_tokens": int64(50),
		"gen_ai.usage.cache_read.input_tokens": int64(40), "gen_ai.usage.cache_creation.input_tokens": int64(10),
		"gen_ai.usage.reasoning.output_tokens": int64(20), "agent.cost": 0.25,
	}
	if diff := cmp.Diff(want, attrs(s)); diff != "" {
		t.Errorf("attributes (-want +got):\n%s", diff)
	}
}

func TestTurnSpan(t *testing.T) {
	for outcome, want := range map[agent.Outcome]struct {
		reason     agent.Reason
		terminated bool
		status     codes.Code
	}{
		agent.Completed: {agent.ReasonDone, false, codes.Unset},
		agent.Waiting:   {agent.ReasonPending, false, codes.Unset},
		agent.Failed:    {agent.ReasonMaxErrors, true, codes.Error},
		agent.Canceled:  {agent.ReasonCanceled, true, codes.Error},
	} {
		w := newWorld(t, Options{})
		_, end := w.observer.Start(t.Context(), agent.Operation{
			Kind: agent.OpTurn, Agent: "helper", Description: "helps", Conversation: "c1", TurnID: "t1", Model: gpt,
		})
		end(agent.OperationResult{
			Outcome: outcome, Reason: want.reason, Steps: 3, Calls: 5, Cost: 0.5,
			Usage: agent.Usage{InputTokens: 10, OutputTokens: 20},
		})
		s := w.span("invoke_agent helper")
		if s.SpanKind != trace.SpanKindInternal || s.Status.Code != want.status {
			t.Errorf("%s: kind %v, status %v", outcome, s.SpanKind, s.Status)
		}
		wanted := map[string]any{
			"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "helper", "gen_ai.agent.description": "helps",
			"gen_ai.conversation.id": "c1", "agent.turn_id": "t1", "gen_ai.provider.name": "openai", "gen_ai.request.model": "gpt-5-mini",
			"gen_ai.usage.input_tokens": int64(10), "gen_ai.usage.output_tokens": int64(20), "agent.cost": 0.5,
			"agent.total_iterations": int64(3), "agent.total_function_calls": int64(5), "agent.outcome": string(outcome),
			"agent.termination_reason": string(want.reason), "agent.was_terminated": want.terminated,
		}
		if want.terminated {
			wanted["error.type"] = string(want.reason)
		}
		if diff := cmp.Diff(wanted, attrs(s)); diff != "" {
			t.Errorf("%s: attributes (-want +got):\n%s", outcome, diff)
		}
	}
}

func TestToolSpan(t *testing.T) {
	for status, failure := range map[agent.ResultStatus]string{
		agent.ResultOK: "", agent.ResultDenied: "", agent.ResultFailed: "failed", agent.ResultTimedOut: "timed_out", "": "",
	} {
		w := newWorld(t, Options{})
		_, end := w.observer.Start(t.Context(), agent.Operation{
			Kind: agent.OpTool, Agent: "helper", Conversation: "c1", TurnID: "t1", Step: 1, Call: agent.ToolCall{ID: "k1", Name: "weather"},
		})
		end(agent.OperationResult{Result: agent.ToolResult{Status: status}})
		want := map[string]any{
			"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "weather", "gen_ai.tool.call.id": "k1", "gen_ai.tool.type": "function",
			"gen_ai.agent.name": "helper", "gen_ai.conversation.id": "c1", "agent.turn_id": "t1", "agent.step": int64(1),
		}
		if status != "" {
			want["agent.tool.status"] = string(status)
		}
		if failure != "" {
			want["error.type"] = failure
		}
		s := w.span("execute_tool weather")
		if diff := cmp.Diff(want, attrs(s)); diff != "" || (s.Status.Code == codes.Error) != (failure != "") {
			t.Errorf("%q: status %v, attributes (-want +got):\n%s", status, s.Status, diff)
		}
	}
}

func TestErrorType(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{nil, ""},
		{&agent.ModelError{Class: agent.ClassRateLimited, Status: 429}, "rate_limited"},
		{errors.Join(errors.New("x"), &agent.ModelError{Class: agent.ClassTimeout}), "timeout"},
		{context.Canceled, "canceled"},
		{context.DeadlineExceeded, "timeout"},
		{errors.New("what?"), "_OTHER"},
	} {
		if got := errorTypeOf(agent.OpModel, agent.OperationResult{Err: c.err}); got != c.want {
			t.Errorf("error.type of %v is %q, want %q", c.err, got, c.want)
		}
	}
	w := newWorld(t, Options{})
	_, end := w.observer.Start(t.Context(), modelOp(nil))
	end(agent.OperationResult{Err: &agent.ModelError{Class: agent.ClassRateLimited, Status: 429}})
	if got := attrs(w.span("chat gpt-5-mini"))["http.response.status_code"]; got != int64(429) {
		t.Errorf("http.response.status_code is %v", got)
	}
}

func TestMetrics(t *testing.T) {
	w := newWorld(t, Options{})
	canceled, cancel := context.WithCancel(t.Context())
	cancel() // what a canceled turn used is counted too
	model := func(e agent.OperationResult) {
		_, end := w.observer.Start(canceled, modelOp(nil))
		end(e)
	}
	usage := agent.Usage{InputTokens: 100, CachedTokens: 40, OutputTokens: 50, ReasoningTokens: 20}
	model(agent.OperationResult{Usage: usage, Cost: 0.25, First: time.Second, Duration: 2 * time.Second})
	model(agent.OperationResult{Usage: usage, Cost: 0.25, First: time.Second, Duration: 4 * time.Second})
	model(agent.OperationResult{Err: &agent.ModelError{Class: agent.ClassOverloaded}, Duration: time.Second})
	_, end := w.observer.Start(t.Context(), agent.Operation{Kind: agent.OpTool, Agent: "helper", Call: agent.ToolCall{ID: "k1", Name: "weather"}})
	end(agent.OperationResult{Result: agent.ToolResult{Status: agent.ResultFailed}, Duration: 3 * time.Second})
	_, end = w.observer.Start(t.Context(), agent.Operation{Kind: agent.OpTurn, Agent: "helper", Conversation: "c1", Model: gpt})
	end(agent.OperationResult{Outcome: agent.Completed, Reason: agent.ReasonDone, Usage: usage, Cost: 0.5, Duration: 9 * time.Second})

	call := map[string]any{
		"gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai", "gen_ai.request.model": "gpt-5-mini",
		"server.address": "api.openai.com", "server.port": int64(443),
	}
	whose := map[string]any{"gen_ai.agent.name": "helper", "gen_ai.provider.name": "openai", "gen_ai.request.model": "gpt-5-mini"}
	plus := func(base map[string]any, key, value string) map[string]any {
		out := maps.Clone(base)
		out[key] = value
		return out
	}
	want := map[string][]point{
		"gen_ai.client.token.usage": {
			{plus(call, "gen_ai.token.type", "input"), 200, 2, "{token}"},
			{plus(call, "gen_ai.token.type", "output"), 100, 2, "{token}"},
		},
		"gen_ai.client.operation.duration":            {{call, 6, 2, "s"}, {plus(call, "error.type", "overloaded"), 1, 1, "s"}},
		"gen_ai.client.operation.time_to_first_chunk": {{call, 2, 2, "s"}},
		"gen_ai.execute_tool.duration": {{map[string]any{
			"gen_ai.agent.name": "helper", "gen_ai.tool.name": "weather", "gen_ai.tool.type": "function", "error.type": "failed",
		}, 3, 1, "s"}},
		"gen_ai.invoke_agent.duration":    {{plus(whose, "agent.outcome", "completed"), 9, 1, "s"}},
		"agent.usage.input_tokens":        {{whose, 200, 0, "{token}"}},
		"agent.usage.output_tokens":       {{whose, 100, 0, "{token}"}},
		"agent.usage.total_tokens":        {{whose, 300, 0, "{token}"}},
		"agent.usage.cached_input_tokens": {{whose, 80, 0, "{token}"}},
		"agent.usage.reasoning_tokens":    {{whose, 40, 0, "{token}"}},
		"agent.cost":                      {{whose, 0.5, 0, "{USD}"}},
	}
	sorted := cmp.Transformer("set", func(in []point) map[string]point {
		out := map[string]point{}
		for _, p := range in {
			out[asText(t, p.attrs)] = p
		}
		return out
	})
	if diff := cmp.Diff(want, w.metrics(), cmp.AllowUnexported(point{}), sorted); diff != "" {
		t.Errorf("metrics (-want +got):\n%s", diff)
	}
}

func TestAddresses(t *testing.T) {
	for address, want := range map[string]map[string]any{
		"":               {},
		"localhost:8080": {"server.address": "localhost", "server.port": int64(8080)},
		"[::1]:80":       {"server.address": "::1", "server.port": int64(80)},
		"example.com":    {"server.address": "example.com"},
	} {
		if diff := cmp.Diff(want, values(serverAttrs(address))); diff != "" {
			t.Errorf("%q (-want +got):\n%s", address, diff)
		}
	}
}
