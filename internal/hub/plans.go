package hub

import (
	"context"
	"time"

	"github.com/shoal-dev/shoal"
)

// Plans keeps the schedules of hosted agents and fires them, each once.
type Plans struct{ *core }

// NextTime returns the first time behind after that a cron expression names in a
// time zone. InvalidArgument when either means nothing, or no time follows.
type NextTime func(cron, timeZone string, after time.Time) (time.Time, error)

// Create makes a plan of a hosted agent. Admins only.
func (p *Plans) Create(ctx context.Context, who shoal.Principal, session shoal.SessionID, agent shoal.EntityID, n shoal.NewPlan, idempotencyKey string) (shoal.Plan, error) {
	panic("not built")
}

// List returns the plans of an agent in the order of ids. Admins only.
func (p *Plans) List(ctx context.Context, who shoal.Principal, session shoal.SessionID, agent shoal.EntityID) ([]shoal.Plan, error) {
	panic("not built")
}

// Update changes a plan. Admins only.
func (p *Plans) Update(ctx context.Context, who shoal.Principal, session shoal.SessionID, id shoal.PlanID, c shoal.PlanChange) (shoal.Plan, error) {
	panic("not built")
}

// Delete ends a plan for good. Admins only.
func (p *Plans) Delete(ctx context.Context, who shoal.Principal, session shoal.SessionID, id shoal.PlanID) error {
	panic("not built")
}
