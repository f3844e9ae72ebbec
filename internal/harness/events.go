package harness

import "encoding/json"

// Event is something that a harness reports of a turn.
type Event interface{ event() }

// Started reports that the model has the prompt. It comes at most once in a turn, before every
// other event but [Tool].
type Started struct{}

// Steered reports that the model has the text that [Session.Steer] added with that id.
type Steered struct{ ID string }

// Text is a piece of the answer.
type Text struct{ Delta string }

// Thought is a piece of what the model thinks, if the harness shows it.
type Thought struct{ Delta string }

// ToolState is how far a tool call is.
type ToolState string

// The states of a tool call. A call that was not executed because it was denied has failed.
const (
	ToolRunning   ToolState = "running"
	ToolCompleted ToolState = "completed"
	ToolFailed    ToolState = "failed"
)

// Tool is a tool call as far as it is known. A later event of the same CallID replaces the earlier
// one; fields that the harness did not repeat keep their values.
type Tool struct {
	CallID string
	// Name is the harness's name of the tool, such as "Bash".
	Name string
	// Title describes the call in one line, such as the command.
	Title string
	// Args are the arguments as the harness gave them; nil if it gave none.
	Args   json.RawMessage
	State  ToolState
	Output string
}

// Permission is a request: the harness waits until [Session.Answer] has answered it.
type Permission struct {
	CallID string
	Name   string
	Title  string
	// Args are the arguments that the harness will use. They are nil if it gave none: then the
	// title and the text are all that is known about the call.
	Args json.RawMessage
	Text string
}

// Usage is what a part of the turn has used. The events of a turn add up.
type Usage struct {
	InputTokens, CachedTokens, OutputTokens int
	// Cost is in US dollars; nil if the harness did not report it.
	Cost *float64
}

// Stop is why a turn ended.
type Stop string

// The reasons why a turn ends.
const (
	StopCompleted Stop = "completed"
	StopCanceled  Stop = "canceled"
	// StopLimit means that the model reached the limit of its answer, its context or its requests.
	StopLimit   Stop = "limit"
	StopRefused Stop = "refused"
	StopFailed  Stop = "failed"
)

// Ended is the last event of a turn. Text says why a turn failed, in the words of the harness.
type Ended struct {
	Stop Stop
	Text string
}

func (Started) event()    {}
func (Steered) event()    {}
func (Text) event()       {}
func (Thought) event()    {}
func (Tool) event()       {}
func (Permission) event() {}
func (Usage) event()      {}
func (Ended) event()      {}
