package agui

import "encoding/json"

// Version is the version of the protocol that this package speaks.
const Version = "1.0"

// EventType says which fields of an [Event] are used.
type EventType string

// The types of events that a [Projection] makes.
const (
	RunStarted              EventType = "RUN_STARTED"
	RunFinished             EventType = "RUN_FINISHED"
	RunError                EventType = "RUN_ERROR"
	StepStarted             EventType = "STEP_STARTED"
	StepFinished            EventType = "STEP_FINISHED"
	TextMessageStart        EventType = "TEXT_MESSAGE_START"
	TextMessageContent      EventType = "TEXT_MESSAGE_CONTENT"
	TextMessageEnd          EventType = "TEXT_MESSAGE_END"
	ReasoningStart          EventType = "REASONING_START"
	ReasoningMessageStart   EventType = "REASONING_MESSAGE_START"
	ReasoningMessageContent EventType = "REASONING_MESSAGE_CONTENT"
	ReasoningMessageEnd     EventType = "REASONING_MESSAGE_END"
	ReasoningEnd            EventType = "REASONING_END"
	ToolCallStart           EventType = "TOOL_CALL_START"
	ToolCallArgs            EventType = "TOOL_CALL_ARGS"
	ToolCallEnd             EventType = "TOOL_CALL_END"
	ToolCallResult          EventType = "TOOL_CALL_RESULT"
	MessagesSnapshot        EventType = "MESSAGES_SNAPSHOT"
	SubagentStarted         EventType = "SUBAGENT_STARTED"
	SubagentFinished        EventType = "SUBAGENT_FINISHED"
	SubagentError           EventType = "SUBAGENT_ERROR"
	Custom                  EventType = "CUSTOM"
)

// Event is one event of the protocol; encoding/json writes it as it goes over
// the wire. Fields that its type does not have are zero.
type Event struct {
	Type EventType `json:"type"`
	// Metadata of an event about a message or a tool call becomes the message's or
	// the call's own on the client.
	Metadata map[string]any `json:"metadata,omitempty"`
	// SubagentRunID says which sub-agent's turn speaks; empty for the agent itself.
	SubagentRunID string `json:"subagentRunId,omitempty"`

	// Of runs.
	ThreadID        string   `json:"threadId,omitempty"`
	RunID           string   `json:"runId,omitempty"`
	ParentRunID     string   `json:"parentRunId,omitempty"`
	ProtocolVersion string   `json:"protocolVersion,omitempty"`
	Outcome         *Outcome `json:"outcome,omitempty"`
	Usage           []Usage  `json:"usage,omitempty"`

	// Of errors of runs and sub-agents.
	Message string `json:"message,omitempty"`
	Code    string `json:"code,omitempty"`

	StepName string `json:"stepName,omitempty"`

	// Of messages, thoughts and tool calls.
	MessageID       string `json:"messageId,omitempty"`
	Role            string `json:"role,omitempty"`
	Delta           string `json:"delta,omitempty"`
	ToolCallID      string `json:"toolCallId,omitempty"`
	ToolCallName    string `json:"toolCallName,omitempty"`
	ParentMessageID string `json:"parentMessageId,omitempty"`
	// Content of a result is a string, or a []ContentPart when there are files.
	Content any `json:"content,omitempty"`

	// Messages of a snapshot are JSON objects, oldest first; never nil there.
	Messages []json.RawMessage `json:"messages,omitzero"`

	// Of sub-agents and of CUSTOM.
	Name                string `json:"name,omitempty"`
	ParentSubagentRunID string `json:"parentSubagentRunId,omitempty"`
	ParentToolCallID    string `json:"parentToolCallId,omitempty"`
	Value               any    `json:"value,omitempty"`
}

// OutcomeType says how a run ended that did not fail, or a sub-agent's turn.
type OutcomeType string

// The outcomes. OutcomeSuspended belongs to sub-agents, OutcomeInterrupt and
// OutcomeCancelled to runs.
const (
	OutcomeSuccess   OutcomeType = "success"
	OutcomeInterrupt OutcomeType = "interrupt"
	OutcomeCancelled OutcomeType = "cancelled"
	OutcomeSuspended OutcomeType = "suspended"
)

// Outcome is how a run or a sub-agent's turn ended.
type Outcome struct {
	Type OutcomeType `json:"type"`
	// PendingToolCallIDs are the calls of this run that the client has to answer,
	// in their order.
	PendingToolCallIDs []string `json:"pendingToolCallIds,omitempty"`
	// Interrupts are what an interrupted run waits for, at least one.
	Interrupts []Interrupt `json:"interrupts,omitempty"`
	// InterruptIDs are those that a suspended sub-agent raised.
	InterruptIDs []string `json:"interruptIds,omitempty"`
}

// Interrupt is a request that the client answers with a resume entry in its
// next run.
type Interrupt struct {
	ID string `json:"id"`
	// SubagentRunID is the sub-agent's turn that asks; empty for the agent itself.
	SubagentRunID string `json:"subagentRunId,omitempty"`
	// Reason is tool_call for a permission, input_required for a question, and
	// confirmation for more steps.
	Reason     string `json:"reason"`
	Message    string `json:"message,omitempty"`
	ToolCallID string `json:"toolCallId,omitempty"`
	// ResponseSchema is the JSON Schema of the resume entry's payload.
	ResponseSchema json.RawMessage `json:"responseSchema,omitempty"`
	ExpiresAt      string          `json:"expiresAt,omitempty"`
	Metadata       map[string]any  `json:"metadata,omitempty"`
}

// Usage is what the calls of one model in a run cost, in tokens. The parts are
// included in InputTokens and OutputTokens.
type Usage struct {
	Provider              string `json:"provider,omitempty"`
	Model                 string `json:"model,omitempty"`
	InputTokens           int64  `json:"inputTokens,omitempty"`
	OutputTokens          int64  `json:"outputTokens,omitempty"`
	TotalTokens           int64  `json:"totalTokens,omitempty"`
	ReasoningTokens       int64  `json:"reasoningTokens,omitempty"`
	CachedInputTokens     int64  `json:"cachedInputTokens,omitempty"`
	CacheWriteInputTokens int64  `json:"cacheWriteInputTokens,omitempty"`
}

// ContentPart is a piece of a message's or a result's content: text, image,
// audio, video or document.
type ContentPart struct {
	Type   string      `json:"type"`
	Text   string      `json:"text,omitempty"`
	Source *PartSource `json:"source,omitempty"`
	// Metadata holds the name of a file.
	Metadata map[string]any `json:"metadata,omitempty"`
}

// PartSource says where the bytes of a [ContentPart] are: data (base64), url, or
// file (a handle of a model provider, which is not used here).
type PartSource struct {
	Type     string `json:"type"`
	Value    string `json:"value"`
	MimeType string `json:"mimeType,omitempty"`
}
