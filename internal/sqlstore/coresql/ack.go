package coresql

import (
	"math"
	"slices"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/sqlstore/readranges"
	"github.com/shoal-dev/shoal/internal/sqlstore/sqlconn"
)

// openEntry is an unread entry of an inbox.
type openEntry struct {
	space          shoal.SpaceID
	seq, place     int64
	arrival        int64 // 0 for a message without one
	plain, outside bool

	mention   bool
	delivered bool // it has the time of its first delivery
	answered  bool
}

// acked is what a member acknowledges in a space: entries, messages that are unread by
// position, and all of these up to the arrival through. complete is set if no other message
// before the last of arrivals is unread by position.
type acked struct {
	entries  []openEntry
	known    []storage.DeliveredEntry
	arrivals []int64 // ascending
	through  int64
	complete bool
}

// ackChunk is the number of messages that one step of an acknowledgment reads.
const ackChunk = 4096

// Acknowledge implements [hub.InboxTx].
func (t *Tx) Acknowledge(session shoal.SessionID, entity shoal.EntityID, filter storage.InboxFilter, upTo int64, known []storage.DeliveredEntry) (done storage.Acknowledged, err error) {
	entries, more, err := t.openEntries(session, entity, filter, upTo)
	if err != nil {
		return done, err
	}
	done.More = more
	for _, e := range entries {
		if e.mention {
			done.Mentions = append(done.Mentions, storage.MessagePosition{Space: e.space, Seq: e.seq})
		}
	}
	if err := t.acknowledgeAll(session, entity, filter, upTo, entries, known); err != nil || more || filter.Kind == shoal.WaitMentions {
		return done, err
	}
	filter.After = max(filter.After, upTo)
	later, err := plainPlaces(t, plainQuery{session: session, entity: entity, filter: filter, upTo: math.MaxInt64, limit: 1})
	done.More = len(later) > 0
	return done, err
}

// plainPlaces returns the selected messages with nothing but their places.
func plainPlaces(t *Tx, q plainQuery) ([]plain[struct{}], error) {
	return plainUnread(t, q, `0`, func(*sqlconn.Rows, int) (none struct{}) { return none })
}

// acknowledgeAll acknowledges entries, and what is unread by position up to a place.
func (t *Tx) acknowledgeAll(session shoal.SessionID, entity shoal.EntityID, filter storage.InboxFilter, upTo int64, entries []openEntry, known []storage.DeliveredEntry) (err error) {
	for {
		var found []plain[struct{}]
		if filter.Kind != shoal.WaitMentions {
			q := plainQuery{session: session, entity: entity, filter: filter, upTo: upTo, limit: ackChunk}
			if found, err = plainPlaces(t, q); err != nil {
				return err
			}
		}
		spaces := map[shoal.SpaceID]*acked{}
		in := func(space shoal.SpaceID) *acked {
			if spaces[space] == nil {
				spaces[space] = &acked{complete: len(filter.From) == 0, known: known}
			}
			return spaces[space]
		}
		for _, e := range entries {
			in(e.space).entries = append(in(e.space).entries, e)
		}
		for _, p := range found {
			in(p.space).arrivals = append(in(p.space).arrivals, p.arrival)
		}
		for space, a := range spaces {
			if err := t.acknowledgeIn(session, space, entity, *a); err != nil {
				return err
			}
		}
		if entries = nil; len(found) < ackChunk {
			return nil
		}
	}
}

const openEntryColumns = `i.space_id, i.place, i.arrival, i.reason, i.outside, i.seq, i.delivered_at, i.answered_by FROM inbox_entries AS i`

func openEntryOf(r *sqlconn.Rows) openEntry {
	return openEntry{
		space: shoal.SpaceID(r.Text(0)), place: r.Int(1), arrival: r.Int(2),
		plain: r.Text(3) == string(shoal.ReasonMessage), outside: r.Bool(4), seq: r.Int(5),
		mention: r.Text(3) == string(shoal.ReasonMention), delivered: r.Int(6) != 0, answered: r.Text(7) != "",
	}
}

// entryChunk is the number of entries that are read at once.
const entryChunk = 128

