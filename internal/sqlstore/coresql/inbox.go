package coresql

import (
	"slices"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/sqlstore/readranges"
	"github.com/shoal-dev/shoal/internal/sqlstore/rowcache"
	"github.com/shoal-dev/shoal/internal/sqlstore/sqlconn"
)

// MarkUnread implements [hub.InboxTx]. The messages get entries outside of the positions.
func (t *Tx) MarkUnread(session shoal.SessionID, space shoal.SpaceID, entity shoal.EntityID, seq int64, limit int) error {
	past, err := sqlconn.ListFirst(t.c, limit, func(r *sqlconn.Rows) shoal.Message {
		return shoal.Message{Seq: r.Int(0), EntityID: shoal.EntityID(r.Text(1)), Mentions: sqlconn.SplitIDs(r.Text(2))}
	}, `SELECT m.seq, m.entity_id, m.mentions FROM messages AS m
		CROSS JOIN members AS who
		WHERE m.session_id = $1 AND m.space_id = $2 AND m.seq >= $3 AND m.place IS NOT NULL AND m.deleted_at IS NULL AND m.entity_id <> $4
		AND who.session_id = $1 AND who.space_id = $2 AND who.entity_id = $4
		AND NOT EXISTS (SELECT 1 FROM inbox_entries AS i WHERE i.session_id = $1 AND i.space_id = $2 AND i.entity_id = $4 AND i.seq = m.seq AND i.acked_at = 0)
		AND NOT CASE WHEN m.arrival IS NULL THEN FALSE`+isPlainUnread+`
		ORDER BY m.seq DESC`+sqlconn.Limit(limit), session, space, seq, entity)
	if err != nil {
		return err
	}
	first, err := t.InboxEnd(session)
	if err != nil {
		return err
	}
	end := first
	for _, m := range slices.Backward(past) {
		if !receives(m, rowcache.Member{Member: shoal.Member{EntityID: entity}}) {
			continue
		}
		end++
		if _, err := t.c.Exec(insertEntriesTexts()[1]+reopenEntry, session, end, space, m.Seq, deliveryReason(m, entity), 0, entity, true); err != nil {
			return err
		}
	}
	if end == first {
		return nil
	}
	return t.StorePlace(session, end)
}

// PauseMember records that later messages of a space do not count for a member, unless they
// mention it.
func (t *Tx) PauseMember(session shoal.SessionID, space shoal.SpaceID, entity shoal.EntityID) error {
	w, found, err := t.positionIn(session, space, entity)
	if err != nil || !found || w.paused {
		return err
	}
	_, err = t.c.ExecCached(`UPDATE members SET paused_at = $4, own_above = $5 WHERE session_id = $1 AND space_id = $2 AND entity_id = $3`,
		session, space, entity, w.last, w.own+w.tail)
	return err
}

// ResumeMember ends the pause of a member that is neither hosted nor has muted the space. What
// was posted meanwhile counts as read, except for entries.
func (t *Tx) ResumeMember(session shoal.SessionID, space shoal.SpaceID, entity shoal.EntityID) error {
	w, found, err := t.positionIn(session, space, entity)
	if err != nil || !found || !w.paused {
		return err
	}
	from := w.pausedAt
	w.paused = false
	if w.upTo >= from { // nothing was unread
		return t.storePosition(session, entity, w, w.last, 0, 0, true)
	}
	passed, err := t.ownMessages(session, entity, space, from, w.last)
	if err != nil {
		return err
	}
	if others := w.last - from - passed; others > 0 {
		w.acked += others
		if err := readranges.AddSpan(t.c, session, entity, space, readranges.Span{First: from + 1, Last: w.last}); err != nil {
			return err
		}
	}
	counted := max(w.counted(), w.upTo)
	between, err := t.ownMessages(session, entity, space, min(counted, from), max(counted, from))
	if err != nil {
		return err
	}
	if counted > from {
		w.own += between
	} else {
		w.own -= between
	}
	return t.storePosition(session, entity, w, w.upTo, w.own, w.acked, true)
}

// Explicit implements [hub.InboxTx].
func (t *Tx) Explicit(session shoal.SessionID, entity shoal.EntityID, key shoal.KeyID) (bool, error) {
	return sqlconn.Exists(t.c, `SELECT 1 FROM explicit_keys WHERE session_id = $1 AND entity_id = $2 AND key_id = $3`, session, entity, key)
}

// SetExplicit implements [hub.InboxTx].
func (t *Tx) SetExplicit(session shoal.SessionID, entity shoal.EntityID, key shoal.KeyID) error {
	_, err := t.c.Exec(`INSERT INTO explicit_keys (session_id, entity_id, key_id) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`, session, entity, key)
	return err
}
