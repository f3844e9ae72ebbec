package sqlstore

import (
	"math"
	"slices"

	"github.com/shoal-dev/shoal"
)

// EditMessage implements [hub.EditTx].
func (t tx) EditMessage(m shoal.Message) error {
	found, err := t.wordies(1, `SELECT `+wordyColumns+` FROM messages AS m
		WHERE m.session_id = $1 AND m.id = $2 AND m.run_id IS NULL AND m.deleted_at IS NULL`, m.SessionID, m.ID)
	if err != nil {
		return err
	}
	if len(found) == 0 {
		return missing("EditMessage", noMessage, m.ID)
	}
	was := found[0].document.Message
	if err := t.keepVersion(was); err != nil {
		return err
	}
	// The words go now: when the message is deleted, only those of its last text are known.
	if err := t.unindex(found[0]); err != nil {
		return err
	}
	partID, text, parts, err := encodeParts(m.Parts)
	if err != nil {
		return err
	}
	was.Parts, was.Mentions, was.DroppedMentions, was.UpdatedAt, was.EditedAt = m.Parts, m.Mentions, m.DroppedMentions, m.UpdatedAt, m.EditedAt
	behalf, err := idsOrNull(was.OnBehalfOf)
	if err != nil {
		return err
	}
	mentions := encodeIDs(m.Mentions)
	if _, err := t.c.exec(
		`UPDATE messages SET mentions = $3, dropped_mentions = $4, updated_at = $5, part_id = $6, text = $7, parts = $8, sum = $9, edited_at = $10
		 WHERE session_id = $1 AND id = $2`,
		m.SessionID, m.ID, mentions, encodeIDs(m.DroppedMentions), m.UpdatedAt, partID, text, parts, t.c.sumOf(&was, mentions, behalf, partID, text, parts), m.EditedAt); err != nil {
		return err
	}
	t.c.posted = true
	if _, err := t.c.exec(
		`INSERT INTO late (doc) SELECT m.doc FROM messages AS m
		 WHERE m.session_id = $1 AND m.id = $2 AND m.doc <= (SELECT indexed FROM store) ON CONFLICT DO NOTHING`, m.SessionID, m.ID); err != nil {
		return err
	}
	return t.withdrawMentions(was)
}

// withdrawMentions makes unread entries of a message plain messages for those that it
// does not mention.
func (t tx) withdrawMentions(m shoal.Message) error {
	unread, err := list(t.c, func(r *rows) shoal.EntityID { return entityID(r) },
		`SELECT i.entity_id FROM inbox AS i WHERE i.session_id = $1 AND i.space_id = $2 AND i.seq = $3 AND i.reason = 'mention'
		 AND i.entity_id IN (SELECT entity_id FROM members WHERE session_id = $1 AND space_id = $2)`, m.SessionID, m.SpaceID, m.Seq)
	if err != nil {
		return err
	}
	for _, id := range unread {
		if slices.Contains(m.Mentions, id) {
			continue
		}
		if _, err := t.c.exec(
			`UPDATE inbox SET reason = 'message' WHERE session_id = $1 AND entity_id = $2 AND space_id = $3 AND seq = $4 AND reason = 'mention'`,
			m.SessionID, id, m.SpaceID, m.Seq); err != nil {
			return err
		}
	}
	return nil
}

// keepVersion stores what a message says as its next version.
func (t tx) keepVersion(m shoal.Message) error {
	last, err := number(t.c, `SELECT MAX(version) FROM message_versions WHERE session_id = $1 AND message_id = $2`, m.SessionID, m.ID)
	if err != nil {
		return err
	}
	partID, text, parts, err := encodeParts(m.Parts)
	if err != nil {
		return err
	}
	since := m.CreatedAt
	if m.EditedAt != nil {
		since = *m.EditedAt
	}
	if _, err := t.c.exec(
		`INSERT INTO message_versions (session_id, message_id, version, said_at, mentions, dropped_mentions, part_id, text, parts)
		 VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
		m.SessionID, m.ID, last+1, since, encodeIDs(m.Mentions), encodeIDs(m.DroppedMentions), partID, text, parts); err != nil {
		return err
	}
	_, err = t.c.exec(`DELETE FROM message_versions WHERE session_id = $1 AND message_id = $2 AND version > 1 AND version <= $3`,
		m.SessionID, m.ID, last+2-shoal.MaxVersions)
	return err
}

// SetReactions implements [hub.EditTx].
func (t tx) SetReactions(session shoal.SessionID, id shoal.MessageID, all []shoal.Reaction) error {
	var text any
	if len(all) > 0 {
		encoded, err := encode(all)
		if err != nil {
			return err
		}
		text = encoded
	}
	n, err := t.c.exec(`UPDATE messages SET reactions = $3 WHERE session_id = $1 AND id = $2`, session, id, text)
	if err == nil && n == 0 {
		err = missing("SetReactions", noMessage, id)
	}
	return err
}

// reactionsOf reads what SetReactions wrote.
func (r *rows) reactionsOf(i int) []shoal.Reaction {
	all := []shoal.Reaction{}
	r.decodeOrNil(i, &all)
	return all
}

// MessageVersions implements [hub.EditTx].
func (t tx) MessageVersions(session shoal.SessionID, id shoal.MessageID, before int64, limit int) ([]shoal.MessageVersion, error) {
	if before == 0 {
		before = math.MaxInt64
	}
	return listFirst(t.c, limit, func(r *rows) shoal.MessageVersion {
		return shoal.MessageVersion{
			Version: r.int(0), At: r.time(1), Mentions: decodeIDs(r.text(2)), DroppedMentions: decodeIDs(r.text(3)),
			Parts: r.partsOf(r.text(4), r.text(5), r.text(6)),
		}
	}, `SELECT version, said_at, mentions, dropped_mentions, part_id, text, parts FROM message_versions
		WHERE session_id = $1 AND message_id = $2 AND version < $3 ORDER BY version DESC`+upTo(limit), session, id, before)
}
