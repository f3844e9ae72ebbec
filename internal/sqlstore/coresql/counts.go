package coresql

import (
	"slices"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/sqlstore/sqlconn"
)

// Counts implements [hub.InboxTx].
func (t *Tx) Counts(session shoal.SessionID, entity shoal.EntityID, spaces []shoal.SpaceID) (map[shoal.SpaceID]storage.Unread, error) {
	counts := make(map[shoal.SpaceID]storage.Unread, len(spaces))
	for _, space := range spaces {
		counts[space] = storage.Unread{}
	}
	plain := make(map[shoal.SpaceID]int64, len(spaces)) // unread by position and without an entry
	for some := range slices.Chunk(spaces, sqlconn.MaxList) {
		positions, err := t.positions(session, entity, some)
		if err != nil {
			return nil, err
		}
		for _, w := range positions {
			counts[w.space], plain[w.space] = storage.Unread{Messages: w.unread(), Muted: w.muted}, w.unread()
		}
	}
	_, err := sqlconn.List(t.c, func(r *sqlconn.Rows) struct{} {
		space := shoal.SpaceID(r.Text(0))
		if c, wanted := counts[space]; wanted {
			c.Messages, c.Mentions, c.First = c.Messages+r.Int(1), c.Mentions+r.Int(2), r.Int(3)
			counts[space] = c
			plain[space] -= r.Int(4)
		}
		return struct{}{}
	}, `SELECT space_id, COUNT(*) FILTER (WHERE outside), COUNT(*) FILTER (WHERE reason = 'mention'), MIN(seq), COUNT(*) FILTER (WHERE NOT outside)
		FROM inbox_entries WHERE session_id = $1 AND entity_id = $2 AND acked_at = 0 GROUP BY space_id`, session, entity)
	if err != nil {
		return nil, err
	}
	return counts, t.addFirst(session, entity, counts, plain)
}

// firstOf is the seq of the first message of a space that is unread by position.
type firstOf struct {
	space shoal.SpaceID
	seq   int64
}

// addFirst completes the counts of the spaces in which plain messages are unread by position
// with the seq of the oldest of these. The first one by arrival is the oldest, unless a
// composite message with a lower seq was completed after it.
func (t *Tx) addFirst(session shoal.SessionID, entity shoal.EntityID, counts map[shoal.SpaceID]storage.Unread, plain map[shoal.SpaceID]int64) error {
	var spaces []shoal.SpaceID
	for space, n := range plain {
		if n > 0 {
			spaces = append(spaces, space)
		}
	}
	slices.Sort(spaces)
	for some := range slices.Chunk(spaces, sqlconn.MaxList) {
		arrived, err := t.firstArrived(session, entity, some)
		if err != nil {
			return err
		}
		composed, err := t.firstComposed(session, entity, arrived)
		if err != nil {
			return err
		}
		for _, first := range append(arrived, composed...) {
			c := counts[first.space]
			if c.First == 0 || first.seq < c.First {
				c.First = first.seq
			}
			counts[first.space] = c
		}
	}
	return nil
}

func readFirst(r *sqlconn.Rows) firstOf { return firstOf{shoal.SpaceID(r.Text(0)), r.Int(1)} }

// firstArrived returns the message of each space that was the first to become final.
func (t *Tx) firstArrived(session shoal.SessionID, entity shoal.EntityID, spaces []shoal.SpaceID) ([]firstOf, error) {
	var b sqlconn.Builder
	b.Add(`SELECT space_id, seq FROM (SELECT who.space_id, (SELECT m.seq FROM messages AS m
		  WHERE m.session_id = who.session_id AND m.space_id = who.space_id AND m.arrival > who.read_upto AND CASE`+isPlainUnread+`
		  ORDER BY m.arrival LIMIT 1) AS seq
		FROM members AS who WHERE who.session_id = ? AND who.entity_id = ?`, session, entity)
	sqlconn.AddIn(&b, ` AND who.space_id IN (?)) AS firsts WHERE seq IS NOT NULL`, spaces)
	return sqlconn.List(t.c, readFirst, b.Text(), b.Args...)
}

// firstComposed returns the composite messages with a lower seq than the given messages.
func (t *Tx) firstComposed(session shoal.SessionID, entity shoal.EntityID, arrived []firstOf) ([]firstOf, error) {
	if len(arrived) == 0 {
		return nil, nil
	}
	var b sqlconn.Builder
	b.Add(`SELECT space_id, seq FROM (SELECT who.space_id, (SELECT MIN(m.seq) FROM messages AS m
		  WHERE m.session_id = who.session_id AND m.space_id = who.space_id AND m.run_id IS NOT NULL AND m.arrival IS NOT NULL
		  AND m.arrival > who.read_upto AND CASE WHEN m.seq >= v.column2 THEN FALSE` + isPlainUnread + `) AS seq FROM (`)
	sqlconn.AddValues(&b, arrived, func(f firstOf) { b.Add(`(?, CAST(? AS BIGINT))`, f.space, f.seq) })
	b.Add(`) AS v CROSS JOIN members AS who WHERE who.session_id = ? AND who.entity_id = ? AND who.space_id = v.column1) AS firsts WHERE seq IS NOT NULL`, session, entity)
	return sqlconn.List(t.c, readFirst, b.Text(), b.Args...)
}
