package storage

import (
	"github.com/shoal-dev/shoal"
)

// RememberTx stores remembered decisions.
type RememberTx interface {
	InsertRemembered(session shoal.SessionID, d shoal.RememberedDecision) error
	// Remembered fails with NotFound for a decision that does not exist.
	Remembered(session shoal.SessionID, id shoal.RememberedID) (shoal.RememberedDecision, error)
	// RememberedDecisions lists the decisions that match filter, in the order of ids.
	RememberedDecisions(session shoal.SessionID, filter RememberedFilter) ([]shoal.RememberedDecision, error)
	DeleteRemembered(session shoal.SessionID, id shoal.RememberedID) error
	// DropRemembered erases the decisions of all sessions that had expired at that time.
	DropRemembered(at shoal.Time) error
}

// RememberedFilter selects remembered decisions; an empty field does not restrict the
// selection, and a Limit of 0 means no limit. Until selects decisions that expire later.
type RememberedFilter struct {
	Agent shoal.EntityID
	Tool  string
	Until *shoal.Time
	After shoal.RememberedID
	Limit int
}
