package core

import (
	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// Direct delivery: a blocked wait knows the position up to which no entry of its inbox
// matches it, from its last read or because its caller acknowledged everything in the
// inbox. Usually the next entry has the position after that one. That entry is then the
// result of the wait, and the transaction that posts the message delivers it directly,
// without another read: after the commit and before the notification. The notification
// wakes all other waits: those that know less, those that have not seen an earlier entry,
// and those on other servers.
//
// A change between the commit and the direct delivery has the same effect as one that
// happens while a response is on its way to the client: another call may acknowledge the
// entry, or its message may be deleted. A caller whose right has ended gets nothing.

// Arrival is a message that enters inboxes.
type Arrival struct {
	Message   shoal.Message
	Space     shoal.SpaceRef
	Receivers []storage.Receiver
	Place     int64 // the last position of the session's events, including this message's
}

// DeliverMessage puts a message into the inboxes of the members of its space and wakes
// their waits once the transaction is durable.
func (ch *Change) DeliverMessage(m shoal.Message) error { return ch.DeliverMessageTo(m, m.Mentions) }

// DeliverMessageTo is DeliverMessage with other mentions than those of the message.
func (ch *Change) DeliverMessageTo(m shoal.Message, mentions []shoal.EntityID) error {
	as := m
	as.Mentions = mentions
	receivers, err := ch.Deliver(as)
	if err != nil || len(receivers) == 0 {
		return err
	}
	ch.arrivals = append(ch.arrivals, Arrival{Message: m, Receivers: receivers})
	for _, r := range receivers {
		ch.notes = append(ch.notes, Note{Topic: InboxTopic(m.SessionID, r.ID), Place: r.Place})
	}
	return nil
}

// fillArrivals sets the space of each arrival to its state at the end of the transaction,
// and its event position.
func (ch *Change) fillArrivals() error {
	for i := range ch.arrivals {
		a := &ch.arrivals[i]
		s, err := ch.Space(a.Message.SessionID, a.Message.SpaceID)
		if err != nil {
			return err
		}
		if a.Place, err = ch.EventEnd(a.Message.SessionID); err != nil {
			return err
		}
		a.Space = shoal.SpaceRef{ID: s.ID, Name: s.Name, Status: s.Status}
	}
	return nil
}
