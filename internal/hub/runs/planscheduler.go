package runs

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

const (
	// planPollInterval is the longest time between two reads of the due plans, so that
	// plans of other servers are found.
	planPollInterval = 30 * time.Second
	// planBatchSize is how many due plans fire in one transaction.
	planBatchSize = 50
)

// runScheduler fires plans when they are due, until ctx ends.
func (p *Plans) runScheduler(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case <-p.core.PlansChanged:
		}
		wait, err := p.fireDue(ctx)
		if err != nil && ctx.Err() == nil {
			p.core.Log.Error("firing due plans failed and will be repeated", "error", err)
		}
		timer.Reset(wait)
	}
}

// fireDue fires the due plans and returns the time until the next read.
func (p *Plans) fireDue(ctx context.Context) (wait time.Duration, err error) {
	for {
		var next *shoal.Time
		var now shoal.Time
		var sessions []shoal.SessionID
		err := p.core.Store.View(ctx, func(tx storage.Tx) (err error) {
			if next, err = tx.NextPlan(); err == nil {
				now, err = tx.Now()
			}
			if err == nil && next != nil {
				due, failed := tx.DuePlans(now, planBatchSize)
				for _, d := range due {
					sessions = append(sessions, d.Session)
				}
				err = failed
			}
			return err
		})
		if err != nil || next == nil {
			return planPollInterval, err
		}
		if wait = next.Sub(now.Time); wait > 0 {
			return min(wait, planPollInterval), nil
		}
		fired := 0
		for at := range storage.Batches(sessions) {
			n := 0
			err = p.core.Change(ctx, "hub.Plans.fire", at, func(ch *core.Change) (err error) {
				n, err = fireDuePlans(ch, at)
				return err
			})
			if err != nil {
				return planPollInterval, err
			}
			fired += n
		}
		if fired == 0 { // another server was faster
			return time.Second, nil
		}
	}
}

// fireDuePlans starts a run for each due plan of the sessions and sets the plan's next time,
// in one transaction: each time fires once, however many servers check. It returns the number
// of due plans.
func fireDuePlans(ch *core.Change, at storage.At) (int, error) {
	now, err := ch.Now()
	if err != nil {
		return 0, err
	}
	due, err := ch.DuePlans(now, planBatchSize)
	if err != nil {
		return 0, err
	}
	due = slices.DeleteFunc(due, func(d storage.DuePlan) bool { return !at.Includes(d.Session) })
	for _, d := range due {
		if err := firePlan(ch, d, now); err != nil {
			return 0, err
		}
	}
	return len(due), nil
}

func firePlan(ch *core.Change, d storage.DuePlan, now shoal.Time) error {
	plan := d.Plan
	as, err := ch.HostedAgent(d.Session, plan.AgentID)
	if errors.Is(err, shoal.NotFound) {
		plan.Status, plan.NextRunAt = shoal.PlanCanceled, nil
		return ch.UpdatePlan(d.Session, plan)
	}
	if err != nil {
		return err
	}
	s := StartRequest{
		Session: d.Session, Agent: plan.AgentID, cause: storage.Cause{Root: string(plan.ID), ActingFor: plan.ActingFor}, requester: plan.Name,
		Trigger: shoal.Trigger{
			Type: shoal.PlanTrigger, PlanID: plan.ID, PlanName: plan.Name, ScheduledAt: *plan.NextRunAt, Instruction: plan.Instruction,
		},
	}
	r, err := s.create(ch, as, now, false)
	if err != nil {
		return err
	}
	plan.LastRunAt, plan.LastRunID = &now, &r.ID
	advancePlan(ch, &plan, now)
	return ch.UpdatePlan(d.Session, plan)
}

// advancePlan sets a plan's first time after now. It skips times that were missed.
func advancePlan(ch *core.Change, p *shoal.Plan, now shoal.Time) {
	if p.Cron == nil {
		p.Status, p.NextRunAt = shoal.PlanCompleted, nil
		return
	}
	next, err := ch.Core.NextRunTime(*p, now)
	if err != nil {
		// Either no time follows, or this server cannot compute it. Firing repeatedly would
		// be worse than not firing.
		ch.Core.Log.Warn("plan completed because it has no next time", "plan", p.ID, "error", err)
		p.Status, p.NextRunAt = shoal.PlanCompleted, nil
		return
	}
	p.NextRunAt = &next
}

// Start starts the task that fires plans.
func (p *Plans) Start() { p.core.Go(p.runScheduler) }
