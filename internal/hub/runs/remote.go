package runs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/roles"
)

// RemoteClaim is a claim of a program for runs of an agent. Concurrency is how many runs all
// programs of the agent may hold together, 0 for any number. Holds are runs that the program
// executes already, which it does not claim from itself when their lease has ended.
type RemoteClaim struct {
	Session     shoal.SessionID
	Agent       shoal.EntityID
	Owner       string
	Limit       int
	Holds       []shoal.RunID
	Concurrency int
	TTL         time.Duration
}

// ClaimRemote leases remote runs of an agent to a program: those that can start, and those
// whose lease has expired. begin is called for each in the transaction, with the new
// generation, and stores what the claim changes in the run and its messages.
func (w *Work) ClaimRemote(ctx context.Context, in RemoteClaim, begin func(*RunChange) error) (claimed []storage.Run, err error) {
	const op = "hub.Work.ClaimRemote"
	some := false
	err = w.core.View(ctx, op, func(tx storage.Tx) error {
		found, err := findClaimable(tx, in)
		some = len(found) > 0
		return err
	})
	if err != nil || !some {
		return nil, err
	}
	err = w.core.Change(ctx, op, storage.In(in.Session), func(ch *core.Change) error {
		found, err := findClaimable(ch, in)
		if err != nil {
			return err
		}
		now, err := ch.Now()
		if err != nil {
			return err
		}
		until := shoal.At(now.Add(in.TTL))
		claimed = found
		ch.Notify(core.ProgramTopic(in.Session, in.Agent)) // programs that have lost a lease
		for i := range claimed {
			r := &claimed[i]
			r.Owner, r.LeaseUntil, r.Awake = in.Owner, &until, r.Cancel
			if err := w.continueIn(ch, r, begin); err != nil {
				return err
			}
		}
		return nil
	})
	return claimed, err
}

// findClaimable returns the runs that a claim would lease.
func findClaimable(tx storage.Tx, in RemoteClaim) ([]storage.Run, error) {
	now, err := tx.Now()
	if err != nil {
		return nil, err
	}
	limit := in.Limit
	if in.Concurrency > 0 {
		held, err := tx.CountRemote(in.Session, in.Agent, now)
		if err != nil {
			return nil, err
		}
		limit = min(limit, in.Concurrency-int(held))
	}
	if limit <= 0 {
		return nil, nil
	}
	found, err := tx.ClaimableRemote(in.Session, in.Agent, now, limit+len(in.Holds))
	found = slices.DeleteFunc(found, func(r storage.Run) bool { return slices.Contains(in.Holds, r.ID) })
	return found[:min(limit, len(found))], err
}

// continueIn starts a new generation of a run, whose earlier writers are refused from then on.
func (w *Work) continueIn(ch *core.Change, r *storage.Run, begin func(*RunChange) error) error {
	r.Generation++
	c := &RunChange{Change: ch, Run: r, live: w.live}
	if err := begin(c); err != nil {
		return err
	}
	if err := w.resetParts(ch, r); err != nil {
		return err
	}
	if r.Owner == "" {
		ch.OnCommit(func() { w.live.Lose(r.SessionID, r.ID, r.Generation+1) })
	}
	return ch.UpdateRun(*r)
}

// TakeOver gives this server the right to write a remote run that has not ended, although
// another server may have it: take is called in the transaction with the new generation. It
// fails with NotFound for a run that does not exist, and with ErrLeaseLost for one that has
// ended.
func (w *Work) TakeOver(ctx context.Context, session shoal.SessionID, id shoal.RunID, take func(*RunChange) error) error {
	return w.core.Change(ctx, "hub.Work.TakeOver", storage.In(session), func(ch *core.Change) error {
		r, err := ch.Run(session, id)
		if errors.Is(err, shoal.NotFound) {
			return core.RunNotFound(id)
		}
		if err != nil {
			return err
		}
		if r.Status.Ended() || !r.Remote {
			return leaseLostError(Lease{Session: session, Run: id})
		}
		return w.continueIn(ch, &r, take)
	})
}

// ProgramRun returns a remote run to the program that executes it: the agent's own key, or an
// admin.
func (r *Runs) ProgramRun(ctx context.Context, caller shoal.Principal, session shoal.SessionID, id shoal.RunID) (out storage.Run, err error) {
	err = r.core.View(ctx, "hub.Runs.ProgramRun", func(tx storage.Tx) error {
		if err := core.Authorize(caller, session, roles.ServeRun); err != nil {
			return err
		}
		if !core.ValidID(id) {
			return core.RunNotFound(id)
		}
		found, err := tx.Run(session, id)
		switch {
		case errors.Is(err, shoal.NotFound):
			return core.RunNotFound(id)
		case err != nil:
			return err
		case !caller.Admin() && caller.EntityID != found.AgentID:
			if _, err := core.VisibleRun(tx, caller, session, id); err != nil {
				return err
			}
			return notItsProgram(found.AgentID)
		case !found.Remote:
			return shoal.E("", shoal.Conflict, fmt.Sprintf("The server executes the run %q itself: %q has a model.", id, found.AgentID))
		}
		out = found
		return nil
	})
	return out, err
}

// ProgramAgent returns a remote agent to a program that serves it: the agent's own key, or an
// admin.
func (r *Runs) ProgramAgent(ctx context.Context, caller shoal.Principal, session shoal.SessionID, id shoal.EntityID) (out storage.Agent, err error) {
	err = r.core.View(ctx, "hub.Runs.ProgramAgent", func(tx storage.Tx) error {
		if err := core.Authorize(caller, session, roles.ServeRun); err != nil {
			return err
		}
		if !caller.Admin() && caller.EntityID != id {
			if _, err := core.VisibleEntity(tx, caller, session, id); err != nil {
				return err
			}
			return notItsProgram(id)
		}
		if out, err = core.FindHostedAgent(tx, session, id); err == nil && !out.Remote {
			err = shoal.E("", shoal.Conflict, fmt.Sprintf("The server executes the runs of %q itself. Give it a configuration with remote instead of model first.", id))
		}
		return err
	})
	return out, err
}

func notItsProgram(agent shoal.EntityID) error {
	return shoal.E("", shoal.Forbidden, fmt.Sprintf("Only a key of %q, or an admin key, may execute its runs.", agent))
}

// SubscribeRemote returns a subscription that is ready when a remote run of an agent may have
// become claimable, has got an answer, or has ended; or, for an empty agent, when any run may
// be to be canceled. The caller must
// close it.
func (w *Work) SubscribeRemote(session shoal.SessionID, agent shoal.EntityID) core.Subscription {
	sub := w.core.Bus.Subscribe()
	if agent == "" {
		sub.Add(core.WorkTopic)
	} else {
		sub.Add(core.ProgramTopic(session, agent))
	}
	return sub
}

// Serving records that a program of an agent waits for work until the given time at the
// latest, until the function that it returns is called.
func (w *Work) Serving(session shoal.SessionID, agent shoal.EntityID, until time.Time) (done func()) {
	w.core.Presence.WaitOpened(session, agent, until)
	return func() { w.core.Presence.WaitClosed(session, agent, until) }
}
