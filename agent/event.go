package agent

import (
	"encoding/json"
	"time"
)

// Event is what a turn emits while it runs. The set of types below is complete.
// Events have no wire format of their own: they are mapped to protocols (the table is
// in docs/agent.md).
//
// The order of one turn:
//
//	TurnStarted [Reduced, a hard one]
//	  per step: StepStarted [Interjected]
//	    per attempt: [Reduced] ModelCallStarted MessageStarted
//	      (ReasoningStarted ReasoningDelta* ReasoningEnded |
//	       TextStarted TextDelta* TextEnded | Cited |
//	       ToolCallStarted ToolArgsDelta* ToolCallEnded)*
//	    MessageEnded [ModelRetrying, then the next attempt]
//	    RequestOpened* RequestAnswered*
//	    per call: ToolStarted (ToolProgress | Nested)* ToolFinished
//	  StepFinished [Transferred]
//	TurnFinished
//
// Parts of one message open in the order of the model's output. The deltas of tool
// calls of one message may interleave, and so may ToolStarted, ToolProgress and Nested
// of parallel calls. ToolFinished events are in the order of the calls, but a call that
// waits for an external result does not delay the events after it. A step that waits
// has no StepFinished; it starts again with the same index when the turn resumes.
// [Warning] may occur anywhere in between.
type Event interface{ event() }

// TurnStarted opens every turn. Agent speaks first; after a [Transferred] event it is another
// one. Resumed reports that the turn began earlier, in a
// process that died or in a run that ended as waiting.
type TurnStarted struct {
	TurnID       string
	Conversation string
	Agent        string
	Resumed      bool
	At           time.Time
}

// StepStarted opens a step, counted from 0. Closing is the limit that the turn has reached
// if this step is its closing answer, which MaxSteps then includes. Repeated reports that a
// turn was resumed in the step, after its model had answered: the step was opened before.
// Errors is the number of consecutive steps with a failed result before it; Completed names
// the tools that ran in this turn so far, in order.
type StepStarted struct {
	Step      int
	Agent     string
	MaxSteps  int
	Errors    int
	Completed []string
	Closing   Reason
	Repeated  bool
}

// Interjected reports that messages of [Conversation.Interject] have entered the turn: the
// model reads them in this step. Repeated reports that an earlier run of the turn has
// emitted the event.
type Interjected struct {
	Step     int
	Messages []Message
	Repeated bool
}

// ModelCallStarted carries the request that is about to be sent. Attempt counts from
// 1. The request must not be changed.
type ModelCallStarted struct {
	Step    int
	Attempt int
	Model   ModelInfo
	Request *Request
}

// MessageStarted opens the assistant message of one attempt, even if it will contain
// only tool calls.
type MessageStarted struct {
	MessageID string
}

// ReasoningStarted opens a reasoning part.
type ReasoningStarted struct {
	MessageID, PartID string
}

// ReasoningDelta appends Text to the part.
type ReasoningDelta struct {
	PartID, Text string
}

// ReasoningEnded closes the part, before the part that follows it opens.
type ReasoningEnded struct {
	PartID string
}

// TextStarted opens a text part.
type TextStarted struct {
	MessageID, PartID string
}

// TextDelta appends Text to the part. Offset is the number of bytes that the
// part had before.
type TextDelta struct {
	PartID, Text string
	Offset       int
}

// TextEnded closes the part.
type TextEnded struct {
	PartID string
}

// Cited reports a source of a text part, after the text that it refers to; the part may be
// closed already.
type Cited struct {
	MessageID, PartID string
	Citation          Citation
}

// ToolCallStarted opens a tool call of the message.
type ToolCallStarted struct {
	MessageID, CallID, Name string
}

// ToolArgsDelta appends Text to the call's arguments. Offset is the number of
// bytes that the arguments had before.
type ToolArgsDelta struct {
	CallID, Text string
	Offset       int
}

