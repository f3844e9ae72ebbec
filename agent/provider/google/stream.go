package google

import (
	"crypto/rand"
	"encoding/json"
	"strings"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/internal/wire"
)

// answer is one event of a stream.
type answer struct {
	Candidates []struct {
		Content content    `json:"content"`
		Reason  string     `json:"finishReason"`
		Message string     `json:"finishMessage"`
		Ground  *grounding `json:"groundingMetadata"`
	} `json:"candidates"`
	Feedback *struct {
		Reason  string `json:"blockReason"`
		Message string `json:"blockReasonMessage"`
	} `json:"promptFeedback"`
	Usage *struct {
		Prompt     int64 `json:"promptTokenCount"`
		Cached     int64 `json:"cachedContentTokenCount"`
		ToolPrompt int64 `json:"toolUsePromptTokenCount"`
		Candidates int64 `json:"candidatesTokenCount"`
		Thoughts   int64 `json:"thoughtsTokenCount"`
	} `json:"usageMetadata"`
	Error json.RawMessage `json:"error"`
}

// reader turns the events of one answer into chunks.
type reader struct {
	x        *wire.Exchange
	provider string
	last     agent.ChunkKind // of the part that is open
	thought  opaque          // of the part of thoughts that is open
	calls    int
	usage    agent.Usage
	reason   string
	message  string
	cites    bool            // the request had tools
	text     strings.Builder // of the part of text that grows or grew last, if cites
	ground   *grounding      // the last one counts: each says all
}

// event takes one event.
func (r *reader) event(data []byte) error {
	var a answer
	if err := json.Unmarshal(data, &a); err != nil {
		return r.x.Malformed("an event cannot be read", err)
	}
	if len(a.Error) > 0 && string(a.Error) != "null" {
		return r.x.Failure(0, data)
	}
	if f := a.Feedback; f != nil && f.Reason != "" {
		return r.x.Refused(agent.ClassFiltered, f.Reason, f.Message)
	}
	if len(a.Candidates) > 0 { // never more than one is asked for
		c := a.Candidates[0]
		for _, p := range c.Content.Parts {
			r.part(p)
		}
		if c.Ground != nil {
			r.ground = c.Ground
		}
		if c.Reason != "" && c.Reason != "FINISH_REASON_UNSPECIFIED" {
			r.reason, r.message = c.Reason, c.Message
		}
	}
	if u := a.Usage; u != nil {
		now := agent.Usage{
			InputTokens: u.Prompt + u.ToolPrompt, CachedTokens: u.Cached,
			OutputTokens: u.Candidates + u.Thoughts, ReasoningTokens: u.Thoughts,
		}
		if now != r.usage {
			r.usage = now
			r.x.Emit(agent.Chunk{Kind: agent.ChunkUsage, Usage: &now})
		}
	}
	return nil
}

func (r *reader) part(p part) {
	switch {
	case p.Call != nil:
		r.call(p)
		return
	case p.raw != nil:
		r.keep(p.raw)
		return
	case p.Inline != nil, p.File != nil, p.Response != nil:
		return // nothing that was asked for
	}
	kind := agent.ChunkText
	if p.Thought {
		kind = agent.ChunkReasoning
	}
	if p.Text != "" {
		r.open(kind)
		if r.cites && kind == agent.ChunkText {
			r.text.WriteString(p.Text)
		}
		r.x.Emit(agent.Chunk{Kind: kind, Text: p.Text})
	}
	// A signature without a text of its own belongs to the text before it. It
	// must not take the place of a call's, which the API insists on; its own may
	// be left out.
	if p.Signature != "" && (p.Text != "" || r.last == kind) {
		o := opaque{Signature: p.Signature}
		if kind == agent.ChunkReasoning {
			o.Parts = r.thought.Parts
			r.thought = o
		}
		r.opaque(agent.Chunk{}, o)
	}
}

// open says that the part of a kind grows.
func (r *reader) open(kind agent.ChunkKind) {
	if r.last != kind {
		r.last, r.thought = kind, opaque{}
		if kind == agent.ChunkText {
			r.text.Reset()
		}
	}
}

// keep keeps a part of one of the provider's own tools as hidden thoughts.
func (r *reader) keep(raw json.RawMessage) {
	if r.open(agent.ChunkReasoning); len(r.thought.Parts) == 0 {
		r.x.Emit(agent.Chunk{Kind: agent.ChunkReasoning})
	}
	r.thought.Parts = append(r.thought.Parts, raw)
	r.opaque(agent.Chunk{}, r.thought)
}

// call passes a call on, which comes whole. Without an id it gets one.
func (r *reader) call(p part) {
	index := r.calls
	r.calls++
	r.last = agent.ChunkCallStart
	id := p.Call.ID
	if id == "" {
		id = "call_" + rand.Text()
	}
	args := string(p.Call.Args)
	if args == "" || args == "null" {
		args = "{}"
	}
	r.x.Emit(agent.Chunk{Kind: agent.ChunkCallStart, Index: index, ID: id, Name: p.Call.Name})
	r.x.Emit(agent.Chunk{Kind: agent.ChunkCallDelta, Index: index, Text: args})
	if p.Signature != "" || p.Call.ID != "" {
		r.opaque(agent.Chunk{Index: index, Call: true}, opaque{Signature: p.Signature, ID: p.Call.ID})
	}
	r.x.Emit(agent.Chunk{Kind: agent.ChunkCallEnd, Index: index})
}

func (r *reader) opaque(c agent.Chunk, o opaque) {
	o.Provider = r.provider
	if raw, err := json.Marshal(o); err == nil { // strings always are
		c.Kind, c.Opaque = agent.ChunkOpaque, raw
		r.x.Emit(c)
	}
}

// finish ends an answer that is whole.
func (r *reader) finish() error {
	reason := agent.FinishOther
	switch r.reason {
	case "STOP":
		reason = agent.FinishStop
		if r.calls > 0 {
			reason = agent.FinishCalls
		}
	case "MAX_TOKENS":
		reason = agent.FinishLength
	case "SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII",
		"IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION":
		reason = agent.FinishFiltered
	case "MALFORMED_FUNCTION_CALL":
		// The model wrote an invalid call; another attempt often succeeds.
		return r.x.Refused(agent.ClassMalformed, r.reason, r.message)
	case "MISSING_THOUGHT_SIGNATURE":
		return r.x.Refused(agent.ClassInvalid, r.reason, r.message)
	}
	r.cite()
	r.x.Finish(reason)
	return nil
}
