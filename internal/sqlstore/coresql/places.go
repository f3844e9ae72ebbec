package coresql

import (
	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/sqlstore/schema"
	"github.com/shoal-dev/shoal/internal/sqlstore/sqlconn"
)

// placed is the position of a final message: its arrival in its space (0 for a system message
// that only some members receive) and its place in the session.
type placed struct {
	id             shoal.MessageID
	arrival, place int64
}

// takesArrival reports whether a message counts in the positions of the members of its
// space. A system message that mentions members is for these alone, so it has no arrival.
func takesArrival(m shoal.Message) bool { return m.EntityID != shoal.System || len(m.Mentions) == 0 }

// nextPlaced assigns the next arrival, if the message takes one, and the next place.
func (t *Tx) nextPlaced(m shoal.Message) (p placed, err error) {
	p.id = m.ID
	if takesArrival(m) {
		last, err := t.lastArrival(m.SessionID, m.SpaceID)
		if err != nil {
			return p, err
		}
		p.arrival = last + 1
	}
	last, err := t.InboxEnd(m.SessionID)
	p.place = last + 1
	return p, err
}

// keepPlaced records that a message has got its place.
func (t *Tx) keepPlaced(m shoal.Message, p placed) error {
	t.cache.PutPlace(m.SessionID, p.place)
	if p.arrival == 0 {
		return nil
	}
	if known := t.cache.Space(m.SessionID, m.SpaceID); known != nil {
		known.Arrival = p.arrival
	}
	if p.arrival%schema.OwnStride != 0 {
		return nil
	}
	return t.countOwn(m.SessionID, m.SpaceID, p.arrival)
}

// lastArrival returns the arrival of the newest final message of a space, 0 if it has none.
func (t *Tx) lastArrival(session shoal.SessionID, space shoal.SpaceID) (int64, error) {
	known := t.cache.Space(session, space)
	if known != nil && known.Arrival >= 0 {
		return known.Arrival, nil
	}
	last, err := sqlconn.Number(t.c, `SELECT MAX(arrival) FROM messages WHERE session_id = $1 AND space_id = $2 AND arrival IS NOT NULL`, session, space)
	if err == nil && known != nil {
		known.Arrival = last
	}
	return last, err
}

// InboxEnd implements [hub.InboxTx]. The last place is that of the newest final message, or
// the one that was stored, whichever is greater.
func (t *Tx) InboxEnd(session shoal.SessionID) (int64, error) {
	if last, ok := t.cache.LastPlace(session); ok {
		return last, nil
	}
	last, err := sqlconn.Number(t.c, schema.LastPlace, session)
	if err == nil {
		t.cache.PutPlace(session, last)
	}
	return last, err
}

// StorePlace stores a last place that no message has, or soon no message will have.
func (t *Tx) StorePlace(session shoal.SessionID, last int64) error {
	if last == 0 {
		return nil
	}
	t.cache.Reshape()
	_, err := t.c.ExecCached(
		`INSERT INTO inbox_places (session_id, last_place) VALUES ($1, $2)
		 ON CONFLICT (session_id) DO UPDATE SET last_place = excluded.last_place`, session, last)
	if err == nil {
		t.cache.PutPlace(session, last)
	}
	return err
}

// PlaceOfEvent implements [hub.InboxTx].
func (t *Tx) PlaceOfEvent(session shoal.SessionID, event int64) (int64, error) {
	return sqlconn.Number(t.c, `SELECT MAX(place) FROM messages WHERE session_id = $1 AND event_place = $2`, session, event)
}

// A member's own messages count as read. The post of one writes nothing to the row of its
// sender: own_above counts the member's own messages up to the last multiple of
// schema.OwnStride, and the message that gets that arrival adds those since the one before.
// Later ones are counted when they are needed, in an index.

// countOwn adds the messages up to the arrival at to the counts of their senders.
func (t *Tx) countOwn(session shoal.SessionID, space shoal.SpaceID, at int64) error {
	_, err := t.c.ExecCached(
		`UPDATE members SET own_above = own_above + (SELECT COUNT(*) FROM messages AS m
		   WHERE m.session_id = $1 AND m.space_id = $2 AND m.arrival > $3 AND m.arrival <= $4 AND m.entity_id = members.entity_id AND m.arrival > members.read_upto)
		 WHERE session_id = $1 AND space_id = $2 AND paused_at IS NULL
		 AND entity_id IN (SELECT m.entity_id FROM messages AS m WHERE m.session_id = $1 AND m.space_id = $2 AND m.arrival > $3 AND m.arrival <= $4)`,
		session, space, at-schema.OwnStride, at)
	return err
}
