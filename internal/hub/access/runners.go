package access

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/audit"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/roles"
)

// Runners knows on which machines the agents of sessions run. It only remembers what runners say:
// it decides nothing about them, except that their keys can be revoked.
type Runners struct{ core *core.Core }

// NewRunners returns the runners of a hub.
func NewRunners(c *core.Core) *Runners { return &Runners{c} }

// Report stores what a runner says about a remote agent that it runs. For the agent itself and
// admins. It fails with Conflict for an agent whose runs the server executes.
func (r *Runners) Report(ctx context.Context, caller shoal.Principal, session shoal.SessionID, id shoal.RunnerID, agent shoal.EntityID, report shoal.RunnerReport) error {
	const op = "hub.Runners.Report"
	if err := errors.Join(core.Authorize(caller, session, roles.ServeRun), shoal.CheckID("runner", string(id)), report.Validate()); err != nil {
		return core.Wrap(op, core.FirstError(err))
	}
	return r.core.Change(ctx, op, storage.In(session), func(ch *core.Change) error {
		e, err := core.VisibleEntity(ch, caller, session, agent)
		switch {
		case err != nil:
			return err
		case !caller.Admin() && (caller.Role != shoal.RoleEntity || caller.EntityID != agent):
			return shoal.E("", shoal.Forbidden, fmt.Sprintf("Only a key of %q, or an admin key, may say where it runs.", agent))
		case !e.Remote:
			return shoal.E("", shoal.Conflict, fmt.Sprintf("%q is not a remote agent: no program executes its runs.", agent))
		}
		row := storage.RunnerRow{Runner: id, Agent: agent, Report: report}
		if caller.Role == shoal.RoleEntity {
			row.Key = &caller.KeyID
		}
		if err := recordEnrolment(ch, caller, session, row); err != nil {
			return err
		}
		return ch.SaveRunner(session, row, shoal.MaxRunners)
	})
}

// recordEnrolment records the first report of a runner about an agent.
func recordEnrolment(ch *core.Change, caller shoal.Principal, session shoal.SessionID, row storage.RunnerRow) error {
	known, err := ch.HasRunner(session, row.Runner, row.Agent)
	if err != nil || known {
		return err
	}
	return ch.Record(caller, session, audit.RunnerEnroll, audit.Target{Kind: "runner", ID: string(row.Runner)}, "agent", string(row.Agent))
}

// List returns at most limit runners after the given one, in the order of their ids, each with its
// agents. For admins and owners of the session.
func (r *Runners) List(ctx context.Context, caller shoal.Principal, session shoal.SessionID, after shoal.RunnerID, limit int) (out []shoal.Runner, err error) {
	const op = "hub.Runners.List"
	if err := core.Authorize(caller, session, roles.ReadSettings); err != nil {
		return nil, core.Wrap(op, err)
	}
	err = r.core.View(ctx, op, func(tx storage.Tx) error {
		if _, err := core.FindSession(tx, session); err != nil {
			return err
		}
		now, err := tx.Now()
		if err != nil {
			return err
		}
		rows, err := tx.Runners(session, after, limit)
		out = runnersOf(rows, now)
		return err
	})
	return out, err
}

// runnersOf groups reports, which are in the order of their runners.
func runnersOf(rows []storage.RunnerRow, now shoal.Time) (out []shoal.Runner) {
	for _, row := range rows {
		if len(out) == 0 || out[len(out)-1].ID != row.Runner {
			out = append(out, shoal.Runner{ID: row.Runner})
		}
		of := &out[len(out)-1]
		online := !row.Report.Stopped && now.Sub(row.SeenAt.Time) < shoal.RunnerWindow
		of.Online = of.Online || online
		if row.SeenAt.After(of.SeenAt.Time) {
			of.Version, of.SeenAt = row.Report.Version, row.SeenAt
		}
		of.Agents = append(of.Agents, shoal.RunnerAgent{
			AgentID: row.Agent, Online: online, EnrolledAt: row.EnrolledAt, SeenAt: row.SeenAt, KeyID: row.Key, Report: row.Report,
		})
	}
	return out
}

// Remove forgets a runner and revokes the keys with which it has reported: what it does with them
// fails from now on. For admins and owners of the session.
func (r *Runners) Remove(ctx context.Context, caller shoal.Principal, session shoal.SessionID, id shoal.RunnerID) error {
	const op = "hub.Runners.Remove"
	if err := core.Authorize(caller, session, roles.Manage); err != nil {
		return core.Wrap(op, err)
	}
	var revoked []shoal.KeyID
	err := r.core.Change(ctx, op, storage.Global, func(ch *core.Change) error {
		if _, err := core.FindSession(ch, session); err != nil {
			return err
		}
		err := error(shoal.NotFound)
		if core.ValidID(id) {
			revoked, err = ch.RunnerKeys(session, id)
		}
		if errors.Is(err, shoal.NotFound) {
			return shoal.E("", shoal.NotFound, fmt.Sprintf("Runner %q not found. List the runners to see their ids.", id))
		}
		for _, key := range revoked {
			if err := ch.DeleteKey(session, key); err != nil && !errors.Is(err, shoal.NotFound) {
				return err
			}
		}
		return errors.Join(err, ch.DeleteRunner(session, id), ch.Record(caller, session, audit.RunnerRemove, audit.Target{Kind: "runner", ID: string(id)}, "keys", strconv.Itoa(len(revoked))))
	})
	r.core.RevokedRights()
	if err != nil {
		return err
	}
	for _, key := range revoked {
		r.core.Calls.EndKey(key)
	}
	return nil
}
