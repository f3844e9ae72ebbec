package coresql

import (
	"encoding/json"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/sqlstore/messagerow"
	"github.com/shoal-dev/shoal/internal/sqlstore/sqlconn"
)

const noMessage = "Message %q not found."

// Message implements [hub.ComposedTx]. The expression on space_id makes the database find the
// message by its id and not by a scan of the space.
func (t *Tx) Message(session shoal.SessionID, space shoal.SpaceID, id shoal.MessageID) (shoal.Message, error) {
	m, ok, err := sqlconn.One(t.c, func(r *sqlconn.Rows) shoal.Message { return t.row.Read(r, 0, session, space) },
		`SELECT `+messagerow.Columns+` FROM messages AS m WHERE m.session_id = $1 AND m.space_id || '' = $2 AND m.id = $3`, session, space, id)
	return sqlconn.OrNotFound(m, ok, err, "Message", noMessage, id)
}

// UpdateMessage implements [hub.ComposedTx]. A message that is no longer streaming is added to
// the search index, again if it was there.
func (t *Tx) UpdateMessage(m shoal.Message, state json.RawMessage) error {
	partID, text, parts, err := messagerow.EncodeParts(m.Parts)
	if err != nil {
		return err
	}
	mentions := sqlconn.JoinIDs(m.Mentions)
	behalf, err := sqlconn.IDsOrNull(m.OnBehalfOf)
	if err != nil {
		return err
	}
	// With IS NOT NULL, SQLite reads all that runs wrote in the session, by the index messages_run.
	n, err := t.c.Exec(
		`UPDATE messages SET status = $4, mentions = $5, updated_at = $6, part_id = $7, text = $8, parts = $9, state = $10, sum = $11
		 WHERE session_id = $1 AND space_id = $2 AND id = $3 AND run_id <> ''`,
		m.SessionID, m.SpaceID, m.ID, m.Status, mentions, m.UpdatedAt, partID, text, parts, sqlconn.RawOrNull(state), t.row.Checksum(&m, mentions, behalf, partID, text, parts))
	if err == nil && n == 0 {
		err = sqlconn.NotFound("UpdateMessage", noMessage, m.ID)
	}
	if err != nil || m.Status == shoal.MessageStreaming {
		return err
	}
	t.c.RequestIndexing()
	_, err = t.c.Exec(
		`INSERT INTO late (doc) SELECT m.doc FROM messages AS m
		 WHERE m.session_id = $1 AND m.id = $2 AND m.run_id IS NOT NULL AND m.doc <= (SELECT indexed FROM store) ON CONFLICT DO NOTHING`,
		m.SessionID, m.ID)
	return err
}

// Composed implements [hub.ComposedTx].
func (t *Tx) Composed(session shoal.SessionID, run shoal.RunID) ([]storage.ComposedMessage, error) {
	return sqlconn.List(t.c, func(r *sqlconn.Rows) storage.ComposedMessage {
		return storage.ComposedMessage{Message: t.row.Read(r, 2, session, shoal.SpaceID(r.Text(0))), State: r.RawOrNil(1)}
	}, `SELECT m.space_id, m.state, `+messagerow.Columns+` FROM messages AS m WHERE m.session_id = $1 AND m.run_id = $2 ORDER BY m.doc`, session, run)
}

// Streaming implements [hub.ComposedTx]. The messages are ordered by space and seq.
func (t *Tx) Streaming(session shoal.SessionID, space shoal.SpaceID) ([]shoal.Message, error) {
	var b sqlconn.Builder
	b.Add(`SELECT m.space_id, `+messagerow.Columns+` FROM messages AS m WHERE m.status = 'streaming' AND m.session_id = ?`, session)
	if space != "" {
		b.Add(` AND m.space_id = ?`, space)
	}
	b.Add(` ORDER BY m.space_id, m.seq`)
	return sqlconn.List(t.c, func(r *sqlconn.Rows) shoal.Message { return t.row.Read(r, 1, session, shoal.SpaceID(r.Text(0))) }, b.Text(), b.Args...)
}

// Cause implements [hub.ComposedTx].
func (t *Tx) Cause(session shoal.SessionID, id shoal.MessageID) (storage.Cause, error) {
	c, _, err := sqlconn.One(t.c, func(r *sqlconn.Rows) storage.Cause {
		return storage.Cause{Root: r.Text(0), Depth: int(r.Int(1)), Linked: r.Bool(2), ActingFor: r.IDs(3)}
	}, `SELECT root, depth, linked, acting_for FROM message_causes WHERE session_id = $1 AND message_id = $2`, session, id)
	return c, err
}

// InsertCause implements [hub.ComposedTx].
func (t *Tx) InsertCause(session shoal.SessionID, id shoal.MessageID, c storage.Cause) error {
	actingFor, err := sqlconn.IDsOrNull(c.ActingFor)
	if err != nil {
		return err
	}
	n, err := t.c.Exec(`INSERT INTO message_causes (session_id, message_id, root, depth, linked, acting_for) VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING`,
		session, id, c.Root, c.Depth, c.Linked, actingFor)
	if err == nil && n == 0 {
		err = sqlconn.AlreadyExists("InsertCause", "The message %q has its cause already.", id)
	}
	return err
}
