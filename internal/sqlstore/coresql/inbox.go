package coresql

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/sqlstore/messagerow"
	"github.com/shoal-dev/shoal/internal/sqlstore/schema"
	"github.com/shoal-dev/shoal/internal/sqlstore/sqlconn"
)

// Deliver implements [hub.InboxTx]. Every post runs it, so one statement inserts the entries
// of up to maxInsertedEntries members.
func (t *Tx) Deliver(m shoal.Message) ([]storage.Receiver, error) {
	members, _, err := t.cachedMembers(m.SessionID, m.SpaceID)
	if err != nil {
		return nil, err
	}
	receivers := make([]storage.Receiver, 0, len(members))
	for _, r := range members {
		if r.id != m.EntityID && !r.hosted && receives(m, r) {
			receivers = append(receivers, storage.Receiver{ID: r.id, Reason: deliveryReason(m, r.id)})
		}
	}
	if err := t.readInboxEnds(m.SessionID, m.SpaceID, receivers); err != nil {
		return nil, err
	}
	for some := range slices.Chunk(receivers, maxInsertedEntries) {
		if err := t.insertEntries(m, some); err != nil {
			return nil, err
		}
	}
	return receivers, nil
}

// receives reports whether a message enters a member's inbox: a system message with mentions
// reaches only the mentioned members, and a member that has muted the space receives only
// messages that mention it.
func receives(m shoal.Message, to cachedMember) bool {
	if !to.muted && (m.EntityID != shoal.System || len(m.Mentions) == 0) {
		return true
	}
	return slices.Contains(m.Mentions, to.id)
}

// maxInsertedEntries is the maximum number of inbox entries that one statement inserts.
const maxInsertedEntries = 64

// insertEntries puts a message at the next position of each receiver's inbox, whose end must
// be cached, and stores the position in the receiver.
func (t *Tx) insertEntries(m shoal.Message, receivers []storage.Receiver) error {
	args := append(make([]any, 0, 3+3*len(receivers)), m.SessionID, m.SpaceID, m.Seq)
	for i := range receivers {
		r := &receivers[i]
		end, _ := t.cache.inboxEnd(m.SessionID, r.ID)
		end.last++
		t.cache.putInboxEnd(m.SessionID, r.ID, end)
		r.Place = end.last
		args = append(args, r.ID, r.Place, r.Reason)
	}
	_, err := t.c.Exec(insertEntriesTexts()[len(receivers)], args...)
	return err
}

// insertEntriesTexts returns the statements by the number of receivers.
var insertEntriesTexts = sync.OnceValue(func() (texts *[maxInsertedEntries + 1]string) {
	texts = new([maxInsertedEntries + 1]string)
	for n := 1; n <= maxInsertedEntries; n++ {
		var b strings.Builder
		b.WriteString(`INSERT INTO inbox (session_id, entity_id, place, space_id, seq, reason, delivery) VALUES `)
		for i := range n {
			if i > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, `($1, $%d, $%d, $2, $3, $%d, 0)`, 4+3*i, 5+3*i, 6+3*i)
		}
		texts[n] = b.String()
	}
	return texts
})

// deliveryReason returns why an entity receives a message.
func deliveryReason(m shoal.Message, id shoal.EntityID) shoal.Reason {
	switch {
	case m.EntityID == shoal.System:
		return shoal.ReasonSystem
	case slices.Contains(m.Mentions, id):
		return shoal.ReasonMention
	}
	return shoal.ReasonMessage
}

// readInboxEnds reads the ends of the inboxes of all members of a space into the cache, if
// that of one receiver is not cached.
func (t *Tx) readInboxEnds(session shoal.SessionID, space shoal.SpaceID, members []storage.Receiver) error {
	unknown := func(r storage.Receiver) bool {
		_, ok := t.cache.inboxEnd(session, r.ID)
		return !ok
	}
	if !slices.ContainsFunc(members, unknown) {
		return nil
	}
	_, err := sqlconn.List(t.c, func(r *sqlconn.Rows) struct{} {
		t.cache.putInboxEnd(session, entityID(r), inboxEnd{last: max(r.Int(1), r.Int(2)), stored: r.Int(2)})
		return struct{}{}
	}, `SELECT who.entity_id, `+schema.LastInboxEntry+`, `+schema.LastStoredPosition+` FROM members AS who WHERE who.session_id = $1 AND who.space_id = $2`, session, space)
	return err
}

