package agentconfig

import "encoding/json"

// Type is a kind of tool: where and how it is executed.
type Type string

// The kinds of tools.
const (
	BasicType   Type = "basic"
	RequestType Type = "request"
	AgentType   Type = "ai-agent"
	ImageType   Type = "image-generator"
	WaitingType Type = "waiting"
	ComputeType Type = "compute"
	// BuiltInType is for entries of tools that every agent has anyway. They are accepted,
	// since old configs contain them, and have no effect.
	BuiltInType Type = "prebuilt"
)

// Execution contains the settings for the tool's type.
type Execution struct {
	Basic   *Basic
	Request *Request
	Agent   *AgentCall
	Image   *Image
	Waiting *Waiting
	Compute *Compute
	BuiltIn *BuiltIn
}

// The modes of a basic tool.
const (
	NoExecution = "no-execution" // a client executes it
	Static      = "static"       // returns Output
	PassThrough = "pass-through" // returns its input
)

// Basic is a tool without an effect of its own.
type Basic struct {
	Mode   string         `json:"mode"`
	Output map[string]any `json:"output"`
	// Template replaces {{name}} in Output with values of the input.
	Template bool `json:"template"`
}

// Request is an HTTP request. URL, Headers, QueryParams and Body may contain {{name}} for a
// value of the input and ${env.NAME} for a value of the environment.
type Request struct {
	URL         string            `json:"url"`
	Method      string            `json:"method"`
	Headers     map[string]string `json:"headers"`
	QueryParams map[string]any    `json:"queryParams"` // texts, numbers and booleans
	// Body is nil if the input is the body.
	Body json.RawMessage `json:"body"`
	// Timeout is milliseconds.
	Timeout int64 `json:"timeout"`
}

// AgentCall calls another hosted agent.
type AgentCall struct {
	AgentConfig    string `json:"agentConfig"` // the id of the other agent
	IncludeContext bool   `json:"includeContext"`
	Stream         bool   `json:"stream"`
	Timeout        int64  `json:"timeout"` // milliseconds
}

// Image creates pictures, which the server stores as files.
type Image struct {
	Provider string `json:"provider"` // openai (also called dall-e) or google
	Model    string `json:"model"`    // empty means the server's choice
	// APIKey is a reference to the environment; empty means the server's own key of the
	// provider.
	APIKey string `json:"apiKey"`
	// BaseURL is the base URL of the provider's API, as for a model; empty means the vendor's.
	BaseURL string `json:"baseURL"`
	// Size is WIDTHxHEIGHT, or auto, landscape, portrait or square. Google uses the nearest
	// ratio that it supports.
	Size    string `json:"size"`
	Quality string `json:"quality"`
	Style   string `json:"style"`
	// IncludeContext puts the newest messages of the conversation before the prompt.
	IncludeContext bool  `json:"includeContext"`
	Timeout        int64 `json:"timeout"` // milliseconds
}

// Waiting lets the run wait without using resources.
type Waiting struct {
	Duration int64  `json:"duration"` // milliseconds
	Reason   string `json:"reason"`
}

// Compute evaluates an expression over the input.
type Compute struct {
	Operation  string `json:"operation"` // a name for the result
	Expression string `json:"expression"`
}

// BuiltIn names a tool that every agent has.
type BuiltIn struct {
	Action string `json:"action"`
}

// UnmarshalJSON reads a tool of the canonical form.
func (t *Tool) UnmarshalJSON(text []byte) error {
	type plain Tool
	var in struct {
		plain
		Execution json.RawMessage `json:"execution"`
	}
	if err := json.Unmarshal(text, &in); err != nil {
		return err
	}
	*t = Tool(in.plain)
	x := &t.Execution
	target := map[Type]any{
		BasicType: &x.Basic, RequestType: &x.Request, AgentType: &x.Agent, ImageType: &x.Image,
		WaitingType: &x.Waiting, ComputeType: &x.Compute, BuiltInType: &x.BuiltIn,
	}[t.ExecutionType]
	return json.Unmarshal(in.Execution, target)
}
