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

// Citations belong to the last text, also after it has ended. A range that the text does not
// have is dropped, and the citation stays.
func TestCitationsStayWithTheirText(t *testing.T) {
	cite := func(url string, start, end int) agent.Chunk {
		return agent.Chunk{Kind: agent.ChunkCitation, Citation: &agent.Citation{URL: url, Start: start, End: end}}
	}
	m := chunks{
		cite("before any text", 0, 1),
		{Kind: agent.ChunkText, Text: "Köl"},
		cite("inside", 1, 3),
		{Kind: agent.ChunkText, Text: "n"},
		cite("whole", 0, 5), cite("half a character", 0, 2), cite("too long", 0, 6), cite("turned round", 3, 1), cite("negative", -1, 3),
		{Kind: agent.ChunkReasoning, Text: "Hm."},
		cite("late", 4, 5),
		{Kind: agent.ChunkCitation},
		{Kind: agent.ChunkFinish, Reason: agent.FinishStop},
	}
	c := agent.NewConversation()
	events := all(t, newAgentOn(t, m, agent.Options{}), t.Context(), c, agent.Say("go"))
	checkBalance(t, events)
	want := []agent.Citation{
		{URL: "inside", Start: 1, End: 3},
		{URL: "whole", End: 5},
		{URL: "half a character"},
		{URL: "too long"},
		{URL: "turned round"},
		{URL: "negative"},
		{URL: "late", Start: 4, End: 5},
	}
	stored, err := c.Messages(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, stored[1].Parts[0].Citations); d != "" {
		t.Error(d)
	}
	var seen []agent.Citation
	for _, e := range of[agent.Cited](events) {
		if e.PartID != of[agent.TextStarted](events)[0].PartID || e.MessageID != of[agent.MessageStarted](events)[0].MessageID {
			t.Errorf("%+v", e)
		}
		seen = append(seen, e.Citation)
	}
	if d := cmp.Diff(want, seen); d != "" {
		t.Error(d)
	}
}
