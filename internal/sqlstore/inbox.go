package sqlstore

import (
	"slices"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
)

// advanceInboxes gives one more place in the inbox of every member of space $2
// but $3 and hosted agents.
const advanceInboxes = `INSERT INTO inboxes (session_id, entity_id, last_place)
	SELECT session_id, entity_id, 1 FROM members WHERE session_id = $1 AND space_id = $2 AND entity_id <> $3 AND NOT hosted
	ON CONFLICT (session_id, entity_id) DO UPDATE SET last_place = inboxes.last_place + 1`

// fillInboxes puts message $4 at those places. The clauses that build it number
// $1 to $5; the mentioned ids follow.
func fillInboxes(m shoal.Message) (string, []any) {
	reason := shoal.ReasonMessage
	if m.EntityID == shoal.System {
		reason = shoal.ReasonSystem
	}
	args := []any{m.SessionID, m.SpaceID, m.EntityID, m.Seq, reason}
	if len(m.Mentions) == 0 {
		return fillInboxesTexts[0], args
	}
	args = appendPadded(args, m.Mentions)
	if n := padded(len(m.Mentions)); n < len(fillInboxesTexts) {
		return fillInboxesTexts[n], args
	}
	return fillInboxesText(len(m.Mentions)), args
}

// fillInboxesTexts holds the statement for few mentions, by their number. They
// are on the path of every post.
var fillInboxesTexts = func() (texts [9]string) {
	for n := range texts {
		texts[n] = fillInboxesText(n)
	}
	return texts
}()

func fillInboxesText(mentions int) string {
	reason := `$5`
	if mentions > 0 {
		reason = `CASE WHEN m.entity_id IN (` + places(6, mentions) + `) THEN 'mention' ELSE $5 END`
	}
	return `INSERT INTO inbox (session_id, entity_id, place, space_id, seq, reason, delivery)
		SELECT m.session_id, m.entity_id, i.last_place, m.space_id, CAST($4 AS BIGINT), ` + reason + `, 0
		FROM members AS m JOIN inboxes AS i ON i.session_id = m.session_id AND i.entity_id = m.entity_id
		WHERE m.session_id = $1 AND m.space_id = $2 AND m.entity_id <> $3 AND NOT m.hosted
		RETURNING entity_id`
}

// Deliver implements [hub.InboxTx], in two statements however many members there
// are.
func (t tx) Deliver(m shoal.Message) ([]shoal.EntityID, error) {
	n, err := t.c.exec(advanceInboxes, m.SessionID, m.SpaceID, m.EntityID)
	if err != nil || n == 0 {
		return []shoal.EntityID{}, err
	}
	text, args := fillInboxes(m)
	return list(t.c, entityID, text, args...)
}

// matching appends the conditions of a filter on inbox i and message m.
func matching(b *clauses, filter hub.InboxFilter) {
	if filter.Kind == shoal.WaitMentions {
		b.add(` AND i.reason <> 'message'`) // as in the index inbox_mentions
	}
	if filter.Space != "" {
		b.add(` AND i.space_id = ?`, filter.Space)
	}
	if len(filter.From) > 0 {
		addIn(b, ` AND m.entity_id IN (?)`, append([]shoal.EntityID{shoal.System}, filter.From...))
	}
}

// Unread implements [hub.InboxTx].
func (t tx) Unread(session shoal.SessionID, entity shoal.EntityID, filter hub.InboxFilter, limit int) ([]hub.InboxEntry, error) {
	var b clauses
	b.add(`SELECT i.place, i.reason, i.delivery, s.id, s.name, s.status, `+messageColumns+`
		FROM inbox AS i
		JOIN messages AS m ON m.session_id = i.session_id AND m.space_id = i.space_id AND m.seq = i.seq
		JOIN spaces AS s ON s.session_id = i.session_id AND s.id = i.space_id
		WHERE i.session_id = ? AND i.entity_id = ?`, session, entity)
	matching(&b, filter)
	b.add(` ORDER BY i.place` + upTo(limit))
	return listFirst(t.c, limit, func(r *rows) hub.InboxEntry {
		space := spaceRefOf(r, 3)
		return hub.InboxEntry{
			Place: r.int(0), Reason: shoal.Reason(r.text(1)), Delivery: int(r.int(2)),
			Space: space, Message: messageOf(r, 6, session, space.ID),
		}
	}, b.text.String(), b.args...)
}

