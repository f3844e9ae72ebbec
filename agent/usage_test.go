package agent_test

import (
	"context"
	"iter"
	"reflect"
	"testing"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/script"
)

// A provider's prompt cache hits as long as requests only grow: each begins with
// all of the one before, also in the next turn, and the usage of each step shows
// the share that was read from the cache.
func TestCachedShareOfGrowingConversation(t *testing.T) {
	var before []agent.Message
	calls := 0
	m := script.Func(func(r *agent.Request) script.Answer {
		same := 0
		for same < len(before) && same < len(r.Messages) && reflect.DeepEqual(before[same], r.Messages[same]) {
			same++
		}
		if same != len(before) {
			t.Errorf("request %d shares %d of the %d messages before it", calls, same, len(before))
		}
		before = r.Messages
		calls++
		a := script.Answer{Reasoning: "Hm.", Usage: agent.Usage{InputTokens: int64(len(r.Messages)), CachedTokens: int64(same), OutputTokens: 1}}
		if calls%4 == 0 {
			a.Text = "done"
		} else {
			a.Calls = []agent.ToolCall{{Name: "echo", Arguments: `{"a":"` + string(rune('a'+calls)) + `"}`}}
		}
		return a
	})
	a := newAgentOn(t, m, agent.Options{Tools: storyTools()})
	c := agent.NewConversation()
	var shares []float64
	for range 2 {
		for _, s := range of[agent.StepFinished](all(t, a, t.Context(), c, agent.Say("go"))) {
			shares = append(shares, s.Usage.CachedShare())
		}
	}
	want := []float64{0, 1.0 / 3, 3.0 / 5, 5.0 / 7, 7.0 / 9, 9.0 / 11, 11.0 / 13, 13.0 / 15}
	if !reflect.DeepEqual(shares, want) {
		t.Errorf("the shares are %v, want %v", shares, want)
	}
	if got := (agent.Usage{}).CachedShare(); got != 0 {
		t.Errorf("of nothing %v is cached", got)
	}
}

// attempts is a model that says what a function returns for each attempt.
type attempts func() ([]agent.Chunk, error)

func (attempts) Info() agent.ModelInfo { return agent.ModelInfo{Provider: "test", Name: "chunks"} }

func (f attempts) Stream(ctx context.Context, req *agent.Request) iter.Seq2[agent.Chunk, error] {
	return func(yield func(agent.Chunk, error) bool) {
		said, failed := f()
		for c, err := range chunks(said).Stream(ctx, req) {
			if !yield(c, err) {
				return
			}
		}
		if failed != nil {
			yield(agent.Chunk{}, failed)
		}
	}
}

// Each attempt is paid by itself, and each step says what it cost.
func TestTheCostOfAStep(t *testing.T) {
	failed := &agent.ModelError{Class: agent.ClassOverloaded}
	attempt := 0
	m := attempts(func() ([]agent.Chunk, error) {
		attempt++
		u := agent.Usage{InputTokens: 10, OutputTokens: int64(attempt)}
		said := []agent.Chunk{{Kind: agent.ChunkText, Text: "x"}, {Kind: agent.ChunkUsage, Usage: &u}}
		if attempt == 1 {
			return said, failed
		}
		return append(said, agent.Chunk{Kind: agent.ChunkFinish, Reason: agent.FinishStop}), nil
	})
	a := newAgentOn(t, m, agent.Options{
		Retry: agent.Retry{Base: 1},
		// A price with a step: two calls of 11 tokens cost less than one of 22.
		Price: func(model agent.ModelInfo, u agent.Usage) float64 {
			if model.Name != "chunks" {
				t.Errorf("the price of %+v is asked for", model)
			}
			if u.InputTokens > 15 {
				return 100
			}
			return float64(u.OutputTokens)
		},
	})
	events := all(t, a, t.Context(), agent.NewConversation(), agent.Say("go"))
	step := of[agent.StepFinished](events)[0]
	if step.Attempts != 2 || step.Cost != 3 || step.Usage != (agent.Usage{InputTokens: 20, OutputTokens: 3}) {
		t.Errorf("the step is %+v", step)
	}
	if end := finished(t, events); end.Cost != 3 || end.Usage != step.Usage {
		t.Errorf("the turn cost %v, %+v", end.Cost, end.Usage)
	}
}

// named is a model that goes by another name and may fail before it answers.
type named struct {
	agent.Model
	name string
	err  error
}

func (m named) Info() agent.ModelInfo {
	return agent.ModelInfo{Provider: m.name + " inc", Name: m.name}
}

