package runs

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/behalf"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/pending"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/roles"
)

// Plans are the plans (schedules) of hosted agents. It fires each of their times once.
type Plans struct{ core *core.Core }

// NewPlans returns the plans of a hub.
func NewPlans(c *core.Core) *Plans { return &Plans{c} }

// Create creates a plan of a hosted agent. It requires an admin or an owner of the session.
func (p *Plans) Create(ctx context.Context, caller shoal.Principal, session shoal.SessionID, agent shoal.EntityID, n shoal.NewPlan, idempotencyKey string) (plan shoal.Plan, err error) {
	const op = "hub.Plans.Create"
	if err := errors.Join(core.Authorize(caller, session, roles.Manage), n.Validate(), core.CheckIdempotencyKey(idempotencyKey)); err != nil {
		return plan, core.Wrap(op, core.FirstError(err))
	}
	err = p.core.Change(ctx, op, storage.In(session), func(ch *core.Change) (err error) {
		if err := core.RequireOpenSession(ch, session); err != nil {
			return err
		}
		if _, err := core.FindEntity(ch, session, agent); err != nil {
			return err
		}
		type input struct {
			Agent shoal.EntityID
			Plan  shoal.NewPlan
		}
		plan, _, err = core.Once(ch, caller, session, op, idempotencyKey, input{agent, n}, func() (shoal.Plan, error) {
			return createPlan(ch, session, agent, n, pending.RootOf(caller))
		})
		return err
	})
	return plan, err
}

// NewPlan creates a plan of the run's agent, as [Plans.Create] does.
func (c *RunChange) NewPlan(n shoal.NewPlan) (shoal.Plan, error) {
	if err := n.Validate(); err != nil {
		return shoal.Plan{}, err
	}
	return createPlan(c.Change, c.Run.SessionID, c.Run.AgentID, n, c.Run.Roots())
}

// ChangePlan changes a plan of the run's agent, as [Plans.Update] does. It fails with
// NotFound for a plan of another agent.
func (c *RunChange) ChangePlan(id shoal.PlanID, with shoal.PlanChange) (shoal.Plan, error) {
	plan, err := findPlan(c.Change, c.Run.SessionID, id)
	if err == nil && plan.AgentID != c.Run.AgentID {
		err = planNotFound(id)
	}
	if err != nil {
		return plan, err
	}
	return changePlan(c.Change, c.Run.SessionID, plan, with, c.Run.Roots())
}

func createPlan(ch *core.Change, session shoal.SessionID, agent shoal.EntityID, n shoal.NewPlan, by []shoal.EntityID) (shoal.Plan, error) {
	if _, err := core.FindHostedAgent(ch, session, agent); err != nil {
		return shoal.Plan{}, shoal.E("", shoal.InvalidArgument, fmt.Sprintf("%q is not a hosted agent, and only hosted agents have plans. Give it a configuration first.", agent))
	}
	out := shoal.Plan{
		ID: shoal.NewID[shoal.PlanID](shoal.PrefixPlan), AgentID: agent, Name: n.Name, Description: n.Description, Instruction: n.Instruction,
		Cron: n.Cron, TimeZone: n.TimeZone, ScheduledAt: n.ScheduledAt, Status: shoal.PlanPending, CreatedAt: ch.At,
		ActingFor: behalf.Join(by),
	}
	if err := setNextRun(ch, &out); err != nil {
		return out, err
	}
	return out, ch.InsertPlan(session, out)
}

// maxPlanDelay is how far in the past the single time of a new plan may be, because a
// request for "now" takes a moment to arrive. Such a plan fires at once.
const maxPlanDelay = time.Minute

// setNextRun sets the time at which a plan fires next, and notifies the scheduler.
func setNextRun(ch *core.Change, p *shoal.Plan) error {
	if p.TimeZone == "" {
		p.TimeZone = "UTC"
	}
	ch.OnEnd(func(bool) { ch.Core.NotifyPlans() })
	if p.Status != shoal.PlanPending {
		p.NextRunAt = nil
		return nil
	}
	now, err := ch.Now()
	if err != nil {
		return err
	}
	if p.Cron == nil {
		if p.ScheduledAt.Before(now.Add(-maxPlanDelay)) {
			return shoal.Invalid("scheduledAt", fmt.Sprintf("is in the past: it is %s now", now))
		}
		p.NextRunAt = p.ScheduledAt
		return nil
	}
	next, err := ch.Core.NextRunTime(*p, now)
	p.NextRunAt = &next
	return err
}

// List returns the plans of an agent in the order of ids. It requires an admin or an owner
// of the session.
func (p *Plans) List(ctx context.Context, caller shoal.Principal, session shoal.SessionID, agent shoal.EntityID) (out []shoal.Plan, err error) {
	const op = "hub.Plans.List"
	if err := core.Authorize(caller, session, roles.ReadSettings); err != nil {
		return nil, core.Wrap(op, err)
	}
	err = p.core.View(ctx, op, func(tx storage.Tx) error {
		if _, err := core.FindEntity(tx, session, agent); err != nil {
			return err
		}
		out, err = tx.Plans(session, agent)
		return err
	})
	return out, err
}

