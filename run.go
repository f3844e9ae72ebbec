package shoal

import (
	"encoding/json"
	"time"
)

// RunStatus is the progress of a run: queued, running, suspended until a tool's answer or a
// reply arrives (nothing of it is in memory), and three final states.
type RunStatus string

// The states of a run.
const (
	RunQueued       RunStatus = "queued"
	RunRunning      RunStatus = "running"
	RunWaitingTool  RunStatus = "waiting_tool"
	RunWaitingReply RunStatus = "waiting_reply"
	RunCompleted    RunStatus = "completed"
	RunFailed       RunStatus = "failed"
	RunCanceled     RunStatus = "canceled"
)

// Ended reports whether the status is final.
func (s RunStatus) Ended() bool { return s == RunCompleted || s == RunFailed || s == RunCanceled }

// Suspended reports whether the run is suspended.
func (s RunStatus) Suspended() bool { return s == RunWaitingTool || s == RunWaitingReply }

// ActivityKind is the kind of a run's last activity.
type ActivityKind string

// The kinds of activity: the run was claimed, called its model, received a piece of the
// answer, started or finished a tool, or was suspended.
const (
	ActivityStarted ActivityKind = "started"
	ActivityModel   ActivityKind = "model"
	ActivityDelta   ActivityKind = "delta"
	ActivityTool    ActivityKind = "tool"
	ActivityWait    ActivityKind = "wait"
)

// RunActivity is the last activity of a run. While the run is running it is stored
// with the lease, so that it may be a few seconds old.
type RunActivity struct {
	At   Time         `json:"at"`
	Kind ActivityKind `json:"kind"`
}

// ReplyWait is what a suspended run waits for without a pending action: the next message
// in the space from one of From, or, with a null SpaceID and an empty From, time alone.
// The run continues at Until at the latest.
type ReplyWait struct {
	SpaceID *SpaceID    `json:"spaceId"`
	From    []ReplyFrom `json:"from"`
	Until   *Time       `json:"until"`
}

// ReplyFrom matches the sender of a reply: any, agent, human, or entity with EntityID,
// which is null for the others.
type ReplyFrom struct {
	Type     string    `json:"type"`
	EntityID *EntityID `json:"entityId"`
}

// StallAfter is how long a running run is silent before it counts as stalled.
const StallAfter = 60 * time.Second

// Run is one execution of a hosted agent. CauseRoot is the message, plan or call
// that began the chain of agents that this run belongs to, and Depth its place in
// that chain, 0 for the first. ActingFor are the ids of everybody at its roots: the
// people and connected agents that started it again or sent messages that led to it, or
// "service:NAME"; "system" means an admin key without an acting entity. It is empty for
// a plan that is older than this record.
//
// Activity is null until the run begins. StalledSince is the time of the last activity of
// a run that is running and has been silent for [StallAfter], else null. QueuedBehind is
// the run of the same agent and space whose end a queued run waits for; null for one that
// may begin. WaitingFor is the reply or the time that a run waits for, null if it waits for
// neither or the reader is not in the space where the reply is expected.
type Run struct {
	ID               RunID             `json:"id"`
	SessionID        SessionID         `json:"sessionId"`
	AgentID          EntityID          `json:"agentId"`
	Status           RunStatus         `json:"status"`
	Trigger          Trigger           `json:"trigger"`
	CauseRoot        string            `json:"causeRoot"`
	Depth            int               `json:"depth"`
	ActingFor        []EntityID        `json:"actingFor"`
	Steps            int               `json:"steps"`
	MaxSteps         int               `json:"maxSteps"`
	Usage            Usage             `json:"usage"`
	PendingToolCalls []PendingToolCall `json:"pendingToolCalls"`
	Error            *RunError         `json:"error"`
	Activity         *RunActivity      `json:"activity"`
	StalledSince     *Time             `json:"stalledSince"`
	QueuedBehind     *RunID            `json:"queuedBehind"`
	WaitingFor       *ReplyWait        `json:"waitingFor"`
	// WaitingForProgram means that a program outside of the server has to claim the run.
	WaitingForProgram bool  `json:"waitingForProgram"`
	CreatedAt         Time  `json:"createdAt"`
	StartedAt         *Time `json:"startedAt"`
	EndedAt           *Time `json:"endedAt"`
	// PartOf is the run in progress whose program has read the message of this one: the work,
	// the messages and the usage are those of that run. It is nil for a run of its own.
	PartOf *RunID `json:"partOf,omitempty"`
	// LimitReached is the limit at which a completed run had to answer, max_steps or
	// max_errors. It is empty for every other run.
	LimitReached string `json:"limitReached,omitempty"`
	// TraceID is the id of the run's OpenTelemetry trace, empty if no trace is sent.
	TraceID string `json:"traceId,omitempty"`
}

