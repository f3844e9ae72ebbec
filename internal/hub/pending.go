package hub

import (
	"context"

	"github.com/shoal-dev/shoal"
)

// Pending is what runs wait for somebody to do.
type Pending struct{ *core }

// List returns what waits for the caller, in the order of ids: for an entity what
// its spaces show and what it may answer, for services and admins everything.
func (p *Pending) List(ctx context.Context, who shoal.Principal, session shoal.SessionID, filter PendingFilter) ([]shoal.PendingAction, error) {
	panic("not built")
}

// Answer settles a pending action: one claim, the first answer wins. The answer is
// stored when it returns, and the run goes on once it has all that it waits for.
// NotFound for whoever does not see the action; Forbidden by the action's policy;
// AlreadyAnswered, unless the same caller repeats the same answer; Expired when it
// has expired or its run is over. A result that fits no ResultSchema is
// InvalidArgument and settles nothing.
func (p *Pending) Answer(ctx context.Context, who shoal.Principal, session shoal.SessionID, id shoal.PendingID, a shoal.PendingAnswer) (shoal.PendingAction, error) {
	panic("not built")
}

// AnswerCall is Answer by run and tool call. NotFound for an unknown call,
// RunNotWaiting for a run that waits for nothing.
func (p *Pending) AnswerCall(ctx context.Context, who shoal.Principal, session shoal.SessionID, run shoal.RunID, callID string, a shoal.PendingAnswer) (shoal.PendingAction, error) {
	panic("not built")
}
