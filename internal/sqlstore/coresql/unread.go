package coresql

import (
	"cmp"
	"math"
	"slices"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/sqlstore/messagerow"
	"github.com/shoal-dev/shoal/internal/sqlstore/sqlconn"
)

// Unread implements [hub.InboxTx]. It merges the entries of the inbox with the messages that
// are unread by position.
func (t *Tx) Unread(session shoal.SessionID, entity shoal.EntityID, filter storage.InboxFilter, limit int) ([]storage.InboxEntry, error) {
	entries, err := t.unreadEntries(session, entity, filter, limit)
	if err != nil || filter.Kind == shoal.WaitMentions {
		return entries, err
	}
	found, err := plainUnread(t, plainQuery{session: session, entity: entity, filter: filter, upTo: math.MaxInt64, limit: limit}, entryColumns,
		func(r *sqlconn.Rows, i int) storage.InboxEntry {
			space := messagerow.ReadSpaceRef(r, i)
			return storage.InboxEntry{
				Reason: shoal.ReasonMessage, Space: space, EventPosition: r.Int(i + 3), Message: t.row.Read(r, i+4, session, space.ID),
			}
		})
	if err != nil || len(found) == 0 {
		return entries, err
	}
	for _, p := range found {
		p.value.Place = p.place
		entries = append(entries, p.value)
	}
	slices.SortFunc(entries, func(a, b storage.InboxEntry) int { return cmp.Compare(a.Place, b.Place) })
	return entries[:min(len(entries), limit)], nil
}

// entryColumns are the columns of an inbox entry after its place, for the space s and the
// message m.
const entryColumns = `s.id, s.name, s.status, COALESCE(m.event_place, 0), ` + messagerow.Columns

// unreadEntries returns the first limit entries that match filter, without the messages that
// are unread by position.
func (t *Tx) unreadEntries(session shoal.SessionID, entity shoal.EntityID, filter storage.InboxFilter, limit int) ([]storage.InboxEntry, error) {
	var b sqlconn.Builder
	b.Add(`SELECT i.place, i.reason, i.delivery, `+entryColumns+`
		FROM inbox_entries AS i
		JOIN messages AS m ON m.session_id = i.session_id AND m.space_id = i.space_id AND m.seq = i.seq
		JOIN spaces AS s ON s.session_id = i.session_id AND s.id = i.space_id
		WHERE i.session_id = ? AND i.entity_id = ? AND i.acked_at = 0 AND i.place > ?`, session, entity, filter.After)
	addEntryConditions(&b, filter)
	b.Add(` ORDER BY i.place` + sqlconn.Limit(limit))
	return sqlconn.ListFirst(t.c, limit, func(r *sqlconn.Rows) storage.InboxEntry {
		space := messagerow.ReadSpaceRef(r, 3)
		return storage.InboxEntry{
			Place: r.Int(0), Reason: shoal.Reason(r.Text(1)), Delivery: int(r.Int(2)),
			Space: space, EventPosition: r.Int(6), Message: t.row.Read(r, 7, session, space.ID),
		}
	}, b.Text(), b.Args...)
}

// senderOf joins the inbox entry i with its message m if the filter has senders.
func senderOf(filter storage.InboxFilter) string {
	if len(filter.From) == 0 {
		return ""
	}
	return ` JOIN messages AS m ON m.session_id = i.session_id AND m.space_id = i.space_id AND m.seq = i.seq`
}

// addEntryConditions appends the conditions of a filter for the inbox entry i and the message
// m.
func addEntryConditions(b *sqlconn.Builder, filter storage.InboxFilter) {
	if filter.Kind == shoal.WaitMentions {
		b.Add(` AND i.reason <> 'message'`)
	}
	if filter.Space != "" {
		b.Add(` AND i.space_id = ?`, filter.Space)
	}
	if len(filter.From) > 0 {
		sqlconn.AddIn(b, ` AND m.entity_id IN (?)`, append([]shoal.EntityID{shoal.System}, filter.From...))
	}
}

