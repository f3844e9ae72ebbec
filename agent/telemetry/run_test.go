package telemetry

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/script"
)

// newHelper returns an agent that asks a sub-agent and then answers.
func newHelper(t *testing.T, observers ...agent.Observer) *agent.Agent {
	t.Helper()
	expert, err := agent.New(script.New(script.Answer{Text: "a dozen"}), agent.Options{Name: "expert", Observers: observers})
	if err != nil {
		t.Fatal(err)
	}
	ask := agent.AsTool(expert, agent.SubAgent{Name: "ask_expert", Description: "Asks.", WithoutPermission: true})
	a, err := agent.New(script.New(
		script.Answer{Calls: []agent.ToolCall{{ID: "k1", Name: "ask_expert", Arguments: `{"input":"how many?"}`}}, Usage: agent.Usage{InputTokens: 10, OutputTokens: 5}},
		script.Answer{Text: "It is a dozen.", Usage: agent.Usage{InputTokens: 20, OutputTokens: 5}},
	), agent.Options{
		Name: "helper", Tools: []agent.Tool{ask}, Observers: observers,
		Price: func(_ agent.ModelInfo, u agent.Usage) float64 { return float64(u.InputTokens) / 1000 },
	})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// run takes a turn to its good end and returns the warnings in it.
func run(t *testing.T, a *agent.Agent) (warnings []agent.Warning) {
	t.Helper()
	c := agent.NewConversation()
	var result agent.Result
	for e, err := range a.Stream(t.Context(), c, agent.Say("How many?")) {
		if err != nil {
			t.Fatal(err)
		}
		switch e := e.(type) {
		case agent.Warning:
			warnings = append(warnings, e)
		case agent.TurnFinished:
			result.TurnFinished = e
		}
	}
	messages, err := c.Messages(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	result.Messages = messages
	if result.Outcome != agent.Completed || result.Text() != "It is a dozen." {
		t.Fatalf("the turn ended as %s (%s) with %q: %v", result.Outcome, result.Reason, result.Text(), result.Err)
	}
	return warnings
}

func TestRun(t *testing.T) {
	w := newWorld(t, Options{})
	warnings := run(t, newHelper(t, w.observer))
	if len(warnings) > 0 {
		t.Errorf("warnings: %v", warnings)
	}
	byID := map[trace.SpanID]tracetest.SpanStub{}
	for _, s := range w.exporter.GetSpans() {
		byID[s.SpanContext.SpanID()] = s
	}
	got := map[string]int{}
	for _, s := range w.exporter.GetSpans() {
		path := s.Name
		for p, ok := byID[s.Parent.SpanID()]; ok; p, ok = byID[p.Parent.SpanID()] {
			path = p.Name + " / " + path
		}
		got[path]++
	}
	const below = "invoke_agent helper / agent.step / execute_tool ask_expert"
	want := map[string]int{
		"invoke_agent helper":                            1,
		"invoke_agent helper / agent.step":               2,
		"invoke_agent helper / agent.step / chat script": 2,
		below:                            1,
		below + " / invoke_agent expert": 1,
		below + " / invoke_agent expert / agent.step":               1,
		below + " / invoke_agent expert / agent.step / chat script": 1,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("spans (-want +got):\n%s", diff)
	}
	turn := attrs(w.span("invoke_agent helper"))
	for key, want := range map[string]any{
		"agent.total_iterations": int64(2), "agent.total_function_calls": int64(1),
		"agent.termination_reason": "done", "agent.was_terminated": false,
		"gen_ai.usage.input_tokens": int64(30), "gen_ai.usage.output_tokens": int64(10), "agent.cost": 0.03,
	} {
		if turn[key] != want {
			t.Errorf("%s is %v, want %v", key, turn[key], want)
		}
	}
	for _, p := range w.metrics()["agent.cost"] {
		if p.attrs["gen_ai.agent.name"] == "helper" && p.value != 0.03 {
			t.Errorf("agent.cost is %v, want 0.03", p.value)
		}
	}
	if written := w.everything(); strings.Contains(written, "many") || strings.Contains(written, "dozen") {
		t.Errorf("content got out:\n%s", written)
	}
}

// broken fails at everything that it is asked to export.
type broken struct{ calls int }

func (b *broken) ExportSpans(context.Context, []sdktrace.ReadOnlySpan) error {
	b.calls++
	return errors.New("the collector is gone")
}

func (*broken) Shutdown(context.Context) error { return errors.New("the collector is gone") }

func TestFailingExporterBreaksNothing(t *testing.T) {
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(error) {})) // its default writes to the log
	exporter := &broken{}
	tracers := sdktrace.NewTracerProvider(sdktrace.WithSyncer(exporter))
	t.Cleanup(func() { _ = tracers.Shutdown(context.WithoutCancel(t.Context())) })
	warnings := run(t, newHelper(t, newObserver(Options{Content: true}, tracers, sdkmetric.NewMeterProvider())))
	if exporter.calls != 9 || len(warnings) > 0 {
		t.Errorf("%d exports, warnings %v; want 9 and none", exporter.calls, warnings)
	}
}

// rude panics where it can.
type rude struct{ atEnd bool }

func (*rude) Name() string { return "rude" }

func (r *rude) Start(ctx context.Context, _ agent.Operation) (context.Context, func(agent.OperationResult)) {
	if !r.atEnd {
		panic("rude start")
	}
	return ctx, func(agent.OperationResult) { panic("rude end") }
}

func TestPanickingObserverBreaksNothing(t *testing.T) {
	for _, atEnd := range []bool{false, true} {
		w := newWorld(t, Options{})
		warnings := run(t, newHelper(t, &rude{atEnd}, w.observer))
		if len(warnings) == 0 || warnings[0].Source != "observer/rude" {
			t.Errorf("atEnd %v: warnings are %v, want some of observer/rude", atEnd, warnings)
		}
		if n := len(w.exporter.GetSpans()); n != 9 {
			t.Errorf("atEnd %v: the other observer wrote %d spans, want 9", atEnd, n)
		}
	}
}

// globalSpans sets the global provider, which works only once in a process.
var globalSpans = sync.OnceValue(func() *tracetest.InMemoryExporter {
	exporter := tracetest.NewInMemoryExporter()
	otel.SetTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSyncer(exporter)))
	return exporter
})

// New writes to the global providers, also to one that is set after it.
func TestNewUsesTheGlobalProviders(t *testing.T) {
	o := New(Options{})
	if o.Name() != "telemetry" {
		t.Errorf("its name is %q", o.Name())
	}
	exporter := globalSpans()
	exporter.Reset()
	_, end := o.Start(t.Context(), modelOp(nil))
	end(agent.OperationResult{})
	if n := len(exporter.GetSpans()); n != 1 {
		t.Errorf("%d spans were written, want 1", n)
	}
}
