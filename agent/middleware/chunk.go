package middleware

import (
	"encoding/json"
	"slices"

	"github.com/shoal-dev/shoal/agent"
)

// chunkKinds are the names of chunks in a recording.
var chunkKinds = []struct {
	name string
	kind agent.ChunkKind
}{
	{"text", agent.ChunkText},
	{"reasoning", agent.ChunkReasoning},
	{"call", agent.ChunkCallStart},
	{"arguments", agent.ChunkCallDelta},
	{"callEnd", agent.ChunkCallEnd},
	{"opaque", agent.ChunkOpaque},
	{"citation", agent.ChunkCitation},
	{"usage", agent.ChunkUsage},
	{"finish", agent.ChunkFinish},
}

// chunkRecord is an [agent.Chunk] in a recording.
type chunkRecord struct {
	Kind   string             `json:"kind"`
	Index  int                `json:"index,omitempty"`
	Call   bool               `json:"call,omitempty"`
	Text   string             `json:"text,omitempty"`
	ID     string             `json:"id,omitempty"`
	Name   string             `json:"name,omitempty"`
	Opaque json.RawMessage    `json:"opaque,omitempty"`
	Cited  *agent.Citation    `json:"citation,omitempty"`
	Usage  *agent.Usage       `json:"usage,omitempty"`
	Reason agent.FinishReason `json:"reason,omitempty"`
	Model  *agent.ModelInfo   `json:"model,omitempty"`
}

func recordOf(c agent.Chunk) chunkRecord {
	c = owned(c)
	r := chunkRecord{Index: c.Index, Call: c.Call, Text: c.Text, ID: c.ID, Name: c.Name, Opaque: c.Opaque, Cited: c.Citation, Usage: c.Usage, Reason: c.Reason, Model: c.Model}
	for _, k := range chunkKinds {
		if k.kind == c.Kind {
			r.Kind = k.name
		}
	}
	return r
}

func (r chunkRecord) chunk() agent.Chunk {
	c := agent.Chunk{Index: r.Index, Call: r.Call, Text: r.Text, ID: r.ID, Name: r.Name, Opaque: slices.Clone(r.Opaque), Citation: r.Cited, Usage: r.Usage, Reason: r.Reason, Model: r.Model}
	for _, k := range chunkKinds {
		if k.name == r.Kind {
			c.Kind = k.kind
		}
	}
	return c
}