// plainQuery selects messages that are unread by position: up to a place, at most limit.
type plainQuery struct {
	session shoal.SessionID
	entity  shoal.EntityID
	filter  storage.InboxFilter
	upTo    int64
	limit   int
}

// plain is a message that is unread by position.
type plain[T any] struct {
	space          shoal.SpaceID
	arrival, place int64
	value          T
}

// isPlainUnread is the condition that the message m is unread by the position of the member
// who, as the rest of a CASE. PostgreSQL then evaluates it for one message after the other,
// in the order of an index, and does not expect that it excludes nearly all messages.
const isPlainUnread = ` WHEN m.entity_id = who.entity_id OR m.arrival <= who.read_upto OR m.arrival > who.paused_at THEN FALSE
	WHEN m.arrival <= COALESCE((SELECT r.last FROM read_ranges AS r WHERE r.session_id = who.session_id AND r.space_id = who.space_id AND r.entity_id = who.entity_id
	  AND r.first <= m.arrival ORDER BY r.first DESC LIMIT 1), 0) THEN FALSE
	WHEN (SELECT e.place FROM inbox_entries AS e WHERE e.session_id = who.session_id AND e.space_id = who.space_id AND e.entity_id = who.entity_id AND e.seq = m.seq) IS NOT NULL THEN FALSE
	ELSE TRUE END`

// addInSpace appends the conditions of the query for messages m that are found by their
// arrivals in the space of who.
func (q plainQuery) addInSpace(b *sqlconn.Builder) {
	b.Add(` AND m.arrival > who.read_upto AND CASE WHEN m.place <= ? OR m.place > ? THEN FALSE`, q.filter.After, q.upTo)
	q.addUnread(b)
}

// addByPlace appends the conditions of the query for messages m that are found by their
// places.
func (q plainQuery) addByPlace(b *sqlconn.Builder) {
	b.Add(` AND m.place > ? AND m.place <= ? AND CASE WHEN m.arrival IS NULL THEN FALSE`, q.filter.After, q.upTo)
	q.addUnread(b)
}

func (q plainQuery) addUnread(b *sqlconn.Builder) {
	if len(q.filter.From) > 0 {
		sqlconn.AddIn(b, ` WHEN m.entity_id NOT IN (?) THEN FALSE`, append([]shoal.EntityID{shoal.System}, q.filter.From...))
	}
	b.Add(isPlainUnread)
}

// scanFactor is the number of messages of the session that are checked in about the time
// in which the first unread message of one space is found.
const scanFactor = 4

// shortScan is the number of messages that are checked however few the spaces are.
const shortScan = 64

// plainUnread returns the selected messages in the order of their places. With few messages
// after filter.After it checks each of them, so that the spaces of the entity need not be
// searched one by one; otherwise it merges what is unread in each space.
func plainUnread[T any](t *Tx, q plainQuery, columns string, read func(r *sqlconn.Rows, i int) T) ([]plain[T], error) {
	if q.filter.Space != "" {
		return plainInSpace(t, q, q.filter.Space, 0, q.limit, columns, read)
	}
	end, err := t.InboxEnd(q.session)
	if err != nil {
		return nil, err
	}
	span := min(end, q.upTo) - q.filter.After
	if span <= 0 {
		return nil, nil
	}
	if span > shortScan {
		spaces, err := sqlconn.Number(t.c, `SELECT COUNT(*) FROM members WHERE session_id = $1 AND entity_id = $2`, q.session, q.entity)
		if err != nil {
			return nil, err
		}
		if span > shortScan+scanFactor*spaces {
			return mergeSpaces(t, q, columns, read)
		}
	}
	var b sqlconn.Builder
	b.Add(`SELECT m.place, m.space_id, m.arrival, `+columns+` FROM messages AS m CROSS JOIN members AS who CROSS JOIN spaces AS s
		WHERE m.session_id = ? AND who.session_id = m.session_id AND who.space_id = m.space_id AND who.entity_id = ?
		AND s.session_id = m.session_id AND s.id = m.space_id`, q.session, q.entity)
	q.addByPlace(&b)
	b.Add(` ORDER BY m.place` + sqlconn.Limit(q.limit))
	return sqlconn.ListFirst(t.c, q.limit, readPlain(read), b.Text(), b.Args...)
}

