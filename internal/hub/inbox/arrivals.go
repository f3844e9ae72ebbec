package inbox

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// sessionWaits is what this server knows of the order of the messages of a session, and the
// entities that wait for messages there that do not mention them, which is a set of entities.
type sessionWaits struct {
	mu *sync.Mutex // Inbox.mu, which guards everything
	// readers counts the open waits for messages of each entity.
	readers map[shoal.EntityID]int
	// pending are the messages whose transactions are in progress, in their order.
	pending []*core.Arrival
	// last is the last place that this server has assigned. It has assigned all places from
	// base+1 to last, and has given each of their messages to Deliver, unless it is pending.
	last, base int64
	// read is a place: messages of other servers up to there have been read.
	read int64
	// sub receives the notifications about the messages of other servers while there are
	// readers; closing done ends the goroutine that takes them.
	sub  core.Subscription
	done chan struct{}
}

// concerns reports whether a message reaches an entity, or may do so.
func concerns(a *core.Arrival, id shoal.EntityID) bool {
	return slices.Contains(a.Late, id) || slices.ContainsFunc(a.Receivers, func(r storage.Receiver) bool { return r.ID == id })
}

// session returns the waits of a session. b.mu must be held.
func (b *Inbox) session(id shoal.SessionID) *sessionWaits {
	s := b.sessions[id]
	if s == nil {
		s = &sessionWaits{mu: &b.mu, readers: map[shoal.EntityID]int{}}
		b.sessions[id] = s
	}
	return s
}

// Begin implements [core.Arrivals].
func (b *Inbox) Begin(a *core.Arrival) storage.EntitySet {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.session(a.Message.SessionID)
	s.pending = append(s.pending, a)
	if len(s.readers) == 0 {
		return nil
	}
	return s
}

// Len implements [storage.EntitySet].
func (s *sessionWaits) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.readers)
}

// Has implements [storage.EntitySet].
func (s *sessionWaits) Has(id shoal.EntityID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.readers[id] > 0
}

// All implements [storage.EntitySet].
func (s *sessionWaits) All() []shoal.EntityID {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.readers))
}

// remove removes a message from the pending ones, and reports whether it was there.
func (s *sessionWaits) remove(a *core.Arrival) bool {
	n := len(s.pending)
	s.pending = slices.DeleteFunc(s.pending, func(o *core.Arrival) bool { return o == a })
	return len(s.pending) < n
}

// Place implements [core.Arrivals].
func (b *Inbox) Place(a *core.Arrival, d storage.Delivered) {
	b.mu.Lock()
	defer b.mu.Unlock()
	a.Place, a.Receivers = d.Place, d.Receivers
	s := b.session(a.Message.SessionID)
	if a.Place != s.last+1 {
		s.base = a.Place - 1 // another server has assigned places, or a transaction has failed
	}
	s.last, a.Base = a.Place, s.base
	a.Waited = slices.ContainsFunc(a.Receivers, func(r storage.Receiver) bool {
		return b.mailboxes[storage.EntityRef{Session: a.Message.SessionID, ID: r.ID}] != nil
	})
}

// Drop implements [core.Arrivals]. The message may have been stored nevertheless, so every
// wait has to read before a later message is delivered directly to it.
func (b *Inbox) Drop(a *core.Arrival) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.session(a.Message.SessionID)
	s.remove(a)
	s.base = max(s.base, a.Place)
}

// Deliver implements [core.Arrivals]. It delivers a message directly to the open waits of
// its receivers, without a read of their inboxes.
func (b *Inbox) Deliver(a *core.Arrival) {
	m := a.Message
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.session(m.SessionID)
	if !s.remove(a) {
		return
	}
	for _, r := range a.Receivers {
		box := b.mailboxes[storage.EntityRef{Session: m.SessionID, ID: r.ID}]
		if box == nil {
			continue
		}
		inOrder := !slices.ContainsFunc(s.pending, func(o *core.Arrival) bool { return o.Place > 0 && o.Place < a.Place && concerns(o, r.ID) })
		e := storage.InboxEntry{Place: a.Place, Reason: r.Reason, Delivery: 1, Space: a.Space, Listed: a.Listed, Message: m.For(r.ID), EventPosition: a.EventPosition}
		box.apply(func(x *machine) { x.commit(e, a.Base, inOrder) })
	}
	for _, id := range a.Late {
		if box := b.mailboxes[storage.EntityRef{Session: m.SessionID, ID: id}]; box != nil {
			box.apply(func(x *machine) { x.miss(a.Place) })
		}
	}
}

// openReader records that a wait for messages begins, which must not miss any. Each openReader
// needs a closeReader.
func (b *Inbox) openReader(key storage.EntityRef) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.session(key.Session)
	if s.readers[key.ID]++; s.readers[key.ID] > 1 {
		return
	}
	for _, p := range s.pending {
		p.Late = append(p.Late, key.ID)
	}
	if s.sub == nil {
		s.sub = b.core.Bus.Subscribe()
		s.sub.Add(core.ArrivalTopic(key.Session))
		sub, done := s.sub, make(chan struct{})
		s.done = done
		b.core.Go(func(ctx context.Context) { b.watchArrivals(ctx, key.Session, s, sub, done) })
	}
}

// closeReader undoes openReader.
func (b *Inbox) closeReader(key storage.EntityRef) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.session(key.Session)
	if s.readers[key.ID]--; s.readers[key.ID] == 0 {
		delete(s.readers, key.ID)
	}
	if len(s.readers) == 0 && s.sub != nil {
		s.sub.Close()
		close(s.done)
		s.sub = nil
	}
}

// watchArrivals makes the waits for messages of a session read what other servers store.
func (b *Inbox) watchArrivals(ctx context.Context, session shoal.SessionID, s *sessionWaits, sub core.Subscription, done <-chan struct{}) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-done:
			return
		case <-sub.Ready():
		}
		var place int64
		for _, notification := range sub.Take() {
			place = max(place, notification.Place)
		}
		for _, box := range b.readersToRefresh(session, s, place) {
			box.step(func(x *machine) { x.notify(place) })
			b.release(box)
		}
	}
}

// readersToRefresh returns the mailboxes of the readers of a session if another server may have
// assigned one of the places up to place since it was called last. The caller must release
// them.
func (b *Inbox) readersToRefresh(session shoal.SessionID, s *sessionWaits, place int64) (boxes []*mailbox) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if place <= s.last && s.base <= s.read {
		return nil
	}
	s.read = max(s.base, place)
	for id := range s.readers {
		if box := b.mailboxes[storage.EntityRef{Session: session, ID: id}]; box != nil {
			box.mu.Lock()
			box.users++
			box.mu.Unlock()
			boxes = append(boxes, box)
		}
	}
	return boxes
}

// forgetSessions drops what is known of sessions in which nobody waits and nothing is in
// progress. b.mu must be held.
func (b *Inbox) forgetSessions() {
	used := map[shoal.SessionID]bool{}
	for key := range b.mailboxes {
		used[key.Session] = true
	}
	for id, s := range b.sessions {
		if !used[id] && len(s.readers) == 0 && len(s.pending) == 0 {
			delete(b.sessions, id)
		}
	}
}
