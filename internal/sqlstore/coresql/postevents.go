package coresql

import (
	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/sqlstore/messagerow"
	"github.com/shoal-dev/shoal/internal/sqlstore/schema"
	"github.com/shoal-dev/shoal/internal/sqlstore/sqlconn"
)

// The message.created event of a posted message is not a row of its own: event_place of the
// message is its position among the events of the session. It rises with seq in a space and
// with doc everywhere, so no index by space and position is needed, which every post would
// have to update.

// postEvents returns the first limit events of posts after a position that match filter.
func (t *Tx) postEvents(session shoal.SessionID, filter storage.EventFilter, after int64, limit int) ([]storage.Event, error) {
	first, found, err := sqlconn.One(t.c, func(r *sqlconn.Rows) int64 { return r.Int(0) },
		`SELECT doc FROM messages WHERE session_id = $1 AND event_place > $2 ORDER BY event_place LIMIT 1`, session, after)
	if err != nil || !found {
		return nil, err
	}
	var b sqlconn.Builder
	b.Add(`SELECT m.event_place, m.space_id, `+messagerow.Columns+` FROM messages AS m WHERE m.session_id = ?`, session)
	order := ` ORDER BY m.event_place`
	switch {
	case filter.Space != "":
		afterSeq, err := t.seqBefore(session, filter.Space, first)
		if err != nil {
			return nil, err
		}
		b.Add(` AND m.space_id = ? AND m.seq > ? AND +m.event_place > ?`, filter.Space, afterSeq, after) // with +, not by its index
		order = ` ORDER BY m.seq`
	case filter.Entity != "":
		b.Add(` AND m.event_place > ? AND m.space_id IN `+schema.SpacesOf, after, session, filter.Entity)
	default:
		b.Add(` AND m.event_place > ?`, after)
	}
	b.Add(order + sqlconn.Limit(limit))
	return sqlconn.ListFirst(t.c, limit, func(r *sqlconn.Rows) storage.Event { return t.readPostEvent(r, session) }, b.Text(), b.Args...)
}

// readPostEvent reads the event from its position and its message.
func (t *Tx) readPostEvent(r *sqlconn.Rows, session shoal.SessionID) storage.Event {
	m := t.row.Read(r, 2, session, shoal.SpaceID(r.Text(1)))
	data, err := shoal.EncodeJSON(shoal.MessageData{
		EventHead: shoal.EventHead{Type: shoal.EventMessageCreated, SpaceID: &m.SpaceID, At: m.CreatedAt}, Message: m,
	})
	if err != nil {
		r.Fail(err)
	}
	return storage.Event{Session: session, Position: r.Int(0), Space: m.SpaceID, Type: shoal.EventMessageCreated, Data: data}
}

// seqBefore returns a seq of a space, or 0, such that its message and all earlier ones come
// before a doc, and which is close to the first that does not. It searches from the end,
// because followers of a space are usually close to it.
func (t *Tx) seqBefore(session shoal.SessionID, space shoal.SpaceID, doc int64) (int64, error) {
	last, err := t.lastSeq(session, space)
	low, high := last, last+1
	for step := int64(1); low > 0 && err == nil; step *= 4 {
		before := false
		if before, err = t.isBefore(session, space, low, doc); before {
			break
		}
		low, high = max(low-step, 0), low
	}
	for high-low > 8 && err == nil {
		before, middle := false, low+(high-low)/2
		if before, err = t.isBefore(session, space, middle, doc); before {
			low = middle
		} else {
			high = middle
		}
	}
	return low, err
}

// isBefore reports whether a message of a space comes before a doc.
func (t *Tx) isBefore(session shoal.SessionID, space shoal.SpaceID, seq, doc int64) (bool, error) {
	at, err := sqlconn.Number(t.c, `SELECT doc FROM messages WHERE session_id = $1 AND space_id = $2 AND seq = $3`, session, space, seq)
	return at < doc, err
}

// postEventBefore returns the position of the newest event of a post after which its space
// has at least keep messages, 0 if there is none close to that point.
func (t *Tx) postEventBefore(session shoal.SessionID, space shoal.SpaceID, keep int64) (int64, error) {
	last, err := t.lastSeq(session, space)
	if err != nil || last <= keep {
		return 0, err
	}
	return sqlconn.Number(t.c, `SELECT MAX(event_place) FROM messages WHERE session_id = $1 AND space_id = $2 AND seq > $3 AND seq <= $4`,
		session, space, last-keep-core.TrimEvery, last-keep)
}