// openEntries returns the unread entries up to a place that match filter, and whether later
// ones do.
func (t *Tx) openEntries(session shoal.SessionID, entity shoal.EntityID, filter storage.InboxFilter, upTo int64) (all []openEntry, more bool, err error) {
	for {
		var b sqlconn.Builder
		b.Add(`SELECT `+openEntryColumns+senderOf(filter)+` WHERE i.session_id = ? AND i.entity_id = ? AND i.acked_at = 0 AND i.place > ?`, session, entity, filter.After)
		addEntryConditions(&b, filter)
		b.Add(` ORDER BY i.place` + sqlconn.Limit(entryChunk))
		some, err := sqlconn.ListFirst(t.c, entryChunk, openEntryOf, b.Text(), b.Args...)
		if err != nil {
			return nil, false, err
		}
		for _, e := range some {
			if e.place > upTo {
				return all, true, nil
			}
			all = append(all, e)
		}
		if len(some) < entryChunk {
			return all, false, nil
		}
		filter.After = some[len(some)-1].place
	}
}

// AcknowledgeSpace implements [hub.InboxTx]. Arrivals follow seq except for composite
// messages, which can become final long after later ones.
func (t *Tx) AcknowledgeSpace(session shoal.SessionID, space shoal.SpaceID, entity shoal.EntityID, seq int64) error {
	w, found, err := t.positionIn(session, space, entity)
	if err != nil || !found {
		return err
	}
	var a acked
	a.entries, err = sqlconn.List(t.c, openEntryOf, `SELECT `+openEntryColumns+`
		WHERE i.session_id = $1 AND i.space_id = $2 AND i.entity_id = $3 AND i.seq <= $4 AND i.acked_at = 0`, session, space, entity, seq)
	if err != nil {
		return err
	}
	posted, err := sqlconn.Number(t.c, `SELECT arrival FROM messages
		WHERE session_id = $1 AND space_id = $2 AND seq > $3 AND run_id IS NULL AND arrival IS NOT NULL ORDER BY seq LIMIT 1`, session, space, seq)
	if err != nil {
		return err
	}
	composed, err := sqlconn.Number(t.c, `SELECT MIN(arrival) FROM messages
		WHERE session_id = $1 AND space_id = $2 AND run_id IS NOT NULL AND arrival > $3 AND seq > $4`, session, space, w.upTo, seq)
	if err != nil {
		return err
	}
	a.through = w.end()
	for _, later := range []int64{posted, composed} {
		if later > 0 {
			a.through = min(a.through, later-1)
		}
	}
	if a.through < w.end() {
		q := plainQuery{session: session, entity: entity, upTo: math.MaxInt64}
		var b sqlconn.Builder
		b.Add(`SELECT m.arrival FROM members AS who CROSS JOIN messages AS m WHERE who.session_id = ? AND who.space_id = ? AND who.entity_id = ?
			AND m.session_id = who.session_id AND m.space_id = who.space_id AND m.run_id IS NOT NULL AND m.arrival > ? AND m.seq <= ?`, session, space, entity, max(a.through, w.upTo), seq)
		q.addInSpace(&b)
		b.Add(` ORDER BY m.arrival`)
		if a.arrivals, err = sqlconn.List(t.c, func(r *sqlconn.Rows) int64 { return r.Int(0) }, b.Text(), b.Args...); err != nil {
			return err
		}
	}
	return t.acknowledgeAt(session, entity, w, a)
}

// acknowledgeIn acknowledges messages of one space. Most acknowledgments are of mentions
// alone: these only count them, and move the position now and then.
func (t *Tx) acknowledgeIn(session shoal.SessionID, space shoal.SpaceID, entity shoal.EntityID, a acked) error {
	if len(a.arrivals) == 0 && !slices.ContainsFunc(a.entries, func(e openEntry) bool { return e.plain }) {
		gained, err := t.acknowledgeEntries(session, entity, 0, &a)
		if err != nil || gained == 0 {
			return err
		}
		_, err = t.c.ExecCached(`UPDATE members SET acked_above = acked_above + $4 WHERE session_id = $1 AND space_id = $2 AND entity_id = $3`,
			session, space, entity, gained)
		if err != nil || !slices.ContainsFunc(a.entries, func(e openEntry) bool { return e.arrival%moveEvery == 0 }) {
			return err
		}
		a.entries = nil
	}
	w, found, err := t.positionIn(session, space, entity)
	if err != nil || !found {
		return err
	}
	return t.acknowledgeAt(session, entity, w, a)
}

