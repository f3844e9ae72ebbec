package agent

import (
	"context"
	"encoding/json"
	"iter"
)

// Model is a language model of a provider.
//
// Stream sends one request and yields the answer as it arrives. It makes one
// attempt: the agent does the retries. It yields chunks until [ChunkFinish], which
// is the last chunk and occurs once, or until one error, which ends the sequence.
// The error is a [*ModelError] whenever the provider reported a cause. When ctx
// ends or the range stops early, Stream closes the connection and returns; it
// never blocks longer than the connection takes to notice. Neither side retains
// the other's slices after the sequence has ended.
//
// A Model is safe for concurrent use.
type Model interface {
	Info() ModelInfo
	Stream(ctx context.Context, req *Request) iter.Seq2[Chunk, error]
}

// Admitter is a [Model] whose calls may have to wait, such as one whose rate is limited.
// The time that an agent spends in Admit does not count towards Options.AttemptTimeout.
type Admitter interface {
	Model
	// Admit waits until the model may be called with req, and returns the function that
	// makes that call, once. If ctx ends first, the error is its cause. Stream waits in the
	// same way.
	Admit(ctx context.Context, req *Request) (ModelFunc, error)
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

// Request is one model call. Providers do not modify it.
type Request struct {
	// Instructions is the system prompt. System messages in Messages follow it.
	Instructions string
	Messages     []Message
	Tools        []ToolSpec
	ToolChoice   ToolChoice
	Settings     Settings
	// Output requests an answer that is one JSON value of this schema; nil means
	// free text.
	Output *OutputSchema
}

// OutputSchema is a named JSON Schema for a structured answer.
type OutputSchema struct {
	Name        string
	Description string
	Schema      json.RawMessage
}

// ToolMode determines whether the model may, must or must not call tools.
type ToolMode string

// The tool modes. The zero value is [ToolsAuto].
const (
	ToolsAuto     ToolMode = "auto"
	ToolsNone     ToolMode = "none"
	ToolsRequired ToolMode = "required" // any tool
	ToolsSpecific ToolMode = "specific" // the tool named by ToolChoice.Name
)

// ToolChoice is a tool mode with the name that [ToolsSpecific] requires. Parallel
// determines whether one answer may contain several calls; nil leaves it to the
// provider.
type ToolChoice struct {
	Mode     ToolMode
	Name     string
	Parallel *bool
}

// Settings are the parameters of a model call. Zero values are not sent.
type Settings struct {
	Temperature      *float64
	TopP             *float64
	FrequencyPenalty *float64
	PresencePenalty  *float64
	Seed             *int64
	MaxOutputTokens  int
	Stop             []string
	Reasoning        Reasoning
	// ProviderOptions are sent unchanged as top-level fields of the request and
	// override what the provider package would have sent. The entries of a list
	// "tools" follow the agent's own tools: they are tools that the provider executes,
	// such as its web search. Their activity is kept in the conversation and sent
	// back to the provider.
	ProviderOptions map[string]any
}

// Reasoning asks a model to think before it answers.
type Reasoning struct {
	Enabled bool
	// Effort is one of the values none, minimal, low, medium, high and xhigh; empty
	// means the provider's default. If a model does not support the value, the
	// nearest supported one is sent.
	Effort string
	// BudgetTokens limits the reasoning; 0 leaves it to the model. The provider
	// packages translate a budget for models that only support efforts, and an effort
	// for models that only support budgets; if both are set, the one that the model
	// supports is sent.
	BudgetTokens int
	// IncludeThoughts requests the text of the reasoning from providers that send it
	// only on request.
	IncludeThoughts bool
	// Summary is auto or detailed, for providers that return only summaries of the
	// reasoning.
	Summary string
}

// ChunkKind determines which fields of a [Chunk] are used.
type ChunkKind uint8

// The kinds of chunks. A model's answer is a sequence of parts; a part begins
// with its first chunk and ends where a chunk of another part begins, except
// for tool calls, which Index identifies and whose chunks may interleave.
const (
	// ChunkText appends Text to the answer's text.
	ChunkText ChunkKind = iota + 1
	// ChunkReasoning appends Text to the reasoning. A chunk with an empty Text opens a
	// reasoning part whose text the provider does not reveal; its ChunkOpaque follows.
	ChunkReasoning
	// ChunkCallStart opens the tool call Index with ID and Name. The agent fills in an
	// empty ID and replaces one that this answer has used already.
	ChunkCallStart
	// ChunkCallDelta appends Text to the arguments of the call Index.
	ChunkCallDelta
	// ChunkCallEnd marks the call Index as complete. Without it, a call is complete at
	// ChunkFinish.
	ChunkCallEnd
	// ChunkOpaque sets Opaque of the part that the last chunk belonged to; for a
	// call, of the call Index if Call is true.
	ChunkOpaque
	// ChunkCitation adds Citation to the last text part of the answer so far.
	ChunkCitation
	// ChunkUsage replaces the usage reported so far by Usage, which is billed at the
	// price of Model.
	ChunkUsage
	// ChunkFinish ends the answer of Model with Reason.
	ChunkFinish
)

// Chunk is a piece of a model's answer. It is passed by value; the receiver may
// retain Text.
type Chunk struct {
	Kind   ChunkKind
	Index  int
	Call   bool
	Text   string
	ID     string
	Name   string
	Opaque json.RawMessage
	// Citation is that of a [ChunkCitation]. Its range refers to the whole text part.
	Citation *Citation
	Usage    *Usage
	Reason   FinishReason
	// Model is the model that answers, in [ChunkUsage] and [ChunkFinish]; nil means
	// the model that was called. A model or a [Middleware] that falls back to another
	// model passes on that model's chunks unchanged, so that the other model is billed
	// and traced. A model that merely renames another one sets it to nil.
	Model *ModelInfo
}

// FinishReason is why a model stopped.
type FinishReason string

// The finish reasons.
const (
	FinishStop     FinishReason = "stop"
	FinishCalls    FinishReason = "tool_calls"
	FinishLength   FinishReason = "length"
	FinishFiltered FinishReason = "content_filter"
	// FinishPaused means that the provider interrupted the answer while tools of its
	// own were running. The next step sends the answer back and the model continues it.
	FinishPaused FinishReason = "paused"
	FinishOther  FinishReason = "other"
)

// Usage counts tokens. InputTokens includes CachedTokens and CacheWriteTokens;
// OutputTokens includes ReasoningTokens. The counts of providers that count
// differently are converted.
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

// CachedShare returns the share of the input tokens that was read from the
// provider's prompt cache, from 0 to 1.
func (u Usage) CachedShare() float64 {
	if u.InputTokens == 0 {
		return 0
	}
	return float64(u.CachedTokens) / float64(u.InputTokens)
}