// inboxEnd returns the end of the inbox of an entity.
func (t *Tx) inboxEnd(session shoal.SessionID, entity shoal.EntityID) (inboxEnd, error) {
	if end, ok := t.cache.inboxEnd(session, entity); ok {
		return end, nil
	}
	end, _, err := sqlconn.One(t.c, func(r *sqlconn.Rows) inboxEnd { return inboxEnd{last: max(r.Int(0), r.Int(1)), stored: r.Int(1)} },
		`SELECT `+schema.LastInboxEntry+`, `+schema.LastStoredPosition+` FROM (SELECT CAST($1 AS TEXT) AS session_id, CAST($2 AS TEXT) AS entity_id) AS who`, session, entity)
	if err == nil {
		t.cache.putInboxEnd(session, entity, end)
	}
	return end, err
}

// storeInboxEnd stores the end of an inbox. It must be called before entries are removed, so
// that their positions are not assigned again.
func (t *Tx) storeInboxEnd(session shoal.SessionID, entity shoal.EntityID) error {
	end, err := t.inboxEnd(session, entity)
	if err != nil || end.stored == end.last {
		return err
	}
	_, err = t.c.ExecCached(
		`INSERT INTO inboxes (session_id, entity_id, last_place) VALUES ($1, $2, $3)
		 ON CONFLICT (session_id, entity_id) DO UPDATE SET last_place = excluded.last_place`, session, entity, end.last)
	if err == nil {
		end.stored = end.last
		t.cache.putInboxEnd(session, entity, end)
	}
	return err
}

// addInboxConditions appends the conditions of a filter for the inbox entry i and the message
// m.
func addInboxConditions(b *sqlconn.Builder, filter storage.InboxFilter) {
	if filter.Kind == shoal.WaitMentions {
		b.Add(` AND i.reason <> 'message'`) // as in the index inbox_mentions
	}
	if filter.Space != "" {
		b.Add(` AND i.space_id = ?`, filter.Space)
	}
	if len(filter.From) > 0 {
		sqlconn.AddIn(b, ` AND m.entity_id IN (?)`, append([]shoal.EntityID{shoal.System}, filter.From...))
	}
}

// Unread implements [hub.InboxTx].
func (t *Tx) Unread(session shoal.SessionID, entity shoal.EntityID, filter storage.InboxFilter, limit int) ([]storage.InboxEntry, error) {
	var b sqlconn.Builder
	b.Add(`SELECT i.place, i.reason, i.delivery, s.id, s.name, s.status, COALESCE(m.event_place, 0), `+messagerow.Columns+`
		FROM inbox AS i
		JOIN messages AS m ON m.session_id = i.session_id AND m.space_id = i.space_id AND m.seq = i.seq
		JOIN spaces AS s ON s.session_id = i.session_id AND s.id = i.space_id
		WHERE i.session_id = ? AND i.entity_id = ?`, session, entity)
	addInboxConditions(&b, filter)
	b.Add(` ORDER BY i.place` + sqlconn.Limit(limit))
	return sqlconn.ListFirst(t.c, limit, func(r *sqlconn.Rows) storage.InboxEntry {
		space := messagerow.ReadSpaceRef(r, 3)
		return storage.InboxEntry{
			Place: r.Int(0), Reason: shoal.Reason(r.Text(1)), Delivery: int(r.Int(2)),
			Space: space, EventPlace: r.Int(6), Message: t.row.Read(r, 7, session, space.ID),
		}
	}, b.Text(), b.Args...)
}

// MarkDelivered implements [hub.InboxTx].
func (t *Tx) MarkDelivered(session shoal.SessionID, entity shoal.EntityID, places []int64) error {
	for some := range slices.Chunk(places, sqlconn.MaxList) {
		var b sqlconn.Builder
		b.Add(`UPDATE inbox SET delivery = delivery + 1 WHERE session_id = ? AND entity_id = ?`, session, entity)
		sqlconn.AddIn(&b, ` AND place IN (?)`, some)
		if _, err := t.c.Exec(b.Text(), b.Args...); err != nil {
			return err
		}
	}
	return nil
}

