package agent

import (
	"context"
	"encoding/json"
	"time"
)

// Options configure an [Agent]. The zero value of a field is its default; where
// "none" is a choice, a negative number says it.
type Options struct {
	// Name is who speaks: in events, requests and telemetry. Default "agent".
	Name        string
	Description string
	// Instructions are the system prompt.
	Instructions string
	Tools        []Tool
	ToolChoice   ToolChoice
	Settings     Settings
	// Output asks for a structured answer.
	Output *Structured

	// MaxSteps is the number of model calls in a turn. Default 10.
	MaxSteps int
	// Continuation is how many more steps a person is asked for at the limit; 0
	// fails the turn there.
	Continuation int
	// MaxErrors ends the turn after that many consecutive steps with a failed
	// result. Default 3, negative none.
	MaxErrors int
	// MaxIdenticalCalls refuses a call when a tool would be called with the same
	// arguments for that many times in a row and each call before had the same result;
	// the model reads why ([ResultRepeated]). One more such call ends the turn. Tools
	// that are Repeatable are not counted. Default 5, negative none.
	MaxIdenticalCalls int
	// MaxParallelTools is how many tools of one step run at once. Default 8.
	MaxParallelTools int
	// StopOnUnknownTool fails the turn when the model calls a tool that is not
	// there, instead of telling the model.
	StopOnUnknownTool bool
	// DetailedErrors shows the model the text of tool errors.
	DetailedErrors bool
	// KeepReasoning keeps the thoughts of earlier turns when the history is reduced.
	// Between two reductions thoughts always stay, since dropping them would change
	// the past of the prompt and lose the provider's prompt cache. A provider is sent
	// only its own.
	KeepReasoning bool
	// MaxAnswerBytes bounds one model answer, MaxArgumentBytes the arguments of one
	// call (a longer one is refused and stored as {}), MaxResultBytes the text of
	// one result, which is cut there with a mark.
	// Defaults 16 MiB, 1 MiB, 256 KiB.
	MaxAnswerBytes   int
	MaxArgumentBytes int
	MaxResultBytes   int

	// TurnTimeout bounds a turn, waiting for the store and for people aside.
	// Default 5 minutes, negative none.
	TurnTimeout time.Duration
	// AttemptTimeout bounds the time to the first chunk of a model call, and
	// StallTimeout the time between two. Defaults 60 s and 60 s, negative none.
	AttemptTimeout time.Duration
	StallTimeout   time.Duration
	// ToolTimeout bounds a tool call. Default 30 s, negative none.
	ToolTimeout time.Duration
	// Grace is how long a turn waits for a tool that ignores its context. Default 5 s.
	Grace time.Duration
	Retry Retry

	// Answer, if set, is asked on the spot about every request, one at a time and
	// within AnswerTimeout (default 5 minutes; over it the request is denied). It
	// returns false to leave the request pending. Without it every request makes
	// the turn wait.
	Answer        func(ctx context.Context, p Pending) (Answer, bool)
	AnswerTimeout time.Duration
	// Authorize, if set, decides before a person does. With [AskEachTime] a person decides. It is
	// asked again about the calls that a resumed turn has still to run; what it denies
	// then does not run, whoever approved it.
	Authorize func(ctx context.Context, call ToolCall, spec ToolSpec) PermissionRule
	// FullAccess lets every call run without asking and leaves remembered choices
	// as they are.
	FullAccess bool

	Reduction  Reduction
	Context    []ContextProvider
	Middleware []Middleware
	Observers  []Observer
	// Price returns the cost of a step in USD. nil costs nothing.
	Price func(model ModelInfo, u Usage) float64
	// MaxTokens and MaxCost end a turn that has used more before its next step; 0
	// is none. MaxCost needs a Price that knows the model; a turn warns once, from the
	// source "price", if another model answers that has none.
	MaxTokens int64
	MaxCost   float64
}

// Retry says when a failed model call is made again.
type Retry struct {
	// Attempts is how often a step asks the model at most. Default 4, so 3 retries.
	// The call with less history after a context overflow and the one after an empty
	// answer come on top.
	Attempts int
	// Base is the delay before the first retry; it doubles up to Max and is spread
	// by a jitter of up to a quarter less. Defaults 1 s and 30 s. A provider's
	// RetryAfter is taken instead, whole; one that exceeds the turn's remaining
	// time fails the turn at once.
	Base, Max time.Duration
	// PerClass limits the retries of a class below Attempts-1.
	PerClass map[ErrorClass]int
	// Decide, if set, comes first: it returns the delay, and whether to try again
	// at all. The third result false leaves the decision to the rules above.
	Decide func(attempt int, err error) (delay time.Duration, again, decided bool)
}

// ContextProvider adds to what the model sees in a turn: memories, facts,
// tools.
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

// Observer watches operations, for traces and metrics. Start is called when an
// operation begins and returns the context for what happens inside it, and a
// function that is called once when it ends. A panic in either is a [Warning].
// Observers are called in their order, ends in reverse.
type Observer interface {
	Name() string
	Start(ctx context.Context, op Operation) (context.Context, func(OperationResult))
}

// OperationKind is what an [Observer] can see.
type OperationKind string

// The kinds of operations. A turn holds steps, a step model calls (one per
// attempt) and tool calls.
const (
	OpTurn  OperationKind = "turn"
	OpStep  OperationKind = "step"
	OpModel OperationKind = "model"
	OpTool  OperationKind = "tool"
)

// Operation describes what begins. Only the fields of its kind are set.
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
