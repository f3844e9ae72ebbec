package runsql

import (
	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/sqlstore/sqlconn"
)

// ClaimableRemote implements [hub.RemoteTx].
func (t *Tx) ClaimableRemote(session shoal.SessionID, agent shoal.EntityID, at shoal.Time, limit int) ([]storage.Run, error) {
	return sqlconn.ListFirst(t.c, limit, runOf, `SELECT `+runColumns+` FROM runs AS r
		WHERE r.session_id = $1 AND r.agent_id = $2 AND r.ended_at IS NULL AND r.remote AND r.not_before <= $3
		  AND (r.awake AND r.lease_until IS NULL OR r.lease_until <= $3)`+runNotImporting+` ORDER BY r.number`+sqlconn.Limit(limit), session, agent, at)
}

// CountRemote implements [hub.RemoteTx].
func (t *Tx) CountRemote(session shoal.SessionID, agent shoal.EntityID, at shoal.Time) (int64, error) {
	return sqlconn.Number(t.c, `SELECT COUNT(*) FROM runs AS r WHERE r.session_id = $1 AND r.agent_id = $2 AND r.ended_at IS NULL AND r.remote AND r.lease_until > $3`,
		session, agent, at)
}

// CanceledRemote implements [hub.RemoteTx].
func (t *Tx) CanceledRemote(limit int) ([]storage.Run, error) {
	return sqlconn.ListFirst(t.c, limit, runOf, `SELECT `+runColumns+` FROM runs AS r WHERE r.awake AND r.remote AND r.cancel`+runNotImporting+` ORDER BY r.number`+sqlconn.Limit(limit))
}

// RunWork implements [hub.RemoteTx].
func (t *Tx) RunWork(session shoal.SessionID, run shoal.RunID, after int64) ([]storage.RunWork, error) {
	return sqlconn.List(t.c, func(r *sqlconn.Rows) storage.RunWork {
		return storage.RunWork{Place: r.Int(0), Generation: r.Int(1), N: r.Int(2), Data: r.JSON(3)}
	}, `SELECT place, generation, n, data FROM run_work WHERE session_id = $1 AND run_id = $2 AND place > $3 ORDER BY place`, session, run, after)
}

// AppendRunWork implements [hub.RemoteTx].
func (t *Tx) AppendRunWork(session shoal.SessionID, run shoal.RunID, w storage.RunWork) error {
	_, err := t.c.Exec(`INSERT INTO run_work (session_id, run_id, place, generation, n, data) VALUES ($1, $2, $3, $4, $5, $6)`,
		session, run, w.Place, w.Generation, w.N, w.Data)
	return err
}

// DropRunWork implements [hub.RemoteTx].
func (t *Tx) DropRunWork(session shoal.SessionID, run shoal.RunID) error {
	_, err := t.c.Exec(`DELETE FROM run_work WHERE session_id = $1 AND run_id = $2`, session, run)
	return err
}