// moveEvery is the number of arrivals after which an acknowledgment of mentions tries to move
// the position: it does so with every mention whose arrival is a multiple of it.
const moveEvery = 32

// positionIn returns the position of a member in one space.
func (t *Tx) positionIn(session shoal.SessionID, space shoal.SpaceID, entity shoal.EntityID) (position, bool, error) {
	found, err := t.positions(session, entity, []shoal.SpaceID{space})
	if err != nil || len(found) == 0 {
		return position{}, false, err
	}
	return found[0], true, nil
}

// acknowledgeAt acknowledges messages of the space in which w is the member's position.
func (t *Tx) acknowledgeAt(session shoal.SessionID, entity shoal.EntityID, w position, a acked) error {
	gained, err := t.acknowledgeEntries(session, entity, w.upTo, &a)
	if err != nil {
		return err
	}
	if a.through > w.upTo && a.through < w.end() {
		n, err := t.countPlain(session, entity, w, a.through)
		if err != nil {
			return err
		}
		gained += n
		a.arrivals = slices.DeleteFunc(a.arrivals, func(at int64) bool { return at <= a.through })
	}
	gained += int64(len(a.arrivals))
	if gained == 0 && a.through <= w.upTo && w.acked < moveEvery {
		return nil
	}
	if len(a.arrivals) > 0 && a.complete {
		first, err := t.firstUnread(session, entity, w, w.upTo)
		if err != nil {
			return err
		}
		if first == a.arrivals[0] {
			a.through, a.arrivals = a.arrivals[len(a.arrivals)-1], nil
		}
	}
	ranges := w.acked > 0 || len(a.arrivals) > 0
	if a.through < w.end() {
		if err := readranges.Add(t.c, session, entity, w.space, a.arrivals); err != nil {
			return err
		}
	}
	to, err := t.firstUnread(session, entity, w, max(a.through, w.upTo))
	if err != nil {
		return err
	}
	w.acked += gained
	return t.movePosition(session, entity, w, to-1, ranges)
}

// acknowledgeEntries closes entries, and returns how many messages above the position upTo
// become read by that. An unread entry that is not outside is always above. If the entry of a
// message is removed, the message is added to the arrivals of a and not counted.
func (t *Tx) acknowledgeEntries(session shoal.SessionID, entity shoal.EntityID, upTo int64, a *acked) (gained int64, err error) {
	at := shoal.Now()
	for _, e := range a.entries {
		counts := !e.outside && e.arrival > upTo
		if !e.plain {
			if err := t.closeEntry(session, entity, e, a.known, at); err != nil {
				return 0, err
			}
			if counts {
				gained++
			}
			continue
		}
		if _, err := t.c.Exec(`DELETE FROM inbox_entries WHERE session_id = $1 AND space_id = $2 AND entity_id = $3 AND seq = $4`, session, e.space, entity, e.seq); err != nil {
			return 0, err
		}
		if counts {
			a.arrivals = append(a.arrivals, e.arrival)
		}
	}
	slices.Sort(a.arrivals)
	return gained, nil
}

// closeEntry acknowledges the entry of a mention or of a system message.
func (t *Tx) closeEntry(session shoal.SessionID, entity shoal.EntityID, e openEntry, known []storage.DeliveredEntry, at shoal.Time) error {
	first := storage.DeliveredEntry{At: at}
	i := slices.IndexFunc(known, func(d storage.DeliveredEntry) bool { return d.Place == e.place })
	switch {
	case e.delivered:
		_, err := t.c.Exec(`UPDATE inbox_entries SET acked_at = $5 WHERE session_id = $1 AND space_id = $2 AND entity_id = $3 AND seq = $4`,
			session, e.space, entity, e.seq, at)
		return err
	case i >= 0:
		first = known[i]
	case e.mention && !e.answered: // another server may have delivered it
		if err := t.findAnswer(session, entity, e, shoal.Time{}); err != nil {
			return err
		}
	}
	_, err := t.c.Exec(`UPDATE inbox_entries SET acked_at = $5, delivered_at = $6, via = $7 WHERE session_id = $1 AND space_id = $2 AND entity_id = $3 AND seq = $4`,
		session, e.space, entity, e.seq, at, first.At, storedVia(first.Via))
	return err
}

