package storage

import (
	"github.com/shoal-dev/shoal"
)

// PlanTx stores plans (schedules).
type PlanTx interface {
	Plan(session shoal.SessionID, id shoal.PlanID) (shoal.Plan, error)
	// Plans lists the plans of an agent, or of the session if agent is empty, in the order
	// of ids.
	Plans(session shoal.SessionID, agent shoal.EntityID) ([]shoal.Plan, error)
	InsertPlan(session shoal.SessionID, p shoal.Plan) error
	UpdatePlan(session shoal.SessionID, p shoal.Plan) error
	DeletePlan(session shoal.SessionID, id shoal.PlanID) error
	// DuePlans returns pending plans of all sessions whose NextRunAt is at or before at.
	DuePlans(at shoal.Time, limit int) ([]DuePlan, error)
	// NextPlan returns the earliest NextRunAt of a pending plan, or nil.
	NextPlan() (*shoal.Time, error)
}

// DuePlan is a plan with its session.
type DuePlan struct {
	Session shoal.SessionID
	shoal.Plan
}