// TriggerType states what started a run.
type TriggerType string

// The types of triggers.
const (
	SpaceMessageTrigger TriggerType = "space_message"
	PlanTrigger         TriggerType = "plan"
	ServiceTrigger      TriggerType = "service"
)

// Trigger is what started a run. Which fields count depends on Type; its JSON has
// exactly those of its type.
type Trigger struct {
	Type TriggerType
	// Private means that the reader is not a member of the message's space: only the type
	// of the trigger is set.
	Private bool

	// These belong to space_message. MentionReason is set when an agent mentioned
	// this one.
	SpaceID        SpaceID
	SpaceName      string
	MessageID      MessageID
	MessageContent string
	SenderEntityID EntityID
	SenderName     string
	SenderType     EntityKind
	MentionReason  string

	// These belong to plan. Instruction is what the plan's maker wants done.
	PlanID      PlanID
	PlanName    string
	ScheduledAt Time
	Instruction string

	// These belong to service. Payload is any JSON value.
	ServiceName string
	Payload     json.RawMessage
}

type (
	spaceMessageShape struct {
		Type           TriggerType `json:"type"`
		SpaceID        SpaceID     `json:"spaceId"`
		SpaceName      string      `json:"spaceName"`
		MessageID      MessageID   `json:"messageId"`
		MessageContent string      `json:"messageContent"`
		SenderEntityID EntityID    `json:"senderEntityId"`
		SenderName     string      `json:"senderName"`
		SenderType     EntityKind  `json:"senderType"`
		MentionReason  string      `json:"mentionReason,omitempty"`
	}
	unseenShape struct {
		Type    TriggerType `json:"type"`
		Private bool        `json:"private"`
	}
	planShape struct {
		Type        TriggerType `json:"type"`
		PlanID      PlanID      `json:"planId"`
		PlanName    string      `json:"planName"`
		ScheduledAt Time        `json:"scheduledAt"`
		Instruction string      `json:"instruction,omitempty"`
	}
	serviceShape struct {
		Type        TriggerType     `json:"type"`
		ServiceName string          `json:"serviceName"`
		Payload     json.RawMessage `json:"payload"`
	}
)

// MarshalJSON writes exactly the fields of the trigger's type.
func (t Trigger) MarshalJSON() ([]byte, error) {
	switch {
	case t.Private:
		return EncodeJSON(unseenShape{t.Type, true})
	case t.Type == SpaceMessageTrigger:
		return EncodeJSON(spaceMessageShape{
			t.Type, t.SpaceID, t.SpaceName, t.MessageID, t.MessageContent, t.SenderEntityID, t.SenderName, t.SenderType, t.MentionReason,
		})
	case t.Type == PlanTrigger:
		return EncodeJSON(planShape{t.Type, t.PlanID, t.PlanName, t.ScheduledAt, t.Instruction})
	case t.Type == ServiceTrigger:
		return EncodeJSON(serviceShape{t.Type, t.ServiceName, t.Payload})
	}
	return nil, E("shoal.Trigger", Internal, "a trigger of the unknown type "+string(t.Type))
}

// UnmarshalJSON reads a trigger of any type; unknown fields are ignored.
func (t *Trigger) UnmarshalJSON(b []byte) error {
	var all struct {
		spaceMessageShape
		Private     bool            `json:"private"`
		PlanID      PlanID          `json:"planId"`
		PlanName    string          `json:"planName"`
		ScheduledAt Time            `json:"scheduledAt"`
		Instruction string          `json:"instruction"`
		ServiceName string          `json:"serviceName"`
		Payload     json.RawMessage `json:"payload"`
	}
	if err := json.Unmarshal(b, &all); err != nil {
		return err
	}
	*t = Trigger{
		Type: all.Type, SpaceID: all.SpaceID, SpaceName: all.SpaceName, MessageID: all.MessageID, MessageContent: all.MessageContent,
		SenderEntityID: all.SenderEntityID, SenderName: all.SenderName, SenderType: all.SenderType, MentionReason: all.MentionReason,
		PlanID: all.PlanID, PlanName: all.PlanName, ScheduledAt: all.ScheduledAt, Instruction: all.Instruction,
		ServiceName: all.ServiceName, Payload: all.Payload, Private: all.Private,
	}
	return nil
}

