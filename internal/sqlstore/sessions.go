package sqlstore

import (
	"cmp"

	"github.com/shoal-dev/shoal"
)

const (
	noSession      = "There is no session %q here."
	sessionColumns = `id, name, status, created_at, closed_at, max_request_cost, max_request_tokens, space_rights`
)

func sessionOf(r *rows) shoal.Session {
	return shoal.Session{
		ID: shoal.SessionID(r.text(0)), Name: r.text(1), Status: shoal.SessionStatus(r.text(2)),
		CreatedAt: r.time(3), ClosedAt: r.timeOrNil(4), Limits: shoal.Limits{MaxCostPerRequest: r.float(5), MaxTokensPerRequest: r.int(6)},
		SpaceRights: shoal.SpaceRights(r.text(7)),
	}
}

// Session implements [hub.SessionTx].
func (t tx) Session(id shoal.SessionID) (shoal.Session, error) {
	if s, ok := t.c.known.session(id); ok {
		return s, nil
	}
	s, ok, err := one(t.c, sessionOf,
		`SELECT `+sessionColumns+` FROM sessions WHERE id = $1 AND NOT deleted`, id)
	if err == nil && ok {
		t.c.known.noteSession(s)
	}
	return present(s, ok, err, "Session", noSession, id)
}

// Sessions implements [hub.SessionTx].
func (t tx) Sessions(after shoal.SessionID, limit int) ([]shoal.Session, error) {
	return listFirst(t.c, limit, sessionOf,
		`SELECT `+sessionColumns+` FROM sessions
		 WHERE id > $1 AND NOT deleted ORDER BY id`+upTo(limit), after)
}

// InsertSession implements [hub.SessionTx].
func (t tx) InsertSession(s shoal.Session) error {
	n, err := t.c.exec(
		`INSERT INTO sessions (`+sessionColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
		 ON CONFLICT DO NOTHING`, s.ID, s.Name, s.Status, s.CreatedAt, s.ClosedAt, s.Limits.MaxCostPerRequest, s.Limits.MaxTokensPerRequest,
		string(cmp.Or(s.SpaceRights, shoal.SpaceRightsMembers)))
	if err == nil && n == 0 {
		err = taken("InsertSession", "The session id %q is taken; choose another.", s.ID)
	}
	return err
}

// UpdateSession implements [hub.SessionTx].
func (t tx) UpdateSession(s shoal.Session) error {
	n, err := t.c.exec(
		`UPDATE sessions SET max_request_cost = $2, max_request_tokens = $3, space_rights = $4 WHERE id = $1 AND NOT deleted`,
		s.ID, s.Limits.MaxCostPerRequest, s.Limits.MaxTokensPerRequest, string(cmp.Or(s.SpaceRights, shoal.SpaceRightsMembers)))
	if err == nil && n == 0 {
		err = missing("UpdateSession", noSession, s.ID)
	}
	return err
}

// CloseSession implements [hub.SessionTx].
func (t tx) CloseSession(id shoal.SessionID, at shoal.Time) error {
	n, err := t.c.exec(
		`UPDATE sessions SET status = $2, closed_at = $3 WHERE id = $1 AND NOT deleted`, id, shoal.SessionShut, at)
	if err == nil && n == 0 {
		err = missing("CloseSession", noSession, id)
	}
	return err
}

// eraseSession removes all that belongs to session $1. The index goes first: it
// is found through the messages.
var eraseSession = []string{
	`DELETE FROM late WHERE doc IN (SELECT doc FROM messages WHERE session_id = $1)`,
	`DELETE FROM request_spending WHERE session_id = $1`,
	`DELETE FROM search_blocks WHERE session_id = $1`,
	`DELETE FROM search_words WHERE session_id = $1`,
	`DELETE FROM messages WHERE session_id = $1`,
	`DELETE FROM inbox WHERE session_id = $1`,
	`DELETE FROM inboxes WHERE session_id = $1`,
	`DELETE FROM explicit_keys WHERE session_id = $1`,
	`DELETE FROM events WHERE session_id = $1`,
	`DELETE FROM event_floors WHERE session_id = $1`,
	`DELETE FROM lineage_places WHERE session_id = $1`,
	`DELETE FROM members WHERE session_id = $1`,
	`DELETE FROM spaces WHERE session_id = $1`,
	`DELETE FROM deleted_spaces WHERE session_id = $1`,
	`DELETE FROM entities WHERE session_id = $1`,
	`DELETE FROM keys WHERE session_id = $1`,
	`DELETE FROM revoked_keys WHERE session_id = $1`,
	`DELETE FROM answers WHERE session_id = $1`,
	`DELETE FROM hosted_agents WHERE session_id = $1`,
	`DELETE FROM message_causes WHERE session_id = $1`,
	`DELETE FROM message_versions WHERE session_id = $1`,
	`DELETE FROM runs WHERE session_id = $1`,
	`DELETE FROM run_spaces WHERE session_id = $1`,
	`DELETE FROM run_steps WHERE session_id = $1`,
	`DELETE FROM model_texts WHERE session_id = $1`,
	`DELETE FROM run_requests WHERE session_id = $1`,
	`DELETE FROM run_clients WHERE session_id = $1`,
	`DELETE FROM conversations WHERE session_id = $1`,
	`DELETE FROM pending_actions WHERE session_id = $1`,
	`DELETE FROM remembered_decisions WHERE session_id = $1`,
	`DELETE FROM plans WHERE session_id = $1`,
	`DELETE FROM goals WHERE session_id = $1`,
	`DELETE FROM memories WHERE session_id = $1`,
	`DELETE FROM usage WHERE session_id = $1`,
	`DELETE FROM files WHERE session_id = $1`,
	`DELETE FROM file_spaces WHERE session_id = $1`,
	`DELETE FROM renderers WHERE session_id = $1`,
}

// DeleteSession implements [hub.SessionTx].
func (t tx) DeleteSession(id shoal.SessionID) error {
	n, err := t.c.exec(
		`UPDATE sessions SET deleted = TRUE, name = '', closed_at = NULL WHERE id = $1 AND NOT deleted`, id)
	if err == nil && n == 0 {
		err = missing("DeleteSession", noSession, id)
	}
	if err != nil {
		return err
	}
	if err := t.c.execAll(eraseSession, id); err != nil {
		return err
	}
	return t.indexedAgain()
}

// indexedAgain is for messages that are gone: SQLite may give the number of one to
// a new one, which must not pass for indexed then.
func (t tx) indexedAgain() error {
	_, err := t.c.exec(`UPDATE store SET indexed = (SELECT COALESCE(MAX(doc), 0) FROM messages)
		WHERE indexed > (SELECT COALESCE(MAX(doc), 0) FROM messages)`)
	return err
}
