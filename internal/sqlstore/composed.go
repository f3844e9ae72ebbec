package sqlstore

import (
	"encoding/json"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
)

const noMessage = "There is no message %q here."

// Message implements [hub.ComposedTx]. It is found by its id, not by going through its
// space.
func (t tx) Message(session shoal.SessionID, space shoal.SpaceID, id shoal.MessageID) (shoal.Message, error) {
	m, ok, err := one(t.c, func(r *rows) shoal.Message { return messageOf(r, 0, session, space) },
		`SELECT `+messageColumns+` FROM messages AS m WHERE m.session_id = $1 AND m.space_id || '' = $2 AND m.id = $3`, session, space, id)
	return present(m, ok, err, "Message", noMessage, id)
}

// UpdateMessage implements [hub.ComposedTx]. A message that is not in progress any
// more goes to the search index, again if it was there.
func (t tx) UpdateMessage(m shoal.Message, state json.RawMessage) error {
	partID, text, parts, err := encodeParts(m.Parts)
	if err != nil {
		return err
	}
	mentions := encodeIDs(m.Mentions)
	behalf, err := idsOrNull(m.OnBehalfOf)
	if err != nil {
		return err
	}
	n, err := t.c.exec(
		`UPDATE messages SET status = $4, mentions = $5, updated_at = $6, part_id = $7, text = $8, parts = $9, state = $10, sum = $11
		 WHERE session_id = $1 AND space_id = $2 AND id = $3 AND run_id IS NOT NULL`,
		m.SessionID, m.SpaceID, m.ID, m.Status, mentions, m.UpdatedAt, partID, text, parts, orNull(state), t.c.sumOf(&m, mentions, behalf, partID, text, parts))
	if err == nil && n == 0 {
		err = missing("UpdateMessage", noMessage, m.ID)
	}
	if err != nil || m.Status == shoal.MessageStreaming {
		return err
	}
	t.c.posted = true
	_, err = t.c.exec(
		`INSERT INTO late (doc) SELECT m.doc FROM messages AS m
		 WHERE m.session_id = $1 AND m.id = $2 AND m.run_id IS NOT NULL AND m.doc <= (SELECT indexed FROM store) ON CONFLICT DO NOTHING`,
		m.SessionID, m.ID)
	return err
}

// Composed implements [hub.ComposedTx].
func (t tx) Composed(session shoal.SessionID, run shoal.RunID) ([]hub.ComposedMessage, error) {
	return list(t.c, func(r *rows) hub.ComposedMessage {
		return hub.ComposedMessage{Message: messageOf(r, 2, session, shoal.SpaceID(r.text(0))), State: r.rawOrNil(1)}
	}, `SELECT m.space_id, m.state, `+messageColumns+` FROM messages AS m WHERE m.session_id = $1 AND m.run_id = $2 ORDER BY m.doc`, session, run)
}

// Streaming implements [hub.ComposedTx]. They come space by space in the order of
// their places.
func (t tx) Streaming(session shoal.SessionID, space shoal.SpaceID) ([]shoal.Message, error) {
	var b clauses
	b.add(`SELECT m.space_id, `+messageColumns+` FROM messages AS m WHERE m.status = 'streaming' AND m.session_id = ?`, session)
	if space != "" {
		b.add(` AND m.space_id = ?`, space)
	}
	b.add(` ORDER BY m.space_id, m.seq`)
	return list(t.c, func(r *rows) shoal.Message { return messageOf(r, 1, session, shoal.SpaceID(r.text(0))) }, b.text.String(), b.args...)
}

// Cause implements [hub.ComposedTx].
func (t tx) Cause(session shoal.SessionID, id shoal.MessageID) (hub.Cause, error) {
	c, _, err := one(t.c, func(r *rows) hub.Cause {
		return hub.Cause{Root: r.text(0), Depth: int(r.int(1)), Linked: r.bool(2), ActingFor: r.idsOf(3)}
	}, `SELECT root, depth, linked, acting_for FROM message_causes WHERE session_id = $1 AND message_id = $2`, session, id)
	return c, err
}

// InsertCause implements [hub.ComposedTx].
func (t tx) InsertCause(session shoal.SessionID, id shoal.MessageID, c hub.Cause) error {
	actingFor, err := idsOrNull(c.ActingFor)
	if err != nil {
		return err
	}
	n, err := t.c.exec(`INSERT INTO message_causes (session_id, message_id, root, depth, linked, acting_for) VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING`,
		session, id, c.Root, c.Depth, c.Linked, actingFor)
	if err == nil && n == 0 {
		err = taken("InsertCause", "The message %q has its cause already.", id)
	}
	return err
}
