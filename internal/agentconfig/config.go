package agentconfig

import (
	"encoding/json"

	"github.com/shoal-dev/shoal"
)

// Version is the only version of the format.
const Version = "1.0"

// Config is the complete configuration of a hosted agent, including every default. It is
// created by [Decode] and must not be modified.
type Config struct {
	Version string `json:"version"`
	Agent   Agent  `json:"agent"`
	// Model is the zero value for a remote agent.
	Model Model `json:"model,omitzero"`
	// Remote is nil unless a program outside of the server executes the agent's runs.
	Remote  *Remote `json:"remote,omitempty"`
	Loop    Loop    `json:"loop"`
	Context Context `json:"context"`
	Tools   []Tool  `json:"tools"`
	MCP     MCP     `json:"mcp"`
	Reply   string  `json:"reply"` // auto, stream or tool: the use of plain text
	Access  Access  `json:"access"`
	// Invite are the entities that may add the agent to spaces, besides admins and owners:
	// ids, or InviteAdmin alone; nil means anyone.
	Invite []shoal.EntityID `json:"invite,omitempty"`
	Budget Budget           `json:"budget"`

	canonical []byte
}

// InviteAdmin is the value of Config.Invite that permits only admins and owners.
const InviteAdmin = "admin"

// The values of Config.Reply.
const (
	ReplyAuto   = "auto"
	ReplyStream = "stream"
	ReplyTool   = "tool"
)

// Agent is the identity of the agent.
type Agent struct {
	ID           shoal.EntityID `json:"id"`
	Name         string         `json:"name"`
	Description  string         `json:"description"`
	System       string         `json:"system"`
	Instructions string         `json:"instructions"`
}

// Model is the model that the agent uses, with its settings.
type Model struct {
	Provider string `json:"provider"` // openai, anthropic, google, azure, vertex, bedrock, ollama or script
	Name     string `json:"name"`
	BaseURL  string `json:"baseURL"` // empty means the vendor's
	API      string `json:"api"`     // default, chat or responses
	// Temperature is nil for the vendor's default.
	Temperature     *float64       `json:"temperature"`
	MaxOutputTokens int            `json:"maxOutputTokens"` // 0 means no limit by Shoal
	Reasoning       Reasoning      `json:"reasoning"`
	ProviderOptions map[string]any `json:"providerOptions"`
	// Price is nil for the model's list price.
	Price *Price `json:"price"`
}

// Remote bounds what a program outside of the server does for the runs that it executes.
type Remote struct {
	// Concurrency is how many runs programs may hold at the same time; 0 means no limit.
	Concurrency int `json:"concurrency"`
	// ExpiresInMs is when a permission or a question of a run counts as denied; 0 means never.
	ExpiresInMs int64 `json:"expiresInMs"`
}

// Price is the price of a model in US dollars per million tokens. CachedInput and CacheWrite
// are nil if they cost the same as other input.
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
	BudgetTokens    int    `json:"budgetTokens"` // 0 means the vendor's default
	IncludeThoughts bool   `json:"includeThoughts"`
	Summary         string `json:"summary"` // auto, detailed, or empty
}

// Loop limits a run. Times are milliseconds; 0 means no limit.
type Loop struct {
	MaxSteps             int    `json:"maxSteps"`
	ToolChoice           string `json:"toolChoice"` // auto, required or none
	RunTimeoutMs         int64  `json:"runTimeoutMs"`
	ToolTimeoutMs        int64  `json:"toolTimeoutMs"`
	MaxConsecutiveErrors int    `json:"maxConsecutiveErrors"`
	MaxIdenticalCalls    int    `json:"maxIdenticalCalls"`
	MaxParallelTools     int    `json:"maxParallelTools"`
	Continuation         int    `json:"continuation"`
	ClosingAnswer        bool   `json:"closingAnswer"` // at a limit, unless Reply is ReplyTool
	OnNewMessage         string `json:"onNewMessage"`  // parallel, enqueue, interrupt, reject or steer
	SettleMs             int64  `json:"settleMs"`
}

// Context selects the history that the model sees.
type Context struct {
	History      int       `json:"history"` // messages of the timeline
	Conversation bool      `json:"conversation"`
	Reduction    Reduction `json:"reduction"`
}

// Reduction shortens a long conversation.
type Reduction struct {
	Strategy  string `json:"strategy"` // none, count or summary
	Target    int    `json:"target"`
	Threshold int    `json:"threshold"`
}

// Access selects whose rights limit the agent's reads and writes, besides its own: requester
// or agent. See the package behalf.
type Access struct {
	Read  string `json:"read"`
	Write string `json:"write"`
}

// Budget limits the usage of the agent; 0 means no limit.
type Budget struct {
	MaxTokensPerRun int64   `json:"maxTokensPerRun"`
	MaxCostPerDay   float64 `json:"maxCostPerDay"`
}

// MCP lists servers whose tools the agent can use.
type MCP struct {
	Servers []Server `json:"servers"`
}

// Server is an MCP server. Headers may refer to the environment. An empty AllowedTools means
// all of its tools.
type Server struct {
	Name               string            `json:"name"`
	URL                string            `json:"url"`
	Transport          string            `json:"transport"` // http or sse
	Headers            map[string]string `json:"headers"`
	AllowedTools       []string          `json:"allowedTools"`
	RequiresPermission bool              `json:"requiresPermission"`
}

// Tool is a tool of the agent. The field of Execution for ExecutionType is set, the others
// are nil.
type Tool struct {
	Name          string    `json:"name"`
	Description   string    `json:"description"`
	ExecutionType Type      `json:"executionType"`
	Execution     Execution `json:"-"`
	// DisplayTool lets the model show the call in a space; Targeted lets it show the call
	// to a single member.
	DisplayTool bool `json:"displayTool"`
	Targeted    bool `json:"targeted"`
	// Display is passed to clients unchanged; nil if the author did not set it.
	Display            *Display `json:"display"`
	Answer             Answer   `json:"answer"`
	ExpiresInMs        int64    `json:"expiresInMs"` // 0 means never
	Idempotent         bool     `json:"idempotent"`
	RequiresPermission bool     `json:"requiresPermission"`
	// InputSchema and OutputSchema are nil if the author did not set them.
	InputSchema  json.RawMessage `json:"inputSchema"`
	OutputSchema json.RawMessage `json:"outputSchema"`
}

// Display describes to clients how to show the calls. Fields that the author did not set are omitted.
type Display struct {
	Mode       string `json:"mode,omitempty"` // full, minimal or hidden
	ShowInput  *bool  `json:"showInput,omitempty"`
	ShowOutput *bool  `json:"showOutput,omitempty"`
	CustomUI   string `json:"customUI,omitempty"`
}

// Answer is the policy for answers to a call that waits for people.
type Answer struct {
	// By are ids of entities and the words of shoal.AnswererGroups. Empty means the default
	// for the kind of request, see the package approval.
	By []shoal.EntityID `json:"by"`
	// Quorum is the number of equal answers that are required.
	Quorum int `json:"quorum"`
	// NotRequester excludes the run's requesters.
	NotRequester bool `json:"notRequester"`
	// Choose is [shoal.ChooseOne] for calls of one step that are alternatives, else empty.
	Choose string `json:"choose,omitempty"`
}