// Acknowledge implements [hub.InboxTx].
func (t *Tx) Acknowledge(session shoal.SessionID, entity shoal.EntityID, filter storage.InboxFilter, upTo int64) error {
	if err := t.storeInboxEnd(session, entity); err != nil {
		return err
	}
	from := filter.From
	filter.From = nil
	var b sqlconn.Builder
	b.Add(`DELETE FROM inbox AS i WHERE i.session_id = ? AND i.entity_id = ? AND i.place <= ?`, session, entity, upTo)
	addInboxConditions(&b, filter)
	if len(from) > 0 {
		b.Add(` AND EXISTS (SELECT 1 FROM messages AS m WHERE m.session_id = i.session_id AND m.space_id = i.space_id AND m.seq = i.seq`)
		addInboxConditions(&b, storage.InboxFilter{From: from})
		b.Add(`)`)
	}
	_, err := t.c.Exec(b.Text(), b.Args...)
	return err
}

// AcknowledgeSpace implements [hub.InboxTx].
func (t *Tx) AcknowledgeSpace(session shoal.SessionID, space shoal.SpaceID, entity shoal.EntityID, seq int64) error {
	err := t.storeInboxEnd(session, entity)
	if err == nil {
		_, err = t.c.Exec(`DELETE FROM inbox WHERE session_id = $1 AND entity_id = $2 AND space_id = $3 AND seq <= $4`, session, entity, space, seq)
	}
	return err
}

// MarkUnread implements [hub.InboxTx].
func (t *Tx) MarkUnread(session shoal.SessionID, space shoal.SpaceID, entity shoal.EntityID, seq int64, limit int) error {
	past, err := sqlconn.ListFirst(t.c, limit, func(r *sqlconn.Rows) shoal.Message {
		return shoal.Message{Seq: r.Int(0), EntityID: shoal.EntityID(r.Text(1)), Mentions: sqlconn.SplitIDs(r.Text(2))}
	}, `SELECT m.seq, m.entity_id, m.mentions FROM messages AS m
		WHERE m.session_id = $1 AND m.space_id = $2 AND m.seq >= $3 AND m.status <> 'streaming' AND m.deleted_at IS NULL AND m.entity_id <> $4
		AND NOT EXISTS (SELECT 1 FROM inbox AS i WHERE i.session_id = $1 AND i.entity_id = $4 AND i.space_id = $2 AND i.seq = m.seq)
		ORDER BY m.seq DESC`+sqlconn.Limit(limit), session, space, seq, entity)
	if err != nil {
		return err
	}
	end, err := t.inboxEnd(session, entity)
	if err != nil {
		return err
	}
	for _, m := range slices.Backward(past) {
		if !receives(m, cachedMember{id: entity}) {
			continue
		}
		end.last++
		if _, err := t.c.Exec(insertEntriesTexts()[1], session, space, m.Seq, entity, end.last, deliveryReason(m, entity)); err != nil {
			return err
		}
		t.cache.putInboxEnd(session, entity, end)
	}
	return nil
}

// InboxEnd implements [hub.InboxTx].
func (t *Tx) InboxEnd(session shoal.SessionID, entity shoal.EntityID) (int64, error) {
	end, err := t.inboxEnd(session, entity)
	return end.last, err
}

// Counts implements [hub.InboxTx].
func (t *Tx) Counts(session shoal.SessionID, entity shoal.EntityID, spaces []shoal.SpaceID) (map[shoal.SpaceID]storage.Unread, error) {
	counts := make(map[shoal.SpaceID]storage.Unread, len(spaces))
	for _, space := range spaces {
		counts[space] = storage.Unread{}
	}
	for some := range slices.Chunk(spaces, sqlconn.MaxList) {
		var b sqlconn.Builder
		b.Add(`SELECT space_id, COUNT(*), COUNT(*) FILTER (WHERE reason = 'mention'), MIN(seq)
			FROM inbox WHERE session_id = ? AND entity_id = ?`, session, entity)
		sqlconn.AddIn(&b, ` AND space_id IN (?) GROUP BY space_id`, some)
		_, err := sqlconn.List(t.c, func(r *sqlconn.Rows) struct{} {
			counts[shoal.SpaceID(r.Text(0))] = storage.Unread{Messages: r.Int(1), Mentions: r.Int(2), First: r.Int(3)}
			return struct{}{}
		}, b.Text(), b.Args...)
		if err != nil {
			return nil, err
		}
	}
	return counts, nil
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
