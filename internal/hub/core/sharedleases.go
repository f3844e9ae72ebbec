package core

import (
	"context"
	"encoding/json"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// leaseTopic carries sharedLeases between servers.
const leaseTopic = "wake-leases"

// maxSharedLeases limits the leases of one message, so that it fits into a frame of any bus.
const maxSharedLeases = 6

// sharedLeases is what a server publishes for the others: leases, or, if Ask is set, that it wants
// to know all of theirs.
type sharedLeases struct {
	Server string        `json:"server"`
	Ask    bool          `json:"ask,omitempty"`
	Leases []sharedLease `json:"leases,omitempty"`
	// All says that this is the last message of an answer of a server that knows every lease.
	All bool `json:"all,omitempty"`
}

// sharedLease is a lease of an agent. It ends in Left milliseconds, because the clocks of servers
// differ, and has ended if that is zero.
type sharedLease struct {
	Session shoal.SessionID `json:"s"`
	Entity  shoal.EntityID  `json:"e"`
	Lease   shoal.WakeLease `json:"lease"`
	Since   shoal.Time      `json:"since"`
	Renewed shoal.Time      `json:"renewed"`
	Origin  string          `json:"origin"`
	Left    int64           `json:"left"`
}

func (l *wakeLease) shared(key storage.EntityRef, now time.Time) sharedLease {
	return sharedLease{
		Session: key.Session, Entity: key.ID, Lease: l.WakeLease, Since: shoal.At(l.since), Renewed: shoal.At(l.renewed), Origin: l.origin,
		Left: max(0, l.until.Sub(now)).Milliseconds(),
	}
}

// exchange receives the leases that other servers know, until ctx ends.
func (w *WakeLeases) exchange(ctx context.Context) {
	sub := w.core.Bus.Subscribe()
	defer sub.Close()
	sub.Add(leaseTopic)
	w.publish(sharedLeases{Ask: true})
	for {
		select {
		case <-ctx.Done():
			return
		case <-sub.Ready():
		}
		for _, n := range sub.Take() {
			w.hear(n)
		}
	}
}

// hear handles a message of another server.
func (w *WakeLeases) hear(n Notification) {
	var said sharedLeases
	switch {
	case n.Missed:
		w.publish(sharedLeases{Ask: true})
	case !n.Remote || json.Unmarshal(n.Event, &said) != nil:
	case said.Ask:
		w.shareAll()
	default:
		w.receive(said)
	}
}

// receive records the leases that another server knows.
func (w *WakeLeases) receive(said sharedLeases) {
	now := time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, x := range said.Leases {
		key := storage.EntityRef{Session: x.Session, ID: x.Entity}
		l := &wakeLease{WakeLease: x.Lease, since: x.Since.Time, renewed: x.Renewed.Time, until: now.Add(time.Duration(x.Left) * time.Millisecond), origin: x.Origin}
		if x.Left == 0 {
			w.receiveEnd(key, l)
			continue
		}
		if a := w.of[key]; a != nil {
			if i := a.find(l); i >= 0 && a.held[i].until.After(l.until) {
				continue // this server knows a later renewal
			}
		}
		_, _ = w.put(key, l, now) // a server that remembers too many leases does not know this one
	}
	if said.All && w.known.After(now) {
		w.known = now
	}
}

// receiveEnd records the end of a lease, unless it was renewed since. w.mu must be held.
func (w *WakeLeases) receiveEnd(key storage.EntityRef, l *wakeLease) {
	a := w.of[key]
	if a == nil {
		if len(w.of) < maxLeases {
			w.of[key] = &agentLeases{ended: l}
		}
		return
	}
	i := a.find(l)
	if i >= 0 && a.held[i].renewed.After(l.renewed) {
		return
	}
	w.end(a, func(o *wakeLease) bool { return i >= 0 && o == a.held[i] })
	a.ended, a.published = l, a.state(time.Now()) // the other server announces it
}

// share publishes the leases of an agent that the other servers do not know.
func (w *WakeLeases) share(key storage.EntityRef) {
	if !w.core.Bus.Shared() {
		return
	}
	w.mu.Lock()
	out := w.unshared(key, time.Now())
	w.mu.Unlock()
	w.send(out)
}

// shareRenewals publishes all leases that the other servers do not know.
func (w *WakeLeases) shareRenewals() {
	if !w.core.Bus.Shared() {
		return
	}
	now := time.Now()
	var out []sharedLease
	w.mu.Lock()
	for key := range w.of {
		out = append(out, w.unshared(key, now)...)
	}
	w.mu.Unlock()
	w.send(out)
}

// unshared returns the leases of an agent that the other servers do not know, and marks them as known.
// w.mu must be held.
func (w *WakeLeases) unshared(key storage.EntityRef, now time.Time) (out []sharedLease) {
	a := w.of[key]
	if a == nil {
		return nil
	}
	for _, l := range a.held {
		if l.unshared && l.until.After(now) {
			l.unshared = false
			out = append(out, l.shared(key, now))
		}
	}
	return out
}

// shareAll publishes all leases, whichever server has received them.
func (w *WakeLeases) shareAll() {
	now := time.Now()
	var out []sharedLease
	w.mu.Lock()
	for key, a := range w.of {
		for _, l := range a.held {
			if l.until.After(now) {
				out = append(out, l.shared(key, now))
			}
		}
	}
	all := !w.known.After(now)
	w.mu.Unlock()
	w.send(out)
	if all {
		w.publish(sharedLeases{All: true})
	}
}

// shareEnds publishes that leases of an agent have ended.
func (w *WakeLeases) shareEnds(key storage.EntityRef, gone []*wakeLease) {
	if !w.core.Bus.Shared() {
		return
	}
	out := make([]sharedLease, len(gone))
	for i, l := range gone {
		out[i] = l.shared(key, l.until)
	}
	w.send(out)
}

// send publishes leases.
func (w *WakeLeases) send(all []sharedLease) {
	for len(all) > 0 {
		n := min(len(all), maxSharedLeases)
		w.publish(sharedLeases{Leases: all[:n]})
		all = all[n:]
	}
}

func (w *WakeLeases) publish(s sharedLeases) {
	s.Server = w.core.Presence.server
	if event, err := json.Marshal(s); err == nil {
		w.core.Bus.Publish(Notification{Topic: leaseTopic, Event: event})
	}
}
