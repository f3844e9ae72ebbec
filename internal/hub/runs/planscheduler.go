package runs

import (
	"context"
	"errors"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

const (
	// planPollInterval is how often plans are looked for that another server has made.
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
			p.core.Log.Error("due plans could not be fired; it is tried again", "error", err)
		}
		timer.Reset(wait)
	}
}

// fireDue fires what is due and returns how long there is nothing more to do.
func (p *Plans) fireDue(ctx context.Context) (wait time.Duration, err error) {
	for {
		var next *shoal.Time
		var now shoal.Time
		err := p.core.Store.View(ctx, func(tx storage.Tx) (err error) {
			if next, err = tx.NextPlan(); err == nil {
				now, err = tx.Now()
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
		err = p.core.Change(ctx, "hub.Plans.fire", func(ch *core.Change) (err error) {
			fired, err = fireDuePlans(ch)
			return err
		})
		if err != nil {
			return planPollInterval, err
		}
		if fired == 0 { // another server was faster
			return time.Second, nil
		}
	}
}

// fireDuePlans starts a run for each due plan and moves the plan on, in one
// transaction: however many servers look, each time fires once. It returns how many
// were due.
func fireDuePlans(ch *core.Change) (int, error) {
	now, err := ch.Now()
	if err != nil {
		return 0, err
	}
	due, err := ch.DuePlans(now, planBatchSize)
	if err != nil {
		return 0, err
	}
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
		StartForMessage: shoal.Trigger{
			Type: shoal.PlanTrigger, PlanID: plan.ID, PlanName: plan.Name, ScheduledAt: *plan.NextRunAt, Instruction: plan.Instruction,
		},
	}
	r, err := s.start(ch, as, now, false)
	if err != nil {
		return err
	}
	plan.LastRunAt, plan.LastRunID = &now, &r.ID
	advancePlan(ch, &plan, now)
	return ch.UpdatePlan(d.Session, plan)
}

// advancePlan finds a plan's time behind now; what was missed before is passed over.
func advancePlan(ch *core.Change, p *shoal.Plan, now shoal.Time) {
	if p.Cron == nil {
		p.Status, p.NextRunAt = shoal.PlanCompleted, nil
		return
	}
	next, err := ch.Core.NextRunTime(*p, now)
	if err != nil {
		// Nothing follows, or this server cannot tell: firing again and again would
		// be worse than never.
		ch.Core.Log.Warn("a plan has no next time and is over", "plan", p.ID, "error", err)
		p.Status, p.NextRunAt = shoal.PlanCompleted, nil
		return
	}
	p.NextRunAt = &next
}

// Start starts the task that fires plans.
func (p *Plans) Start() { p.core.Go(p.runScheduler) }
