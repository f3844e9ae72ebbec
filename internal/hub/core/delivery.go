package core

import (
	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// Direct delivery: a blocked wait knows the place up to which no message matches it, from
// its last read or because its caller acknowledged everything that does. If this server has
// assigned all later places up to that of a new message, and has delivered what reached the
// inbox before, then the new message is the result of the wait, and the transaction that
// posts the message delivers it directly, without another read: after the commit and before
// the notification. The notification wakes all other waits: those that know less, those that
// have not seen an earlier message, and those on other servers.
//
// A change between the commit and the direct delivery has the same effect as one that
// happens while a response is on its way to the client: another call may acknowledge the
// message, or it may be deleted. A caller whose right has ended gets nothing.

// Arrival is a message that enters inboxes.
type Arrival struct {
	Message shoal.Message
	Space   shoal.SpaceRef
	// Listed is the space with its members, if a receiver waits on this server and the space lists
	// all of them for every reader.
	Listed *shoal.Space
	// Place is the place of the message in its session, 0 until it has one. Receivers are
	// the entities whose inboxes track the message, and those that wait on this server.
	Place     int64
	Receivers []storage.Receiver
	// Base is the place after which this server had assigned all places when it assigned
	// this one.
	Base int64
	// EventPosition is the last position of the session's events, including this message's.
	EventPosition int64
	// Waited says that a receiver waits on this server.
	Waited bool
	// Late are entities that began to wait after Receivers was determined. They may be
	// receivers, so they have to read their inboxes.
	Late []shoal.EntityID
}

// Arrivals is what a hub does with the messages that enter inboxes. In each session it gets
// the calls of Begin and Place in the order of the places, from inside of the transactions.
type Arrivals interface {
	// Begin announces a message before its place is assigned, and returns the entities that
	// wait for messages that do not mention them, or nil.
	Begin(a *Arrival) storage.EntitySet
	// Place sets the place, its base, the receivers of the message and whether one of them waits
	// here. The transactions that deliver other messages may read them from then on.
	Place(a *Arrival, d storage.Delivered)
	// Drop ends an arrival whose transaction was not committed, or perhaps not.
	Drop(a *Arrival)
	// Deliver delivers the message after the commit.
	Deliver(a *Arrival)
}

// noArrivals is the Arrivals of a core without inboxes.
type noArrivals struct{}

func (noArrivals) Begin(*Arrival) storage.EntitySet  { return nil }
func (noArrivals) Place(*Arrival, storage.Delivered) {}
func (noArrivals) Drop(*Arrival)                     {}
func (noArrivals) Deliver(*Arrival)                  {}

// DeliverMessage puts a message into the inboxes of the members of its space and wakes
// their waits once the transaction is durable.
func (ch *Change) DeliverMessage(m shoal.Message) error { return ch.DeliverMessageTo(m, m.Mentions) }

// DeliverMessageTo is DeliverMessage with other mentions than those of the message.
func (ch *Change) DeliverMessageTo(m shoal.Message, mentions []shoal.EntityID) error {
	a := &Arrival{Message: m}
	watching := ch.Core.Arrivals.Begin(a)
	ch.OnEnd(func(committed bool) {
		if !committed {
			ch.Core.Arrivals.Drop(a)
		}
	})
	as := m
	as.Mentions = mentions
	d, err := ch.Deliver(as, watching)
	if err != nil {
		return err
	}
	ch.Core.Arrivals.Place(a, d)
	ch.arrivals = append(ch.arrivals, a)
	ch.notifications = append(ch.notifications, Notification{Topic: ArrivalTopic(m.SessionID), Place: d.Place})
	for _, r := range d.Receivers {
		ch.notifications = append(ch.notifications, Notification{Topic: InboxTopic(m.SessionID, r.ID), Place: d.Place})
	}
	return nil
}

// fillArrivals sets the space of each arrival to its state at the end of the transaction, with its
// members for those that wait for it, and its event position.
func (ch *Change) fillArrivals() error {
	for _, a := range ch.arrivals {
		s, err := ch.Space(a.Message.SessionID, a.Message.SpaceID)
		if err != nil {
			return err
		}
		if a.EventPosition, err = ch.EventEnd(a.Message.SessionID); err != nil {
			return err
		}
		a.Space = shoal.SpaceRef{ID: s.ID, Name: s.Name, Status: s.Status}
		if !a.Waited || s.MemberCount > shoal.MaxListedMembers {
			continue
		}
		one := []shoal.Space{s}
		if err := ListMembers(ch, "", s.SessionID, one); err != nil {
			return err
		}
		a.Listed = &one[0]
	}
	return nil
}
