package agent_test

import (
	"context"
	"fmt"
	"iter"
	"testing"

	"github.com/shoal-dev/shoal/agent"
)

// stepper is a model that calls a tool in every step but the last, in a number of pieces.
type stepper struct{ steps, pieces int }

func (stepper) Info() agent.ModelInfo { return agent.ModelInfo{Provider: "test", Name: "stepper"} }

func (m stepper) Stream(_ context.Context, req *agent.Request) iter.Seq2[agent.Chunk, error] {
	return func(yield func(agent.Chunk, error) bool) {
		step := (len(req.Messages) - 1) / 2
		ok := true
		for n := 0; n < m.pieces && ok; n++ {
			ok = yield(agent.Chunk{Kind: agent.ChunkText, Text: "word "}, nil)
		}
		if step < m.steps-1 {
			_ = ok && yield(agent.Chunk{Kind: agent.ChunkCallStart, Name: "echo", ID: fmt.Sprint("c", step)}, nil) &&
				yield(agent.Chunk{Kind: agent.ChunkCallDelta, Text: fmt.Sprintf(`{"a":"%d"}`, step)}, nil) &&
				yield(agent.Chunk{Kind: agent.ChunkFinish, Reason: agent.FinishCalls}, nil)
			return
		}
		_ = ok && yield(agent.Chunk{Kind: agent.ChunkFinish, Reason: agent.FinishStop}, nil)
	}
}

// BenchmarkTurn measures what a delta and a step cost; the allocations are exact.
func BenchmarkTurn(b *testing.B) {
	for name, m := range map[string]stepper{"one delta": {1, 1}, "1001 deltas": {1, 1001}, "51 steps": {51, 1}} {
		b.Run(name, func(b *testing.B) {
			a, err := agent.New(m, agent.Options{MaxSteps: 100, MaxIdenticalCalls: -1, Tools: storyTools()})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				for e, err := range a.Stream(b.Context(), agent.NewConversation(), agent.Say("go")) {
					if err != nil {
						b.Fatal(err)
					}
					if end, ok := e.(agent.TurnFinished); ok && end.Outcome != agent.Completed {
						b.Fatal(end.Message)
					}
				}
			}
		})
	}
}
