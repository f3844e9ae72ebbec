package storage

import (
	"encoding/json"

	"github.com/shoal-dev/shoal"
)

// StepTx stores the steps of runs and the conversations of hosted agents.
type StepTx interface {
	// PutStep stores a step and replaces one with the same index.
	PutStep(session shoal.SessionID, run shoal.RunID, s Step) error
	// RunSteps returns the steps in order.
	RunSteps(session shoal.SessionID, run shoal.RunID) ([]Step, error)
	// DropSteps erases the steps with index from and higher.
	DropSteps(session shoal.SessionID, run shoal.RunID, from int) error
	// ClientInput returns the input that a front end sent for a run; NotFound when it sent
	// none.
	ClientInput(session shoal.SessionID, run shoal.RunID) (ClientInput, error)
	// PutClientInput stores the complete input of a front end for a run. Schemas may lose
	// the white space between their tokens.
	PutClientInput(session shoal.SessionID, run shoal.RunID, in ClientInput) error
	// Conversation fails with NotFound for a conversation that was never stored.
	Conversation(session shoal.SessionID, id string) (Conversation, error)
	// PutConversation stores all of c.
	PutConversation(c Conversation) error
	// Conversations lists, in the order of their ids, the conversations of an agent in
	// which runs have begun since they were last cleared.
	Conversations(session shoal.SessionID, agent shoal.EntityID, filter ConversationFilter) ([]ConversationState, error)
	// Blocks returns the newest filter.Limit runs of a conversation that match filter, with
	// their steps, in the order in which they began.
	Blocks(session shoal.SessionID, conversation string, filter BlockFilter) ([]Block, error)
}

// ConversationFilter selects one conversation by ID, or at most Limit conversations with
// ids after After.
type ConversationFilter struct {
	ID, After string
	Limit     int
}

// ConversationState is the state of the runs of a conversation. ActiveRun is the first run
// that has begun and not ended, or empty. LastEnded is when the newest of the ended runs
// ended.
type ConversationState struct {
	ID        string
	ActiveRun shoal.RunID
	LastEnded *shoal.Time
}

// BlockFilter selects ended runs by their positions in a conversation: those that ended
// before EndedBefore (unless it is 0), began after BeganAfter, and began before
// BeganBefore (unless it is 0).
type BlockFilter struct {
	BeganAfter, BeganBefore, EndedBefore int64
	Limit                                int
}

// Step is a step as clients see it, with the executor's own data.
type Step struct {
	shoal.Step
	Data json.RawMessage // opaque to the hub
	Done bool
}

// Conversation is the model-facing history of one hosted agent in one space, without its
// runs. Clock is the last position that was assigned to a start or an end of a run. It
// excludes the runs that began at Cleared or before.
type Conversation struct {
	Session shoal.SessionID
	ID      string
	Agent   shoal.EntityID
	Clock   int64
	Cleared int64
	Data    json.RawMessage // opaque to the hub
}

// Block is an ended run as later runs see it.
type Block struct {
	Run          shoal.RunID
	Began, Ended int64
	EndedAt      *shoal.Time
	Turn         json.RawMessage
	Steps        []json.RawMessage // Step.Data of the completed steps
}
