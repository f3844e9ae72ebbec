// Package erasesql is the SQL that erases what an entity has left in a session, and what a session
// no longer keeps.
package erasesql

import (
	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/sqlstore/coresql"
	"github.com/shoal-dev/shoal/internal/sqlstore/messagerow"
	"github.com/shoal-dev/shoal/internal/sqlstore/runsql"
	"github.com/shoal-dev/shoal/internal/sqlstore/searchsql"
	"github.com/shoal-dev/shoal/internal/sqlstore/sqlconn"
)

// Tx erases in the current transaction of a connection.
type Tx struct {
	c      *sqlconn.Conn
	core   *coresql.Tx
	run    *runsql.Tx
	search *searchsql.Tx
	row    messagerow.Codec
}

// New returns the Tx of a connection.
func New(c *sqlconn.Conn, core *coresql.Tx, run *runsql.Tx, search *searchsql.Tx) *Tx {
	return &Tx{c: c, core: core, run: run, search: search}
}

// BeginErasure implements [storage.PersonTx].
func (t *Tx) BeginErasure(of storage.EntityRef, at shoal.Time) (string, error) {
	if err := t.c.Overwrite(true); err != nil {
		return "", err
	}
	name, found, err := sqlconn.One(t.c, func(r *sqlconn.Rows) string { return r.Text(0) }, `SELECT name FROM entities WHERE session_id = $1 AND id = $2`, of.Session, of.ID)
	if name, err = sqlconn.OrNotFound(name, found, err, "BeginErasure", "Entity %q not found.", of.ID); err != nil {
		return "", err
	}
	if _, err := t.c.Exec(`INSERT INTO erasures (session_id, entity_id, name, at) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`, of.Session, of.ID, name, at); err != nil {
		return "", err
	}
	if err := t.c.ExecAll([]string{
		`UPDATE entities SET name = id, description = '', metadata = '{}', external_id = NULL, last_seen_at = NULL, last_failure = NULL, wake_proof = NULL, owner_id = NULL
		 WHERE session_id = $1 AND id = $2`,
		`DELETE FROM answers WHERE session_id = $1 AND scope = 'entity:' || CAST($2 AS TEXT)`,
	}, of.Session, of.ID); err != nil {
		return "", err
	}
	first, _, err := sqlconn.One(t.c, func(r *sqlconn.Rows) string { return r.Text(0) }, `SELECT name FROM erasures WHERE session_id = $1 AND entity_id = $2`, of.Session, of.ID)
	return first, err
}

// Erasures implements [storage.PersonTx].
func (t *Tx) Erasures(limit int) ([]storage.EntityRef, error) {
	return sqlconn.ListFirst(t.c, limit, func(r *sqlconn.Rows) storage.EntityRef {
		return storage.EntityRef{Session: shoal.SessionID(r.Text(0)), ID: shoal.EntityID(r.Text(1))}
	}, `SELECT session_id, entity_id FROM erasures ORDER BY session_id, entity_id`+sqlconn.Limit(limit))
}

// EndErasure implements [storage.PersonTx].
func (t *Tx) EndErasure(of storage.EntityRef) error {
	if err := t.c.Overwrite(true); err != nil {
		return err
	}
	if _, err := t.c.Exec(`DELETE FROM erasures WHERE session_id = $1 AND entity_id = $2`, of.Session, of.ID); err != nil {
		return err
	}
	return t.c.Overwrite(false)
}

// EraseOwn implements [storage.PersonTx].
func (t *Tx) EraseOwn(of storage.EntityRef, limit int) (bool, error) {
	if err := t.c.Overwrite(true); err != nil {
		return false, err
	}
	files, err := sqlconn.ListFirst(t.c, limit, func(r *sqlconn.Rows) shoal.FileID { return shoal.FileID(r.Text(0)) },
		`SELECT id FROM files WHERE session_id = $1 AND by_entity = $2`+sqlconn.Limit(limit), of.Session, of.ID)
	for _, id := range files {
		if err == nil {
			err = t.core.DeleteFile(of.Session, id)
		}
	}
	if err != nil || len(files) > 0 {
		return true, err
	}
	runs, err := sqlconn.ListFirst(t.c, limit, func(r *sqlconn.Rows) int64 { return r.Int(0) },
		`SELECT number FROM runs WHERE session_id = $1 AND agent_id = $2 AND ended_at IS NOT NULL`+sqlconn.Limit(limit), of.Session, of.ID)
	if err != nil {
		return true, err
	}
	for _, number := range runs {
		if err := t.core.DeleteRun(of.Session, number); err != nil {
			return true, err
		}
	}
	if len(runs) > 0 {
		return true, nil
	}
	for _, table := range []string{"conversations", "memories", "goals", "plans", "hosted_agents", "runner_agents"} {
		if _, err := t.c.Exec(`DELETE FROM `+table+` WHERE session_id = $1 AND agent_id = $2`, of.Session, of.ID); err != nil {
			return true, err
		}
	}
	_, err = t.c.Exec(`DELETE FROM remembered_decisions WHERE session_id = $1 AND entity_id = $2`, of.Session, of.ID)
	return false, err
}

