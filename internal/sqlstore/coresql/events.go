package coresql

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/sqlstore/schema"
	"github.com/shoal-dev/shoal/internal/sqlstore/sqlconn"
)

// AppendEvent implements [hub.EventTx]. The newest event of a session always exists, because
// TrimEvents keeps it, so its position serves as the counter.
func (t *Tx) AppendEvent(e storage.Event) (int64, error) {
	last, err := t.EventEnd(e.Session)
	if err != nil {
		return 0, err
	}
	last++
	_, err = t.c.ExecCached(
		`INSERT INTO events (session_id, place, space_id, entity_id, type, data, run_id, private, message_id) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
		e.Session, last, e.Space, e.Entity, e.Type, string(e.Data), e.Run, e.Private, sqlconn.IDOrNull(e.Message))
	if err != nil {
		return 0, err
	}
	t.cache.PutEventEnd(e.Session, last)
	return last, t.c.RecordPosition(e.Session, last)
}

// addEventConditions appends the conditions of a filter for the event or event floor e. An
// event that only followers of its run receive has no space.
func addEventConditions(b *sqlconn.Builder, session shoal.SessionID, filter storage.EventFilter) {
	switch {
	case filter.Space != "":
		b.Add(` AND e.space_id = ?`, filter.Space)
	case filter.Entity != "":
		b.Add(` AND e.space_id <> '' AND (e.entity_id = ? OR e.space_id IN `+schema.SpacesOf+`)`, filter.Entity, session, filter.Entity)
	default:
		b.Add(` AND e.space_id <> ''`)
	}
}

// Events implements [hub.EventTx]. If a filter has a run, its other fields are ignored; if it
// has a space, its entity is ignored.
func (t *Tx) Events(session shoal.SessionID, filter storage.EventFilter, after int64, limit int) ([]storage.Event, error) {
	var b sqlconn.Builder
	b.Add(`SELECT e.place, e.space_id, e.entity_id, e.type, e.data, e.run_id, e.private, e.message_id FROM events AS e
		WHERE e.session_id = ? AND e.place > ?`, session, after)
	if filter.Run != "" {
		b.Add(` AND e.run_id = ? AND e.run_id <> ''`, filter.Run) // as in the index events_run
	} else {
		addEventConditions(&b, session, filter)
	}
	b.Add(` ORDER BY e.place` + sqlconn.Limit(limit))
	all, err := sqlconn.ListFirst(t.c, limit, func(r *sqlconn.Rows) storage.Event {
		return storage.Event{
			Session: session, Position: r.Int(0), Space: shoal.SpaceID(r.Text(1)), Entity: shoal.EntityID(r.Text(2)),
			Type: shoal.EventType(r.Text(3)), Data: []byte(r.Text(4)), Run: shoal.RunID(r.Text(5)), Private: r.Bool(6), Message: shoal.MessageID(r.Text(7)),
		}
	}, b.Text(), b.Args...)
	if err == nil {
		err = t.showMessages(all)
	}
	if err != nil || filter.Run != "" {
		return all, err
	}
	posted, err := t.postEvents(session, filter, after, limit)
	if err != nil || len(posted) == 0 {
		return all, err
	}
	all = append(all, posted...)
	slices.SortFunc(all, func(a, b storage.Event) int { return cmp.Compare(a.Position, b.Position) })
	return all[:min(len(all), limit)], nil
}

// showMessages adds the current message to the events that show one.
func (t *Tx) showMessages(events []storage.Event) error {
	for i := range events {
		e := &events[i]
		if e.Message == "" {
			continue
		}
		m, err := t.MessageByID(e.Session, e.Message)
		if errors.Is(err, shoal.NotFound) {
			continue // the message was erased with its space
		}
		if err != nil {
			return err
		}
		data := shoal.MessageData{Message: m}
		if err := json.Unmarshal(e.Data, &data.EventHead); err != nil {
			return t.c.Fail("Events", err)
		}
		if e.Data, err = shoal.EncodeJSON(data); err != nil {
			return t.c.Fail("Events", err)
		}
	}
	return nil
}

// EventEnd implements [hub.EventTx].
func (t *Tx) EventEnd(session shoal.SessionID) (int64, error) {
	if last, ok := t.cache.EventEnd(session); ok {
		return last, nil
	}
	last, err := sqlconn.Number(t.c, `SELECT MAX(place) FROM (SELECT MAX(place) AS place FROM events WHERE session_id = $1
		UNION ALL SELECT MAX(event_place) FROM messages WHERE session_id = $1 AND event_place IS NOT NULL) AS ends`, session)
	if err == nil {
		t.cache.PutEventEnd(session, last)
	}
	return last, err
}

// EventFloor implements [hub.EventTx].
func (t *Tx) EventFloor(session shoal.SessionID, filter storage.EventFilter) (int64, error) {
	if filter.Run != "" {
		return sqlconn.Number(t.c, `SELECT event_floor FROM runs WHERE session_id = $1 AND id = $2`, session, filter.Run)
	}
	var b sqlconn.Builder
	b.Add(`SELECT MAX(e.place) FROM event_floors AS e WHERE e.session_id = ?`, session)
	addEventConditions(&b, session, filter)
	return sqlconn.Number(t.c, b.Text(), b.Args...)
}

// TrimEvents implements [hub.EventTx]. It always keeps one event of the space. Its cost grows
// with keep and with the number of events that it removes.
func (t *Tx) TrimEvents(session shoal.SessionID, space shoal.SpaceID, keep int) error {
	last, err := sqlconn.Number(t.c, `SELECT place FROM events WHERE session_id = $1 AND space_id = $2
		ORDER BY place DESC LIMIT 1 OFFSET $3`, session, space, max(keep, 1))
	if err != nil {
		return err
	}
	posted, err := t.postEventBefore(session, space, int64(max(keep, 1)))
	if err != nil {
		return err
	}
	if last = max(last, posted); last == 0 {
		return nil
	}
	err = t.c.ExecAll([]string{
		`INSERT INTO event_floors (session_id, space_id, entity_id, place)
		 SELECT session_id, space_id, entity_id, MAX(place) FROM events
		 WHERE session_id = $1 AND space_id = $2 AND place <= $3 GROUP BY session_id, space_id, entity_id
		 ON CONFLICT (session_id, space_id, entity_id) DO UPDATE SET place = excluded.place`,
		`UPDATE runs SET event_floor = CASE WHEN gone.place > event_floor THEN gone.place ELSE event_floor END FROM (
		   SELECT run_id, MAX(place) AS place FROM events WHERE session_id = $1 AND space_id = $2 AND place <= $3 AND run_id <> '' GROUP BY run_id) AS gone
		 WHERE session_id = $1 AND id = gone.run_id`,
	}, session, space, last)
	if err == nil { // the cached end does not change
		_, err = t.c.ExecCached(`DELETE FROM events WHERE session_id = $1 AND space_id = $2 AND place <= $3`, session, space, last)
	}
	if err == nil && posted > 0 {
		_, err = t.c.Exec(`INSERT INTO event_floors (session_id, space_id, entity_id, place) VALUES ($1, $2, '', $3)
			ON CONFLICT (session_id, space_id, entity_id) DO UPDATE SET place = CASE WHEN excluded.place > event_floors.place THEN excluded.place ELSE event_floors.place END`,
			session, space, posted)
	}
	return err
}
