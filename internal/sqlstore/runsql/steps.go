package runsql

import (
	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/sqlstore/sqlconn"
)

// PutStep implements [hub.StepTx].
func (t *Tx) PutStep(session shoal.SessionID, run shoal.RunID, s storage.Step) error {
	step, err := sqlconn.Encode(s.Step)
	if err != nil {
		return err
	}
	_, err = t.c.Exec(
		`INSERT INTO run_steps (session_id, run_id, place, done, started_at, ended_at, step, data) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
		 ON CONFLICT (session_id, run_id, place) DO UPDATE SET done = excluded.done, started_at = excluded.started_at, ended_at = excluded.ended_at,
		   step = excluded.step, data = excluded.data`,
		session, run, s.Index, s.Done, s.StartedAt, s.EndedAt, step, sqlconn.RawOrNull(s.Data))
	return err
}

// RunSteps implements [hub.StepTx].
func (t *Tx) RunSteps(session shoal.SessionID, run shoal.RunID) ([]storage.Step, error) {
	return sqlconn.List(t.c, func(r *sqlconn.Rows) storage.Step {
		s := storage.Step{Done: r.Bool(0), Data: r.RawOrNil(4)}
		r.Decode(r.Text(3), &s.Step)
		// The columns have microseconds, the JSON milliseconds.
		s.StartedAt, s.EndedAt = r.Time(1), r.TimeOrNil(2)
		return s
	}, `SELECT done, started_at, ended_at, step, data FROM run_steps WHERE session_id = $1 AND run_id = $2 ORDER BY place`, session, run)
}

// DropSteps implements [hub.StepTx].
func (t *Tx) DropSteps(session shoal.SessionID, run shoal.RunID, from int) error {
	_, err := t.c.Exec(`DELETE FROM run_steps WHERE session_id = $1 AND run_id = $2 AND place >= $3`, session, run, from)
	return err
}

// ClientInput implements [hub.StepTx].
func (t *Tx) ClientInput(session shoal.SessionID, run shoal.RunID) (storage.ClientInput, error) {
	in, ok, err := sqlconn.One(t.c, func(r *sqlconn.Rows) (in storage.ClientInput) {
		r.Decode(r.Text(0), &in)
		return in
	}, `SELECT data FROM run_clients WHERE session_id = $1 AND run_id = $2`, session, run)
	return sqlconn.OrNotFound(in, ok, err, "ClientInput", "No front end sent anything for the run %q.", run)
}

// PutClientInput implements [hub.StepTx].
func (t *Tx) PutClientInput(session shoal.SessionID, run shoal.RunID, in storage.ClientInput) error {
	data, err := sqlconn.Encode(in)
	if err != nil {
		return err
	}
	_, err = t.c.Exec(`INSERT INTO run_clients (session_id, run_id, data) VALUES ($1, $2, $3)
		ON CONFLICT (session_id, run_id) DO UPDATE SET data = excluded.data`, session, run, data)
	return err
}
