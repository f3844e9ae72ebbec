package openaiapi

import (
	"time"

	"github.com/shoal-dev/shoal"
)

// The kinds of output items.
const (
	kindMessage   = "message"
	kindReasoning = "reasoning"
	kindCall      = "function_call"
)

// The states of responses and of items.
const (
	inProgress = "in_progress"
	completed  = "completed"
)

// The events of a stream.
const (
	eventCreated         = "response.created"
	eventInProgress      = "response.in_progress"
	eventItemAdded       = "response.output_item.added"
	eventItemDone        = "response.output_item.done"
	eventPartAdded       = "response.content_part.added"
	eventPartDone        = "response.content_part.done"
	eventTextDelta       = "response.output_text.delta"
	eventTextDone        = "response.output_text.done"
	eventSummaryAdded    = "response.reasoning_summary_part.added"
	eventSummaryPartDone = "response.reasoning_summary_part.done"
	eventSummaryDelta    = "response.reasoning_summary_text.delta"
	eventSummaryDone     = "response.reasoning_summary_text.done"
	eventArgumentsDelta  = "response.function_call_arguments.delta"
	eventArgumentsDone   = "response.function_call_arguments.done"
	eventCompleted       = "response.completed"
	eventIncomplete      = "response.incomplete"
	eventFailed          = "response.failed"
)

// event is an event of a stream, with the fields of its type.
type event struct {
	Type         string      `json:"type"`
	Sequence     int         `json:"sequence_number"`
	Response     *response   `json:"response,omitempty"`
	OutputIndex  *int        `json:"output_index,omitempty"`
	ItemID       string      `json:"item_id,omitempty"`
	ContentIndex *int        `json:"content_index,omitempty"`
	SummaryIndex *int        `json:"summary_index,omitempty"`
	Item         *outputItem `json:"item,omitempty"`
	Part         any         `json:"part,omitempty"`
	Delta        *string     `json:"delta,omitempty"`
	Text         *string     `json:"text,omitempty"`
	Name         string      `json:"name,omitempty"`
	Arguments    *string     `json:"arguments,omitempty"`
	Logprobs     *[]any      `json:"logprobs,omitempty"`
}

// EventName implements [eventstream.Named].
func (e event) EventName() string { return e.Type }

// response is a response. What the protocol has and Shoal has not is null, or its default.
type response struct {
	ID                 string           `json:"id"`
	Object             string           `json:"object"`
	CreatedAt          int64            `json:"created_at"`
	Status             string           `json:"status"`
	Background         bool             `json:"background"`
	Conversation       conversation     `json:"conversation"`
	Error              *responseError   `json:"error"`
	IncompleteDetails  *struct{}        `json:"incomplete_details"`
	Instructions       *string          `json:"instructions"`
	MaxOutputTokens    *int             `json:"max_output_tokens"`
	Metadata           map[string]any   `json:"metadata"`
	Model              string           `json:"model"`
	Output             []outputItem     `json:"output"`
	ParallelToolCalls  bool             `json:"parallel_tool_calls"`
	PreviousResponseID *string          `json:"previous_response_id"`
	Store              bool             `json:"store"`
	Temperature        *float64         `json:"temperature"`
	Text               map[string]any   `json:"text"`
	ToolChoice         string           `json:"tool_choice"`
	Tools              []map[string]any `json:"tools"`
	TopP               *float64         `json:"top_p"`
	Truncation         string           `json:"truncation"`
	Usage              *responseUsage   `json:"usage"`
}

// conversation is the space of a response.
type conversation struct {
	ID string `json:"id"`
}

type responseError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

type responseUsage struct {
	InputTokens  int64 `json:"input_tokens"`
	InputDetails struct {
		CachedTokens int64 `json:"cached_tokens"`
	} `json:"input_tokens_details"`
	OutputTokens  int64 `json:"output_tokens"`
	OutputDetails struct {
		ReasoningTokens int64 `json:"reasoning_tokens"`
	} `json:"output_tokens_details"`
	TotalTokens int64 `json:"total_tokens"`
}

// outputItem is an output item, with the fields of its type.
type outputItem struct {
	ID        string  `json:"id"`
	Type      string  `json:"type"`
	Status    string  `json:"status,omitempty"`
	Role      string  `json:"role,omitempty"`
	Content   *[]any  `json:"content,omitempty"`
	Summary   *[]any  `json:"summary,omitempty"`
	CallID    string  `json:"call_id,omitempty"`
	Name      string  `json:"name,omitempty"`
	Arguments *string `json:"arguments,omitempty"`
}

// textPart returns the content of a message.
func textPart(text string) map[string]any {
	return map[string]any{"type": "output_text", "text": text, "annotations": []any{}, "logprobs": []any{}}
}

// summaryPart returns the summary of reasoning.
func summaryPart(text string) map[string]any {
	return map[string]any{"type": "summary_text", "text": text}
}

// newResponse returns a response of a model in a space before anything is written.
func newResponse(id, model string, space shoal.SpaceID, previous *string, created time.Time) response {
	return response{
		ID: id, Object: "response", CreatedAt: created.Unix(), Status: inProgress, Conversation: conversation{ID: string(space)}, Metadata: map[string]any{}, Model: model,
		Output: []outputItem{}, ParallelToolCalls: true, PreviousResponseID: previous, Store: true, Text: map[string]any{"format": map[string]any{"type": "text"}},
		ToolChoice: "auto", Tools: []map[string]any{}, Truncation: "disabled",
	}
}

func responseUsageOf(u shoal.Usage) *responseUsage {
	out := &responseUsage{InputTokens: u.InputTokens, OutputTokens: u.OutputTokens, TotalTokens: u.InputTokens + u.OutputTokens}
	out.InputDetails.CachedTokens, out.OutputDetails.ReasoningTokens = u.CachedInputTokens, u.ReasoningTokens
	return out
}
