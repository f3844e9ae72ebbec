package keysql

import (
	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/sqlstore/sqlconn"
)

func runnerOf(r *sqlconn.Rows) storage.RunnerRow {
	row := storage.RunnerRow{
		Runner: shoal.RunnerID(r.Text(0)), Agent: shoal.EntityID(r.Text(1)), Key: sqlconn.TextOrNil[shoal.KeyID](r, 2), EnrolledAt: r.Time(3), SeenAt: r.Time(4),
	}
	r.Decode(r.Text(5), &row.Report)
	return row
}

// SaveRunner implements [storage.RunnerTx].
func (t *Tx) SaveRunner(session shoal.SessionID, row storage.RunnerRow, most int) error {
	now, err := t.c.Now()
	if err != nil {
		return err
	}
	report, err := sqlconn.Encode(row.Report)
	if err != nil {
		return err
	}
	_, err = t.c.Exec(`INSERT INTO runner_agents (session_id, runner, agent_id, key_id, enrolled_at, seen_at, report) VALUES ($1, $2, $3, $4, $5, $5, $6)
		ON CONFLICT (session_id, runner, agent_id) DO UPDATE SET key_id = excluded.key_id, seen_at = excluded.seen_at, report = excluded.report`,
		session, row.Runner, row.Agent, row.Key, now, report)
	if err != nil {
		return err
	}
	_, err = t.c.Exec(`DELETE FROM runner_agents WHERE session_id = $1 AND agent_id = $2 AND runner NOT IN (
		SELECT runner FROM runner_agents WHERE session_id = $1 AND agent_id = $2 ORDER BY seen_at DESC, runner LIMIT $3)`, session, row.Agent, most)
	return err
}

// Runners implements [storage.RunnerTx].
func (t *Tx) Runners(session shoal.SessionID, after shoal.RunnerID, limit int) ([]storage.RunnerRow, error) {
	return sqlconn.List(t.c, runnerOf, `SELECT runner, agent_id, key_id, enrolled_at, seen_at, report FROM runner_agents WHERE session_id = $1 AND runner IN (
		SELECT DISTINCT runner FROM runner_agents WHERE session_id = $1 AND runner > $2 ORDER BY runner LIMIT $3) ORDER BY runner, agent_id`, session, after, limit)
}

// HasRunner implements [storage.RunnerTx].
func (t *Tx) HasRunner(session shoal.SessionID, id shoal.RunnerID, agent shoal.EntityID) (bool, error) {
	return sqlconn.Exists(t.c, `SELECT 1 FROM runner_agents WHERE session_id = $1 AND runner = $2 AND agent_id = $3`, session, id, agent)
}

// RunnerKeys implements [storage.RunnerTx].
func (t *Tx) RunnerKeys(session shoal.SessionID, id shoal.RunnerID) (keys []shoal.KeyID, err error) {
	found, err := sqlconn.List(t.c, func(r *sqlconn.Rows) *shoal.KeyID { return sqlconn.TextOrNil[shoal.KeyID](r, 0) },
		`SELECT key_id FROM runner_agents WHERE session_id = $1 AND runner = $2 ORDER BY agent_id`, session, id)
	if err == nil && len(found) == 0 {
		err = sqlconn.NotFound("RunnerKeys", "Runner %q not found.", id)
	}
	for _, key := range found {
		if key != nil {
			keys = append(keys, *key)
		}
	}
	return keys, err
}

// DeleteRunner implements [storage.RunnerTx].
func (t *Tx) DeleteRunner(session shoal.SessionID, id shoal.RunnerID) error {
	_, err := t.c.Exec(`DELETE FROM runner_agents WHERE session_id = $1 AND runner = $2`, session, id)
	return err
}

// DeleteRunnersOf implements [storage.RunnerTx].
func (t *Tx) DeleteRunnersOf(session shoal.SessionID, agent shoal.EntityID) error {
	_, err := t.c.Exec(`DELETE FROM runner_agents WHERE session_id = $1 AND agent_id = $2`, session, agent)
	return err
}
