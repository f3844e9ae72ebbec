package client

import (
	"context"
	"iter"
	"net/http"

	"github.com/shoal-dev/shoal"
)

// Plans lists the plans of a hosted agent in the order of ids. Admins only.
func (s *Session) Plans(ctx context.Context, agent shoal.EntityID) iter.Seq2[shoal.Plan, error] {
	return list[shoal.Plan](ctx, s.client, call{op: "client.Plans", path: s.path("agents", string(agent), "plans")})
}

// CreatePlan creates a plan of a hosted agent. Admins only.
func (s *Session) CreatePlan(ctx context.Context, agent shoal.EntityID, n shoal.NewPlan, options ...CallOption) (made shoal.Plan, err error) {
	in := call{op: "client.CreatePlan", path: s.path("agents", string(agent), "plans"), body: n}
	return made, s.client.create(ctx, in, &made, options)
}

// ChangePlan changes a plan and returns it. Admins only.
func (s *Session) ChangePlan(ctx context.Context, id shoal.PlanID, change shoal.PlanChange) (out shoal.Plan, err error) {
	in := call{op: "client.ChangePlan", method: http.MethodPatch, path: s.path("plans", string(id)), body: change}
	return out, s.client.do(ctx, in, &out)
}

// DeletePlan ends a plan permanently. Admins only.
func (s *Session) DeletePlan(ctx context.Context, id shoal.PlanID) error {
	in := call{op: "client.DeletePlan", method: http.MethodDelete, path: s.path("plans", string(id)), once: true}
	return s.client.do(ctx, in, nil)
}
