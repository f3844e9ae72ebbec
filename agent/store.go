package agent

import (
	"context"
	"encoding/json"
	"time"
)

// Store keeps conversations. Writes of one conversation are made one after
// another; a write that returned nil is durable, one that returned an error has
// not happened, or the store is broken for good.
//
// A Store keeps what it is given and hands out what it keeps; neither side
// changes it afterwards. It has no clock: a record's LastActivity moves to
// Turn.StartedAt, Assistant.CreatedAt and TurnEnd.At, never back. All methods
// honour ctx. Errors are [*Error] of the kinds
// [ErrNotFound] and [ErrConflict] as said below; every other error counts as "the
// store failed".
type Store interface {
	// Load returns the record of a conversation. ErrNotFound when there is none.
	Load(ctx context.Context, conversation string) (Record, error)
	// Begin stores turn.Input at the end of the messages and opens the turn, in one
	// write. An open turn with the same id and a lower Attempt is taken over, its
	// input not stored again; from then on Commit and End of the lower attempt are
	// refused. Any other open turn: ErrConflict; so is an Attempt above 1 without the
	// turn. A conversation that is not there is made.
	Begin(ctx context.Context, conversation string, turn Turn) error
	// Commit stores step as it stands. A step with the index of the stored open
	// one replaces it; the next index opens a new one. When step.Done, its message
	// and results are put at the end of the messages, in the same write. ErrConflict
	// when the turn is not open in this attempt, or step is out of order.
	Commit(ctx context.Context, conversation string, ref TurnRef, step Step) error
	// End closes the turn, drops a step that is open, and stores what end brings.
	// Outcome [Waiting] leaves turn and step open and notes that it waits. ErrConflict
	// as in Commit.
	End(ctx context.Context, conversation string, ref TurnRef, end TurnEnd) error
	// Replace stores the record whole, if the stored one has the revision
	// record.Revision (0: there is none); the stored one gets the next. ErrConflict
	// otherwise. It is for everything that is not a turn: names, metadata, clear,
	// fork, hard reduction, the answer to a request.
	Replace(ctx context.Context, record Record) error
}

// Record is a conversation as a [Store] keeps it.
type Record struct {
	ID string `json:"id"`
	// Revision grows by one with each write.
	Revision     int64             `json:"revision"`
	CreatedAt    time.Time         `json:"createdAt"`
	LastActivity time.Time         `json:"lastActivity"`
	DisplayName  string            `json:"displayName,omitempty"`
	Metadata     map[string]string `json:"metadata,omitempty"`
	// Parent is the conversation that this one was forked from.
	Parent string `json:"parent,omitempty"`
	// Messages are the history, oldest first, whole steps only.
	Messages []Message `json:"messages"`
	// Summary is the last reduction; nil when there was none.
	Summary *Summary `json:"summary,omitempty"`
	// Rules are the remembered permissions, by the names of tools.
	Rules map[string]PermissionRule `json:"choices,omitempty"`
	// ContextState is what the context providers keep, by their names.
	ContextState map[string]json.RawMessage `json:"contextState,omitempty"`
	// Open is the turn that has not ended; nil when there is none.
	Open *OpenTurn `json:"open,omitempty"`
}

// Summary stands for the first Covers messages of a record, system messages
// aside.
type Summary struct {
	Text   string `json:"text"`
	Covers int    `json:"covers"`
	// Thoughtless is how many of the first messages the model sees without their
	// thoughts, those that the summary covers included.
	Thoughtless int `json:"thoughtless,omitempty"`
}

// Turn is what opens a turn.
type Turn struct {
	ID string `json:"id"`
	// Attempt counts from 1; every resume adds one.
	Attempt   int       `json:"attempt"`
	Agent     string    `json:"agent,omitempty"`
	Input     []Message `json:"input,omitempty"`
	StartedAt time.Time `json:"startedAt"`
}

// TurnRef names a turn and the attempt that writes.
type TurnRef struct {
	ID      string
	Attempt int
}

// OpenTurn is a turn in a record. Its steps that are done are among the
// record's messages; Base says where they begin.
type OpenTurn struct {
	Turn
	// Base is the number of messages of the record before the turn's input.
	Base int `json:"base"`
	// Steps are the turn's steps; only the last may be open.
	Steps []Step `json:"steps,omitempty"`
	// Waiting says that the turn ended as [Waiting].
	Waiting bool `json:"waiting,omitempty"`
}

// step returns the index of the step that the turn is at.
func (o *OpenTurn) step() int {
	if n := len(o.Steps); n > 0 && !o.Steps[n-1].Done {
		return n - 1
	}
	return len(o.Steps)
}

// Step is one model answer with the results of its calls. A step that is not
// Done lacks results: it is the checkpoint of a turn in the middle of its tools.
type Step struct {
	Index     int          `json:"index"`
	Assistant Message      `json:"assistant"`
	Results   []ToolResult `json:"results,omitempty"` // in the order of the calls; while open, of the finished ones
	Pending   []Pending    `json:"pending,omitempty"`
	// Started are the ids of the calls whose tools may have begun. One that is
	// among them and has no result was cut off.
	Started []string     `json:"started,omitempty"`
	Finish  FinishReason `json:"finish,omitempty"`
	Usage   Usage        `json:"usage"`
	Cost    float64      `json:"cost,omitempty"`
	Done    bool         `json:"done"`
	// Ends says how the turn ends, when it ends with this step.
	Ends *TurnEnd `json:"ends,omitempty"`
}

// Messages returns what a done step adds to the history: the assistant message
// and, if there are results, one tool message.
func (s Step) Messages() []Message {
	out := []Message{s.Assistant}
	if len(s.Results) > 0 {
		m := Message{ID: s.Assistant.ID + ".results", Role: ToolRole, CreatedAt: s.Assistant.CreatedAt}
		for i := range s.Results {
			m.Parts = append(m.Parts, Part{Type: ResultPart, Result: &s.Results[i]})
		}
		out = append(out, m)
	}
	return out
}

// TurnEnd is what closes a turn.
type TurnEnd struct {
	Outcome Outcome   `json:"outcome"`
	Reason  Reason    `json:"reason"`
	Message string    `json:"message,omitempty"`
	At      time.Time `json:"at"`
	// ContextState replaces the record's states of the providers that it names.
	ContextState map[string]json.RawMessage `json:"contextState,omitempty"`
	// Rules are permissions to remember, by the names of tools.
	Rules map[string]PermissionRule `json:"choices,omitempty"`
	// Summary replaces the record's summary unless it is nil.
	Summary *Summary `json:"summary,omitempty"`
}
