package sqlstore

import (
	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
)

const (
	noPlan      = "There is no plan %q here."
	planColumns = `session_id, id, agent_id, name, description, instruction, cron, time_zone, scheduled_at, status, next_run_at, last_run_at,
	last_run_id, created_at, acting_for`
)

func duePlanOf(r *rows) hub.DuePlan {
	return hub.DuePlan{Session: shoal.SessionID(r.text(0)), Plan: shoal.Plan{
		ID: shoal.PlanID(r.text(1)), AgentID: shoal.EntityID(r.text(2)), Name: r.text(3), Description: r.text(4), Instruction: r.text(5),
		Cron: textOrNil[string](r, 6), TimeZone: r.text(7), ScheduledAt: r.timeOrNil(8), Status: shoal.PlanStatus(r.text(9)),
		NextRunAt: r.timeOrNil(10), LastRunAt: r.timeOrNil(11), LastRunID: textOrNil[shoal.RunID](r, 12), CreatedAt: r.time(13), ActingFor: r.idsOf(14),
	}}
}

func planOf(r *rows) shoal.Plan { return duePlanOf(r).Plan }

// Plan implements [hub.PlanTx].
func (t tx) Plan(session shoal.SessionID, id shoal.PlanID) (shoal.Plan, error) {
	p, ok, err := one(t.c, planOf, `SELECT `+planColumns+` FROM plans WHERE session_id = $1 AND id = $2`, session, id)
	return present(p, ok, err, "Plan", noPlan, id)
}

// Plans implements [hub.PlanTx].
func (t tx) Plans(session shoal.SessionID, agent shoal.EntityID) ([]shoal.Plan, error) {
	var b clauses
	b.add(`SELECT `+planColumns+` FROM plans WHERE session_id = ?`, session)
	if agent != "" {
		b.add(` AND agent_id = ?`, agent)
	}
	b.add(` ORDER BY id`)
	return list(t.c, planOf, b.text.String(), b.args...)
}

// InsertPlan implements [hub.PlanTx].
func (t tx) InsertPlan(session shoal.SessionID, p shoal.Plan) error {
	actingFor, err := idsOrNull(p.ActingFor)
	if err != nil {
		return err
	}
	n, err := t.c.exec(
		`INSERT INTO plans (`+planColumns+`)
		 VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15) ON CONFLICT DO NOTHING`,
		session, p.ID, p.AgentID, p.Name, p.Description, p.Instruction, p.Cron, p.TimeZone, p.ScheduledAt, p.Status, p.NextRunAt, p.LastRunAt,
		p.LastRunID, p.CreatedAt, actingFor)
	if err == nil && n == 0 {
		err = taken("InsertPlan", "The plan id %q is taken; choose another.", p.ID)
	}
	return err
}

// UpdatePlan implements [hub.PlanTx]. Agent and CreatedAt do not change.
func (t tx) UpdatePlan(session shoal.SessionID, p shoal.Plan) error {
	actingFor, err := idsOrNull(p.ActingFor)
	if err != nil {
		return err
	}
	n, err := t.c.exec(
		`UPDATE plans SET name = $3, description = $4, instruction = $5, cron = $6, time_zone = $7, scheduled_at = $8, status = $9, next_run_at = $10,
		   last_run_at = $11, last_run_id = $12, acting_for = $13
		 WHERE session_id = $1 AND id = $2`,
		session, p.ID, p.Name, p.Description, p.Instruction, p.Cron, p.TimeZone, p.ScheduledAt, p.Status, p.NextRunAt, p.LastRunAt, p.LastRunID, actingFor)
	if err == nil && n == 0 {
		err = missing("UpdatePlan", noPlan, p.ID)
	}
	return err
}

// DeletePlan implements [hub.PlanTx].
func (t tx) DeletePlan(session shoal.SessionID, id shoal.PlanID) error {
	n, err := t.c.exec(`DELETE FROM plans WHERE session_id = $1 AND id = $2`, session, id)
	if err == nil && n == 0 {
		err = missing("DeletePlan", noPlan, id)
	}
	return err
}

// DuePlans implements [hub.PlanTx]. The longest due come first.
func (t tx) DuePlans(at shoal.Time, limit int) ([]hub.DuePlan, error) {
	return listFirst(t.c, limit, duePlanOf,
		`SELECT `+planColumns+` FROM plans AS p WHERE p.status = 'pending' AND p.next_run_at <= $1`+shownPending+` ORDER BY next_run_at`+upTo(limit), at)
}

// NextPlan implements [hub.PlanTx].
func (t tx) NextPlan() (*shoal.Time, error) {
	return t.earliest(`SELECT MIN(p.next_run_at) FROM plans AS p WHERE p.status = 'pending' AND p.next_run_at IS NOT NULL` + shownPending)
}
