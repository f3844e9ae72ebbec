package runs

import (
	"context"
	"errors"
	"fmt"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/behalf"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/roles"
)

// Retry starts a new run with the trigger of a run that has ended, in the same chain of
// agents, with the agent's newest version. Every caller that may cancel the run may retry
// it. It fails with Conflict for a run that has not ended, for an agent that is no longer
// hosted or no longer in the trigger's space, and for an agent that rejects messages while
// it runs; with SpaceClosed if the space is closed.
func (r *Runs) Retry(ctx context.Context, caller shoal.Principal, session shoal.SessionID, id shoal.RunID, idempotencyKey string) (out shoal.Run, err error) {
	const op = "hub.Runs.Retry"
	if err := errors.Join(core.Authorize(caller, session, roles.ControlRun), core.CheckIdempotencyKey(idempotencyKey)); err != nil {
		return out, core.Wrap(op, core.FirstError(err))
	}
	err = r.core.Change(ctx, op, storage.In(session), func(ch *core.Change) error {
		before, err := core.VisibleRun(ch, caller, session, id)
		if err != nil {
			return err
		}
		out, _, err = core.Once(ch, caller, session, op, idempotencyKey, id, func() (shoal.Run, error) { return retryRun(ch, caller, before) })
		return err
	})
	return out, err
}

func retryRun(ch *core.Change, caller shoal.Principal, before storage.Run) (shoal.Run, error) {
	if err := core.RequireOpenSession(ch, before.SessionID); err != nil {
		return shoal.Run{}, err
	}
	if !before.Status.Ended() {
		return shoal.Run{}, shoal.E("", shoal.Conflict, fmt.Sprintf("The run %q is %s. Only a run that has ended can be started again; cancel it first.", before.ID, before.Status))
	}
	as, err := ch.HostedAgent(before.SessionID, before.AgentID)
	if errors.Is(err, shoal.NotFound) {
		err = shoal.E("", shoal.Conflict, fmt.Sprintf("%q is not hosted any more. Give it a configuration first.", before.AgentID))
	}
	if err != nil {
		return shoal.Run{}, err
	}
	if before.Space != "" {
		if err := checkTakesRuns(ch, before); err != nil {
			return shoal.Run{}, err
		}
	}
	client, err := findClientInput(ch.Tx, before.SessionID, before.ID)
	if err != nil {
		return shoal.Run{}, err
	}
	req := StartRequest{
		Session: before.SessionID, Agent: before.AgentID, Trigger: before.Trigger, requester: before.Requester,
		cause: before.Cause(0), client: client,
	}
	// The new run also acts for the entity that retries it. A key without an entity has no
	// reader that could limit the run.
	req.cause.ActingFor = behalf.Join(req.cause.ActingFor, []shoal.EntityID{caller.EntityID})
	asleep := false
	if before.Space != "" {
		var refused bool
		if asleep, refused, err = req.checkBusy(ch, as); err != nil {
			return shoal.Run{}, err
		}
		if refused {
			return shoal.Run{}, shoal.E("", shoal.Conflict, fmt.Sprintf("%q is busy in this space and does not accept another run until it has finished. Try again then.", before.AgentID))
		}
	}
	now, err := ch.Now()
	if err != nil {
		return shoal.Run{}, err
	}
	run, err := req.create(ch, as, now, asleep)
	return run.Run, err
}

// checkTakesRuns returns an error if the space of a run is closed or its agent has left it.
func checkTakesRuns(tx Tx, r storage.Run) error {
	s, err := tx.Space(r.SessionID, r.Space)
	if err != nil {
		return err
	}
	if s.Status == shoal.SpaceStatusClosed {
		return core.ClosedSpaceError(s)
	}
	in, err := tx.IsMember(r.SessionID, r.Space, r.AgentID)
	if err == nil && !in {
		err = shoal.E("", shoal.Conflict, fmt.Sprintf("%q is not in the space %q any more. Add it to the space first.", r.AgentID, r.Space))
	}
	return err
}
