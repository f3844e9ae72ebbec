package pending

import (
	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// Tx has the reads that the functions of this package need from a transaction, see
// [core.Tx].
type Tx interface {
	core.Tx
	DuePending(at shoal.Time, limit int) ([]storage.Pending, error)
	MemberEntities(session shoal.SessionID, space shoal.SpaceID, after shoal.EntityID, limit int) ([]shoal.Entity, error)
	NextDue() (*shoal.Time, error)
	PendingActions(session shoal.SessionID, filter storage.PendingFilter) ([]storage.Pending, error)
	RememberedDecisions(session shoal.SessionID, filter storage.RememberedFilter) ([]shoal.RememberedDecision, error)
}
