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
func TestTheCachedShareOfAConversationThatGrows(t *testing.T) {
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