// MessagesOf implements [storage.PersonTx].
func (t *Tx) MessagesOf(of storage.EntityRef, after int64, limit int) ([]shoal.Message, int64, error) {
	return t.messages(after, limit, `m.session_id || '' = $1 AND m.entity_id = $2 AND m.doc > $3`, of.Session, of.ID, after)
}

// GeneratedMessages implements [storage.PersonTx].
func (t *Tx) GeneratedMessages(session shoal.SessionID, after int64, limit int) ([]shoal.Message, int64, error) {
	return t.messages(after, limit, `m.session_id || '' = $1 AND (m.run_id IS NOT NULL OR m.entity_id = $2) AND m.doc > $3 AND m.status <> 'streaming' AND m.deleted_at IS NULL`,
		session, shoal.System, after)
}

// messages returns messages in the order in which they were stored. In where the session is an
// expression, so that the database reads them in this order and does not sort those of the session.
func (t *Tx) messages(after int64, limit int, where string, args ...any) ([]shoal.Message, int64, error) {
	last := after
	all, err := sqlconn.ListFirst(t.c, limit, func(r *sqlconn.Rows) shoal.Message {
		last = r.Int(0)
		return t.row.Read(r, 3, shoal.SessionID(r.Text(1)), shoal.SpaceID(r.Text(2)))
	}, `SELECT m.doc, m.session_id, m.space_id, `+messagerow.Columns+` FROM messages AS m WHERE `+where+` ORDER BY m.doc`+sqlconn.Limit(limit), args...)
	return all, last, err
}

// ReplaceParts implements [storage.PersonTx].
func (t *Tx) ReplaceParts(m shoal.Message) error {
	if err := t.c.Overwrite(true); err != nil {
		return err
	}
	found, err := t.search.Entries(1, `SELECT `+searchsql.EntryColumns+` FROM messages AS m WHERE m.session_id = $1 AND m.id = $2`, m.SessionID, m.ID)
	if err != nil {
		return err
	}
	if len(found) == 0 {
		return sqlconn.NotFound("ReplaceParts", "Message %q not found.", m.ID)
	}
	if err := t.search.Unindex(found[0]); err != nil {
		return err
	}
	was := found[0].Document.Message
	was.Parts = m.Parts
	behalf, err := sqlconn.IDsOrNull(was.OnBehalfOf)
	if err != nil {
		return err
	}
	partID, text, parts, err := messagerow.EncodeParts(m.Parts)
	if err != nil {
		return err
	}
	if _, err := t.c.Exec(`UPDATE messages SET part_id = $3, text = $4, parts = $5, sum = $6 WHERE session_id = $1 AND id = $2`,
		m.SessionID, m.ID, partID, text, parts, t.row.Checksum(&was, sqlconn.JoinIDs(was.Mentions), behalf, partID, text, parts)); err != nil {
		return err
	}
	t.c.RequestIndexing()
	_, err = t.c.Exec(`INSERT INTO late (doc) SELECT m.doc FROM messages AS m
		WHERE m.session_id = $1 AND m.id = $2 AND m.doc <= (SELECT indexed FROM store) ON CONFLICT DO NOTHING`, m.SessionID, m.ID)
	return err
}

// AnsweredBy implements [storage.PersonTx].
func (t *Tx) AnsweredBy(of storage.EntityRef, after int64, limit int) ([]storage.Pending, int64, error) {
	type action struct {
		number int64
		id     shoal.PendingID
	}
	found, err := sqlconn.ListFirst(t.c, limit, func(r *sqlconn.Rows) action { return action{r.Int(0), shoal.PendingID(r.Text(1))} },
		`SELECT number, id FROM pending_actions WHERE session_id || '' = $1 AND number > $3 AND (answered_by = $2 OR `+t.c.Dialect().Position+`(policy, $4) > 0)
		 ORDER BY number`+sqlconn.Limit(limit), of.Session, of.ID, after, `{"entityId":"`+string(of.ID)+`"`)
	out, last := []storage.Pending{}, after
	for _, a := range found {
		p, err := t.run.Pending(of.Session, a.id)
		if err != nil {
			return nil, last, err
		}
		out, last = append(out, p), a.number
	}
	return out, last, err
}
