package anthropic

import (
	"encoding/json"
	"fmt"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/internal/wire"
)

// reader turns the events of one answer into chunks.
type reader struct {
	x      *wire.Exchange
	blocks map[int64]*block
	parts  parts
	usage  agent.Usage
	reason sdk.StopReason
}

// block is a content block that is open.
type block struct {
	kind      string
	began     bool // arguments of the call were emitted
	bytes     int  // of text that was emitted
	input     string
	signature string
	redacted  string
	citations []json.RawMessage
	raw       string // of a kind that is kept as it is; empty if it cannot be
}

// event takes one event; done says that it was the last.
func (r *reader) event(ev sdk.MessageStreamEventUnion) (done bool, err error) {
	switch ev.Type {
	case "message_start":
		u := ev.Message.Usage
		r.count(u.InputTokens, u.CacheReadInputTokens, u.CacheCreationInputTokens, u.OutputTokens, u.OutputTokensDetails.ThinkingTokens)
		r.parts.work(ev.Message.Container)
	case "content_block_start":
		r.open(ev.Index, ev.ContentBlock)
	case "content_block_delta":
		b := r.blocks[ev.Index]
		if b == nil {
			return false, r.x.Malformed(fmt.Sprintf("a delta for block %d, which is not open", ev.Index), nil)
		}
		r.delta(int(ev.Index), b, ev.Delta)
	case "content_block_stop":
		r.shut(ev.Index)
	case "message_delta":
		r.reason = ev.Delta.StopReason
		r.parts.work(ev.Delta.Container)
		u := ev.Usage
		r.count(u.InputTokens, u.CacheReadInputTokens, u.CacheCreationInputTokens, u.OutputTokens, u.OutputTokensDetails.ThinkingTokens)
	case "message_stop":
		reason := finishReason(r.reason)
		r.parts.end(r.x, reason == agent.FinishPaused || reason == agent.FinishCalls)
		r.x.Finish(reason)
		return true, nil
	}
	return false, nil // of a kind that came later than this package, too
}

// count keeps and reports the newest figures. The wire counts what was read from the cache
// and written to it beside the input; a later event may leave figures out.
func (r *reader) count(input, read, written, output, thoughts int64) {
	if input+read+written > 0 {
		r.usage.InputTokens = input + read + written
		r.usage.CachedTokens, r.usage.CacheWriteTokens = read, written
	}
	r.usage.OutputTokens = max(r.usage.OutputTokens, output)
	r.usage.ReasoningTokens = max(r.usage.ReasoningTokens, thoughts)
	u := r.usage
	r.x.Emit(agent.Chunk{Kind: agent.ChunkUsage, Usage: &u})
}

func (r *reader) open(index int64, start sdk.ContentBlockStartEventContentBlockUnion) {
	b := &block{kind: start.Type}
	r.blocks[index] = b
	switch start.Type {
	case "text":
		for _, c := range start.Citations {
			b.citations = append(b.citations, json.RawMessage(c.RawJSON()))
		}
		r.text(b, agent.ChunkText, start.Text)
	case "thinking":
		b.signature = start.Signature
		r.text(b, agent.ChunkReasoning, start.Thinking)
	case "redacted_thinking":
		b.redacted = start.Data
	case "tool_use":
		r.parts.open(r.x, agent.CallPart)
		if input := start.JSON.Input.Raw(); input != "" && input != "null" {
			b.input = input
		}
		r.x.Emit(agent.Chunk{Kind: agent.ChunkCallStart, Index: int(index), ID: start.ID, Name: start.Name})
	default:
		b.raw = start.RawJSON()
	}
}

func (r *reader) delta(index int, b *block, d sdk.MessageStreamEventUnionDelta) {
	switch {
	case d.Type == "text_delta" && b.kind == "text":
		r.text(b, agent.ChunkText, d.Text)
	case d.Type == "citations_delta" && b.kind == "text":
		b.citations = append(b.citations, json.RawMessage(d.Citation.RawJSON()))
	case d.Type == "thinking_delta" && b.kind == "thinking":
		r.text(b, agent.ChunkReasoning, d.Thinking)
	case d.Type == "signature_delta" && b.kind == "thinking":
		b.signature += d.Signature
	case d.Type == "input_json_delta" && b.kind == "tool_use" && d.PartialJSON != "":
		b.began = true
		r.x.Emit(agent.Chunk{Kind: agent.ChunkCallDelta, Index: index, Text: d.PartialJSON})
	case d.Type == "input_json_delta":
		b.input += d.PartialJSON
	default:
		b.raw = "" // what such a delta adds is not known
	}
}

func (r *reader) text(b *block, kind agent.ChunkKind, text string) {
	if text == "" {
		return
	}
	b.bytes += len(text)
	part := agent.TextPart
	if kind == agent.ChunkReasoning {
		part = agent.ReasoningPart
	}
	r.parts.open(r.x, part)
	r.x.Emit(agent.Chunk{Kind: kind, Text: text})
}

// shut ends a block: it is kept as far as it must go back as it came, and a call
// without arguments gets the empty object that the wire leaves out.
func (r *reader) shut(index int64) {
	b := r.blocks[index]
	delete(r.blocks, index)
	switch {
	case b == nil:
	case b.kind == "tool_use":
		if !b.began {
			r.x.Emit(agent.Chunk{Kind: agent.ChunkCallDelta, Index: int(index), Text: string(wire.Object(b.input))})
		}
		r.x.Emit(agent.Chunk{Kind: agent.ChunkCallEnd, Index: int(index)})
	case b.signature != "" || b.redacted != "":
		r.parts.keep(kept{Signature: b.signature, Redacted: b.redacted, Bytes: b.bytes})
		r.parts.flush(r.x)
	case b.kind == "text" && b.bytes > 0:
		r.parts.keep(kept{Text: true, Bytes: b.bytes, Citations: b.citations})
	case b.raw != "":
		r.parts.keep(kept{Raw: withInput(b.raw, b.input)})
	}
}

func finishReason(reason sdk.StopReason) agent.FinishReason {
	switch reason {
	case sdk.StopReasonEndTurn, sdk.StopReasonStopSequence:
		return agent.FinishStop
	case sdk.StopReasonToolUse:
		return agent.FinishCalls
	case sdk.StopReasonMaxTokens, sdk.StopReasonModelContextWindowExceeded:
		return agent.FinishLength
	case sdk.StopReasonPauseTurn:
		return agent.FinishPaused
	case sdk.StopReasonRefusal:
		return agent.FinishFiltered
	}
	return agent.FinishOther
}
