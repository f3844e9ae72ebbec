package google

import (
	"crypto/rand"
	"encoding/json"
	"net/http"

	"github.com/shoal-dev/shoal/agent"
)

// answer is one event of a stream.
type answer struct {
	Candidates []struct {
		Content content `json:"content"`
		Reason  string  `json:"finishReason"`
		Message string  `json:"finishMessage"`
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
	yield   func(agent.Chunk) bool
	last    agent.ChunkKind // of the part that is open
	calls   int
	parts   int
	usage   agent.Usage
	reason  string
	message string
}

// refused is an error that the provider told in the middle of a stream.
type refused struct{ text []byte }

// Error says where the error was told.
func (r refused) Error() string { return "an error in the stream" }

// event takes one event. It reports whether the consumer wants more.
func (r *reader) event(data []byte) (more bool, err error) {
	var a answer
	if err := json.Unmarshal(data, &a); err != nil {
		return false, &agent.ModelError{Class: agent.ClassMalformed, Provider: provider, Status: http.StatusOK, Detail: "an event cannot be read", Err: err}
	}
	if len(a.Error) > 0 && string(a.Error) != "null" {
		return false, refused{text: data}
	}
	if f := a.Feedback; f != nil && f.Reason != "" {
		return false, &agent.ModelError{Class: agent.ClassFiltered, Provider: provider, Status: http.StatusOK, Code: f.Reason, Detail: f.Message}
	}
	if len(a.Candidates) > 0 { // never more than one is asked for
		c := a.Candidates[0]
		for _, p := range c.Content.Parts {
			if !r.part(p) {
				return false, nil
			}
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
			return r.yield(agent.Chunk{Kind: agent.ChunkUsage, Usage: &now}), nil
		}
	}
	return true, nil
}

func (r *reader) part(p part) bool {
	switch {
	case p.Call != nil:
		return r.call(p)
	case p.Inline != nil, p.File != nil, p.Response != nil:
		return true // nothing that was asked for
	}
	kind := agent.ChunkText
	if p.Thought {
		kind = agent.ChunkReasoning
	}
	if p.Text != "" {
		r.parts++
		r.last = kind
		if !r.yield(agent.Chunk{Kind: kind, Text: p.Text}) {
			return false
		}
	}
	// A signature without a text of its own belongs to the text before it. It
	// must not take the place of a call's, which the API insists on; its own may
	// be left out.
	if p.Signature == "" || (p.Text == "" && r.last != kind) {
		return true
	}
	return r.opaque(agent.Chunk{}, opaque{Signature: p.Signature})
}

// call passes a call on, which comes whole. Without an id it gets one.
func (r *reader) call(p part) bool {
	index := r.calls
	r.calls++
	r.parts++
	r.last = agent.ChunkCallStart
	id := p.Call.ID
	if id == "" {
		id = "call_" + rand.Text()
	}
	args := string(p.Call.Args)
	if args == "" || args == "null" {
		args = "{}"
	}
	if !r.yield(agent.Chunk{Kind: agent.ChunkCallStart, Index: index, ID: id, Name: p.Call.Name}) ||
		!r.yield(agent.Chunk{Kind: agent.ChunkCallDelta, Index: index, Text: args}) {
		return false
	}
	if p.Signature != "" || p.Call.ID != "" {
		if !r.opaque(agent.Chunk{Index: index, Call: true}, opaque{Signature: p.Signature, ID: p.Call.ID}) {
			return false
		}
	}
	return r.yield(agent.Chunk{Kind: agent.ChunkCallEnd, Index: index})
}

func (r *reader) opaque(c agent.Chunk, o opaque) bool {
	o.Provider = provider
	raw, err := json.Marshal(o)
	c.Kind, c.Opaque = agent.ChunkOpaque, raw
	return err == nil && r.yield(c)
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
		// The model wrote a call that is none; another attempt often helps.
		return r.failed(agent.ClassMalformed)
	case "MISSING_THOUGHT_SIGNATURE":
		return r.failed(agent.ClassInvalid)
	}
	// A model may end its turn without a word, and is billed for doing so.
	if reason == agent.FinishStop && r.parts == 0 && r.usage.OutputTokens == r.usage.ReasoningTokens {
		return malformed("the answer is empty")
	}
	r.yield(agent.Chunk{Kind: agent.ChunkFinish, Reason: reason})
	return nil
}

func (r *reader) failed(class agent.ErrorClass) error {
	return &agent.ModelError{Class: class, Provider: provider, Status: http.StatusOK, Code: r.reason, Detail: cut(r.message)}
}
