package inbox

import (
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// DeliverArrival delivers a message directly to the open waits of its receivers, without a
// read of their inboxes. It must be called after the commit.
func (b *Inbox) DeliverArrival(a core.Arrival) {
	m := a.Message
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range a.Receivers {
		if box := b.mailboxes[storage.EntityRef{Session: m.SessionID, ID: r.ID}]; box != nil {
			box.deliverDirectly(storage.InboxEntry{Place: r.Place, Reason: r.Reason, Delivery: 1, Space: a.Space, Message: m.For(r.ID), EventPlace: a.Place})
		}
	}
}

// unknownPosition is the value of HeldWait.clear before the wait has read its inbox.
const unknownPosition = -1

// deliverDirectly answers either all waits that a new entry matches or none of them, so
// that they wake with the same messages. It answers none if one of the waits does not know
// whether an earlier entry matches it.
func (m *mailbox) deliverDirectly(e storage.InboxEntry) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, w := range m.waits {
		if w.clear != e.Place-1 {
			return
		}
	}
	entries, d, delivered := []storage.InboxEntry{e}, newDelivery(e), false
	for i := len(m.waits) - 1; i >= 0; i-- { // answer removes it from the list
		w := m.waits[i]
		switch {
		case !d.matches(w.filter):
			w.clear = e.Place
		case w.call.Err() == nil:
			m.sendAnswer(w, answer{entries: entries})
			delivered = true
		}
	}
	if delivered {
		m.recordDelivered(entries)
	}
}

// clearUpTo returns the position up to which no entry matches f after the acknowledgment:
// the end of the inbox if everything that matches was acknowledged, otherwise unknown.
func (a ackResult) clearUpTo(f storage.InboxFilter) int64 {
	if a.end > 0 && a.upTo == a.end && sameFilter(a.filter, f) {
		return a.end
	}
	return unknownPosition
}
