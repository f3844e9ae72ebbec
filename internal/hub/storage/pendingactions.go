package storage

import (
	"cmp"
	"encoding/json"

	"github.com/shoal-dev/shoal"
)

// PendingTx stores pending actions and the other waits of runs.
type PendingTx interface {
	Pending(session shoal.SessionID, id shoal.PendingID) (Pending, error)
	InsertPending(p Pending) error
	// UpdatePending stores everything that can change.
	UpdatePending(p Pending) error
	// PendingOf returns those of a run, in any state, in the order in which they were
	// opened.
	PendingOf(session shoal.SessionID, run shoal.RunID) ([]Pending, error)
	// PendingActions lists pending actions, without PendingReply and PendingTimer, in the
	// order of the filter.
	PendingActions(session shoal.SessionID, filter PendingFilter) ([]Pending, error)
	// ReplyWaits returns the open waits for a reply in a space.
	ReplyWaits(session shoal.SessionID, space shoal.SpaceID) ([]Pending, error)
	// DuePending returns open ones of all sessions that are due at that time.
	DuePending(at shoal.Time, limit int) ([]Pending, error)
	// NextDue returns when the next open one is due, or nil.
	NextDue() (*shoal.Time, error)
}

// Internal kinds of pending rows, which no client sees: the run waits for a reply in a
// space, or for a time.
const (
	PendingReply shoal.PendingKind = "reply"
	PendingTimer shoal.PendingKind = "timer"
)

// Pending is a pending action, or an internal wait of a run, with the fields that
// only the server uses.
type Pending struct {
	shoal.PendingAction
	Session shoal.SessionID
	// Request is the executor's id of it. Hash binds it to the tool and its arguments.
	Request, Hash string
	// Requester is the sender of the message that started the run. Target, if set, is the
	// only member that sees the part and may answer.
	Requester string
	Target    shoal.EntityID
	Policy    Policy
	// Reply describes the message that a PendingReply waits for.
	Reply *ReplyWait
	// Due is when it is settled without an answer: ExpiresAt, or the end of a wait.
	Due *shoal.Time
	// Answer is the answer that settled it, AnswerHash the SHA-256 of the caller's input.
	Answer     *shoal.PendingAnswer
	AnswerHash string
	// Taken reports whether the run has received the answer.
	Taken bool
}

// ToolAgent returns the agent whose tool the call is. Tools of two agents are two, also if they have
// one name: a decision about one of them says nothing about the other.
func (p Pending) ToolAgent() shoal.EntityID { return cmp.Or(p.Policy.ToolOf, p.AgentID) }

// Policy determines which entities may answer, see the package approval, and records the
// votes so far.
type Policy struct {
	By           []shoal.EntityID `json:"by,omitempty"`
	Quorum       int              `json:"quorum,omitempty"`
	NotRequester bool             `json:"notRequester,omitempty"`
	// Targeted reports whether the call itself names the space that shows it, ByService
	// whether a service started the run.
	Targeted  bool `json:"targeted,omitempty"`
	ByService bool `json:"byService,omitempty"`
	// ArgsSchema is the schema that changed arguments must match. Without it, answers
	// cannot change the arguments.
	ArgsSchema json.RawMessage `json:"argsSchema,omitempty"`
	// Requesters are the humans whose messages led to the run; nil if only Requester is
	// known.
	Requesters []shoal.EntityID `json:"requesters,omitempty"`
	Votes      []Vote           `json:"votes,omitempty"`
	// Choose is set for a client tool whose open calls in one step are alternatives.
	Choose *Choice `json:"choose,omitempty"`
	// ToolOf is the agent whose tool a call is, if that is not the agent of the run but one that
	// a tool of it calls.
	ToolOf shoal.EntityID `json:"toolOf,omitempty"`
	// Remembered is the remembered decision that answered the action when it was opened.
	Remembered shoal.RememberedID `json:"remembered,omitempty"`
}

// Choice is how a result says whether the call was chosen: by its member Field, or by itself
// if Field is empty.
type Choice struct {
	Field string `json:"field,omitempty"`
}

// Vote is one entity's answer to an open action.
type Vote struct {
	EntityID shoal.EntityID      `json:"entityId"`
	At       shoal.Time          `json:"at"`
	Answer   shoal.PendingAnswer `json:"answer"`
}

// ReplyWait is a wait for a message in a space with a seq above After, from a sender that
// matches one of For.
type ReplyWait struct {
	Space shoal.SpaceID `json:"space"`
	After int64         `json:"after"`
	For   []ReplyFrom   `json:"for"`
}

// ReplyFrom matches senders. Type is any, agent, human, or entity, which means the sender
// with EntityID.
type ReplyFrom struct {
	Type     string         `json:"type"`
	EntityID shoal.EntityID `json:"entityId,omitempty"`
}

// PendingFilter selects pending actions; an empty field does not restrict the selection.
// Reader selects those that a space of this entity shows. They are in the order of ids,
// starting after After; with Newest they are in the reverse order, starting before it.
type PendingFilter struct {
	Status []shoal.PendingStatus
	Space  shoal.SpaceID
	Run    shoal.RunID
	Agent  shoal.EntityID
	Reader shoal.EntityID
	After  shoal.PendingID
	Newest bool
	Limit  int
}
