package agent

import (
	"context"
	"encoding/json"
	"time"
)

// Options configure an [Agent]. The zero value of a field means its default; where
// a limit can be removed, a negative number removes it.
type Options struct {
	// Name is the agent's name in events, requests and telemetry. Default "agent".
	Name        string
	Description string
	// Instructions are the system prompt.
	Instructions string
	Tools        []Tool
	ToolChoice   ToolChoice
	Settings     Settings
	// Output requests a structured answer.
	Output *Structured

	// MaxSteps is the number of model calls in a turn, without retries and the closing
	// answer. Default 10.
	MaxSteps int
	// Continuation is the number of further steps that the turn requests from a person
	// at the limit; with 0 the turn does not ask. If they are denied, the limit is reached.
	Continuation int
	// MaxErrors ends the turn after that many consecutive steps with a failed
	// result. Default 3; negative means no limit.
	MaxErrors int
	// NoClosingAnswer fails the turn at MaxSteps and MaxErrors. Without it, the turn makes
	// one more model call there: the model is asked to answer with what it knows and may
	// call no tools, except those of a structured answer. The turn is completed with that
	// answer and has the reason [ReasonMaxSteps], [ReasonMaxErrors] or [ReasonDenied]. If
	// the model calls a tool nevertheless, answers nothing twice or fails, or if MaxTokens
	// or MaxCost is used up, the turn fails with that reason. [StepStarted] marks the step.
	// The request for the answer is not stored.
	NoClosingAnswer bool
	// MaxIdenticalCalls refuses the call that would be the n-th in a row of a tool with
	// the same arguments, if all calls before it had the same result. The model reads
	// the reason ([ResultRepeated]). One more such call ends the turn. Calls of tools
	// that are Repeatable do not count. Default 5; negative means no limit.
	MaxIdenticalCalls int
	// MaxParallelTools is how many tools of one step run concurrently. Default 8.
	MaxParallelTools int
	// StopOnUnknownTool fails the turn when the model calls a tool that does not
	// exist, instead of returning an error result to the model.
	StopOnUnknownTool bool
	// DetailedErrors shows the model the text of tool errors.
	DetailedErrors bool
	// KeepReasoning keeps the reasoning of earlier turns when the history is reduced.
	// Between two reductions reasoning always stays, because removing it would change
	// the start of the prompt and lose the provider's prompt cache. A provider receives
	// only its own reasoning.
	KeepReasoning bool
	// MaxAnswerBytes limits one model answer, MaxArgumentBytes the arguments of one
	// call (longer ones are refused and stored as {}), MaxResultBytes the text of
	// one result, which is truncated with a mark.
	// Defaults 16 MiB, 1 MiB, 256 KiB.
	MaxAnswerBytes   int
	MaxArgumentBytes int
	MaxResultBytes   int

	// TurnTimeout limits a turn, not counting the time that it waits for the store and
	// for people. Default 5 minutes; negative means no limit.
	TurnTimeout time.Duration
	// AttemptTimeout limits the time to the first chunk of a model call, not counting what
	// middleware does before the call, and StallTimeout the time between two chunks.
	// Defaults 60 s and 60 s; negative means no limit.
	AttemptTimeout time.Duration
	StallTimeout   time.Duration
	// ToolTimeout limits a tool call. Default 30 s; negative means no limit.
	ToolTimeout time.Duration
	// Grace is how long a turn waits for a tool that ignores its context. Default 5 s.
	Grace time.Duration
	Retry Retry

	// Answer, if set, is called with every request while the turn runs, one request at
	// a time and while no tool of this turn runs: first the calls of the step that need no
	// answer run, then it is called for all permissions, then the permitted calls run. If
	// it takes longer than AnswerTimeout (default 5 minutes), the request is denied. It
	// returns false to leave the request pending. Without it, every request makes the
	// turn wait.
	Answer        func(ctx context.Context, p Pending) (Answer, bool)
	AnswerTimeout time.Duration
	// Authorize, if set, decides before a person is asked. If it returns [AskEachTime],
	// a person decides. A resumed turn calls it again for the calls that it has yet to
	// run; a call that it then denies does not run, even if a person approved it.
	Authorize func(ctx context.Context, call ToolCall, spec ToolSpec) PermissionRule
	// FullAccess grants every call without a request and does not change remembered
	// choices.
	FullAccess bool

	Reduction  Reduction
	Context    []ContextProvider
	Middleware []Middleware
	Observers  []Observer
	// Price returns the cost of a step in USD. If it is nil, steps cost nothing.
	Price func(model ModelInfo, u Usage) float64
	// MaxTokens and MaxCost end a turn that has used more before its next step; 0
	// means no limit. MaxCost requires a Price that knows the model. If another model
	// without a price answers, the turn emits one [Warning] from the source "price".
	MaxTokens int64
	MaxCost   float64
}

