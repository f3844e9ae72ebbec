package anthropic

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/internal/wire"
)

// event is one event of a stream. Each type sets only fields of its own.
type event struct {
	Type    string `json:"type"`
	Index   int64  `json:"index"`
	Message struct {
		Usage     usage      `json:"usage"`
		Container *workplace `json:"container"`
	} `json:"message"`
	Block json.RawMessage `json:"content_block"`
	Delta delta           `json:"delta"`
	Usage usage           `json:"usage"`
}

// eventTypes are the types that [reader.event] reads.
var eventTypes = []string{
	"message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta", "message_stop", "error",
}

// delta is what an event adds to a block, or to the message.
type delta struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	Signature string          `json:"signature"`
	JSON      string          `json:"partial_json"`
	Citation  json.RawMessage `json:"citation"`

	StopReason string     `json:"stop_reason"`
	Container  *workplace `json:"container"`
}

// startBlock is a block as it starts, of the types that this package reads.
type startBlock struct {
	Type      string            `json:"type"`
	Text      string            `json:"text"`
	Citations []json.RawMessage `json:"citations"`
	Thinking  string            `json:"thinking"`
	Signature string            `json:"signature"`
	Data      string            `json:"data"`
	ID        string            `json:"id"`
	Name      string            `json:"name"`
	Input     json.RawMessage   `json:"input"`
}

type usage struct {
	Input   int64 `json:"input_tokens"`
	Read    int64 `json:"cache_read_input_tokens"`
	Written int64 `json:"cache_creation_input_tokens"`
	Output  int64 `json:"output_tokens"`
	Details struct {
		Thinking int64 `json:"thinking_tokens"`
	} `json:"output_tokens_details"`
}

// workplace is the container of the provider's tools as the wire names it.
type workplace struct {
	ID        string    `json:"id"`
	ExpiresAt time.Time `json:"expires_at"`
}

// reader turns the events of one answer into chunks.
type reader struct {
	x      *wire.Exchange
	blocks map[int64]*openBlock
	parts  parts
	usage  agent.Usage
	reason string
}

// openBlock is a content block that has not ended.
type openBlock struct {
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
func (r *reader) event(data []byte) (done bool, err error) {
	var ev event
	if err := json.Unmarshal(data, &ev); err != nil {
		var wrongType *json.UnmarshalTypeError
		if errors.As(err, &wrongType) && ev.Type != "" && !slices.Contains(eventTypes, ev.Type) {
			return false, nil
		}
		return false, r.x.Malformed("an event cannot be read", err)
	}
	switch ev.Type {
	case "message_start":
		r.parts.work(ev.Message.Container)
		r.count(ev.Message.Usage)
	case "content_block_start":
		return false, r.open(ev.Index, ev.Block)
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
		r.count(ev.Usage)
	case "message_stop":
		reason := finishReason(r.reason)
		r.parts.end(r.x, reason == agent.FinishPaused || reason == agent.FinishCalls)
		r.x.Finish(reason)
		return true, nil
	case "error":
		return false, r.x.Failure(0, data)
	}
	return false, nil // of a kind that came later than this package, too
}

// count keeps and reports the newest figures. The wire counts what was read from the cache
// and written to it beside the input; a later event may leave figures out.
func (r *reader) count(u usage) {
	if u.Input+u.Read+u.Written > 0 {
		r.usage.InputTokens = u.Input + u.Read + u.Written
		r.usage.CachedTokens, r.usage.CacheWriteTokens = u.Read, u.Written
	}
	r.usage.OutputTokens = max(r.usage.OutputTokens, u.Output)
	r.usage.ReasoningTokens = max(r.usage.ReasoningTokens, u.Details.Thinking)
	now := r.usage
	r.x.Emit(agent.Chunk{Kind: agent.ChunkUsage, Usage: &now})
}

func (r *reader) open(index int64, raw json.RawMessage) error {
	var start startBlock
	if err := json.Unmarshal(raw, &start); err != nil {
		var wrongType *json.UnmarshalTypeError
		if !errors.As(err, &wrongType) || isRead(start.Type) {
			return r.x.Malformed("a block cannot be read", err)
		}
	}
	b := &openBlock{kind: start.Type}
	r.blocks[index] = b
	switch start.Type {
	case typeText:
		b.citations = start.Citations
		r.text(b, agent.ChunkText, start.Text)
	case typeThinking:
		b.signature = start.Signature
		r.text(b, agent.ChunkReasoning, start.Thinking)
	case typeRedacted:
		b.redacted = start.Data
	case typeToolUse:
		r.parts.open(r.x, agent.CallPart)
		if input := string(start.Input); input != "null" {
			b.input = input
		}
		r.x.Emit(agent.Chunk{Kind: agent.ChunkCallStart, Index: int(index), ID: start.ID, Name: start.Name})
	default:
		b.raw = string(raw)
	}
	return nil
}

// isRead reports whether a block's type is one that this package reads.
func isRead(kind string) bool {
	return kind == typeText || kind == typeThinking || kind == typeRedacted || kind == typeToolUse
}

func (r *reader) delta(index int, b *openBlock, d delta) {
	switch {
	case d.Type == "text_delta" && b.kind == typeText:
		r.text(b, agent.ChunkText, d.Text)
	case d.Type == "citations_delta" && b.kind == typeText:
		b.citations = append(b.citations, d.Citation)
	case d.Type == "thinking_delta" && b.kind == typeThinking:
		r.text(b, agent.ChunkReasoning, d.Thinking)
	case d.Type == "signature_delta" && b.kind == typeThinking:
		b.signature += d.Signature
	case d.Type == "input_json_delta" && b.kind == typeToolUse && d.JSON != "":
		b.began = true
		r.x.Emit(agent.Chunk{Kind: agent.ChunkCallDelta, Index: index, Text: d.JSON})
	case d.Type == "input_json_delta":
		b.input += d.JSON
	default:
		b.raw = "" // what such a delta adds is not known
	}
}

func (r *reader) text(b *openBlock, kind agent.ChunkKind, text string) {
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
	case b.kind == typeToolUse:
		if !b.began {
			r.x.Emit(agent.Chunk{Kind: agent.ChunkCallDelta, Index: int(index), Text: string(wire.Object(b.input))})
		}
		r.x.Emit(agent.Chunk{Kind: agent.ChunkCallEnd, Index: int(index)})
	case b.signature != "" || b.redacted != "":
		r.parts.keep(kept{Signature: b.signature, Redacted: b.redacted, Bytes: b.bytes})
		r.parts.flush(r.x)
	case b.kind == typeText && b.bytes > 0:
		start := r.parts.textBytes()
		for _, raw := range b.citations {
			if c := cited(raw, start, start+b.bytes); c != nil {
				r.x.Emit(agent.Chunk{Kind: agent.ChunkCitation, Citation: c})
			}
		}
		r.parts.keep(kept{Text: true, Bytes: b.bytes, Citations: b.citations})
	case b.raw != "":
		r.parts.keep(kept{Raw: withInput(b.raw, b.input)})
	}
}

func finishReason(reason string) agent.FinishReason {
	switch reason {
	case "end_turn", "stop_sequence":
		return agent.FinishStop
	case "tool_use":
		return agent.FinishCalls
	case "max_tokens", "model_context_window_exceeded":
		return agent.FinishLength
	case "pause_turn":
		return agent.FinishPaused
	case "refusal":
		return agent.FinishFiltered
	}
	return agent.FinishOther
}