func (m named) Stream(ctx context.Context, req *agent.Request) iter.Seq2[agent.Chunk, error] {
	return func(yield func(agent.Chunk, error) bool) {
		if m.err != nil {
			yield(agent.Chunk{}, m.err)
			return
		}
		info := m.Info()
		for c, err := range m.Model.Stream(ctx, req) {
			if c.Kind == agent.ChunkUsage || c.Kind == agent.ChunkFinish {
				c.Model = &info
			}
			if !yield(c, err) {
				return
			}
		}
	}
}

// fallback asks the second model when the first one fails.
type fallback struct{ first, second agent.Model }

func (m fallback) Info() agent.ModelInfo { return m.first.Info() }

func (m fallback) Stream(ctx context.Context, req *agent.Request) iter.Seq2[agent.Chunk, error] {
	return func(yield func(agent.Chunk, error) bool) {
		for c, err := range m.first.Stream(ctx, req) {
			if err != nil {
				m.second.Stream(ctx, req)(yield)
				return
			}
			if !yield(c, nil) {
				return
			}
		}
	}
}

// ends keeps how the model calls of a turn ended.
type ends struct{ seen []agent.OperationResult }

func (*ends) Name() string { return "ends" }

func (o *ends) Start(ctx context.Context, op agent.Operation) (context.Context, func(agent.OperationResult)) {
	return ctx, func(e agent.OperationResult) {
		if op.Kind == agent.OpModel {
			o.seen = append(o.seen, e)
		}
	}
}

// The model that answered is billed and traced, not the one that was called: after a
// fallback in a model, after one in a middleware, and when a summary is written.
func TestTheModelThatAnsweredCounts(t *testing.T) {
	prices := map[string]float64{"dear": 1000, "cheap": 1, "writer": 2}
	for _, name := range []string{"model", "middleware"} {
		t.Run(name, func(t *testing.T) {
			first := named{script.New(), "dear", &agent.ModelError{Class: agent.ClassOverloaded}}
			second := named{script.New(parse(t, "say hi\nusage 10 2")...), "cheap", nil}
			writer := named{script.New(parse(t, "say so far\nusage 100 0")...), "writer", nil}
			var model agent.Model = fallback{first, second}
			traced := &ends{}
			o := agent.Options{
				Observers: []agent.Observer{traced},
				Price: func(m agent.ModelInfo, u agent.Usage) float64 {
					return prices[m.Name] * float64(u.InputTokens)
				},
				Reduction: agent.Reduction{Strategy: agent.ReduceSummary, Target: 1, Threshold: 1, Summarizer: fallback{first, writer}},
			}
			if name == "middleware" {
				model = first
				o.Middleware = []agent.Middleware{{Model: func(next agent.ModelFunc) agent.ModelFunc {
					return func(ctx context.Context, req *agent.Request) iter.Seq2[agent.Chunk, error] {
						return fallback{named{Model: modelFunc(next), name: "dear"}, second}.Stream(ctx, req)
					}
				}}}
			}
			c := agent.NewConversation()
			for range 4 {
				if err := c.Add(t.Context(), agent.Say("before"), agent.Message{Role: agent.Assistant, Parts: []agent.Part{agent.Text("so")}}); err != nil {
					t.Fatal(err)
				}
			}
			events := all(t, newAgentOn(t, model, o), t.Context(), c, agent.Say("go"))
			if r := of[agent.Reduced](events)[0]; r.Model != writer.Info() {
				t.Errorf("the summary is by %+v", r.Model)
			}
			if m := of[agent.MessageEnded](events)[0]; m.Model != second.Info() {
				t.Errorf("the answer is by %+v", m.Model)
			}
			if s := of[agent.StepFinished](events)[0]; s.Cost != 10 {
				t.Errorf("the step cost %v, want 10", s.Cost)
			}
			if end := finished(t, events); end.Cost != 210 {
				t.Errorf("the turn cost %v, want 210", end.Cost)
			}
			if n := len(traced.seen); n != 2 || traced.seen[0].Model != writer.Info() || traced.seen[0].Cost != 200 || traced.seen[1].Model != second.Info() || traced.seen[1].Cost != 10 {
				t.Errorf("traced are %+v", traced.seen)
			}
		})
	}
}

// modelFunc makes a model of a function.
type modelFunc agent.ModelFunc

func (modelFunc) Info() agent.ModelInfo { return agent.ModelInfo{} }

func (f modelFunc) Stream(ctx context.Context, req *agent.Request) iter.Seq2[agent.Chunk, error] {
	return f(ctx, req)
}
