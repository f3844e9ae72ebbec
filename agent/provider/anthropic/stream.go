package anthropic

import (
	"encoding/json"
	"fmt"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"github.com/shoal-dev/shoal/agent"
)

// reader turns the events of one answer into chunks.
type reader struct {
	yield  func(agent.Chunk) bool
	blocks map[int64]*block
	parts  int      // blocks that became parts of the answer
	sealed []sealed // blocks of thoughts since the last text or call
	usage  agent.Usage
	reason sdk.StopReason
}

// block is a content block that is open.
type block struct {
	kind      string
	began     bool // a chunk of it was yielded
	bytes     int  // of text that was yielded
	input     string
	signature string
	redacted  string
}

// event takes one event. It reports whether the answer has ended, or the
// consumer has had enough.
func (r *reader) event(ev sdk.MessageStreamEventUnion) (done bool, err error) {
	switch ev.Type {
	case "message_start":
		u := ev.Message.Usage
		r.count(u.InputTokens, u.CacheReadInputTokens, u.CacheCreationInputTokens, u.OutputTokens, u.OutputTokensDetails.ThinkingTokens)
		return !r.report(), nil
	case "content_block_start":
		return !r.open(ev.Index, ev.ContentBlock), nil
	case "content_block_delta":
		b := r.blocks[ev.Index]
		if b == nil {
			return false, malformed(fmt.Sprintf("a delta for block %d, which is not open", ev.Index))
		}
		return !r.delta(int(ev.Index), b, ev.Delta), nil
	case "content_block_stop":
		return !r.shut(ev.Index), nil
	case "message_delta":
		r.reason = ev.Delta.StopReason
		u := ev.Usage
		r.count(u.InputTokens, u.CacheReadInputTokens, u.CacheCreationInputTokens, u.OutputTokens, u.OutputTokensDetails.ThinkingTokens)
		return !r.report(), nil
	case "message_stop":
		// A model may end its turn without a word, and is billed for doing so.
		if r.parts == 0 && r.usage.OutputTokens == 0 && r.reason != sdk.StopReasonRefusal {
			return false, malformed("the answer is empty")
		}
		r.yield(agent.Chunk{Kind: agent.ChunkFinish, Reason: finishReason(r.reason)})
		return true, nil
	}
	return false, nil // a kind of event that came later than this package
}

// count keeps the newest figures. The wire counts what was read from the cache
// and written to it beside the input; a later event may leave figures out.
func (r *reader) count(input, read, written, output, thoughts int64) {
	if input+read+written > 0 {
		r.usage.InputTokens = input + read + written
		r.usage.CachedTokens, r.usage.CacheWriteTokens = read, written
	}
	r.usage.OutputTokens = max(r.usage.OutputTokens, output)
	r.usage.ReasoningTokens = max(r.usage.ReasoningTokens, thoughts)
}

func (r *reader) report() bool {
	u := r.usage
	return r.yield(agent.Chunk{Kind: agent.ChunkUsage, Usage: &u})
}

func (r *reader) open(index int64, start sdk.ContentBlockStartEventContentBlockUnion) bool {
	b := &block{kind: start.Type}
	r.blocks[index] = b
	switch start.Type {
	case "text":
		return r.text(b, agent.ChunkText, start.Text)
	case "thinking":
		b.signature = start.Signature
		return r.text(b, agent.ChunkReasoning, start.Thinking)
	case "redacted_thinking":
		b.redacted = start.Data
	case "tool_use":
		r.parts++
		r.sealed = nil
		if input := start.JSON.Input.Raw(); input != "" && input != "null" {
			b.input = input
		}
		return r.yield(agent.Chunk{Kind: agent.ChunkCallStart, Index: int(index), ID: start.ID, Name: start.Name})
	}
	return true // what the server's own tools did is not part of the answer
}

func (r *reader) delta(index int, b *block, d sdk.MessageStreamEventUnionDelta) bool {
	switch {
	case d.Type == "text_delta" && b.kind == "text":
		return r.text(b, agent.ChunkText, d.Text)
	case d.Type == "thinking_delta" && b.kind == "thinking":
		return r.text(b, agent.ChunkReasoning, d.Thinking)
	case d.Type == "signature_delta" && b.kind == "thinking":
		b.signature += d.Signature
	case d.Type == "input_json_delta" && b.kind == "tool_use" && d.PartialJSON != "":
		b.began = true
		return r.yield(agent.Chunk{Kind: agent.ChunkCallDelta, Index: index, Text: d.PartialJSON})
	}
	return true
}

func (r *reader) text(b *block, kind agent.ChunkKind, text string) bool {
	if text == "" {
		return true
	}
	if !b.began {
		b.began = true
		r.parts++
	}
	b.bytes += len(text)
	if kind == agent.ChunkText {
		r.sealed = nil
	}
	return r.yield(agent.Chunk{Kind: kind, Text: text})
}

// shut ends a block: thoughts get what must go back with them, and a call
// without arguments the empty object that the wire leaves out. Blocks of thoughts
// in a row are one part to the agent, so each brings the seals of those before it.
func (r *reader) shut(index int64) bool {
	b := r.blocks[index]
	delete(r.blocks, index)
	switch {
	case b == nil:
	case b.kind == "tool_use":
		if !b.began && !r.yield(agent.Chunk{Kind: agent.ChunkCallDelta, Index: int(index), Text: string(object(b.input))}) {
			return false
		}
		return r.yield(agent.Chunk{Kind: agent.ChunkCallEnd, Index: int(index)})
	case b.signature != "" || b.redacted != "":
		if !b.began { // thoughts that are not shown still are a part of the answer
			r.parts++
		}
		r.sealed = append(r.sealed, sealed{Signature: b.signature, Redacted: b.redacted, Bytes: b.bytes})
		raw, err := json.Marshal(opaque{Provider: provider, Blocks: r.sealed})
		return err == nil && r.yield(agent.Chunk{Kind: agent.ChunkOpaque, Opaque: raw})
	}
	return true
}

func finishReason(reason sdk.StopReason) agent.FinishReason {
	switch reason {
	case sdk.StopReasonEndTurn, sdk.StopReasonStopSequence:
		return agent.FinishStop
	case sdk.StopReasonToolUse:
		return agent.FinishCalls
	case sdk.StopReasonMaxTokens, sdk.StopReasonModelContextWindowExceeded:
		return agent.FinishLength
	case sdk.StopReasonRefusal:
		return agent.FinishFiltered
	}
	return agent.FinishOther
}
