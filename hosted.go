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

// AgentPreview is what a model would be sent at the beginning of a run. Input is an
// example: what the run would be told first. Warnings say what the run would lack
// now, such as the tools of a server that cannot be reached.
type AgentPreview struct {
	System   string      `json:"system"`
	Tools    []ModelTool `json:"tools"`
	Input    string      `json:"input"`
	Warnings []string    `json:"warnings"`
}

// Plan is a schedule of a hosted agent: Cron with a time zone, or one time.
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
	// ActingFor are those who made and changed the plan: its runs act for them, see
	// [Run].
	ActingFor []EntityID `json:"actingFor"`
}

// PlanStatus tells whether a plan will fire again.
type PlanStatus string

// The states of a plan.
const (
	PlanPending   PlanStatus = "pending"
	PlanPaused    PlanStatus = "paused"
	PlanCompleted PlanStatus = "completed"
	PlanCanceled  PlanStatus = "canceled"
)

// NewPlan is what a caller hands in to make a plan: Cron or ScheduledAt, one of
// the two.
type NewPlan struct {
	Name        string  `json:"name"`
	Description string  `json:"description,omitempty"`
	Instruction string  `json:"instruction,omitempty"`
	Cron        *string `json:"cron,omitempty"`
	TimeZone    string  `json:"timeZone,omitempty"`
	ScheduledAt *Time   `json:"scheduledAt,omitempty"`
}

// Validate names every wrong field in one [InvalidArgument] error. Whether cron
// and time zone mean anything is for whoever knows calendars.
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

// Goal is something that a hosted agent wants, in whatever space it acts.
type Goal struct {
	ID          string `json:"id"`
	Description string `json:"description"`
	Priority    int    `json:"priority"`
	IsLongTerm  bool   `json:"isLongTerm"`
	IsCompleted bool   `json:"isCompleted"`
	CreatedAt   Time   `json:"createdAt"`
	UpdatedAt   Time   `json:"updatedAt"`
}

// Memory is something that a hosted agent keeps in mind.
type Memory struct {
	ID        string          `json:"id"`
	Topic     string          `json:"topic"`
	Content   string          `json:"content"`
	Metadata  json.RawMessage `json:"metadata"`
	CreatedAt Time            `json:"createdAt"`
	UpdatedAt Time            `json:"updatedAt"`
	// SpaceID is the trigger's space of the run that kept the memory, null where it had
	// none. Only runs that may read that space are shown the memory.
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

// File is an uploaded file. URL is where this server serves it.
type File struct {
	ID        FileID `json:"id"`
	Name      string `json:"name"`
	MediaType string `json:"mediaType"`
	Size      int64  `json:"size"`
	URL       string `json:"url"`
}

// MaxFile is how many bytes an uploaded file may have.
const MaxFile = 10 << 20
