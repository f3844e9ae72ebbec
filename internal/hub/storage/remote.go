package storage

import (
	"encoding/json"

	"github.com/shoal-dev/shoal"
)

// RemoteTx stores what programs outside of the server do for the runs that they execute.
type RemoteTx interface {
	// ClaimableRemote returns at most limit remote runs of an agent that are awake, whose
	// NotBefore has passed and that are not leased at that time, and those whose lease has
	// expired, the oldest first.
	ClaimableRemote(session shoal.SessionID, agent shoal.EntityID, at shoal.Time, limit int) ([]Run, error)
	// CountRemote returns how many remote runs of an agent are leased at that time.
	CountRemote(session shoal.SessionID, agent shoal.EntityID, at shoal.Time) (int64, error)
	// CanceledRemote returns at most limit remote runs of all sessions that are to be
	// canceled, the oldest first.
	CanceledRemote(limit int) ([]Run, error)
	// RunWork returns the reports about a run after a place, in their order.
	RunWork(session shoal.SessionID, run shoal.RunID, after int64) ([]RunWork, error)
	// AppendRunWork stores the next report about a run. Its Place must be the one after the
	// last.
	AppendRunWork(session shoal.SessionID, run shoal.RunID, w RunWork) error
	// DropRunWork erases the reports about a run.
	DropRunWork(session shoal.SessionID, run shoal.RunID) error
}

// RunWork is what a program reported about a run in one batch. N is the number of the last
// line of the batch, in the numbering of the claim with that Generation.
type RunWork struct {
	Place      int64
	Generation int64
	N          int64
	Data       json.RawMessage // opaque to the hub
}
