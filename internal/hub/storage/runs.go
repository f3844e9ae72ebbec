package storage

import (
	"encoding/json"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/behalf"
)

// RunTx stores runs.
type RunTx interface {
	Run(session shoal.SessionID, id shoal.RunID) (Run, error)
	// Runs lists runs, the newest first, starting before filter.Before.
	Runs(session shoal.SessionID, filter RunFilter) ([]Run, error)
	InsertRun(r Run) error
	// UpdateRun stores everything that can change.
	UpdateRun(r Run) error
	// ClaimableRuns returns runs of all sessions, except remote ones, that are awake, whose
	// NotBefore has passed and that are not leased at that time. The requesters of all sessions take
	// turns: requesters with the fewest leased runs come first, equal ones in the order of
	// their oldest run. The runs of one requester are returned oldest first.
	ClaimableRuns(at shoal.Time, limit int) ([]Run, error)
	// HeldRuns returns the runs of all sessions that owner has leased, or every leased run
	// if owner is empty.
	HeldRuns(owner string) ([]Run, error)
	// WokenRuns returns the runs that owner has leased and that are awake.
	WokenRuns(owner string) ([]Run, error)
	// ExpiredRuns returns the leased runs of all sessions with a lease that ends at or before
	// that time, without remote ones: their lease is their program's until another claims them.
	ExpiredRuns(at shoal.Time) ([]Run, error)
	// NextExpiry returns when the next lease of a run that is not remote ends, or nil. The time
	// may be in the past.
	NextExpiry() (*shoal.Time, error)
	// NextClaim returns when the next awake run that is not remote becomes claimable, or nil.
	NextClaim() (*shoal.Time, error)
	// RunSpaces returns the spaces that a run wrote to, in the order of its messages.
	RunSpaces(session shoal.SessionID, run shoal.RunID) ([]shoal.SpaceID, error)
}

// Run is a run with the fields that only the server uses. PendingToolCalls of the
// Run are not stored here: they are its open pending actions.
type Run struct {
	shoal.Run
	// Version is that of the agent's configuration.
	Version int
	// Space is the space of the trigger, or empty. Requester is the sender of the message
	// that started the run, or the name of the plan or service.
	Space     shoal.SpaceID
	Requester string
	// Linked reports whether the chain of agents passes a connected agent.
	Linked bool
	// Awake reports whether the executor has something to do for the run: start it,
	// continue it because something that it waited for has arrived, or cancel it.
	Awake     bool
	NotBefore shoal.Time
	// Cancel requests the end of the run.
	Cancel bool
	// Owner holds the lease until LeaseUntil. Generation grows with every claim; writes
	// with an older generation are rejected.
	Owner      string
	LeaseUntil *shoal.Time
	Generation int64
	// Conversation is the id of the conversation that the run belongs to. Began and Ended
	// are positions in that conversation's order of starts and ends, 0 for not yet.
	Conversation string
	Began, Ended int64
	// Remote means that a program outside of the server executes the run: the server's
	// executor does not claim it.
	Remote bool
	// Turn is the executor's state of the run as a whole, opaque to the hub. Revision
	// counts its writes.
	Turn     json.RawMessage
	Revision int64
	// TraceParent is the traceparent of the request that started the run, as
	// internal/tracecontext returns it, empty for none. Only traces use it.
	TraceParent string
}

// LeaseExpired reports whether the run has a lease that ended at or before now.
func (r *Run) LeaseExpired(now shoal.Time) bool {
	return r.LeaseUntil != nil && !r.LeaseUntil.After(now.Time)
}

// Roots returns the entities and services that a run acts for. A run from before these were
// recorded acts for those that its trigger names.
func (r Run) Roots() []shoal.EntityID {
	if len(r.ActingFor) > 0 {
		return r.ActingFor
	}
	switch t := r.Trigger; t.Type {
	case shoal.SpaceMessageTrigger:
		return behalf.Join([]shoal.EntityID{t.SenderEntityID})
	case shoal.ServiceTrigger:
		return []shoal.EntityID{behalf.Service(t.ServiceName)}
	}
	return []shoal.EntityID{}
}

// Cause returns the cause of what the run says or starts, deeper levels further down the
// chain.
func (r Run) Cause(deeper int) Cause {
	return Cause{Root: r.CauseRoot, Depth: r.Depth + deeper, Linked: r.Linked, ActingFor: r.Roots()}
}

// OnBehalf returns the run in the form that the rules of [behalf] use.
func (r Run) OnBehalf(access behalf.Access) behalf.Run {
	return behalf.Run{Space: r.Space, For: r.Roots(), Access: access}
}

// RunFilter selects runs; an empty field does not restrict the selection. Space selects
// the runs that a message of that space started or that wrote to it. Reader selects the
// runs that this entity may see: those of its spaces. Since and Until limit CreatedAt;
// Until is exclusive.
type RunFilter struct {
	Agent        shoal.EntityID
	Status       []shoal.RunStatus
	Trigger      shoal.TriggerType
	Space        shoal.SpaceID
	Reader       shoal.EntityID
	Since, Until *shoal.Time
	Before       shoal.RunID
	Limit        int
}
