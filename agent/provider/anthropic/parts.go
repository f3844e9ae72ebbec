package anthropic

import (
	"encoding/json"
	"slices"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/internal/wire"
)

// parts follows which part of the message grows for the agent and collects what is
// kept with it.
type parts struct {
	kind      agent.PartType // of the part that grows, empty before the first
	blocks    []kept         // of that part
	flushed   int            // how many of them the agent has
	container *container
}

// open says that a chunk for a part of a kind follows. Blocks that the part before
// needs are emitted with it. What only the provider's tools did goes with a text
// that follows, since the agent may drop thoughts later.
func (p *parts) open(x *wire.Exchange, kind agent.PartType) {
	if p.kind == kind && kind != agent.CallPart {
		return
	}
	var rest []kept
	if p.kind != agent.TextPart && kind != agent.CallPart {
		rest = slices.Clone(p.blocks[p.flushed:])
	} else {
		p.flush(x)
	}
	p.kind, p.blocks, p.flushed = kind, rest, 0
}

func (p *parts) keep(b kept) { p.blocks = append(p.blocks, b) }

// textBytes returns how much text of the part that grows was kept.
func (p *parts) textBytes() int {
	n := 0
	for _, b := range p.blocks {
		if b.Text {
			n += b.Bytes
		}
	}
	return n
}

// flush emits the blocks of the part that grows, unless its text says it all.
// Without a part the agent opens one of hidden thoughts.
func (p *parts) flush(x *wire.Exchange) {
	plain := !slices.ContainsFunc(p.blocks, func(b kept) bool { return !b.Text || len(b.Citations) > 0 })
	if p.flushed == len(p.blocks) || plain {
		return
	}
	p.emit(x)
}

func (p *parts) emit(x *wire.Exchange) {
	p.flushed = len(p.blocks)
	if p.kind == "" {
		p.kind = agent.ReasoningPart
	}
	raw, err := json.Marshal(opaque{Provider: provider, Blocks: p.blocks, Container: p.container})
	if err == nil { // what came as JSON always is
		x.Emit(agent.Chunk{Kind: agent.ChunkOpaque, Opaque: raw})
	}
}

// end emits what the last part needs: its blocks, and the container if the turn goes
// on in it.
func (p *parts) end(x *wire.Exchange, goesOn bool) {
	if p.container == nil || !goesOn || p.kind == "" && len(p.blocks) == 0 {
		p.flush(x)
		return
	}
	p.emit(x)
}

// work takes note of the container in which the provider's tools work.
func (p *parts) work(c *workplace) {
	if c != nil && c.ID != "" {
		p.container = &container{ID: c.ID, ExpiresAt: c.ExpiresAt}
	}
}

// withInput puts the input of a provider's tool, which came in pieces, into its block.
func withInput(raw, input string) json.RawMessage {
	var fields map[string]json.RawMessage
	if input == "" || json.Unmarshal([]byte(raw), &fields) != nil {
		return json.RawMessage(raw)
	}
	fields["input"] = wire.Object(input)
	whole, err := json.Marshal(fields)
	if err != nil {
		return json.RawMessage(raw)
	}
	return whole
}
