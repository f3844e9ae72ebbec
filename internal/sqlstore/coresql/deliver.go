package coresql

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/sqlstore/rowcache"
	"github.com/shoal-dev/shoal/internal/sqlstore/sqlconn"
)

// Deliver implements [hub.InboxTx]. Every post runs it. It stores an entry for each mention
// and for each receiver of a system message, and nothing for anybody else.
func (t *Tx) Deliver(m shoal.Message, watching storage.EntitySet) (d storage.Delivered, err error) {
	p, again, err := t.place(m)
	if err != nil {
		return d, err
	}
	d.Place = p.place
	tracked, err := t.trackedReceivers(m)
	if err != nil {
		return d, err
	}
	for some := range slices.Chunk(tracked, maxInsertedEntries) {
		if err := t.insertEntries(m, p, again, some); err != nil {
			return d, err
		}
	}
	for _, r := range tracked {
		d.Receivers = append(d.Receivers, storage.Receiver{ID: r.EntityID, Reason: deliveryReason(m, r.EntityID)})
	}
	if again || m.EntityID == shoal.System || watching == nil || watching.Len() == 0 {
		return d, nil
	}
	others, err := t.membersIn(m.SessionID, m.SpaceID, watching)
	for _, r := range others {
		if r.EntityID != m.EntityID && !r.Hosted && receives(m, r) && !slices.Contains(m.Mentions, r.EntityID) {
			d.Receivers = append(d.Receivers, storage.Receiver{ID: r.EntityID, Reason: shoal.ReasonMessage})
		}
	}
	return d, err
}

// place returns the place of a message. A message that was just inserted has it already, a
// composite message gets it now, and one that is delivered again gets a new one.
func (t *Tx) place(m shoal.Message) (p placed, again bool, err error) {
	if p = t.placed; p.id == m.ID {
		t.placed = placed{}
		return p, false, nil
	}
	stored, err := sqlconn.Number(t.c, `SELECT place FROM messages WHERE session_id = $1 AND space_id = $2 AND seq = $3`, m.SessionID, m.SpaceID, m.Seq)
	if err != nil {
		return p, false, err
	}
	if stored > 0 {
		last, err := t.InboxEnd(m.SessionID)
		if err != nil {
			return p, false, err
		}
		return placed{id: m.ID, place: last + 1}, true, t.StorePlace(m.SessionID, last+1)
	}
	if p, err = t.nextPlaced(m); err != nil {
		return p, false, err
	}
	if _, err := t.c.Exec(`UPDATE messages SET arrival = $4, place = $5 WHERE session_id = $1 AND space_id = $2 AND seq = $3`,
		m.SessionID, m.SpaceID, m.Seq, numberOrNull(p.arrival), p.place); err != nil {
		return p, false, err
	}
	return p, false, t.keepPlaced(m, p)
}

// numberOrNull returns n, or nil for 0.
func numberOrNull(n int64) any {
	if n == 0 {
		return nil
	}
	return n
}

// receives reports whether a message enters a member's inbox: a system message with mentions
// reaches only the mentioned members, and a member that has muted the space receives only
// messages that mention it.
func receives(m shoal.Message, to rowcache.Member) bool {
	if !to.Muted && takesArrival(m) {
		return true
	}
	return slices.Contains(m.Mentions, to.EntityID)
}

// trackedReceivers returns the members whose inboxes get an entry for a message.
func (t *Tx) trackedReceivers(m shoal.Message) (tracked []rowcache.Member, err error) {
	var members []rowcache.Member
	switch {
	case len(m.Mentions) > 0:
		members, err = t.membersIn(m.SessionID, m.SpaceID, idList(m.Mentions))
	case m.EntityID == shoal.System:
		members, err = t.readMembers(m.SessionID, m.SpaceID)
	}
	for _, r := range members {
		if r.EntityID != m.EntityID && !r.Hosted && receives(m, r) {
			tracked = append(tracked, r)
		}
	}
	return tracked, err
}

// idList is a short list as a set.
type idList []shoal.EntityID

// Len implements [storage.EntitySet].
func (l idList) Len() int { return len(l) }

// Has implements [storage.EntitySet].
func (l idList) Has(id shoal.EntityID) bool { return slices.Contains(l, id) }

// All implements [storage.EntitySet].
func (l idList) All() []shoal.EntityID { return l }

// deliveryReason returns why an entity receives a message.
func deliveryReason(m shoal.Message, id shoal.EntityID) shoal.Reason {
	switch {
	case m.EntityID == shoal.System:
		return shoal.ReasonSystem
	case slices.Contains(m.Mentions, id):
		return shoal.ReasonMention
	}
	return shoal.ReasonMessage
}

// maxInsertedEntries is the maximum number of inbox entries that one statement inserts.
const maxInsertedEntries = 64

// insertEntries inserts the entries of a message. The positions of a member that has muted
// the space do not count it, nor do those of anybody if it has no arrival.
func (t *Tx) insertEntries(m shoal.Message, p placed, again bool, receivers []rowcache.Member) error {
	args := append(make([]any, 0, 6+2*len(receivers)), m.SessionID, p.place, m.SpaceID, m.Seq, deliveryReason(m, receivers[0].EntityID), p.arrival)
	for _, r := range receivers {
		args = append(args, r.EntityID, r.Muted || p.arrival == 0)
	}
	text := insertEntriesTexts()[len(receivers)]
	if again {
		text += reopenEntry
	}
	_, err := t.c.Exec(text, args...)
	return err
}

// reopenEntry makes the insert of an entry replace an earlier one of the same message.
const reopenEntry = ` ON CONFLICT (session_id, space_id, entity_id, seq) DO UPDATE SET acked_at = 0, place = excluded.place, reason = excluded.reason, delivery = 0, outside = TRUE`

// insertEntriesTexts returns the statements by the number of receivers.
var insertEntriesTexts = sync.OnceValue(func() (texts *[maxInsertedEntries + 1]string) {
	texts = new([maxInsertedEntries + 1]string)
	for n := 1; n <= maxInsertedEntries; n++ {
		var b strings.Builder
		b.WriteString(`INSERT INTO inbox_entries (session_id, entity_id, acked_at, place, space_id, seq, reason, arrival, delivery, outside) VALUES `)
		for i := range n {
			if i > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, `($1, $%d, 0, $2, $3, $4, $5, $6, 0, $%d)`, 7+2*i, 8+2*i)
		}
		texts[n] = b.String()
	}
	return texts
})