// countPlain returns how many messages up to an arrival are unread by position.
func (t *Tx) countPlain(session shoal.SessionID, entity shoal.EntityID, w position, upTo int64) (int64, error) {
	return sqlconn.Number(t.c, `SELECT COUNT(*) FROM members AS who CROSS JOIN messages AS m WHERE who.session_id = $1 AND who.space_id = $2 AND who.entity_id = $3
		AND m.session_id = who.session_id AND m.space_id = who.space_id AND m.arrival > who.read_upto AND m.arrival <= $4 AND CASE`+isPlainUnread, session, w.space, entity, upTo)
}

// firstUnread returns the arrival of the first message after an arrival that is not read, or
// the one after the end. Messages with an entry outside do not count.
func (t *Tx) firstUnread(session shoal.SessionID, entity shoal.EntityID, w position, after int64) (int64, error) {
	if after >= w.end() {
		return w.end() + 1, nil
	}
	first, err := sqlconn.Number(t.c, `SELECT m.arrival FROM messages AS m
		WHERE m.session_id = $1 AND m.space_id = $2 AND m.arrival > $4 AND m.arrival <= $5 AND CASE WHEN m.entity_id = $3 THEN FALSE
		WHEN m.arrival <= COALESCE((SELECT r.last FROM read_ranges AS r WHERE r.session_id = $1 AND r.space_id = $2 AND r.entity_id = $3
		  AND r.first <= m.arrival ORDER BY r.first DESC LIMIT 1), 0) THEN FALSE
		WHEN (SELECT e.place FROM inbox_entries AS e WHERE e.session_id = $1 AND e.space_id = $2 AND e.entity_id = $3 AND e.seq = m.seq
		  AND (e.acked_at <> 0 OR e.outside)) IS NOT NULL THEN FALSE ELSE TRUE END ORDER BY m.arrival LIMIT 1`, session, w.space, entity, after, w.end())
	if first == 0 {
		first = w.end() + 1
	}
	return first, err
}

// movePosition stores that everything up to an arrival is read, with the counts of what is
// read above it; w has the counts above the old position. Everything between the two is the
// member's own or was counted in w.acked.
func (t *Tx) movePosition(session shoal.SessionID, entity shoal.EntityID, w position, to int64, ranges bool) error {
	own, acked := w.own, w.acked
	switch {
	case to >= w.end():
		own, acked = 0, 0
	case to > w.upTo:
		between, err := t.ownMessages(session, entity, w.space, w.upTo, to)
		if err != nil {
			return err
		}
		acked -= to - w.upTo - between
		if counted := w.counted(); counted < to && counted > w.upTo {
			if between, err = t.ownMessages(session, entity, w.space, w.upTo, counted); err != nil {
				return err
			}
		}
		if w.counted() > w.upTo {
			own -= between
		}
	}
	return t.storePosition(session, entity, w, max(to, w.upTo), own, acked, ranges)
}

// storePosition stores a position with its counts, and removes the ranges up to there if
// there may be any.
func (t *Tx) storePosition(session shoal.SessionID, entity shoal.EntityID, w position, to, own, acked int64, ranges bool) error {
	_, err := t.c.ExecCached(`UPDATE members SET read_upto = $4, own_above = $5, acked_above = $6, paused_at = $7 WHERE session_id = $1 AND space_id = $2 AND entity_id = $3`,
		session, w.space, entity, to, own, acked, w.pausedOrNull())
	if err != nil || to == w.upTo || !ranges {
		return err
	}
	return readranges.Remove(t.c, session, entity, w.space, to)
}

// ownMessages returns how many of the messages of a space after one arrival and up to another
// are the member's own.
func (t *Tx) ownMessages(session shoal.SessionID, entity shoal.EntityID, space shoal.SpaceID, after, upTo int64) (int64, error) {
	return sqlconn.Number(t.c, `SELECT COUNT(*) FROM messages AS m WHERE m.session_id = $1 AND m.space_id = $2 AND m.arrival > $3 AND m.arrival <= $4 AND m.entity_id = $5`,
		session, space, after, upTo, entity)
}
