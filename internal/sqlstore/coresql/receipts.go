package coresql

import (
	"slices"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/sqlstore/sqlconn"
)

// MarkDelivered implements [hub.InboxTx]. A message that is unread by position gets an entry
// for its count.
func (t *Tx) MarkDelivered(session shoal.SessionID, entity shoal.EntityID, delivered []storage.DeliveredEntry) error {
	for len(delivered) > 0 { // one batch after the other
		first, places := delivered[0], []int64{}
		delivered = slices.DeleteFunc(slices.Clone(delivered), func(d storage.DeliveredEntry) bool {
			same := d.At.Equal(first.At.Time) && d.Via == first.Via
			if same {
				places = append(places, d.Place)
			}
			return same
		})
		for some := range slices.Chunk(places, sqlconn.MaxList) {
			if err := t.markDelivered(session, entity, some, first); err != nil {
				return err
			}
		}
	}
	return nil
}

// markDelivered is MarkDelivered for entries that were delivered at the same time.
func (t *Tx) markDelivered(session shoal.SessionID, entity shoal.EntityID, places []int64, as storage.DeliveredEntry) error {
	var b sqlconn.Builder
	b.Add(`UPDATE inbox_entries SET delivery = delivery + 1, delivered_at = CASE WHEN delivered_at = 0 THEN ? ELSE delivered_at END, via = CASE WHEN delivered_at = 0 THEN ? ELSE via END
		WHERE session_id = ? AND entity_id = ? AND acked_at = 0`, as.At, storedVia(as.Via), session, entity)
	sqlconn.AddIn(&b, ` AND place IN (?)`, places)
	n, err := t.c.Exec(b.Text(), b.Args...)
	if err != nil {
		return err
	}
	if n < int64(len(places)) {
		b = sqlconn.Builder{}
		b.Add(`INSERT INTO inbox_entries (session_id, entity_id, acked_at, place, space_id, seq, arrival, reason, delivery, outside, delivered_at, via)
			SELECT who.session_id, who.entity_id, 0, m.place, m.space_id, m.seq, m.arrival, 'message', 1, FALSE, CAST(? AS BIGINT), CAST(? AS TEXT)
			FROM messages AS m CROSS JOIN members AS who
			WHERE m.session_id = ? AND who.session_id = m.session_id AND who.space_id = m.space_id AND who.entity_id = ?`, as.At, storedVia(as.Via), session, entity)
		sqlconn.AddIn(&b, ` AND m.place IN (?) AND CASE WHEN m.arrival IS NULL THEN FALSE`+isPlainUnread, places)
		if _, err := t.c.Exec(b.Text(), b.Args...); err != nil {
			return err
		}
	}
	b = sqlconn.Builder{}
	b.Add(`SELECT `+openEntryColumns+` WHERE i.session_id = ? AND i.entity_id = ? AND i.acked_at = 0 AND i.reason = 'mention' AND i.answered_by = ''`, session, entity)
	sqlconn.AddIn(&b, ` AND i.place IN (?)`, places)
	mentions, err := sqlconn.List(t.c, openEntryOf, b.Text(), b.Args...)
	if err != nil {
		return err
	}
	for _, e := range mentions { // the answer may have been posted on another server
		if err := t.findAnswer(session, entity, e, as.At); err != nil {
			return err
		}
	}
	return nil
}

// An answer is posted on another server than the one that has delivered the mention only if
// this happens within the second after which the delivery is stored, so that findAnswer
// searches the newest messages of the space only, and takes the agent's first.
const answerSpan, answerLimit = 1024, 32

// findAnswer records the message that answers a mention if it was posted before the delivery
// of the mention was stored: the first one of the agent after the mention, and since then,
// that mentions the sender.
func (t *Tx) findAnswer(session shoal.SessionID, entity shoal.EntityID, e openEntry, since shoal.Time) error {
	last, err := t.lastArrival(session, e.space)
	if err != nil {
		return err
	}
	sender, known, err := sqlconn.One(t.c, entityID, `SELECT m.entity_id FROM messages AS m WHERE m.session_id = $1 AND m.space_id = $2 AND m.seq = $3`, session, e.space, e.seq)
	if err != nil || !known {
		return err
	}
	type answer struct {
		id       shoal.MessageID
		mentions []shoal.EntityID
		at       shoal.Time
	}
	found, err := sqlconn.List(t.c, func(r *sqlconn.Rows) answer {
		return answer{shoal.MessageID(r.Text(0)), sqlconn.SplitIDs(r.Text(1)), r.Time(2)}
	}, `SELECT m.id, m.mentions, m.created_at FROM messages AS m
		WHERE m.session_id = $1 AND m.space_id = $2 AND m.arrival > $3 AND m.entity_id = $4 ORDER BY m.arrival`+sqlconn.Limit(answerLimit),
		session, e.space, max(e.arrival, last-answerSpan), entity)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(found, func(a answer) bool {
		return slices.Contains(a.mentions, sender) && !a.at.Before(since.Time)
	})
	if i < 0 {
		return nil
	}
	return t.setAnswer(session, e.space, entity, e.seq, found[i].id)
}