// Update changes a plan. A canceled plan cannot be changed; a new time makes a completed
// plan pending again. It requires an admin or an owner of the session.
func (p *Plans) Update(ctx context.Context, caller shoal.Principal, session shoal.SessionID, id shoal.PlanID, c shoal.PlanChange) (out shoal.Plan, err error) {
	const op = "hub.Plans.Update"
	if err := core.Authorize(caller, session, roles.Manage); err != nil {
		return out, core.Wrap(op, err)
	}
	err = p.core.Change(ctx, op, storage.In(session), func(ch *core.Change) error {
		if err := core.RequireOpenSession(ch, session); err != nil {
			return err
		}
		if out, err = findPlan(ch, session, id); err != nil {
			return err
		}
		out, err = changePlan(ch, session, out, c, pending.RootOf(caller))
		return err
	})
	return out, err
}

func findPlan(tx Tx, session shoal.SessionID, id shoal.PlanID) (shoal.Plan, error) {
	if !core.ValidID(session) || !core.ValidID(id) {
		return shoal.Plan{}, planNotFound(id)
	}
	plan, err := tx.Plan(session, id)
	if errors.Is(err, shoal.NotFound) {
		err = planNotFound(id)
	}
	return plan, err
}

func planNotFound(id shoal.PlanID) error {
	return shoal.E("", shoal.NotFound, fmt.Sprintf("Plan %q not found. List the agent's plans to see their ids.", id))
}

func changePlan(ch *core.Change, session shoal.SessionID, p shoal.Plan, c shoal.PlanChange, by []shoal.EntityID) (shoal.Plan, error) {
	if p.Status == shoal.PlanCanceled {
		return p, shoal.E("", shoal.Conflict, fmt.Sprintf("The plan %q is canceled and cannot be changed. Create a new one.", p.ID))
	}
	// From now on the plan also acts for the entity that changed it.
	if p.ActingFor = behalf.Join(p.ActingFor, by); len(p.ActingFor) > behalf.MaxActingFor {
		return p, shoal.E("", shoal.Conflict, fmt.Sprintf("More than %d members have changed the plan %q. Create a new one.", behalf.MaxActingFor, p.ID))
	}
	timed := applyPlanChange(&p, c)
	if c.Status != nil {
		switch *c.Status {
		case shoal.PlanPending, shoal.PlanPaused, shoal.PlanCompleted, shoal.PlanCanceled:
			timed = timed || *c.Status != p.Status
			p.Status = *c.Status
		default:
			return p, shoal.Invalid("status", `must be "pending", "paused", "completed" or "canceled"`)
		}
	} else if timed && p.Status == shoal.PlanCompleted {
		p.Status = shoal.PlanPending
	}
	again := shoal.NewPlan{Name: p.Name, Description: p.Description, Instruction: p.Instruction, Cron: p.Cron, TimeZone: p.TimeZone, ScheduledAt: p.ScheduledAt}
	if err := again.Validate(); err != nil {
		return p, err
	}
	if timed {
		if err := setNextRun(ch, &p); err != nil {
			return p, err
		}
	}
	return p, ch.UpdatePlan(session, p)
}

// applyPlanChange applies a change without its status. A cron expression replaces a single
// time and the reverse. It reports whether the time has changed.
func applyPlanChange(p *shoal.Plan, c shoal.PlanChange) (timed bool) {
	set := func(field *string, to *string) {
		if to != nil {
			*field = *to
		}
	}
	set(&p.Name, c.Name)
	set(&p.Description, c.Description)
	set(&p.Instruction, c.Instruction)
	set(&p.TimeZone, c.TimeZone)
	if c.Cron != nil {
		p.Cron, p.ScheduledAt = c.Cron, nil
	}
	if c.ScheduledAt != nil {
		p.ScheduledAt = c.ScheduledAt
		if c.Cron == nil {
			p.Cron = nil
		}
	}
	return c.Cron != nil || c.ScheduledAt != nil || c.TimeZone != nil
}

// Delete erases a plan. It requires an admin or an owner of the session.
func (p *Plans) Delete(ctx context.Context, caller shoal.Principal, session shoal.SessionID, id shoal.PlanID) error {
	const op = "hub.Plans.Delete"
	if err := core.Authorize(caller, session, roles.Manage); err != nil {
		return core.Wrap(op, err)
	}
	return p.core.Change(ctx, op, storage.In(session), func(ch *core.Change) error {
		if err := core.RequireOpenSession(ch, session); err != nil {
			return err
		}
		if _, err := findPlan(ch, session, id); err != nil {
			return err
		}
		return ch.DeletePlan(session, id)
	})
}

// CancelPlans cancels the plans of an agent, or of the session if agent is empty.
func CancelPlans(ch *core.Change, session shoal.SessionID, agent shoal.EntityID) error {
	plans, err := ch.Plans(session, agent)
	if err != nil {
		return err
	}
	for _, p := range plans {
		if p.Status != shoal.PlanPending && p.Status != shoal.PlanPaused {
			continue
		}
		p.Status, p.NextRunAt = shoal.PlanCanceled, nil
		if err := ch.UpdatePlan(session, p); err != nil {
			return err
		}
	}
	return nil
}
