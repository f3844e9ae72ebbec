package sqlstore

import (
	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
)

// AppendEvent implements [hub.EventTx]. The newest event of a session is always
// there (TrimEvents leaves it), so it is the counter, too.
func (t tx) AppendEvent(e hub.StoredEvent) (int64, error) {
	t.c.wrote = true
	return number(t.c,
		`INSERT INTO events (session_id, place, space_id, entity_id, type, data)
		 VALUES ($1, (SELECT COALESCE(MAX(place), 0) + 1 FROM events WHERE session_id = $1), $2, $3, $4, $5)
		 RETURNING place`, e.Session, e.Space, e.Entity, e.Type, string(e.Data))
}

// mySpaces are the spaces that an entity is in.
const mySpaces = `(SELECT space_id FROM members WHERE session_id = ? AND entity_id = ?)`

// Events implements [hub.EventTx]. A filter with a space is about the space
// alone.
func (t tx) Events(session shoal.SessionID, filter hub.EventFilter, after int64, limit int) ([]hub.StoredEvent, error) {
	var b clauses
	b.add(`SELECT place, space_id, entity_id, type, data FROM events WHERE session_id = ? AND place > ?`, session, after)
	switch {
	case filter.Space != "":
		b.add(` AND space_id = ?`, filter.Space)
	case filter.Entity != "":
		b.add(` AND (entity_id = ? OR space_id IN `+mySpaces+`)`, filter.Entity, session, filter.Entity)
	}
	b.add(` ORDER BY place` + upTo(limit))
	return listFirst(t.c, limit, func(r *rows) hub.StoredEvent {
		return hub.StoredEvent{
			Session: session, Place: r.int(0), Space: shoal.SpaceID(r.text(1)), Entity: shoal.EntityID(r.text(2)),
			Type: shoal.EventType(r.text(3)), Data: []byte(r.text(4)),
		}
	}, b.text.String(), b.args...)
}

// EventEnd implements [hub.EventTx].
func (t tx) EventEnd(session shoal.SessionID) (int64, error) {
	return number(t.c, `SELECT MAX(place) FROM events WHERE session_id = $1`, session)
}

// EventFloor implements [hub.EventTx].
func (t tx) EventFloor(session shoal.SessionID, filter hub.EventFilter) (int64, error) {
	var b clauses
	b.add(`SELECT MAX(place) FROM event_floors WHERE session_id = ?`, session)
	switch {
	case filter.Space != "":
		b.add(` AND space_id = ?`, filter.Space)
	case filter.Entity != "":
		b.add(` AND (entity_id = ? OR space_id IN `+mySpaces+`)`, filter.Entity, session, filter.Entity)
	}
	return number(t.c, b.text.String(), b.args...)
}

// TrimEvents implements [hub.EventTx]. It keeps one event of the space in any
// case. What it costs grows with keep and with what it removes.
func (t tx) TrimEvents(session shoal.SessionID, space shoal.SpaceID, keep int) error {
	last, err := number(t.c, `SELECT place FROM events WHERE session_id = $1 AND space_id = $2
		ORDER BY place DESC LIMIT 1 OFFSET $3`, session, space, max(keep, 1))
	if err != nil || last == 0 {
		return err
	}
	return t.c.execAll([]string{
		`INSERT INTO event_floors (session_id, space_id, entity_id, place)
		 SELECT session_id, space_id, entity_id, MAX(place) FROM events
		 WHERE session_id = $1 AND space_id = $2 AND place <= $3 GROUP BY session_id, space_id, entity_id
		 ON CONFLICT (session_id, space_id, entity_id) DO UPDATE SET place = excluded.place`,
		`DELETE FROM events WHERE session_id = $1 AND space_id = $2 AND place <= $3`,
	}, session, space, last)
}
