package shoal

import "encoding/json"

// HostedAgent is the configuration of an agent whose model loop the server runs,
// in one version. Config is its canonical form, Hash the SHA-256 of it in
// hexadecimal. Versions count from 1.
type HostedAgent struct {
	ID        EntityID        `json:"id"`
	SessionID SessionID       `json:"sessionId"`
	Version   int             `json:"version"`
	Hash      string          `json:"hash"`
	Config    json.RawMessage `json:"config"`
	CreatedAt Time            `json:"createdAt"` // of this version
}

// AgentPreview is the first request of a run, without executing it. Input is an example of
// the first input of the run. Warnings state what the run would lack now, such as the tools
// of a server that cannot be reached.
type AgentPreview struct {
	System   string      `json:"system"`
	Tools    []ModelTool `json:"tools"`
	Input    string      `json:"input"`
	Warnings []string    `json:"warnings"`
}

// Plan is a schedule at which a hosted agent runs: Cron with a time zone, or one time.
// NextRunAt is null once the plan is over.
type Plan struct {
	ID          PlanID     `json:"id"`
	AgentID     EntityID   `json:"agentId"`
	Name        string     `json:"name"`
	Description string     `json:"description"`
	Instruction string     `json:"instruction"`
	Cron        *string    `json:"cron"`
	TimeZone    string     `json:"timeZone"` // an IANA name; UTC by default
	ScheduledAt *Time      `json:"scheduledAt"`
	Status      PlanStatus `json:"status"`
	NextRunAt   *Time      `json:"nextRunAt"`
	LastRunAt   *Time      `json:"lastRunAt"`
	LastRunID   *RunID     `json:"lastRunId"`
	CreatedAt   Time       `json:"createdAt"`
	// ActingFor are the entities that made and changed the plan: its runs act for them, see
	// [Run].
	ActingFor []EntityID `json:"actingFor"`
}

// PlanStatus states whether a plan will fire again.
type PlanStatus string

// The states of a plan.
const (
	PlanPending   PlanStatus = "pending"
	PlanPaused    PlanStatus = "paused"
	PlanCompleted PlanStatus = "completed"
	PlanCanceled  PlanStatus = "canceled"
)

// NewPlan is the input that creates a plan: Cron or ScheduledAt, one of
// the two.
type NewPlan struct {
	Name        string  `json:"name"`
	Description string  `json:"description,omitempty"`
	Instruction string  `json:"instruction,omitempty"`
	Cron        *string `json:"cron,omitempty"`
	TimeZone    string  `json:"timeZone,omitempty"`
	ScheduledAt *Time   `json:"scheduledAt,omitempty"`
}

// Validate names every wrong field in one [InvalidArgument] error. It does not
// check whether the cron expression and the time zone exist; package calendar does.
func (n NewPlan) Validate() error {
	var p problems
	p.add(checkLine("name", n.Name, MaxName, true))
	p.add(checkText("description", n.Description, MaxDescription))
	p.add(checkText("instruction", n.Instruction, MaxSummary))
	p.add(checkLine("timeZone", n.TimeZone, MaxName, false))
	if (orEmpty(n.Cron) == "") == (n.ScheduledAt == nil) {
		p.add(Invalid("cron", "or scheduledAt is needed, one of the two"))
	} else if n.Cron != nil {
		p.add(checkLine("cron", *n.Cron, MaxName, true))
	}
	return p.err()
}

// PlanChange is a partial change of a plan: nil leaves a field as it is.
type PlanChange struct {
	Name        *string     `json:"name,omitempty"`
	Description *string     `json:"description,omitempty"`
	Instruction *string     `json:"instruction,omitempty"`
	Cron        *string     `json:"cron,omitempty"`
	TimeZone    *string     `json:"timeZone,omitempty"`
	ScheduledAt *Time       `json:"scheduledAt,omitempty"`
	Status      *PlanStatus `json:"status,omitempty"`
}

// Goal is a goal of a hosted agent, in every space in which it acts.
type Goal struct {
	ID          string `json:"id"`
	Description string `json:"description"`
	Priority    int    `json:"priority"`
	IsLongTerm  bool   `json:"isLongTerm"`
	IsCompleted bool   `json:"isCompleted"`
	CreatedAt   Time   `json:"createdAt"`
	UpdatedAt   Time   `json:"updatedAt"`
}

// Memory is a fact that a hosted agent has stored for later runs.
type Memory struct {
	ID        string          `json:"id"`
	Topic     string          `json:"topic"`
	Content   string          `json:"content"`
	Metadata  json.RawMessage `json:"metadata"`
	CreatedAt Time            `json:"createdAt"`
	UpdatedAt Time            `json:"updatedAt"`
	// SpaceID is the trigger's space of the run that stored the memory, null if it had
	// none. Only runs that may read that space see the memory.
	SpaceID *SpaceID `json:"spaceId"`
}

// UsageRow is what one group of model calls used. Which of the names are set
// depends on what was grouped by; Day is a date in UTC.
type UsageRow struct {
	Day     string   `json:"day"`
	AgentID EntityID `json:"agentId"`
	Model   string   `json:"model"`
	RunID   RunID    `json:"runId"`
	Calls   int64    `json:"calls"`
	Usage
}

