package agentconfig

import (
	"encoding/json"

	"github.com/shoal-dev/shoal"
)

// Version is the only version of the format.
const Version = "1.0"

// Config is the configuration of a hosted agent, whole: every default is filled
// in. It is made by [Decode] and not to be changed.
type Config struct {
	Version string  `json:"version"`
	Agent   Agent   `json:"agent"`
	Model   Model   `json:"model"`
	Loop    Loop    `json:"loop"`
	Context Context `json:"context"`
	Tools   []Tool  `json:"tools"`
	MCP     MCP     `json:"mcp"`
	Reply   string  `json:"reply"` // auto, stream or tool: what becomes of plain text
	Access  Access  `json:"access"`
	// Invite are those who may add the agent to spaces, besides admins and owners:
	// ids, or InviteAdmin alone; nil is anyone.
	Invite []shoal.EntityID `json:"invite,omitempty"`
	Budget Budget           `json:"budget"`

	canonical []byte
}

// InviteAdmin is the value of Config.Invite for admins and owners alone.
const InviteAdmin = "admin"

// The values of Config.Reply.
const (
	ReplyAuto   = "auto"
	ReplyStream = "stream"
	ReplyTool   = "tool"
)

// Agent says who the agent is.
type Agent struct {
	ID           shoal.EntityID `json:"id"`
	Name         string         `json:"name"`
	Description  string         `json:"description"`
	System       string         `json:"system"`
	Instructions string         `json:"instructions"`
}

// Model says which model the agent asks, and how.
type Model struct {
	Provider string `json:"provider"` // openai, anthropic, google, ollama or script
	Name     string `json:"name"`
	BaseURL  string `json:"baseURL"` // empty is the vendor's
	API      string `json:"api"`     // default, chat or responses
	// Temperature is nil where the vendor's default counts.
	Temperature     *float64       `json:"temperature"`
	MaxOutputTokens int            `json:"maxOutputTokens"` // 0 is no limit of ours
	Reasoning       Reasoning      `json:"reasoning"`
	ProviderOptions map[string]any `json:"providerOptions"`
	// Price is nil where the model's list price counts.
	Price *Price `json:"price"`
}

// Price is what a model costs, in US dollars for a million tokens. CachedInput and
// CacheWrite are nil where they cost as much as other input.
type Price struct {
	Input       float64  `json:"input"`
	Output      float64  `json:"output"`
	CachedInput *float64 `json:"cachedInput"`
	CacheWrite  *float64 `json:"cacheWrite"`
}

// Reasoning asks the model to think first.
type Reasoning struct {
	Enabled         bool   `json:"enabled"`
	Effort          string `json:"effort"`
	BudgetTokens    int    `json:"budgetTokens"` // 0 leaves it to the vendor
	IncludeThoughts bool   `json:"includeThoughts"`
	Summary         string `json:"summary"` // auto, detailed, or empty
}

// Loop bounds a run. Times are milliseconds; 0 is no limit.
type Loop struct {
	MaxSteps             int    `json:"maxSteps"`
	ToolChoice           string `json:"toolChoice"` // auto, required or none
	RunTimeoutMs         int64  `json:"runTimeoutMs"`
	ToolTimeoutMs        int64  `json:"toolTimeoutMs"`
	MaxConsecutiveErrors int    `json:"maxConsecutiveErrors"`
	MaxIdenticalCalls    int    `json:"maxIdenticalCalls"`
	MaxParallelTools     int    `json:"maxParallelTools"`
	Continuation         int    `json:"continuation"`
	OnNewMessage         string `json:"onNewMessage"` // parallel, enqueue, interrupt or reject
	SettleMs             int64  `json:"settleMs"`
}

// Context says what the model sees of the past.
type Context struct {
	History      int       `json:"history"` // messages of the timeline
	Conversation bool      `json:"conversation"`
	Reduction    Reduction `json:"reduction"`
}

// Reduction makes a long conversation shorter.
type Reduction struct {
	Strategy  string `json:"strategy"` // none, count or summary
	Target    int    `json:"target"`
	Threshold int    `json:"threshold"`
}

// Access says whose rights bound what the agent reads and writes, beside its own:
// requester or agent. See the package behalf.
type Access struct {
	Read  string `json:"read"`
	Write string `json:"write"`
}

// Budget bounds what the agent may use; 0 is no limit.
type Budget struct {
	MaxTokensPerRun int64   `json:"maxTokensPerRun"`
	MaxCostPerDay   float64 `json:"maxCostPerDay"`
}

// MCP lists servers whose tools the agent gets.
type MCP struct {
	Servers []Server `json:"servers"`
}

// Server is one MCP server. Headers may refer to the environment. No AllowedTools
// are all of its tools.
type Server struct {
	Name               string            `json:"name"`
	URL                string            `json:"url"`
	Transport          string            `json:"transport"` // http or sse
	Headers            map[string]string `json:"headers"`
	AllowedTools       []string          `json:"allowedTools"`
	RequiresPermission bool              `json:"requiresPermission"`
}

// Tool is one tool of the agent. The field of Execution that ExecutionType names
// is set, the others are nil.
type Tool struct {
	Name          string    `json:"name"`
	Description   string    `json:"description"`
	ExecutionType Type      `json:"executionType"`
	Execution     Execution `json:"-"`
	// DisplayTool lets the model show the call in a space; Targeted lets it show
	// the call to one member alone.
	DisplayTool bool `json:"displayTool"`
	Targeted    bool `json:"targeted"`
	// Display is told to clients as the author wrote it; nil if he did not.
	Display            *Display `json:"display"`
	Answer             Answer   `json:"answer"`
	ExpiresInMs        int64    `json:"expiresInMs"` // 0 never
	Idempotent         bool     `json:"idempotent"`
	RequiresPermission bool     `json:"requiresPermission"`
	// InputSchema and OutputSchema are nil where the author wrote none.
	InputSchema  json.RawMessage `json:"inputSchema"`
	OutputSchema json.RawMessage `json:"outputSchema"`
}

// Display are hints for clients. Fields that the author left out are left out.
type Display struct {
	Mode       string `json:"mode,omitempty"` // full, minimal or hidden
	ShowInput  *bool  `json:"showInput,omitempty"`
	ShowOutput *bool  `json:"showOutput,omitempty"`
	CustomUI   string `json:"customUI,omitempty"`
}

// Answer says who may answer a call that waits for people.
type Answer struct {
	// By are ids of entities and the words of shoal.AnswererWords; empty is the default
	// of what is asked for, see the package approval.
	By []shoal.EntityID `json:"by"`
	// Quorum is how many of them have to give an equal answer.
	Quorum int `json:"quorum"`
	// NotRequester excludes every human behind the run.
	NotRequester bool `json:"notRequester"`
}
