package hub

import (
	"context"
	"encoding/json"
	"time"

	"github.com/shoal-dev/shoal"
)

// Work is for what executes runs: it claims them and writes what they do. Nobody
// else may use it; it asks for no rights. All that a run writes goes through
// [Work.Write], which refuses whoever has lost the lease.
type Work struct{ *core }

// Lease is the right to execute a run. Its Generation is in every write.
type Lease struct {
	Session    shoal.SessionID
	Run        shoal.RunID
	Generation int64
}

// ErrLeaseLost is the cause with which a write of somebody who does not hold the
// lease any more is refused: nothing was written.
var ErrLeaseLost error = shoal.E("", shoal.Conflict, "Another server executes this run now.")

// Claim takes a lease of up to limit runs that there is something to do for, the
// oldest first. A claimed run is not awake any more; who claims it looks at what
// it finds. The leases last ttl from now by the database's clock.
func (w *Work) Claim(ctx context.Context, owner string, limit int, ttl time.Duration) ([]StoredRun, error) {
	panic("not built")
}

// Renew makes the leases of owner last ttl from now. It returns the runs that
// owner holds, with Cancel as it is now: who executes a run that is not among
// them has lost it.
func (w *Work) Renew(ctx context.Context, owner string, ttl time.Duration) ([]StoredRun, error) {
	panic("not built")
}

// Orphan ends the leases of everybody but owner, and wakes their runs. It is for
// the start of a server that has its database for itself.
func (w *Work) Orphan(ctx context.Context, owner string) error { panic("not built") }

// Subscribe returns a subscription that is ready when a run may have become
// claimable or is to be canceled. The caller must close it.
func (w *Work) Subscribe() Subscription { panic("not built") }

// NextClaim returns when a run becomes claimable that is not yet, if one will.
func (w *Work) NextClaim(ctx context.Context) (*shoal.Time, error) { panic("not built") }

// Read runs fn on a snapshot.
func (w *Work) Read(ctx context.Context, fn func(Tx) error) error {
	return w.view(ctx, "hub.Work.Read", fn)
}

// Write runs fn in one transaction, in which the run is as it is stored and may be
// changed. ErrLeaseLost, and nothing is done, when the lease is another's. fn may
// run more than once, as that of [Store].Update. What is relayed meanwhile comes
// to followers behind what this writes, if it is relayed after Write returned.
func (w *Work) Write(ctx context.Context, lease Lease, fn func(*RunChange) error) error {
	panic("not built")
}

// RunChange is one transaction of a run. What it has of [Tx] is for what the
// executor keeps (steps, conversations, notes, usage); everything that others see
// goes through its own methods.
type RunChange struct {
	*change
	// Run is the run as it will be stored when the transaction ends: Turn, Steps,
	// Usage, Began and Ended may be set. Status changes through the methods.
	Run *StoredRun
}

// The methods on status. Each tells the run's followers and those of its spaces.

// Start makes a queued run running, a parked one running again (run.resumed).
// Nothing happens to one that is running.
func (c *RunChange) Start() error { panic("not built") }

// Park makes the run wait, waiting_tool if it waits for any pending action, else
// waiting_reply, and gives the lease up. run.waiting_tool goes to each space that
// shows one of the actions, and only if one of them was not told before. If an
// answer came meanwhile, the run is awake again at once.
func (c *RunChange) Park() error { panic("not built") }

// Finish ends the run, cancels what it still waits for, wakes the next one that
// waits for its end, and gives the lease up. failure is nil for a completed run.
// The run's messages must be closed before.
func (c *RunChange) Finish(status shoal.RunStatus, failure *shoal.RunError) error {
	panic("not built")
}

// Delegate queues a run of target with this run's own trigger, cause and depth.
// InvalidArgument, in a sentence for the model, when target is no other hosted
// agent of the trigger's space or this run's agent is not the space's admin agent.
// The caller cancels the present run itself.
func (c *RunChange) Delegate(target shoal.EntityID) (shoal.RunID, error) { panic("not built") }

// StepStarted and StepCompleted tell the followers of the run.
func (c *RunChange) StepStarted(s shoal.Step) error { panic("not built") }

// StepCompleted tells the followers of the run.
func (c *RunChange) StepCompleted(s shoal.Step) error { panic("not built") }

// The methods on messages.

// Standing is how the run's agent stands to a space.
type Standing struct {
	Member bool // the agent is; false also for a space that is not there
	Closed bool
	Target bool // the entity that was asked about is a member; true if none was
}

// Standing looks how the agent stands to a space, and whether target, if it is not
// empty, is in it.
func (c *RunChange) Standing(space shoal.SpaceID, target shoal.EntityID) (Standing, error) {
	panic("not built")
}

// OpenMessage begins a composite message, without parts, at the end of its space's
// timeline, and returns it with its seq: message.created. Of m, only ID and SpaceID
// count. SpaceClosed or NotFound when the agent cannot write there (any more).
func (c *RunChange) OpenMessage(m shoal.Message, state json.RawMessage) (shoal.Message, error) {
	panic("not built")
}

// SaveMessage stores a message as it stands, and tells nobody.
func (c *RunChange) SaveMessage(m shoal.Message, state json.RawMessage) error { panic("not built") }

// UpdateMessage is SaveMessage for a change that no event of a part tells:
// message.updated.
func (c *RunChange) UpdateMessage(m shoal.Message, state json.RawMessage) error { panic("not built") }

// CloseMessage stores a message as it stays, puts it into the inboxes of the
// space's members, satisfies waits for a reply with it, and tells so:
// message.completed. The message's mentions are m.Mentions.
func (c *RunChange) CloseMessage(m shoal.Message, state json.RawMessage) error { panic("not built") }

// StartMention starts a run of a hosted agent that a closed message mentions, at a
// depth one greater. Who is too deep in the chain is not started; the space is told
// so once for each root. Other entities have the message in their inbox already.
func (c *RunChange) StartMention(space shoal.SpaceID, message shoal.MessageID, mentioned shoal.EntityID) error {
	panic("not built")
}

// TellPart stores an event of a part in progress: data is the event's own type of
// the root package; its EventHead is filled in. target is the one member who may
// see it, or empty.
func (c *RunChange) TellPart(space shoal.SpaceID, target shoal.EntityID, what shoal.EventType, data PartEvent) error {
	panic("not built")
}

// PartEvent is the data of an event of a part.
type PartEvent interface{ Head() *shoal.PartHead }

// OpenPending stores what the run waits for; pending.opened goes to the space that
// shows it, unless the wait is the server's own.
func (c *RunChange) OpenPending(p StoredPending) (shoal.PendingID, error) { panic("not built") }

// Relay hands passing deltas to whoever follows the space or the run now, in their
// order. It neither blocks nor fails: who misses one is healed.
func (w *Work) Relay(lease Lease, deltas []Delta) { panic("not built") }

// Delta is a piece of a part that is being written. Without a Space it is for the
// followers of the run alone; so is Reasoning, unless Show says that the space is to
// see it, too. Reasoning has no message and no stored part: its Part is an id that
// is used once. First and Last mark its beginning and its end.
type Delta struct {
	Space       shoal.SpaceID
	Message     shoal.MessageID
	Part        shoal.PartID
	Call, Tool  string // empty for text
	Target      shoal.EntityID
	Offset      int
	Text        string
	Reasoning   bool
	Show        bool
	First, Last bool
}
