package hub

import (
	"github.com/shoal-dev/shoal"
)

// Direct delivery: a blocked wait knows up to which position of its inbox no entry matches
// it, from its last read or because its caller acknowledged everything in the inbox.
// Usually the next entry has the position after that one. The entry is then the answer of
// the wait, and the transaction that posts the message delivers it directly, without
// another read: after the commit and before the notification. The notification wakes all
// other waits: those that know less, those that have not seen an earlier entry, and those
// on other nodes.
//
// A change between the commit and the direct delivery has the same effect as one that
// overtakes a response on its way to the client: another call may acknowledge the entry,
// or its message may be withdrawn. A caller whose right has ended gets nothing.

// arrival is a message that enters inboxes.
type arrival struct {
	message   shoal.Message
	space     shoal.SpaceRef
	receivers []Receiver
	place     int64 // the last position of the session's events, including this message's
}

// deliver puts a message into the inboxes of the members of its space and wakes their
// waits once the transaction is durable.
func (ch *change) deliver(m shoal.Message) error { return ch.deliverTo(m, m.Mentions) }

// deliverTo is deliver with other mentions than those of the message.
func (ch *change) deliverTo(m shoal.Message, mentions []shoal.EntityID) error {
	as := m
	as.Mentions = mentions
	receivers, err := ch.Deliver(as)
	if err != nil || len(receivers) == 0 {
		return err
	}
	ch.arrivals = append(ch.arrivals, arrival{message: m, receivers: receivers})
	for _, r := range receivers {
		ch.hints = append(ch.hints, Note{Topic: inboxTopic(m.SessionID, r.ID), Place: r.Place})
	}
	return nil
}

// nameSpaces sets the space of each arrival to its state at the end of the transaction.
func (ch *change) nameSpaces() error {
	for i := range ch.arrivals {
		a := &ch.arrivals[i]
		s, err := ch.Space(a.message.SessionID, a.message.SpaceID)
		if err != nil {
			return err
		}
		if a.place, err = ch.EventEnd(a.message.SessionID); err != nil {
			return err
		}
		a.space = shoal.SpaceRef{ID: s.ID, Name: s.Name, Status: s.Status}
	}
	return nil
}

// arrived delivers a message directly to those of its receivers that wait for it.
func (b *Inbox) arrived(a arrival) {
	m := a.message
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range a.receivers {
		if box := b.mailboxes[EntityRef{m.SessionID, r.ID}]; box != nil {
			box.arrived(InboxEntry{Place: r.Place, Reason: r.Reason, Delivery: 1, Space: a.space, Message: m.For(r.ID), EventPlace: a.place})
		}
	}
}

// unknown is the value of HeldWait.clear before the wait has read its inbox.
const unknown = -1

// arrived answers either all waits that a new entry matches or none of them, so that they
// wake with the same messages. It answers none if one of the waits does not know that
// there is no other entry for it before this one.
func (m *mailbox) arrived(e InboxEntry) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, w := range m.waits {
		if w.clear != e.Place-1 {
			return
		}
	}
	entries, d, handed := []InboxEntry{e}, deliveredOf(e), false
	for i := len(m.waits) - 1; i >= 0; i-- { // answer removes it from the list
		w := m.waits[i]
		switch {
		case !d.matches(w.filter):
			w.clear = e.Place
		case w.call.ended() == nil:
			m.answer(w, answer{entries: entries})
			handed = true
		}
	}
	if handed {
		m.deliveredNow(entries)
	}
}

// clearUpTo returns the position up to which no entry matches f after the acknowledgment:
// the end of the inbox if everything that matches was acknowledged, otherwise unknown.
func (a acknowledged) clearUpTo(f InboxFilter) int64 {
	if a.end > 0 && a.upTo == a.end && sameFilter(a.filter, f) {
		return a.end
	}
	return unknown
}
