package coresql

import (
	"cmp"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/sqlstore/schema"
	"github.com/shoal-dev/shoal/internal/sqlstore/sqlconn"
)

const (
	noSession      = "Session %q not found."
	sessionColumns = `id, name, status, created_at, closed_at, max_request_cost, max_request_tokens, space_rights, keep_messages, keep_runs, keep_prompts`
)

func sessionOf(r *sqlconn.Rows) shoal.Session {
	return shoal.Session{
		ID: shoal.SessionID(r.Text(0)), Name: r.Text(1), Status: shoal.SessionStatus(r.Text(2)),
		CreatedAt: r.Time(3), ClosedAt: r.TimeOrNil(4), Limits: shoal.Limits{MaxCostPerRequest: r.Float(5), MaxTokensPerRequest: r.Int(6)},
		SpaceRights: shoal.SpaceRights(r.Text(7)), Retention: shoal.Retention{MessagesForMs: r.Int(8), RunsForMs: r.Int(9), PromptsForMs: r.Int(10)},
	}
}

// Session implements [hub.SessionTx].
func (t *Tx) Session(id shoal.SessionID) (shoal.Session, error) {
	if s, ok := t.cache.Session(id); ok {
		return s, nil
	}
	s, ok, err := sqlconn.One(t.c, sessionOf,
		`SELECT `+sessionColumns+` FROM sessions WHERE id = $1 AND NOT deleted`, id)
	if err == nil && ok {
		t.cache.PutSession(s)
	}
	return sqlconn.OrNotFound(s, ok, err, "Session", noSession, id)
}

// Sessions implements [hub.SessionTx].
func (t *Tx) Sessions(after shoal.SessionID, limit int) ([]shoal.Session, error) {
	return sqlconn.ListFirst(t.c, limit, sessionOf,
		`SELECT `+sessionColumns+` FROM sessions
		 WHERE id > $1 AND NOT deleted ORDER BY id`+sqlconn.Limit(limit), after)
}

// InsertSession implements [hub.SessionTx].
func (t *Tx) InsertSession(s shoal.Session) error {
	n, err := t.c.Exec(
		`INSERT INTO sessions (`+sessionColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
		 ON CONFLICT DO NOTHING`, s.ID, s.Name, s.Status, s.CreatedAt, s.ClosedAt, s.Limits.MaxCostPerRequest, s.Limits.MaxTokensPerRequest,
		string(cmp.Or(s.SpaceRights, shoal.SpaceRightsMembers)), s.Retention.MessagesForMs, s.Retention.RunsForMs, s.Retention.PromptsForMs)
	if err == nil && n == 0 {
		err = sqlconn.AlreadyExists("InsertSession", "The session id %q is taken; choose another.", s.ID)
	}
	return err
}

// UpdateSession implements [hub.SessionTx].
func (t *Tx) UpdateSession(s shoal.Session) error {
	n, err := t.c.Exec(
		`UPDATE sessions SET max_request_cost = $2, max_request_tokens = $3, space_rights = $4, keep_messages = $5, keep_runs = $6, keep_prompts = $7 WHERE id = $1 AND NOT deleted`,
		s.ID, s.Limits.MaxCostPerRequest, s.Limits.MaxTokensPerRequest, string(cmp.Or(s.SpaceRights, shoal.SpaceRightsMembers)), s.Retention.MessagesForMs, s.Retention.RunsForMs, s.Retention.PromptsForMs)
	if err == nil && n == 0 {
		err = sqlconn.NotFound("UpdateSession", noSession, s.ID)
	}
	return err
}

// CloseSession implements [hub.SessionTx].
func (t *Tx) CloseSession(id shoal.SessionID, at shoal.Time) error {
	n, err := t.c.Exec(
		`UPDATE sessions SET status = $2, closed_at = $3 WHERE id = $1 AND NOT deleted`, id, shoal.SessionStatusClosed, at)
	if err == nil && n == 0 {
		err = sqlconn.NotFound("CloseSession", noSession, id)
	}
	return err
}

// DeleteSession implements [hub.SessionTx].
func (t *Tx) DeleteSession(id shoal.SessionID) error {
	n, err := t.c.Exec(
		`UPDATE sessions SET deleted = TRUE, name = '', closed_at = NULL WHERE id = $1 AND NOT deleted`, id)
	if err == nil && n == 0 {
		err = sqlconn.NotFound("DeleteSession", noSession, id)
	}
	if err != nil {
		return err
	}
	_, done := t.c.ExtendTimeout()
	defer done()
	if err := t.c.ExecAll(schema.EraseSession, id); err != nil {
		return err
	}
	return t.search.ResetEnd()
}