// Usage is what model calls used. InputTokens include CachedInputTokens. Cost is
// in Currency, 0 where the model's price is not known.
type Usage struct {
	InputTokens       int64   `json:"inputTokens"`
	CachedInputTokens int64   `json:"cachedInputTokens"`
	OutputTokens      int64   `json:"outputTokens"`
	ReasoningTokens   int64   `json:"reasoningTokens"`
	Cost              float64 `json:"cost"`
	Currency          string  `json:"currency"`
}

// Currency is the currency of all costs.
const Currency = "USD"

// Add returns the sum of u and v.
func (u Usage) Add(o Usage) Usage {
	u.InputTokens += o.InputTokens
	u.CachedInputTokens += o.CachedInputTokens
	u.OutputTokens += o.OutputTokens
	u.ReasoningTokens += o.ReasoningTokens
	u.Cost += o.Cost
	u.Currency = Currency
	return u
}

// PendingToolCall is a tool call that a run waits for. SpaceID is null for one
// that no space shows.
type PendingToolCall struct {
	ToolCallID      string          `json:"toolCallId"`
	ToolName        string          `json:"toolName"`
	Args            json.RawMessage `json:"args"`
	PendingActionID PendingID       `json:"pendingActionId"`
	SpaceID         *SpaceID        `json:"spaceId"`
	ExpiresAt       *Time           `json:"expiresAt"`
}

// RunError states why a run failed or was canceled.
type RunError struct {
	Code      string `json:"code"`
	Message   string `json:"message"`
	Retryable bool   `json:"retryable"`
}

// Step is one model call of a run with its tool calls. Text and Reasoning are
// the run's own: no space shows them. FirstTokenMs is the time from the request that
// was answered to the first of the answer, null where it was not measured.
type Step struct {
	Index        int        `json:"index"`
	Model        string     `json:"model"`
	FinishReason string     `json:"finishReason"`
	Usage        Usage      `json:"usage"`
	Text         string     `json:"text"`
	Reasoning    string     `json:"reasoning"`
	ToolCalls    []StepCall `json:"toolCalls"`
	StartedAt    Time       `json:"startedAt"`
	FirstTokenMs *int64     `json:"firstTokenMs"`
	EndedAt      *Time      `json:"endedAt"` // null while the step is open
	// MissingTools are tools of MCP servers that the configuration names and that the
	// run does without.
	MissingTools []MissingTool `json:"missingTools"`
}

// MissingTool names tools that a run lacks because their MCP server could not be reached,
// or because another tool has the same name. Tools is empty if all tools of the server are
// missing and their names are unknown.
type MissingTool struct {
	Server  string   `json:"server"`
	Tools   []string `json:"tools"`
	Message string   `json:"message"`
}

// StepCall is one tool call of a step. Result is the text that the model receives,
// null until it exists; Status is pending until then, and then an agent.ResultStatus.
// StartedAt and EndedAt are when the server executed the call, or, for a result from
// outside, when it was requested and received; null before.
type StepCall struct {
	ToolCallID string          `json:"toolCallId"`
	ToolName   string          `json:"toolName"`
	Args       json.RawMessage `json:"args"`
	Result     *string         `json:"result"`
	Status     string          `json:"status"`
	StartedAt  *Time           `json:"startedAt"`
	EndedAt    *Time           `json:"endedAt"`
}

// CheckTrigger checks the input with which a service starts a run: its name, which is
// a line, and a payload of any JSON value, which may be left out. It names every
// wrong field in one [InvalidArgument] error; [TooLarge] for a payload over
// [MaxContent] bytes.
func CheckTrigger(serviceName string, payload json.RawMessage) error {
	if len(payload) > MaxContent {
		return E("", TooLarge, "payload is too large; it holds at most 256 KiB")
	}
	var p problems
	p.add(checkLine("serviceName", serviceName, MaxName, true))
	if len(payload) > 0 && !json.Valid(payload) {
		p.add(Invalid("payload", "must be a JSON value"))
	} else if len(payload) > 0 {
		p.add(checkObject("payload", wrapped(payload), MaxContent+16))
	}
	return p.err()
}