// readPlain returns a function that reads a row with the value that read reads.
func readPlain[T any](read func(r *sqlconn.Rows, i int) T) func(r *sqlconn.Rows) plain[T] {
	return func(r *sqlconn.Rows) plain[T] {
		return plain[T]{place: r.Int(0), space: shoal.SpaceID(r.Text(1)), arrival: r.Int(2), value: read(r, 3)}
	}
}

// plainInSpace returns the first limit selected messages of one space after an arrival.
func plainInSpace[T any](t *Tx, q plainQuery, space shoal.SpaceID, after int64, limit int, columns string, read func(r *sqlconn.Rows, i int) T) ([]plain[T], error) {
	var b sqlconn.Builder
	b.Add(`SELECT m.place, m.space_id, m.arrival, `+columns+` FROM members AS who CROSS JOIN spaces AS s CROSS JOIN messages AS m
		WHERE who.session_id = ? AND who.space_id = ? AND who.entity_id = ? AND s.session_id = who.session_id AND s.id = who.space_id
		AND m.session_id = who.session_id AND m.space_id = who.space_id AND m.arrival > ?`, q.session, space, q.entity, after)
	q.addInSpace(&b)
	b.Add(` ORDER BY m.arrival` + sqlconn.Limit(limit))
	return sqlconn.ListFirst(t.c, limit, readPlain(read), b.Text(), b.Args...)
}

// mergeChunk is the number of messages of one space that mergeSpaces reads at once.
const mergeChunk = 32

// mergeSpaces returns the selected messages of all spaces of the entity.
func mergeSpaces[T any](t *Tx, q plainQuery, columns string, read func(r *sqlconn.Rows, i int) T) (all []plain[T], err error) {
	type source struct {
		space shoal.SpaceID
		next  int64 // the place of its next message
		after int64 // the arrival of the last message that was read
		found []plain[T]
	}
	var b sqlconn.Builder
	b.Add(`SELECT space_id, place FROM (SELECT who.space_id, (SELECT m.place FROM messages AS m
		  WHERE m.session_id = who.session_id AND m.space_id = who.space_id`)
	q.addInSpace(&b)
	b.Add(` ORDER BY m.arrival LIMIT 1) AS place FROM members AS who WHERE who.session_id = ? AND who.entity_id = ?) AS firsts WHERE place IS NOT NULL`, q.session, q.entity)
	sources, err := sqlconn.List(t.c, func(r *sqlconn.Rows) source { return source{space: shoal.SpaceID(r.Text(0)), next: r.Int(1)} }, b.Text(), b.Args...)
	for err == nil && len(sources) > 0 && len(all) < q.limit {
		first := 0
		for i, s := range sources {
			if s.next < sources[first].next {
				first = i
			}
		}
		s := &sources[first]
		if len(s.found) == 0 {
			n := min(mergeChunk, q.limit-len(all))
			if s.found, err = plainInSpace(t, q, s.space, s.after, n, columns, read); err != nil || len(s.found) == 0 {
				sources = slices.Delete(sources, first, first+1)
				continue
			}
			s.after, s.next = s.found[len(s.found)-1].arrival, s.found[0].place
			continue
		}
		all = append(all, s.found[0])
		last := s.found[0].place
		if s.found = s.found[1:]; len(s.found) > 0 {
			s.next = s.found[0].place
		} else {
			s.next = last + 1 // or later
		}
	}
	return all, err
}
