package hub

import (
	"github.com/shoal-dev/shoal"
)

// A wait that blocks knows up to which place of its inbox nothing is for it: nothing
// was when it looked, or when its caller acknowledged all that there was. Mostly the
// next entry stands right behind that place, and then it is the answer, as whoever
// posts it has it: nobody needs to read it again. It is handed over after the commit
// and before the hint, which wakes all others: waits that know less, an entry behind
// one that they have not seen, and those on other nodes.
//
// What happens between the commit and the moment at which the entry is handed over
// finds the wait as it would find an answer that is on its way: the entry may be
// acknowledged by another call, or its message withdrawn. A caller whose right has
// ended gets nothing.

// arrival is a message that comes to stand in inboxes.
type arrival struct {
	message   shoal.Message
	space     shoal.SpaceRef
	receivers []Receiver
	place     int64 // where the events of the session end, this one's included
}

// deliver puts a message into the inboxes of the members of its space and, once that is
// durable, wakes them.
func (ch *change) deliver(m shoal.Message) error { return ch.deliverTo(m, m.Mentions) }

// deliverTo is deliver for a message that has these mentions for its readers' inboxes.
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

// nameSpaces gives what arrives its space as the transaction leaves it.
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

// arrived hands a message to those of its receivers who wait for it.
func (b *Inbox) arrived(a arrival) {
	m := a.message
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range a.receivers {
		if box := b.mailboxes[mailboxKey{m.SessionID, r.ID}]; box != nil {
			box.arrived(InboxEntry{Place: r.Place, Reason: r.Reason, Delivery: 1, Space: a.space, Message: m.For(r.ID), EventPlace: a.place})
		}
	}
}

// unknown is what a wait knows before it has looked.
const unknown = -1

// arrived answers the waits that a new entry matches, all or none: they wake with the
// same messages. None is answered while one of them does not know that nothing else
// comes before it.
func (m *mailbox) arrived(e InboxEntry) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, w := range m.waits {
		if w.clear != e.Place-1 {
			return
		}
	}
	entries, d, handed := []InboxEntry{e}, deliveredOf(e), false
	for i := len(m.waits) - 1; i >= 0; i-- { // answer takes it off the list
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

// clearUpTo is up to where nothing is for a filter behind an acknowledgment: its whole
// inbox, if that was all there was.
func (a acknowledged) clearUpTo(f InboxFilter) int64 {
	if a.end > 0 && a.upTo == a.end && sameFilter(a.filter, f) {
		return a.end
	}
	return unknown
}