// Retry configures when a failed model call is repeated.
type Retry struct {
	// Attempts is the maximum number of model calls in a step. Default 4, so 3 retries.
	// The call with a shorter history after a context overflow, the call after an
	// empty answer and the calls of further models of a [Fallback] do not count.
	Attempts int
	// Base is the delay before the first retry; it doubles up to Max, and a jitter
	// shortens it by up to a quarter. Defaults 1 s and 30 s. A provider's RetryAfter
	// takes precedence and is not shortened; if it exceeds the turn's remaining time,
	// the turn fails immediately.
	Base, Max time.Duration
	// PerClass limits the retries of a class below Attempts-1.
	PerClass map[ErrorClass]int
	// Decide, if set, is called first: it returns the delay, and whether to try again
	// at all. If its third result is false, the rules above decide. attempt is 1 after
	// the first call that counts. With a [Fallback] it is called when every model has
	// failed, with the errors of all.
	Decide func(attempt int, err error) (delay time.Duration, again, decided bool)
}

// ContextProvider adds messages, tools and instructions to what the model sees in a
// turn, for example memories or facts.
type ContextProvider interface {
	Name() string
	// Provide is called when a turn begins or continues, with only its new input and the
	// state that AfterTurn returned last; what it adds is not stored. An error is a
	// [Warning]; the turn continues without the provider.
	Provide(ctx context.Context, in ContextRequest) (ProvidedContext, error)
	// AfterTurn is called once at the end of every turn that Provide was called for,
	// whatever its outcome; a suspended turn has not ended. It returns the state to store.
	AfterTurn(ctx context.Context, in EndedTurn) (json.RawMessage, error)
}

// ContextRequest is what a context provider receives when a turn begins or continues.
type ContextRequest struct {
	Conversation string
	Input        []Message
	State        json.RawMessage
}

// ProvidedContext is what a context provider adds: messages before the input, which are not
// stored, tools after the agent's own, and instructions on a line of their own after the
// agent's.
type ProvidedContext struct {
	Messages     []Message
	Tools        []Tool
	Instructions string
}

// EndedTurn is what a context provider receives at the end of a turn.
type EndedTurn struct {
	Conversation    string
	Input           []Message
	ContextMessages []Message
	// Response are the messages that the turn added after its input.
	Response []Message
	// Err is why the turn did not complete, nil if it did.
	Err   error
	State json.RawMessage
}

// Observer is notified of operations, for traces and metrics. Start is called when an
// operation begins. It returns the context for what happens inside the operation, and
// a function that is called once when the operation ends. A panic in either is a
// [Warning]. Observers are called in order, their end functions in reverse order.
type Observer interface {
	Name() string
	Start(ctx context.Context, op Operation) (context.Context, func(OperationResult))
}

// OperationKind is the kind of an [Operation].
type OperationKind string

// The kinds of operations. A turn contains steps; a step contains model calls (one per
// attempt) and tool calls.
const (
	OpTurn  OperationKind = "turn"
	OpStep  OperationKind = "step"
	OpModel OperationKind = "model"
	OpTool  OperationKind = "tool"
)

// Operation describes an operation that begins. Only the fields of its kind are set.
type Operation struct {
	Kind         OperationKind
	Agent        string
	Description  string
	Conversation string
	TurnID       string
	Step         int
	Attempt      int
	Model        ModelInfo
	Request      *Request // model; not to be changed
	Input        []Message
	Call         ToolCall
	Tool         ToolSpec
}

// OperationResult describes how an operation ended. Only the fields of its kind are set.
type OperationResult struct {
	Err      error
	Usage    Usage
	Cost     float64
	Finish   FinishReason
	Message  *Message      // model: the answer, as far as it came
	Model    ModelInfo     // model: the model that answered, which differs from that of the Operation after a fallback
	First    time.Duration // model: until the first chunk, 0 when none came
	Result   ToolResult
	Outcome  Outcome
	Reason   Reason
	Steps    int // turn
	Calls    int // turn
	Duration time.Duration
}
