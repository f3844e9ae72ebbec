package agent

import (
	"context"
	"encoding/json"
	"slices"
	"time"
)

// Store stores conversations. The writes of one conversation happen one after
// another. A write that returns nil is durable; one that returns an error has
// not happened, or the store is permanently broken.
//
// A Store may retain the values that it receives and share those that it returns,
// so neither side changes them afterwards. It reads no clock: a record's
// LastActivity advances to Turn.StartedAt, Assistant.CreatedAt and TurnEnd.At, and
// never goes back. All methods honour ctx. Errors are [*Error] of the kinds
// [ErrNotFound] and [ErrConflict] as documented for each method; every other error
// means that the store failed.
//
// A Store may also be a [Lister], a [Deleter] and an [Expirer]. Agents use none of them.
type Store interface {
	// Load returns the record of a conversation. It fails with ErrNotFound if the
	// conversation does not exist.
	Load(ctx context.Context, conversation string) (Record, error)
	// Begin appends turn.Input to the messages and opens the turn, in one write. If a
	// turn with the same id and a lower Attempt is open, Begin takes it over and does
	// not store its input again; from then on Commit and End of the lower attempt are
	// refused. It fails with ErrConflict if any other turn is open, or if Attempt is
	// above 1 and the turn is not open. It creates the conversation if necessary.
	Begin(ctx context.Context, conversation string, turn Turn) error
	// Commit stores the present state of step. A step with the index of the stored
	// open step replaces it; the next index opens a new step. If step.Done is set, its
	// message and results are appended to the messages in the same write. Commit fails
	// with ErrConflict if the turn is not open in this attempt, or if step is out of
	// order.
	Commit(ctx context.Context, conversation string, ref TurnRef, step Step) error
	// End closes the turn, drops an open step, appends the messages of Open.Interjected
	// that no completed step has read, and stores the contents of end. With the outcome
	// [Waiting], turn and step remain open and the turn is marked as waiting. End fails with ErrConflict as Commit does.
	End(ctx context.Context, conversation string, ref TurnRef, end TurnEnd) error
	// Replace stores the whole record if the stored one has the revision
	// record.Revision (0: the conversation does not exist), and increments the
	// revision. Otherwise it fails with ErrConflict. It is used for every change that
	// is not part of a turn: names, metadata, clear, fork, hard reduction, the answer
	// to a request.
	Replace(ctx context.Context, record Record) error
}

// Record is a conversation as a [Store] stores it.
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
	// Messages are the history, oldest first, complete steps only.
	Messages []Message `json:"messages"`
	// Summary is the last reduction, nil if the history was never reduced.
	Summary *Summary `json:"summary,omitempty"`
	// Rules are the remembered permissions by tool name.
	Rules map[string]PermissionRule `json:"choices,omitempty"`
	// ContextState is the stored state of the context providers, by their names.
	ContextState map[string]json.RawMessage `json:"contextState,omitempty"`
	// Open is the turn that has not ended, nil if every turn has.
	Open *OpenTurn `json:"open,omitempty"`
}

// Summary replaces the first Covers messages of a record, not counting system
// messages, in what the model sees.
type Summary struct {
	Text   string `json:"text"`
	Covers int    `json:"covers"`
	// Thoughtless is the number of messages, counted from the first and including
	// those that the summary covers, whose reasoning the model no longer sees.
	Thoughtless int `json:"thoughtless,omitempty"`
}

// Turn describes a turn that begins or is resumed.
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

// OpenTurn is the unfinished turn of a record. The messages of its completed steps
// are among the record's messages; Base is the index where the turn begins.
type OpenTurn struct {
	Turn
	// Base is the number of messages of the record before the turn's input.
	Base int `json:"base"`
	// Steps are the turn's steps; only the last may be open.
	Steps []Step `json:"steps,omitempty"`
	// Waiting reports whether the turn ended as [Waiting].
	Waiting bool `json:"waiting,omitempty"`
	// Interjected are the messages that [Conversation.Interject] has stored for the turn,
	// oldest first, also those that a step has read (Step.Before). The end of the turn
	// appends the others to the record's messages.
	Interjected []Message `json:"interjected,omitempty"`
}

// unread returns the interjected messages that no stored step has read.
func (o *OpenTurn) unread() []Message {
	var out []Message
	for i := range o.Interjected {
		m := o.Interjected[i]
		if !slices.ContainsFunc(o.Steps, func(s Step) bool { return containsID(s.Before, m.ID) }) {
			out = append(out, m)
		}
	}
	return out
}

func containsID(messages []Message, id string) bool {
	return slices.ContainsFunc(messages, func(m Message) bool { return m.ID == id })
}

// step returns the index of the turn's current step.
func (o *OpenTurn) step() int {
	if n := len(o.Steps); n > 0 && !o.Steps[n-1].Done {
		return n - 1
	}
	return len(o.Steps)
}

// Step is one model answer with the results of its calls. A step that is not
// Done lacks results: it is the checkpoint of a turn in the middle of its tools.
type Step struct {
	Index int `json:"index"`
	// Before are the interjected messages that this step was the first to read.
	Before    []Message    `json:"before,omitempty"`
	Assistant Message      `json:"assistant"`
	Results   []ToolResult `json:"results,omitempty"` // in the order of the calls; while open, of the finished ones
	Pending   []Pending    `json:"pending,omitempty"`
	// Started are the ids of the calls whose tools may have started. A call that is
	// among them and has no result was interrupted.
	Started []string     `json:"started,omitempty"`
	Finish  FinishReason `json:"finish,omitempty"`
	Usage   Usage        `json:"usage"`
	Cost    float64      `json:"cost,omitempty"`
	Done    bool         `json:"done"`
	// Closing is the limit that the turn had reached before this step, if the step is its
	// closing answer.
	Closing Reason `json:"closing,omitempty"`
	// Ends is the end of the turn, if it ends with this step.
	Ends *TurnEnd `json:"ends,omitempty"`
}

// Messages returns the messages that a completed step adds to the history: those of
// Before, the assistant message and, if there are results, one tool message.
func (s Step) Messages() []Message {
	out := make([]Message, 0, len(s.Before)+2)
	out = append(append(out, s.Before...), s.Assistant)
	if len(s.Results) > 0 {
		m := Message{ID: s.Assistant.ID + ".results", Role: ToolRole, CreatedAt: s.Assistant.CreatedAt}
		for i := range s.Results {
			m.Parts = append(m.Parts, Part{Type: ResultPart, Result: &s.Results[i]})
		}
		out = append(out, m)
	}
	return out
}

// TurnEnd describes the end of a turn.
type TurnEnd struct {
	Outcome Outcome   `json:"outcome"`
	Reason  Reason    `json:"reason"`
	Message string    `json:"message,omitempty"`
	At      time.Time `json:"at"`
	// ContextState replaces the stored states of the context providers that it names.
	ContextState map[string]json.RawMessage `json:"contextState,omitempty"`
	// Rules are permissions to remember, by tool name.
	Rules map[string]PermissionRule `json:"choices,omitempty"`
	// Summary replaces the record's summary unless it is nil.
	Summary *Summary `json:"summary,omitempty"`
}
