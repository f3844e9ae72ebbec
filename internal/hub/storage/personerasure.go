package storage

import (
	"github.com/shoal-dev/shoal"
)

// PersonTx erases what an entity has written and what the store knows of it, in steps that are
// small enough for one transaction each.
type PersonTx interface {
	// BeginErasure removes the name, description, metadata, external id, owner and other state of
	// an entity, also of a deleted one, and the responses to its idempotency keys; its name is
	// its id from then on. Erasures returns the entity until EndErasure. It fails with NotFound
	// for an entity that never existed. name is the name that it had; an erasure that is
	// repeated keeps the name that the first one found, until it ends.
	BeginErasure(of EntityRef, at shoal.Time) (name string, err error)
	// Erasures returns the first limit erasures that have not ended.
	Erasures(limit int) ([]EntityRef, error)
	// EndErasure forgets an erasure, with the name. It is not an error if it has ended.
	EndErasure(of EntityRef) error
	// EraseOwn erases about limit rows that belong to an entity alone: the files that it has
	// uploaded and the decisions that it wanted remembered; of an agent also its ended runs,
	// except their usage, its conversations, memories, goals and schedules, and its configurations
	// and the reports of runners. It reports whether there may be more.
	EraseOwn(of EntityRef, limit int) (more bool, err error)
	// MessagesOf returns messages of an entity in the order in which they were stored, deleted
	// ones included, and the number of the last one; after is such a number, 0 for the
	// beginning.
	MessagesOf(of EntityRef, after int64, limit int) ([]shoal.Message, int64, error)
	// GeneratedMessages is MessagesOf for the complete messages that runs and the system have
	// written and that are not deleted.
	GeneratedMessages(session shoal.SessionID, after int64, limit int) ([]shoal.Message, int64, error)
	// ReplaceParts replaces the parts of a complete message, without a version and without
	// another time of change. Searches find it by its new content.
	ReplaceParts(m shoal.Message) error
	// AnsweredBy returns pending actions, settled or not, that an entity answered or voted on, in
	// the order in which they were opened; after is the number of the last one.
	AnsweredBy(of EntityRef, after int64, limit int) ([]Pending, int64, error)
	// Traces returns the rows of the session, other than messages, that contain texts of people
	// or models, in an order of their own. after is the position of a row, zero for the beginning.
	Traces(session shoal.SessionID, of TraceScope, after TracePosition, limit int) ([]Trace, error)
	// SetTrace stores the texts of a row.
	SetTrace(session shoal.SessionID, t Trace) error
}

// TraceScope is which rows [PersonTx.Traces] returns.
type TraceScope bool

const (
	// ActTraces are events, runs with their steps and pending actions, but without the answers to
	// these, conversations, and responses to idempotency keys.
	ActTraces TraceScope = false
	// AllTraces are also pending actions without a run, remembered decisions, notes and schedules of
	// agents, and what models were sent.
	AllTraces TraceScope = true
)

// TracePosition is the position of a row in the list of [PersonTx.Traces].
type TracePosition struct {
	Table int
	Key   []any
}

// Trace is a row with texts. An absent text is empty and stays absent.
type Trace struct {
	At TracePosition
	// Run is the run that the row belongs to, or empty.
	Run   shoal.RunID
	Texts []string
}
