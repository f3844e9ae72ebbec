package agent

import (
	"context"
	"encoding/json"
	"iter"
)

// Model is a language model behind a provider.
//
// Stream sends one request and yields the answer as it arrives. It makes one
// attempt: retries belong to the agent. It yields chunks until [ChunkFinish], which
// comes last and once, or until one error, which ends the sequence; the error is
// a [*ModelError] whenever the provider said something about the cause. When ctx
// ends or the range stops early, Stream closes the connection and returns; it
// never blocks longer than the connection takes to notice. Neither side keeps
// the other's slices after the sequence has ended.
//
// A Model is safe for concurrent use.
type Model interface {
	Info() ModelInfo
	Stream(ctx context.Context, req *Request) iter.Seq2[Chunk, error]
}

// ModelInfo names a model for events, prices and telemetry.
type ModelInfo struct {
	Provider string `json:"provider"` // as in OpenTelemetry's gen_ai.provider.name: openai, anthropic, gcp.gemini, script
	Name     string `json:"name"`     // as the provider knows it
	// Window is the context window in tokens, 0 when unknown.
	Window int `json:"window,omitempty"`
	// Address is the host and port that is called, without path and secrets.
	Address string `json:"address,omitempty"`
}

// Request is one model call. Providers read it and change nothing in it.
type Request struct {
	// Instructions is the system prompt. System messages in Messages follow it.
	Instructions string
	Messages     []Message
	Tools        []ToolSpec
	ToolChoice   ToolChoice
	Settings     Settings
	// Output asks for an answer that is one JSON value of this schema; nil for
	// free text.
	Output *OutputSchema
}

// OutputSchema is a named JSON Schema for a structured answer.
type OutputSchema struct {
	Name        string
	Description string
	Schema      json.RawMessage
}

// ToolMode says whether the model may, must or must not call tools.
type ToolMode string

// The tool modes. The zero value is [ToolsAuto].
const (
	ToolsAuto     ToolMode = "auto"
	ToolsNone     ToolMode = "none"
	ToolsRequired ToolMode = "required" // any tool
	ToolsSpecific ToolMode = "specific" // the tool named by ToolChoice.Name
)

// ToolChoice is a tool mode with the name that [ToolsSpecific] needs. Parallel
// says whether several calls may come in one answer; nil leaves it to the
// provider.
type ToolChoice struct {
	Mode     ToolMode
	Name     string
	Parallel *bool
}

// Settings are the knobs of a model call. Zero values are not sent.
type Settings struct {
	Temperature      *float64
	TopP             *float64
	FrequencyPenalty *float64
	PresencePenalty  *float64
	Seed             *int64
	MaxOutputTokens  int
	Stop             []string
	Reasoning        Reasoning
	// ProviderOptions are sent as they are, as top-level fields of the request, in
	// place of what the provider package would have sent there. The list "tools" is
	// sent after the agent's own tools: tools that the provider executes, such as
	// its web search. What such tools did is kept in the conversation and sent back.
	ProviderOptions map[string]any
}

// Reasoning asks a model to think before it answers.
type Reasoning struct {
	Enabled bool
	// Effort is none, minimal, low, medium, high or xhigh; empty is the
	// provider's default. A model that does not have the effort gets the nearest
	// one that it has.
	Effort string
	// BudgetTokens bounds the thinking; 0 leaves it to the model. The providers'
	// packages translate a budget for models that only have efforts, and an effort
	// for models that only have budgets; where both are set, a model gets the one
	// that it has.
	BudgetTokens int
	// IncludeThoughts asks for the thoughts themselves where they must be asked for.
	IncludeThoughts bool
	// Summary is auto or detailed, where a provider shows summaries only.
	Summary string
}

// ChunkKind says which fields of a [Chunk] are used.
type ChunkKind uint8

// The kinds of chunks. A model's answer is a sequence of parts; a part begins
// with its first chunk and ends where a chunk of another part begins, except
// tool calls, which are told apart by Index and may grow side by side.
const (
	// ChunkText appends Text to the answer's text.
	ChunkText ChunkKind = iota + 1
	// ChunkReasoning appends Text to the thoughts. An empty one opens them, for
	// thoughts that the provider shows to nobody; their ChunkOpaque follows.
	ChunkReasoning
	// ChunkCallStart opens the tool call Index with ID and Name. An empty ID is
	// filled by the agent; an ID that this answer has used already is replaced.
	ChunkCallStart
	// ChunkCallDelta appends Text to the arguments of the call Index.
	ChunkCallDelta
	// ChunkCallEnd says that the call Index is whole. Without it a call is whole at ChunkFinish.
	ChunkCallEnd
	// ChunkOpaque sets Opaque of the part that the last chunk belonged to; for a
	// call, of the call Index when Call is true.
	ChunkOpaque
	// ChunkUsage replaces the usage reported so far by Usage, which Model is billed for.
	ChunkUsage
	// ChunkFinish ends the answer of Model with Reason.
	ChunkFinish
)

// Chunk is a piece of a model's answer. It is passed by value; Text is a string
// of its own that the receiver may keep.
type Chunk struct {
	Kind   ChunkKind
	Index  int
	Call   bool
	Text   string
	ID     string
	Name   string
	Opaque json.RawMessage
	Usage  *Usage
	Reason FinishReason
	// Model is who answers, in [ChunkUsage] and [ChunkFinish]; nil means the one
	// that was asked. A model or a [Middleware] that falls back to another model
	// passes that model's chunks on as they are, and the other one is billed and
	// traced. A model that only gives another one a name of its own sets it to nil.
	Model *ModelInfo
}

// FinishReason says why a model stopped.
type FinishReason string

// The finish reasons.
const (
	FinishStop     FinishReason = "stop"
	FinishCalls    FinishReason = "tool_calls"
	FinishLength   FinishReason = "length"
	FinishFiltered FinishReason = "content_filter"
	// FinishPaused is an answer that the provider interrupted while tools of its own
	// were at work. The next step sends it back, and the model goes on with it.
	FinishPaused FinishReason = "paused"
	FinishOther  FinishReason = "other"
)

// Usage counts tokens. InputTokens includes CachedTokens and CacheWriteTokens;
// OutputTokens includes ReasoningTokens. Providers that count otherwise are
// converted.
type Usage struct {
	InputTokens      int64 `json:"inputTokens"`
	CachedTokens     int64 `json:"cachedTokens,omitempty"`     // read from the provider's prompt cache
	CacheWriteTokens int64 `json:"cacheWriteTokens,omitempty"` // written into it
	OutputTokens     int64 `json:"outputTokens"`
	ReasoningTokens  int64 `json:"reasoningTokens,omitempty"`
}

// Add returns the sum of both.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		InputTokens:      u.InputTokens + v.InputTokens,
		CachedTokens:     u.CachedTokens + v.CachedTokens,
		CacheWriteTokens: u.CacheWriteTokens + v.CacheWriteTokens,
		OutputTokens:     u.OutputTokens + v.OutputTokens,
		ReasoningTokens:  u.ReasoningTokens + v.ReasoningTokens,
	}
}

// CachedShare returns the part of the input that came from the provider's
// prompt cache, from 0 to 1.
func (u Usage) CachedShare() float64 {
	if u.InputTokens == 0 {
		return 0
	}
	return float64(u.CachedTokens) / float64(u.InputTokens)
}
