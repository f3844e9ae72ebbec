package coresql

import (
	"fmt"
	"math"
	"slices"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/sqlstore/messagerow"
	"github.com/shoal-dev/shoal/internal/sqlstore/schema"
	"github.com/shoal-dev/shoal/internal/sqlstore/sqlconn"
)

// InsertMessage implements [hub.MessageTx]. It fails with AlreadyExists for a post key that
// was used and for a seq that another message has.
func (t *Tx) InsertMessage(m shoal.Message, post storage.PostKey) error {
	return t.insertMessage("InsertMessage", m, post, nil)
}

// PostMessage implements [hub.MessageTx]. Its errors are those of InsertMessage.
func (t *Tx) PostMessage(m shoal.Message, post storage.PostKey) error {
	end, err := t.EventEnd(m.SessionID)
	if err != nil {
		return err
	}
	if err := t.insertMessage("PostMessage", m, post, end+1); err != nil {
		return err
	}
	t.cache.PutEventEnd(m.SessionID, end+1)
	if err := t.c.RecordPosition(m.SessionID, end+1); err != nil {
		return err
	}
	return nil
}

// insertMessage stores a message with the position of its message.created event, or nil if it
// has no such event.
func (t *Tx) insertMessage(op string, m shoal.Message, post storage.PostKey, eventPlace any) error {
	last, err := t.lastSeq(m.SessionID, m.SpaceID)
	switch {
	case err != nil:
		return err
	case m.Seq <= last:
		return sqlconn.AlreadyExists(op, "The space %q has a message at place %d.", m.SpaceID, m.Seq)
	case m.Seq != last+1:
		// This is a defect of the caller, so the transaction fails as a whole.
		return t.c.Fail(op, fmt.Errorf("message %d of space %q does not follow message %d", m.Seq, m.SpaceID, last))
	}
	partID, text, parts, err := messagerow.EncodeParts(m.Parts)
	if err != nil {
		return err
	}
	var scope, key, hash any
	if post.Key != "" {
		scope, key, hash = post.Scope, post.Key, post.Hash
	}
	mentions := sqlconn.JoinIDs(m.Mentions)
	behalf, err := sqlconn.IDsOrNull(m.OnBehalfOf)
	if err != nil {
		return err
	}
	var p placed
	if m.RunID == nil && m.Status != shoal.MessageStreaming { // others get their place when they are final
		if p, err = t.nextPlaced(m); err != nil {
			return err
		}
	} else {
		t.cache.Reshape()
	}
	n, err := t.c.Exec(
		`INSERT INTO messages (session_id, space_id, seq, id, entity_id, run_id, status, mentions, dropped_mentions,
		   created_at, updated_at, part_id, text, parts, post_scope, post_key, post_hash, sum, event_place, on_behalf_of, reply_to, arrival, place)
		 VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23) ON CONFLICT DO NOTHING`,
		m.SessionID, m.SpaceID, m.Seq, m.ID, m.EntityID, m.RunID, m.Status, mentions, sqlconn.JoinIDs(m.DroppedMentions),
		m.CreatedAt, m.UpdatedAt, partID, text, parts, scope, key, hash, t.row.Checksum(&m, mentions, behalf, partID, text, parts), eventPlace, behalf, m.ReplyTo,
		numberOrNull(p.arrival), numberOrNull(p.place))
	if err != nil {
		return err
	}
	if n == 0 {
		return sqlconn.AlreadyExists(op, "A message of the session %q was posted under this idempotency key.", m.SessionID)
	}
	if known := t.cache.Space(m.SessionID, m.SpaceID); known != nil {
		known.Row.LastSeq = m.Seq
	}
	if t.placed = p; p.place > 0 {
		if err := t.keepPlaced(m, p); err != nil {
			return err
		}
	}
	t.c.RequestIndexing()
	if m.RunID == nil {
		return nil
	}
	_, err = t.c.Exec(schema.AddRunSpace, m.SessionID, *m.RunID, m.SpaceID)
	return err
}

// lastSeq returns the seq of the last message of a space, 0 if the space has no messages.
func (t *Tx) lastSeq(session shoal.SessionID, space shoal.SpaceID) (int64, error) {
	if known := t.cache.Space(session, space); known != nil {
		return known.Row.LastSeq, nil
	}
	return sqlconn.Number(t.c, `SELECT MAX(seq) FROM messages WHERE session_id = $1 AND space_id = $2`, session, space)
}

// MessageByKey implements [hub.MessageTx].
func (t *Tx) MessageByKey(session shoal.SessionID, scope, key string) (shoal.Message, string, error) {
	type keyed struct {
		hash    string
		message shoal.Message
	}
	k, ok, err := sqlconn.One(t.c, func(r *sqlconn.Rows) keyed {
		return keyed{r.Text(0), t.row.Read(r, 2, session, shoal.SpaceID(r.Text(1)))}
	}, `SELECT m.post_hash, m.space_id, `+messagerow.Columns+` FROM messages AS m
		WHERE m.session_id = $1 AND m.post_scope = $2 AND m.post_key = $3`, session, scope, key)
	k, err = sqlconn.OrNotFound(k, ok, err, "MessageByKey", "No message was posted under this key.")
	return k.message, k.hash, err
}

// Messages implements [hub.MessageTx].
func (t *Tx) Messages(session shoal.SessionID, space shoal.SpaceID, page storage.Page) ([]shoal.Message, error) {
	const from = `SELECT ` + messagerow.Columns + ` FROM messages AS m WHERE m.session_id = $1 AND m.space_id = $2`
	read := func(r *sqlconn.Rows) shoal.Message { return t.row.Read(r, 0, session, space) }
	end := sqlconn.Limit(page.Limit)
	if page.After > 0 {
		return sqlconn.ListFirst(t.c, page.Limit, read, from+` AND m.seq > $3 ORDER BY m.seq`+end, session, space, page.After)
	}
	before := page.Before
	if before == 0 {
		before = math.MaxInt64
	}
	newest, err := sqlconn.ListFirst(t.c, page.Limit, read, from+` AND m.seq < $3 ORDER BY m.seq DESC`+end, session, space, before)
	slices.Reverse(newest)
	return newest, err
}
