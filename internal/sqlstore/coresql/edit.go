package coresql

import (
	"math"
	"slices"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/sqlstore/messagerow"
	"github.com/shoal-dev/shoal/internal/sqlstore/searchsql"
	"github.com/shoal-dev/shoal/internal/sqlstore/sqlconn"
)

// EditMessage implements [hub.EditTx].
func (t *Tx) EditMessage(m shoal.Message) error {
	found, err := t.search.Entries(1, `SELECT `+searchsql.EntryColumns+` FROM messages AS m
		WHERE m.session_id = $1 AND m.id = $2 AND m.run_id IS NULL AND m.deleted_at IS NULL`, m.SessionID, m.ID)
	if err != nil {
		return err
	}
	if len(found) == 0 {
		return sqlconn.NotFound("EditMessage", noMessage, m.ID)
	}
	was := found[0].Document.Message
	if err := t.storeVersion(was); err != nil {
		return err
	}
	// The words are removed now: a later deletion only knows the words of the last text.
	if err := t.search.Unindex(found[0]); err != nil {
		return err
	}
	partID, text, parts, err := messagerow.EncodeParts(m.Parts)
	if err != nil {
		return err
	}
	before := was.Mentions
	was.Parts, was.Mentions, was.DroppedMentions, was.UpdatedAt, was.EditedAt = m.Parts, m.Mentions, m.DroppedMentions, m.UpdatedAt, m.EditedAt
	behalf, err := sqlconn.IDsOrNull(was.OnBehalfOf)
	if err != nil {
		return err
	}
	mentions := sqlconn.JoinIDs(m.Mentions)
	if _, err := t.c.Exec(
		`UPDATE messages SET mentions = $3, dropped_mentions = $4, updated_at = $5, part_id = $6, text = $7, parts = $8, sum = $9, edited_at = $10
		 WHERE session_id = $1 AND id = $2`,
		m.SessionID, m.ID, mentions, sqlconn.JoinIDs(m.DroppedMentions), m.UpdatedAt, partID, text, parts, t.row.Checksum(&was, mentions, behalf, partID, text, parts), m.EditedAt); err != nil {
		return err
	}
	t.c.RequestIndexing()
	if _, err := t.c.Exec(
		`INSERT INTO late (doc) SELECT m.doc FROM messages AS m
		 WHERE m.session_id = $1 AND m.id = $2 AND m.doc <= (SELECT indexed FROM store) ON CONFLICT DO NOTHING`, m.SessionID, m.ID); err != nil {
		return err
	}
	return t.withdrawMentions(was, before)
}

// withdrawMentions changes the reason of the unread entries of a message from mention to
// message for members that it does not mention any more; before are those that it mentioned.
func (t *Tx) withdrawMentions(m shoal.Message, before []shoal.EntityID) error {
	for _, id := range before {
		if slices.Contains(m.Mentions, id) {
			continue
		}
		if _, err := t.c.Exec(withdrawMention+` AND entity_id = $4`, m.SessionID, m.SpaceID, m.Seq, id); err != nil {
			return err
		}
	}
	return nil
}

// withdrawMention makes the unread mentions of a message plain messages.
const withdrawMention = `UPDATE inbox_entries SET reason = 'message' WHERE session_id = $1 AND space_id = $2 AND seq = $3 AND reason = 'mention' AND acked_at = 0`

// storeVersion stores the current content of a message as its next version.
func (t *Tx) storeVersion(m shoal.Message) error {
	last, err := sqlconn.Number(t.c, `SELECT MAX(version) FROM message_versions WHERE session_id = $1 AND message_id = $2`, m.SessionID, m.ID)
	if err != nil {
		return err
	}
	partID, text, parts, err := messagerow.EncodeParts(m.Parts)
	if err != nil {
		return err
	}
	since := m.CreatedAt
	if m.EditedAt != nil {
		since = *m.EditedAt
	}
	if _, err := t.c.Exec(
		`INSERT INTO message_versions (session_id, message_id, version, said_at, mentions, dropped_mentions, part_id, text, parts)
		 VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
		m.SessionID, m.ID, last+1, since, sqlconn.JoinIDs(m.Mentions), sqlconn.JoinIDs(m.DroppedMentions), partID, text, parts); err != nil {
		return err
	}
	_, err = t.c.Exec(`DELETE FROM message_versions WHERE session_id = $1 AND message_id = $2 AND version > 1 AND version <= $3`,
		m.SessionID, m.ID, last+2-shoal.MaxVersions)
	return err
}

// SetReactions implements [hub.EditTx].
func (t *Tx) SetReactions(session shoal.SessionID, id shoal.MessageID, all []shoal.Reaction) error {
	var text any
	if len(all) > 0 {
		encoded, err := sqlconn.Encode(all)
		if err != nil {
			return err
		}
		text = encoded
	}
	n, err := t.c.Exec(`UPDATE messages SET reactions = $3 WHERE session_id = $1 AND id = $2`, session, id, text)
	if err == nil && n == 0 {
		err = sqlconn.NotFound("SetReactions", noMessage, id)
	}
	return err
}

// MessageVersions implements [hub.EditTx].
func (t *Tx) MessageVersions(session shoal.SessionID, id shoal.MessageID, before int64, limit int) ([]shoal.MessageVersion, error) {
	if before == 0 {
		before = math.MaxInt64
	}
	return sqlconn.ListFirst(t.c, limit, func(r *sqlconn.Rows) shoal.MessageVersion {
		return shoal.MessageVersion{
			Version: r.Int(0), At: r.Time(1), Mentions: sqlconn.SplitIDs(r.Text(2)), DroppedMentions: sqlconn.SplitIDs(r.Text(3)),
			Parts: messagerow.DecodeParts(r, r.Text(4), r.Text(5), r.Text(6)),
		}
	}, `SELECT version, said_at, mentions, dropped_mentions, part_id, text, parts FROM message_versions
		WHERE session_id = $1 AND message_id = $2 AND version < $3 ORDER BY version DESC`+sqlconn.Limit(limit), session, id, before)
}
