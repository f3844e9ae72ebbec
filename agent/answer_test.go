package agent_test

import (
	"context"
	"encoding/json"
	"iter"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shoal-dev/shoal/agent"
)

// chunks is a model that says exactly these chunks.
type chunks []agent.Chunk

func (chunks) Info() agent.ModelInfo { return agent.ModelInfo{Provider: "test", Name: "chunks"} }

func (cs chunks) Stream(context.Context, *agent.Request) iter.Seq2[agent.Chunk, error] {
	return func(yield func(agent.Chunk, error) bool) {
		for _, c := range cs {
			if !yield(c, nil) {
				return
			}
		}
	}
}

// What a provider wants back stays with the part that it belongs to.
func TestOpaqueStaysWithItsPart(t *testing.T) {
	signature := func(s string) json.RawMessage { return json.RawMessage(`"` + s + `"`) }
	m := chunks{
		{Kind: agent.ChunkReasoning, Text: "Hm."},
		{Kind: agent.ChunkOpaque, Opaque: signature("thought")},
		{Kind: agent.ChunkText, Text: "Look:"},
		{Kind: agent.ChunkReasoning}, // hidden thoughts
		{Kind: agent.ChunkOpaque, Opaque: signature("hidden")},
		{Kind: agent.ChunkCallStart, Index: 0, ID: "a", Name: "client"},
		{Kind: agent.ChunkCallStart, Index: 1, ID: "b", Name: "client"},
		{Kind: agent.ChunkCallDelta, Index: 0, Text: "{}"},
		{Kind: agent.ChunkCallDelta, Index: 1, Text: "{}"},
		{Kind: agent.ChunkOpaque, Call: true, Index: 0, Opaque: signature("call")},
		{Kind: agent.ChunkFinish, Reason: agent.FinishCalls},
	}
	c := agent.NewConversation()
	a := newAgentOn(t, m, agent.Options{Tools: storyTools()})
	checkBalance(t, all(t, a, t.Context(), c, agent.Say("go")))
	r, err := c.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := []agent.Part{
		{Type: agent.ReasoningPart, Text: "Hm.", Opaque: signature("thought")},
		{Type: agent.TextPart, Text: "Look:"},
		{Type: agent.ReasoningPart, Opaque: signature("hidden")},
		{Type: agent.CallPart, Call: &agent.ToolCall{ID: "a", Name: "client", Arguments: "{}"}, Opaque: signature("call")},
		{Type: agent.CallPart, Call: &agent.ToolCall{ID: "b", Name: "client", Arguments: "{}"}},
	}
	if d := cmp.Diff(want, r.Open.Steps[0].Assistant.Parts); d != "" {
		t.Error(d)
	}
}
