package runsql

import (
	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/sqlstore/sqlconn"
)

const (
	noPlan      = "Plan %q not found."
	planColumns = `session_id, id, agent_id, name, description, instruction, cron, time_zone, scheduled_at, status, next_run_at, last_run_at,
	last_run_id, created_at, acting_for`
)

func duePlanOf(r *sqlconn.Rows) storage.DuePlan {
	return storage.DuePlan{Session: shoal.SessionID(r.Text(0)), Plan: shoal.Plan{
		ID: shoal.PlanID(r.Text(1)), AgentID: shoal.EntityID(r.Text(2)), Name: r.Text(3), Description: r.Text(4), Instruction: r.Text(5),
		Cron: sqlconn.TextOrNil[string](r, 6), TimeZone: r.Text(7), ScheduledAt: r.TimeOrNil(8), Status: shoal.PlanStatus(r.Text(9)),
		NextRunAt: r.TimeOrNil(10), LastRunAt: r.TimeOrNil(11), LastRunID: sqlconn.TextOrNil[shoal.RunID](r, 12), CreatedAt: r.Time(13), ActingFor: r.IDs(14),
	}}
}

func planOf(r *sqlconn.Rows) shoal.Plan { return duePlanOf(r).Plan }

// Plan implements [hub.PlanTx].
func (t *Tx) Plan(session shoal.SessionID, id shoal.PlanID) (shoal.Plan, error) {
	p, ok, err := sqlconn.One(t.c, planOf, `SELECT `+planColumns+` FROM plans WHERE session_id = $1 AND id = $2`, session, id)
	return sqlconn.OrNotFound(p, ok, err, "Plan", noPlan, id)
}

// Plans implements [hub.PlanTx].
func (t *Tx) Plans(session shoal.SessionID, agent shoal.EntityID) ([]shoal.Plan, error) {
	var b sqlconn.Builder
	b.Add(`SELECT `+planColumns+` FROM plans WHERE session_id = ?`, session)
	if agent != "" {
		b.Add(` AND agent_id = ?`, agent)
	}
	b.Add(` ORDER BY id`)
	return sqlconn.List(t.c, planOf, b.Text(), b.Args...)
}

// InsertPlan implements [hub.PlanTx].
func (t *Tx) InsertPlan(session shoal.SessionID, p shoal.Plan) error {
	actingFor, err := sqlconn.IDsOrNull(p.ActingFor)
	if err != nil {
		return err
	}
	n, err := t.c.Exec(
		`INSERT INTO plans (`+planColumns+`)
		 VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15) ON CONFLICT DO NOTHING`,
		session, p.ID, p.AgentID, p.Name, p.Description, p.Instruction, p.Cron, p.TimeZone, p.ScheduledAt, p.Status, p.NextRunAt, p.LastRunAt,
		p.LastRunID, p.CreatedAt, actingFor)
	if err == nil && n == 0 {
		err = sqlconn.AlreadyExists("InsertPlan", "The plan id %q is taken; choose another.", p.ID)
	}
	return err
}

// UpdatePlan implements [hub.PlanTx]. Agent and CreatedAt do not change.
func (t *Tx) UpdatePlan(session shoal.SessionID, p shoal.Plan) error {
	actingFor, err := sqlconn.IDsOrNull(p.ActingFor)
	if err != nil {
		return err
	}
	n, err := t.c.Exec(
		`UPDATE plans SET name = $3, description = $4, instruction = $5, cron = $6, time_zone = $7, scheduled_at = $8, status = $9, next_run_at = $10,
		   last_run_at = $11, last_run_id = $12, acting_for = $13
		 WHERE session_id = $1 AND id = $2`,
		session, p.ID, p.Name, p.Description, p.Instruction, p.Cron, p.TimeZone, p.ScheduledAt, p.Status, p.NextRunAt, p.LastRunAt, p.LastRunID, actingFor)
	if err == nil && n == 0 {
		err = sqlconn.NotFound("UpdatePlan", noPlan, p.ID)
	}
	return err
}

// DeletePlan implements [hub.PlanTx].
func (t *Tx) DeletePlan(session shoal.SessionID, id shoal.PlanID) error {
	n, err := t.c.Exec(`DELETE FROM plans WHERE session_id = $1 AND id = $2`, session, id)
	if err == nil && n == 0 {
		err = sqlconn.NotFound("DeletePlan", noPlan, id)
	}
	return err
}

// DuePlans implements [hub.PlanTx]. The longest due come first.
func (t *Tx) DuePlans(at shoal.Time, limit int) ([]storage.DuePlan, error) {
	return sqlconn.ListFirst(t.c, limit, duePlanOf,
		`SELECT `+planColumns+` FROM plans AS p WHERE p.status = 'pending' AND p.next_run_at <= $1`+pendingNotImporting+` ORDER BY next_run_at`+sqlconn.Limit(limit), at)
}

// NextPlan implements [hub.PlanTx].
func (t *Tx) NextPlan() (*shoal.Time, error) {
	return t.earliest(`SELECT MIN(p.next_run_at) FROM plans AS p WHERE p.status = 'pending' AND p.next_run_at IS NOT NULL` + pendingNotImporting)
}