// Conversation is the history of a hosted agent's model in one space, in the runs of one
// plan, or for one service. Later runs continue it. ID names it among those of the agent:
// the id of the space, "plan:" with the id of the plan, or "service:" with the name of the
// service.
type Conversation struct {
	ID          string   `json:"id"`
	AgentID     EntityID `json:"agentId"`
	SpaceID     *SpaceID `json:"spaceId"`
	PlanID      *PlanID  `json:"planId"`
	ServiceName *string  `json:"serviceName"`
	// ActiveRunID is a run that has begun and not ended. While there is one, the
	// conversation cannot be cleared.
	ActiveRunID *RunID `json:"activeRunId"`
	// LastRunAt is when its newest run ended, null before the first one has.
	LastRunAt *Time `json:"lastRunAt"`
}

// ConversationRun is what one ended run added to a [Conversation]: its input, then the
// model's answers with the results of its calls. Concurrent runs may have read the same
// messages; later runs read each once.
type ConversationRun struct {
	RunID    RunID          `json:"runId"`
	EndedAt  *Time          `json:"endedAt"`
	Messages []ModelMessage `json:"messages"`
	// Summary is the newest summary if it was made in this run: later runs read it in
	// place of older messages. Null for all other runs.
	Summary *string `json:"summary"`
}

// ModelRequest is the request to a model for one step of a run. Its messages are exactly
// those that were sent, also if the history was shortened. For a retried call it is the
// last request. It leaves out what only the provider reads: the bytes of files, and the
// signatures of reasoning.
type ModelRequest struct {
	Model    string         `json:"model"`
	System   string         `json:"system"`
	Tools    []ModelTool    `json:"tools"`
	Messages []ModelMessage `json:"messages"`
}

// ModelTool is a tool as a model gets it: InputSchema is a JSON Schema with the
// fields that the server adds, such as targetSpaceId.
type ModelTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"inputSchema"`
}

// ModelMessage is one message to a model. Role is system, user, assistant or tool;
// Content is in the order of what was sent.
type ModelMessage struct {
	Role    string         `json:"role"`
	Content []ModelContent `json:"content"`
}

// ModelContentType says which fields of a [ModelContent] count.
type ModelContentType string

// The types of content in a message to a model.
const (
	ModelText       ModelContentType = "text"
	ModelReasoning  ModelContentType = "reasoning"
	ModelFile       ModelContentType = "file"
	ModelToolCall   ModelContentType = "tool_call"
	ModelToolResult ModelContentType = "tool_result"
)

// ModelContent is one piece of a message to a model. Its JSON has exactly the
// fields of its type.
type ModelContent struct {
	Type ModelContentType `json:"type"`

	// Text belongs to text, reasoning and tool_result.
	Text string `json:"text"`

	// These belong to tool_call and tool_result. Args is what the model wrote: a
	// JSON object, or a string that contains any other text. Status is an
	// agent.ResultStatus.
	ToolCallID string          `json:"toolCallId"`
	ToolName   string          `json:"toolName"`
	Args       json.RawMessage `json:"args"`
	Status     string          `json:"status"`
	Files      []ModelFileInfo `json:"files"`

	// File belongs to file.
	File ModelFileInfo `json:"-"`
}

// ModelFileInfo describes a file in a request to a model. URL is its address, null for a
// file that was sent as bytes; Size is 0 for a file that the provider fetches itself.
type ModelFileInfo struct {
	Name      string  `json:"name"`
	MediaType string  `json:"mediaType"`
	Size      int64   `json:"size"`
	URL       *string `json:"url"`
}

type (
	modelTextShape struct {
		Type ModelContentType `json:"type"`
		Text string           `json:"text"`
	}
	modelFileShape struct {
		Type ModelContentType `json:"type"`
		ModelFileInfo
	}
	modelCallShape struct {
		Type       ModelContentType `json:"type"`
		ToolCallID string           `json:"toolCallId"`
		ToolName   string           `json:"toolName"`
		Args       json.RawMessage  `json:"args"`
	}
	modelResultShape struct {
		Type       ModelContentType `json:"type"`
		ToolCallID string           `json:"toolCallId"`
		ToolName   string           `json:"toolName"`
		Status     string           `json:"status"`
		Text       string           `json:"text"`
		Files      []ModelFileInfo  `json:"files"`
	}
)

// MarshalJSON writes exactly the fields of the content's type.
func (c ModelContent) MarshalJSON() ([]byte, error) {
	switch c.Type {
	case ModelText, ModelReasoning:
		return EncodeJSON(modelTextShape{c.Type, c.Text})
	case ModelFile:
		return EncodeJSON(modelFileShape{c.Type, c.File})
	case ModelToolCall:
		return EncodeJSON(modelCallShape{c.Type, c.ToolCallID, c.ToolName, c.Args})
	case ModelToolResult:
		files := c.Files
		if files == nil {
			files = []ModelFileInfo{}
		}
		return EncodeJSON(modelResultShape{c.Type, c.ToolCallID, c.ToolName, c.Status, c.Text, files})
	}
	return nil, E("shoal.ModelContent", Internal, "content of the unknown type "+string(c.Type))
}

// UnmarshalJSON reads content of any type; unknown fields are ignored.
func (c *ModelContent) UnmarshalJSON(b []byte) error {
	type plain ModelContent
	var all struct {
		plain
		ModelFileInfo
	}
	if err := json.Unmarshal(b, &all); err != nil {
		return err
	}
	*c = ModelContent(all.plain)
	c.File = all.ModelFileInfo
	return nil
}