// MarkDelivered implements [hub.InboxTx].
func (t tx) MarkDelivered(session shoal.SessionID, entity shoal.EntityID, places []int64) error {
	for some := range slices.Chunk(places, mostIn) {
		var b clauses
		b.add(`UPDATE inbox SET delivery = delivery + 1 WHERE session_id = ? AND entity_id = ?`, session, entity)
		addIn(&b, ` AND place IN (?)`, some)
		if _, err := t.c.exec(b.text.String(), b.args...); err != nil {
			return err
		}
	}
	return nil
}

// Acknowledge implements [hub.InboxTx].
func (t tx) Acknowledge(session shoal.SessionID, entity shoal.EntityID, filter hub.InboxFilter, upTo int64) error {
	from := filter.From
	filter.From = nil
	var b clauses
	b.add(`DELETE FROM inbox AS i WHERE i.session_id = ? AND i.entity_id = ? AND i.place <= ?`, session, entity, upTo)
	matching(&b, filter)
	if len(from) > 0 {
		b.add(` AND EXISTS (SELECT 1 FROM messages AS m WHERE m.session_id = i.session_id AND m.space_id = i.space_id AND m.seq = i.seq`)
		matching(&b, hub.InboxFilter{From: from})
		b.add(`)`)
	}
	_, err := t.c.exec(b.text.String(), b.args...)
	return err
}

// AcknowledgeSpace implements [hub.InboxTx].
func (t tx) AcknowledgeSpace(session shoal.SessionID, space shoal.SpaceID, entity shoal.EntityID, seq int64) error {
	_, err := t.c.exec(`DELETE FROM inbox WHERE session_id = $1 AND entity_id = $2 AND space_id = $3 AND seq <= $4`, session, entity, space, seq)
	return err
}

// InboxEnd implements [hub.InboxTx].
func (t tx) InboxEnd(session shoal.SessionID, entity shoal.EntityID) (int64, error) {
	return number(t.c, `SELECT last_place FROM inboxes WHERE session_id = $1 AND entity_id = $2`, session, entity)
}

// Counts implements [hub.InboxTx].
func (t tx) Counts(session shoal.SessionID, entity shoal.EntityID, spaces []shoal.SpaceID) (map[shoal.SpaceID]hub.Unread, error) {
	counts := make(map[shoal.SpaceID]hub.Unread, len(spaces))
	for _, space := range spaces {
		counts[space] = hub.Unread{}
	}
	for some := range slices.Chunk(spaces, mostIn) {
		var b clauses
		b.add(`SELECT space_id, COUNT(*), COUNT(*) FILTER (WHERE reason = 'mention')
			FROM inbox WHERE session_id = ? AND entity_id = ?`, session, entity)
		addIn(&b, ` AND space_id IN (?) GROUP BY space_id`, some)
		_, err := list(t.c, func(r *rows) struct{} {
			counts[shoal.SpaceID(r.text(0))] = hub.Unread{Messages: r.int(1), Mentions: r.int(2)}
			return struct{}{}
		}, b.text.String(), b.args...)
		if err != nil {
			return nil, err
		}
	}
	return counts, nil
}

// Explicit implements [hub.InboxTx].
func (t tx) Explicit(session shoal.SessionID, entity shoal.EntityID, key shoal.KeyID) (bool, error) {
	return exists(t.c, `SELECT 1 FROM explicit_keys WHERE session_id = $1 AND entity_id = $2 AND key_id = $3`, session, entity, key)
}

// SetExplicit implements [hub.InboxTx].
func (t tx) SetExplicit(session shoal.SessionID, entity shoal.EntityID, key shoal.KeyID) error {
	_, err := t.c.exec(`INSERT INTO explicit_keys (session_id, entity_id, key_id) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`, session, entity, key)
	return err
}