func (t *Tx) setAnswer(session shoal.SessionID, space shoal.SpaceID, entity shoal.EntityID, seq int64, by shoal.MessageID) error {
	_, err := t.c.ExecCached(`UPDATE inbox_entries SET answered_by = $5 WHERE session_id = $1 AND space_id = $2 AND entity_id = $3 AND seq = $4`,
		session, space, entity, seq, by)
	return err
}

// AnswerMentions implements [hub.InboxTx]. Every post that mentions somebody runs it. It reads
// the newest entries of the sender in the space: an index of the mentions without an answer
// would make every mention slower.
func (t *Tx) AnswerMentions(m shoal.Message, delivered []int64) ([]int64, error) {
	type asked struct {
		seq    int64
		sender shoal.EntityID
		has    bool // the sender of m has received it
	}
	open, err := sqlconn.List(t.c, func(r *sqlconn.Rows) asked {
		return asked{r.Int(0), shoal.EntityID(r.Text(1)), r.Int(2) != 0 || r.Int(3) != 0}
	}, `SELECT newest.seq, m.entity_id, newest.acked_at, newest.delivered_at FROM (
		  SELECT e.seq, e.reason, e.acked_at, e.delivered_at, e.answered_by FROM inbox_entries AS e
		  WHERE e.session_id = $1 AND e.space_id = $2 AND e.entity_id = $3 ORDER BY e.seq DESC`+sqlconn.Limit(storage.MaxAnswered)+`) AS newest
		CROSS JOIN messages AS m WHERE m.session_id = $1 AND m.space_id = $2 AND m.seq = newest.seq AND newest.reason = 'mention' AND newest.answered_by = '' ORDER BY newest.seq DESC`,
		m.SessionID, m.SpaceID, m.EntityID)
	if err != nil {
		return nil, err
	}
	var answered []int64
	for _, a := range open {
		if slices.Contains(m.Mentions, a.sender) && (a.has || slices.Contains(delivered, a.seq)) {
			answered = append(answered, a.seq)
		}
	}
	if m.ReplyTo != nil {
		replied, err := sqlconn.List(t.c, seqOf, `SELECT i.seq FROM messages AS m JOIN inbox_entries AS i ON i.session_id = m.session_id AND i.space_id = m.space_id AND i.seq = m.seq
			WHERE m.session_id = $1 AND m.id = $2 AND m.space_id = $3 AND i.entity_id = $4 AND i.reason = 'mention' AND i.answered_by = ''`,
			m.SessionID, *m.ReplyTo, m.SpaceID, m.EntityID)
		if err != nil {
			return nil, err
		}
		answered = append(answered, slices.DeleteFunc(replied, func(seq int64) bool { return slices.Contains(answered, seq) })...)
	}
	for _, seq := range answered {
		if err := t.setAnswer(m.SessionID, m.SpaceID, m.EntityID, seq, m.ID); err != nil {
			return nil, err
		}
	}
	return answered, nil
}

// storedVia returns how an entry was delivered as it is stored: nothing for the usual way, so
// that entries stay small.
func storedVia(via string) string {
	if via == shoal.ViaWait {
		return ""
	}
	return via
}

func seqOf(r *sqlconn.Rows) int64 { return r.Int(0) }

// Mentions implements [hub.InboxTx].
func (t *Tx) Mentions(session shoal.SessionID, space shoal.SpaceID, seq int64, entities []shoal.EntityID) (all []storage.Mention, err error) {
	for some := range slices.Chunk(entities, sqlconn.MaxList) {
		var b sqlconn.Builder
		b.Add(`SELECT i.entity_id, NULLIF(i.delivered_at, 0), i.via, NULLIF(i.acked_at, 0), i.answered_by,
			CASE WHEN i.answered_by = '' THEN NULL ELSE (SELECT m.created_at FROM messages AS m WHERE m.session_id = i.session_id AND m.id = i.answered_by) END
			FROM inbox_entries AS i WHERE i.session_id = ? AND i.space_id = ? AND i.seq = ? AND i.reason = 'mention'`, session, space, seq)
		sqlconn.AddIn(&b, ` AND i.entity_id IN (?)`, some)
		found, err := sqlconn.List(t.c, func(r *sqlconn.Rows) storage.Mention {
			at := storage.Mention{
				EntityID: shoal.EntityID(r.Text(0)), DeliveredAt: r.TimeOrNil(1), Via: r.Text(2), ResumedAt: r.TimeOrNil(3),
				AnsweredBy: shoal.MessageID(r.Text(4)), AnsweredAt: r.TimeOrNil(5),
			}
			if at.Via == "" && at.DeliveredAt != nil {
				at.Via = shoal.ViaWait
			}
			return at
		}, b.Text(), b.Args...)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}