// ToolCallEnded closes the call and carries its complete arguments.
type ToolCallEnded struct {
	Call ToolCall
}

// MessageEnded closes the message. Discarded reports that the attempt failed and that
// its content must be removed from the display; a message with another id follows, or
// the turn fails. Interrupted reports that the message remains although it is
// incomplete. Usage is what the attempt used, as far as the provider reported it.
// Model is the model that answered, which differs from that of [ModelCallStarted]
// after a fallback.
type MessageEnded struct {
	MessageID   string
	Discarded   bool
	Interrupted bool
	Finish      FinishReason
	Usage       Usage
	Model       ModelInfo
}

// ModelRetrying reports that the model is called again, as Attempt, after Delay.
type ModelRetrying struct {
	Step    int
	Attempt int
	Delay   time.Duration
	Err     error
}

// OutputPartial is the value so far of a structured answer, completed so that it
// parses. It is emitted at most about ten times a second.
type OutputPartial struct {
	MessageID string
	Value     json.RawMessage
}

// RequestOpened reports that the turn needs an answer from outside. The request is
// stored before this event. Repeated reports that an earlier run of the turn has stored the
// request, and emitted the event unless it died in between.
type RequestOpened struct {
	Pending  Pending
	Repeated bool
}

// RequestAnswered reports that a request was answered, and that the answer is stored.
type RequestAnswered struct {
	Pending Pending
}

// ToolStarted reports that the call's tool starts now.
type ToolStarted struct {
	Call ToolCall
}

// ToolProgress is a tool's report of its progress; see [Progress]. Percent is
// negative if unknown.
type ToolProgress struct {
	CallID  string
	Message string
	Percent float64
}

// ToolFinished is the one result of a call. Err is the cause of a failure, for
// the operator; the model reads only Result.Text. A resumed turn emits the
// results of its open step again, with Repeated set.
type ToolFinished struct {
	Result   ToolResult
	Repeated bool
	Duration time.Duration
	Err      error
}

// StepFinished closes a step. Its message and results are being written to the
// store; TurnFinished reports whether that succeeded. Attempts is 0 if the model's
// answer was stored already and only calls were left.
type StepFinished struct {
	Step     int
	Agent    string
	Finish   FinishReason
	Attempts int
	Usage    Usage
	Cost     float64 // in USD, 0 when the price is unknown
	Duration time.Duration
}

// Transferred reports that the agent To makes the steps from Step on, in place of From; see
// [AsHandoff].
type Transferred struct {
	Step     int
	From, To string
}

// Reduced reports that the model will see less than the whole history. Forced reports
// that a context overflow required it. Cached reports that an earlier summary was
// reused, without a model call.
type Reduced struct {
	Strategy      ReductionStrategy
	Before, After int // messages of the history, and of what the model sees of it
	Cached        bool
	Hard          bool
	Forced        bool
	Usage         Usage     // of the call that wrote the summary
	Model         ModelInfo // of the call that wrote the summary; zero if none was written
}

// Nested is an event of TurnID, the turn of a sub-agent that executes the tool call
// CallID. Chain names the agents from the outermost to the one that emitted the event;
// its length is the depth plus one.
type Nested struct {
	CallID string
	TurnID string
	Chain  []string
	Event  Event
}

// Warning reports a failure outside of the loop that does not end the turn. Source
// names what failed: context/NAME, observer/NAME, reduction.
type Warning struct {
	Source string
	Err    error
}

// TurnFinished ends every turn, exactly once, after everything is stored.
type TurnFinished struct {
	TurnID string
	// Agent is the name of the agent that spoke last.
	Agent   string
	Outcome Outcome
	Reason  Reason
	// Message says in a sentence or two for people how the turn ended. It is empty if the
	// turn completed with an answer of its own accord; if it completed without a text, it
	// says why.
	Message string
	// Err is the cause of a failure, for the operator.
	Err      error
	Steps    int
	Usage    Usage
	Cost     float64
	Duration time.Duration
	// ByAgent divides Usage and Cost among the agents that spoke, in the order in which they
	// first did. It is nil if the agent has no handoffs.
	ByAgent []Spending
	// Pending are the requests that a waiting turn needs answers to.
	Pending []Pending
	// Unread are the interjected messages that no step has read, because the turn ended
	// before. They are in the history: the next turn reads them, also one without input.
	Unread []Message
	// Unsaved reports that the last step could not be stored: events were emitted
	// whose content is not in the conversation.
	Unsaved bool
}

