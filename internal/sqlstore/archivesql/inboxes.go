package archivesql

import (
	"fmt"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/sqlstore/schema"
	"github.com/shoal-dev/shoal/internal/sqlstore/sqlconn"
)

// Exports of the first edition list every unread message of every inbox, and have no places.
// They are converted as the migration 0033 converts a database. Exports since then contain
// positions. The counts of a position are not exported but counted again.

// placeInboxes gives the messages and members of a session that is being imported their
// places and positions, if its export has none.
func (t *Tx) placeInboxes(session shoal.SessionID) error {
	placed, err := sqlconn.Exists(t.c, `SELECT 1 FROM messages WHERE session_id = $1 AND place IS NOT NULL LIMIT 1`, session)
	if err == nil && !placed {
		err = t.c.ExecAll(placeMessages, session)
	}
	if err != nil {
		return err
	}
	return t.c.ExecAll(placeMembers, session)
}

// placeMessages are the statements that give all final messages of session $1 their arrival
// and their place. The entries of the export have places of another order.
var placeMessages = []string{
	`UPDATE messages SET arrival = final.arrival, place = final.place FROM (
	   SELECT doc, ROW_NUMBER() OVER (PARTITION BY space_id ORDER BY seq) AS arrival, ROW_NUMBER() OVER (ORDER BY doc) AS place
	   FROM messages WHERE session_id = $1 AND status <> 'streaming') AS final
	 WHERE messages.doc = final.doc`,
	`DELETE FROM inbox_entries WHERE session_id = $1 AND NOT EXISTS (SELECT 1 FROM messages AS m
	   WHERE m.session_id = inbox_entries.session_id AND m.space_id = inbox_entries.space_id AND m.seq = inbox_entries.seq AND m.place IS NOT NULL)`,
	// The places are negative in between, so that no two entries ever have the same.
	`UPDATE inbox_entries SET place = (SELECT 0 - m.place FROM messages AS m
	   WHERE m.session_id = inbox_entries.session_id AND m.space_id = inbox_entries.space_id AND m.seq = inbox_entries.seq) WHERE session_id = $1`,
	`UPDATE inbox_entries SET place = 0 - place WHERE session_id = $1`,
}

// lastArrival is the arrival of the newest final message in the space of a member.
const lastArrival = `COALESCE((SELECT MAX(m.arrival) FROM messages AS m WHERE m.session_id = members.session_id AND m.space_id = members.space_id AND m.arrival IS NOT NULL), 0)`

// placeMembers are the statements that give the members of session $1 without a position
// one: everything before the first entry is read, and what is in the gaps between entries.
var placeMembers = []string{
	`INSERT INTO read_ranges (session_id, space_id, entity_id, first, last)
	   SELECT session_id, space_id, entity_id, arrival + 1, next - 1 FROM (
	     SELECT i.session_id, i.space_id, i.entity_id, m.arrival, COALESCE(
	       LEAD(m.arrival) OVER (PARTITION BY i.space_id, i.entity_id ORDER BY m.arrival),
	       (SELECT MAX(o.arrival) + 1 FROM messages AS o WHERE o.session_id = i.session_id AND o.space_id = i.space_id AND o.arrival IS NOT NULL)) AS next
	     FROM inbox_entries AS i JOIN members AS who ON who.session_id = i.session_id AND who.space_id = i.space_id AND who.entity_id = i.entity_id AND who.read_upto = -1
	     JOIN messages AS m ON m.session_id = i.session_id AND m.space_id = i.space_id AND m.seq = i.seq AND m.arrival IS NOT NULL
	     WHERE i.session_id = $1) AS unread
	   WHERE next > arrival + 1`,
	`UPDATE members SET
	   read_upto = COALESCE((SELECT MIN(m.arrival) - 1 FROM inbox_entries AS i JOIN messages AS m ON m.session_id = i.session_id AND m.space_id = i.space_id AND m.seq = i.seq
	     WHERE i.session_id = members.session_id AND i.entity_id = members.entity_id AND i.space_id = members.space_id), ` + lastArrival + `),
	   paused_at = CASE WHEN hosted OR muted THEN ` + lastArrival + ` END
	 WHERE session_id = $1 AND read_upto = -1`,
	`UPDATE inbox_entries SET arrival = COALESCE((SELECT m.arrival FROM messages AS m
	   WHERE m.session_id = inbox_entries.session_id AND m.space_id = inbox_entries.space_id AND m.seq = inbox_entries.seq), 0) WHERE session_id = $1`,
	// These are unread by position.
	`DELETE FROM inbox_entries WHERE session_id = $1 AND reason = 'message' AND delivery = 0 AND NOT outside`,
	`DELETE FROM inbox_entries WHERE session_id = $1 AND NOT EXISTS (SELECT 1 FROM members AS who
	   WHERE who.session_id = inbox_entries.session_id AND who.space_id = inbox_entries.space_id AND who.entity_id = inbox_entries.entity_id)`,
}

