package aisdkapi

import (
	"encoding/json"

	"github.com/shoal-dev/shoal"
)

// The types of chunks that are written in several places.
const (
	textStart      = "text-start"
	reasoningStart = "reasoning-start"
	inputStart     = "tool-input-start"
	inputAvailable = "tool-input-available"
	outputError    = "tool-output-error"
)

// chunk is one event of a UI message stream. Which fields count depends on Type.
type chunk struct {
	Type             string          `json:"type"`
	ID               string          `json:"id,omitempty"`
	Delta            string          `json:"delta,omitempty"`
	MessageID        string          `json:"messageId,omitempty"`
	ToolCallID       string          `json:"toolCallId,omitempty"`
	ToolName         string          `json:"toolName,omitempty"`
	InputTextDelta   string          `json:"inputTextDelta,omitempty"`
	Input            json.RawMessage `json:"input,omitempty"`
	Output           json.RawMessage `json:"output,omitempty"`
	ErrorText        string          `json:"errorText,omitempty"`
	ProviderExecuted *bool           `json:"providerExecuted,omitempty"`
	ApprovalID       string          `json:"approvalId,omitempty"`
	Approved         *bool           `json:"approved,omitempty"`
	Reason           string          `json:"reason,omitempty"`
	URL              string          `json:"url,omitempty"`
	MediaType        string          `json:"mediaType,omitempty"`
	Data             any             `json:"data,omitempty"`
	Transient        bool            `json:"transient,omitempty"`
	FinishReason     string          `json:"finishReason,omitempty"`
	Metadata         any             `json:"messageMetadata,omitempty"`
	Provider         *origin         `json:"providerMetadata,omitempty"`
}

// origin says of which part of which message something is. Clients keep it with the parts of their
// messages and send it back, so that the server knows what they have.
type origin struct {
	Shoal from `json:"shoal"`
}

type from struct {
	PartID    shoal.PartID    `json:"partId"`
	MessageID shoal.MessageID `json:"messageId"`
	RunID     shoal.RunID     `json:"runId,omitempty"`
	EntityID  shoal.EntityID  `json:"entityId,omitempty"`
	Name      string          `json:"name,omitempty"` // of a file
}

// uiMessage is a message as clients have it.
type uiMessage struct {
	ID    string   `json:"id"`
	Role  string   `json:"role"`
	Parts []uiPart `json:"parts"`
}

// uiPart is a part of a client's message. Which fields count depends on Type.
type uiPart struct {
	Type             string          `json:"type"`
	ID               string          `json:"id,omitempty"`
	Text             *string         `json:"text,omitempty"`
	State            string          `json:"state,omitempty"`
	ToolCallID       string          `json:"toolCallId,omitempty"`
	ToolName         string          `json:"toolName,omitempty"`
	Input            json.RawMessage `json:"input,omitempty"`
	Output           json.RawMessage `json:"output,omitempty"`
	ErrorText        string          `json:"errorText,omitempty"`
	Approval         *approval       `json:"approval,omitempty"`
	ProviderExecuted *bool           `json:"providerExecuted,omitempty"`
	URL              string          `json:"url,omitempty"`
	MediaType        string          `json:"mediaType,omitempty"`
	Filename         string          `json:"filename,omitempty"`
	Data             any             `json:"data,omitempty"`
	Provider         *origin         `json:"providerMetadata,omitempty"`
	CallProvider     *origin         `json:"callProviderMetadata,omitempty"`
}

// The states of a tool part.
const (
	inputStreaming    = "input-streaming"
	inputComplete     = "input-available"
	approvalRequested = "approval-requested"
	approvalResponded = "approval-responded"
	outputAvailable   = "output-available"
	outputFailed      = "output-error"
	outputDenied      = "output-denied"
)

// approval is what a client knows about the approval of a call. Approved is nil while it is requested.
type approval struct {
	ID       string `json:"id"`
	Approved *bool  `json:"approved,omitempty"`
	Reason   string `json:"reason,omitempty"`
}

// isTool reports whether the part is a call.
func (p uiPart) isTool() bool {
	return p.ToolCallID != "" && (p.Type == "dynamic-tool" || len(p.Type) > len(toolPrefix) && p.Type[:len(toolPrefix)] == toolPrefix)
}

// toolPrefix begins the type of a part that is a call of the tool whose name follows.
const toolPrefix = "tool-"