// Spending is what one agent used in a turn, and what that cost in USD.
type Spending struct {
	Agent string
	Usage Usage
	Cost  float64
}

// Outcome is the state in which a turn ends.
type Outcome string

// The outcomes. A waiting turn can be resumed; the others are final.
const (
	Completed Outcome = "completed"
	Failed    Outcome = "failed"
	Canceled  Outcome = "canceled"
	Waiting   Outcome = "waiting"
)

// Reason is why a turn ended. The reasons of failures are the error codes of a failed
// run in the server's API; provider_invalid, output_invalid, unknown_tool,
// empty_answer and denied exist only in this package.
type Reason string

// The reasons.
const (
	ReasonDone            Reason = "done"            // the model answered without tool calls
	ReasonLength          Reason = "length"          // the answer reached MaxOutputTokens
	ReasonPending         Reason = "pending"         // an answer from outside is needed
	ReasonMaxSteps        Reason = "max_steps"       // every step was used; completed if there is a closing answer
	ReasonMaxErrors       Reason = "max_errors"      // too many consecutive steps with errors; completed likewise
	ReasonIdenticalCalls  Reason = "identical_calls" // the same call was made too often
	ReasonUnknownTool     Reason = "unknown_tool"    // only with StopOnUnknownTool
	ReasonDenied          Reason = "denied"          // no more steps were granted; completed likewise
	ReasonProviderAuth    Reason = "provider_auth"   // ClassAuth, ClassQuota
	ReasonRateLimited     Reason = "provider_rate_limited"
	ReasonUnavailable     Reason = "provider_unavailable" // overloaded, network, time-out, malformed, too large
	ReasonInvalidRequest  Reason = "provider_invalid"     // ClassInvalid
	ReasonContextOverflow Reason = "context_overflow"     // too long for the model even after the forced reduction
	ReasonFiltered        Reason = "content_filtered"
	ReasonEmpty           Reason = "empty_answer" // two answers without text and calls at the start of the turn
	ReasonTimeout         Reason = "timeout"      // the turn exceeded TurnTimeout
	ReasonBudget          Reason = "budget_exhausted"
	ReasonStorage         Reason = "storage"
	ReasonCanceled        Reason = "canceled"
	ReasonOutput          Reason = "output_invalid" // the structured answer does not fit its schema
	ReasonInternal        Reason = "internal"
)

func (TurnStarted) event()      {}
func (StepStarted) event()      {}
func (Interjected) event()      {}
func (ModelCallStarted) event() {}
func (MessageStarted) event()   {}
func (ReasoningStarted) event() {}
func (ReasoningDelta) event()   {}
func (ReasoningEnded) event()   {}
func (TextStarted) event()      {}
func (TextDelta) event()        {}
func (TextEnded) event()        {}
func (Cited) event()            {}
func (ToolCallStarted) event()  {}
func (ToolArgsDelta) event()    {}
func (ToolCallEnded) event()    {}
func (MessageEnded) event()     {}
func (ModelRetrying) event()    {}
func (OutputPartial) event()    {}
func (RequestOpened) event()    {}
func (RequestAnswered) event()  {}
func (ToolStarted) event()      {}
func (ToolProgress) event()     {}
func (ToolFinished) event()     {}
func (StepFinished) event()     {}
func (Transferred) event()      {}
func (Reduced) event()          {}
func (Nested) event()           {}
func (Warning) event()          {}
func (TurnFinished) event()     {}
