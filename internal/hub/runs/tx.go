package runs

import (
	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/pending"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// Tx has the reads that the functions of this package need from a transaction, see
// [core.Tx].
type Tx interface {
	pending.Tx
	Cause(session shoal.SessionID, id shoal.MessageID) (storage.Cause, error)
	Claims(session shoal.SessionID) (n int64, held bool, err error)
	ClientInput(session shoal.SessionID, run shoal.RunID) (storage.ClientInput, error)
	ExpiredRuns(at shoal.Time) ([]storage.Run, error)
	HeldRuns(owner string) ([]storage.Run, error)
	ModelRequest(session shoal.SessionID, run shoal.RunID, step int) (storage.Request, error)
	ModelTexts(session shoal.SessionID, hashes []string) (map[string]string, error)
	NextClaim() (*shoal.Time, error)
	NextExpiry() (*shoal.Time, error)
	NextPlan() (*shoal.Time, error)
	PendingOf(session shoal.SessionID, run shoal.RunID) ([]storage.Pending, error)
	Plan(session shoal.SessionID, id shoal.PlanID) (shoal.Plan, error)
	Plans(session shoal.SessionID, agent shoal.EntityID) ([]shoal.Plan, error)
	RunSteps(session shoal.SessionID, run shoal.RunID) ([]storage.Step, error)
	UnknownTexts(session shoal.SessionID, hashes []string) ([]string, error)
}