// countPositions are the statements that count, for the members of session $1, what is their
// own and what is read above their positions.
var countPositions = []string{
	`UPDATE members SET own_above = counted.own, acked_above = 0 - counted.inside FROM (
	   SELECT m.space_id, m.entity_id,
	     COUNT(*) FILTER (WHERE m.arrival <= CASE WHEN who.paused_at IS NULL THEN ends.last - ends.last % ` + fmt.Sprint(schema.OwnStride) + ` ELSE who.paused_at END) AS own,
	     COUNT(*) FILTER (WHERE m.arrival <= (SELECT r.last FROM read_ranges AS r WHERE r.session_id = m.session_id AND r.space_id = m.space_id
	       AND r.entity_id = m.entity_id AND r.first <= m.arrival ORDER BY r.first DESC LIMIT 1)) AS inside
	   FROM messages AS m
	   JOIN members AS who ON who.session_id = m.session_id AND who.space_id = m.space_id AND who.entity_id = m.entity_id AND m.arrival > who.read_upto
	   JOIN (SELECT space_id, MAX(arrival) AS last FROM messages WHERE session_id = $1 AND arrival IS NOT NULL GROUP BY space_id) AS ends ON ends.space_id = m.space_id
	   WHERE m.session_id = $1 AND m.arrival IS NOT NULL
	   GROUP BY m.space_id, m.entity_id) AS counted
	 WHERE members.session_id = $1 AND members.space_id = counted.space_id AND members.entity_id = counted.entity_id`,
	`UPDATE members SET acked_above = acked_above + sums.total FROM (
	   SELECT space_id, entity_id, SUM(last - first + 1) AS total FROM read_ranges WHERE session_id = $1 GROUP BY space_id, entity_id) AS sums
	 WHERE members.session_id = $1 AND members.space_id = sums.space_id AND members.entity_id = sums.entity_id`,
	`UPDATE members SET acked_above = acked_above + tracked.total FROM (
	   SELECT i.space_id, i.entity_id, COUNT(*) AS total FROM inbox_entries AS i
	   JOIN members AS who ON who.session_id = i.session_id AND who.space_id = i.space_id AND who.entity_id = i.entity_id
	   JOIN messages AS m ON m.session_id = i.session_id AND m.space_id = i.space_id AND m.seq = i.seq
	     AND m.arrival > who.read_upto AND (who.paused_at IS NULL OR m.arrival <= who.paused_at) AND m.entity_id <> who.entity_id
	   WHERE i.session_id = $1 AND (i.acked_at <> 0 OR i.outside)
	     AND m.arrival > COALESCE((SELECT r.last FROM read_ranges AS r WHERE r.session_id = i.session_id AND r.space_id = i.space_id
	       AND r.entity_id = i.entity_id AND r.first <= m.arrival ORDER BY r.first DESC LIMIT 1), 0)
	   GROUP BY i.space_id, i.entity_id) AS tracked
	 WHERE members.session_id = $1 AND members.space_id = tracked.space_id AND members.entity_id = tracked.entity_id`,
}

// importChecks are queries that find something wrong in session $1, with what they have found.
var importChecks = map[string]string{
	`SELECT s.id FROM spaces AS s WHERE s.session_id = $1 AND (
	   s.last_seq <> (SELECT COUNT(*) FROM messages AS m WHERE m.session_id = s.session_id AND m.space_id = s.id)
	   OR s.last_seq <> (SELECT COALESCE(MAX(m.seq), 0) FROM messages AS m WHERE m.session_id = s.session_id AND m.space_id = s.id)
	   OR EXISTS (SELECT 1 FROM messages AS m WHERE m.session_id = s.session_id AND m.space_id = s.id AND m.seq < 1))`: "The timeline of the space %q has gaps or another end than its lastSeq.",
	`SELECT space_id FROM (SELECT space_id, arrival, place, ROW_NUMBER() OVER (PARTITION BY space_id ORDER BY arrival, seq) AS nth,
	     LAG(place) OVER (PARTITION BY space_id ORDER BY arrival, seq) AS before
	   FROM messages WHERE session_id = $1 AND arrival IS NOT NULL) AS arrivals
	 WHERE arrival <> nth OR place IS NULL OR place < 1 OR place <= before`: "The arrivals of the messages of the space %q have gaps or another order than their places.",
	`SELECT MIN(id) FROM messages WHERE session_id = $1 AND place IS NOT NULL GROUP BY place HAVING COUNT(*) > 1 OR place < 1`: "The place of the message %q is that of another one.",
	`SELECT entity_id FROM members WHERE session_id = $1 AND (read_upto < 0 OR read_upto > ` + lastArrival + ` OR paused_at < read_upto OR paused_at > ` + lastArrival + `
	   OR (paused_at IS NULL) = (hosted OR muted))`: "The position of %q in a space is not in its timeline.",
	`SELECT spans.entity_id FROM (SELECT space_id, entity_id, first, last, LAG(last) OVER (PARTITION BY space_id, entity_id ORDER BY first) AS before
	     FROM read_ranges WHERE session_id = $1) AS spans
	   JOIN members ON members.session_id = $1 AND members.space_id = spans.space_id AND members.entity_id = spans.entity_id
	   WHERE spans.first > spans.last OR spans.first <= members.read_upto OR spans.first <= spans.before OR spans.last > COALESCE(members.paused_at, ` + lastArrival + `)`: "The ranges that %q has read in a space are not in its timeline.",
	`SELECT i.entity_id FROM inbox_entries AS i JOIN messages AS m ON m.session_id = i.session_id AND m.space_id = i.space_id AND m.seq = i.seq
	   WHERE i.session_id = $1 AND (i.place < 1 OR m.place IS NULL OR i.place < m.place)`: "The inbox of %q has entries at places that they cannot have.",
}

// movePlaces moves the places of a session that is being imported after those of the session
// that it replaces. Cursors of the old messages then acknowledge none of the new ones.
func (t *Tx) movePlaces(stage shoal.SessionID, after int64) error {
	for _, query := range []string{
		`UPDATE messages SET place = place + $2 WHERE session_id = $1 AND place IS NOT NULL`,
		`UPDATE inbox_entries SET place = 0 - place - $2 WHERE session_id = $1`, // see placeMessages
	} {
		if _, err := t.c.Exec(query, stage, after); err != nil {
			return err
		}
	}
	_, err := t.c.Exec(`UPDATE inbox_entries SET place = 0 - place WHERE session_id = $1`, stage)
	return err
}
