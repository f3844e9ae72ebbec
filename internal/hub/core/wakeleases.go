package core

import (
	"slices"
	"sync"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// WakeLeases are the promises of programs to wake the models of agents. They are in memory only: a
// program renews its lease at a third of the time that it lasts, so a server knows all of them a
// minute after its start. Servers on one database share them, and one that joins asks the others.
type WakeLeases struct {
	core  *Core
	mu    sync.Mutex
	of    map[storage.EntityRef]*agentLeases
	count int       // of leases
	known time.Time // from when on every lease is known; zero before Start
	start time.Time
}

// agentLeases are the leases of one agent.
type agentLeases struct {
	held []*wakeLease
	// ended is the one that has ended last, nil if none has. It is remembered for rememberEnded.
	ended     *wakeLease
	published shoal.ReachState // the state that followers know
}

// wakeLease is one lease. It ends at until. All but unshared remain as they are.
type wakeLease struct {
	shoal.WakeLease
	since, renewed, until time.Time
	origin                string // the server that has received the last renewal
	unshared              bool   // the other servers do not know the last renewal
}

const (
	// leasesKnownAfter is how long after its start a server may not know of a lease.
	leasesKnownAfter = shoal.MaxWakeLease
	// rememberEnded is how long the end of the last lease of an agent is remembered.
	rememberEnded = 24 * time.Hour
	// maxLeases limits the leases of all agents that a server remembers.
	maxLeases = 100_000
	// leaseGrace is how long other servers leave it to the server that has received the last
	// renewal of a lease to announce its end.
	leaseGrace = 3 * time.Second
)

func newWakeLeases(c *Core) *WakeLeases {
	return &WakeLeases{core: c, of: map[storage.EntityRef]*agentLeases{}}
}

// begin sets the time from which on leases are known.
func (w *WakeLeases) begin() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.start = time.Now()
	w.known = w.start.Add(leasesKnownAfter)
}

// Hold records a lease, or its renewal. It fails with Busy if the server remembers as many leases as it
// may.
func (w *WakeLeases) Hold(key storage.EntityRef, l shoal.WakeLease) error {
	now := time.Now()
	w.mu.Lock()
	isNews, err := w.put(key, &wakeLease{WakeLease: l, since: now, renewed: now, until: now.Add(l.TTL()), origin: w.core.Presence.server, unshared: true}, now)
	w.mu.Unlock()
	if err == nil && isNews {
		w.share(key)
	}
	return err
}

// put stores a lease and reports whether it is new or has become busy or free. w.mu must be held.
func (w *WakeLeases) put(key storage.EntityRef, l *wakeLease, now time.Time) (isNews bool, err error) {
	a := w.of[key]
	if a == nil {
		a = &agentLeases{}
	}
	if i := a.find(l); i >= 0 {
		was := a.held[i]
		isNews = was.Busy != l.Busy || !was.until.After(now)
		if was.until.After(now) {
			l.since = was.since
		}
		a.held[i] = l
		return isNews, nil
	}
	switch {
	case len(a.held) >= shoal.MaxWakeLeases:
		i := slices.Index(a.held, slices.MinFunc(a.held, func(x, y *wakeLease) int { return x.until.Compare(y.until) }))
		a.held[i] = l
	case w.count >= maxLeases:
		return false, shoal.E("", shoal.Busy, "This server remembers as many wake leases as it may. Try again in a minute.")
	default:
		a.held = append(a.held, l)
		w.count++
	}
	w.of[key] = a
	return true, nil
}

// find returns the index of the lease of the same program, or -1.
func (a *agentLeases) find(l *wakeLease) int {
	return slices.IndexFunc(a.held, func(o *wakeLease) bool { return o.Via == l.Via && o.SessionRef == l.SessionRef })
}

// Release ends the leases of an agent, or, if sessionRef is set, those for this session only.
func (w *WakeLeases) Release(key storage.EntityRef, sessionRef string) {
	now := time.Now()
	w.mu.Lock()
	var gone []*wakeLease
	if a := w.of[key]; a != nil {
		gone = w.end(a, func(l *wakeLease) bool { return sessionRef == "" || l.SessionRef == sessionRef })
		for i, l := range gone {
			ended := *l
			ended.renewed, ended.origin = now, w.core.Presence.server
			gone[i], a.ended = &ended, &ended
		}
	}
	w.mu.Unlock()
	w.shareEnds(key, gone)
}

// end ends the leases of an agent that are selected. w.mu must be held.
func (w *WakeLeases) end(a *agentLeases, selected func(*wakeLease) bool) (gone []*wakeLease) {
	for _, l := range a.held {
		if selected(l) {
			gone, a.ended = append(gone, l), l
			w.count--
		}
	}
	a.held = slices.DeleteFunc(a.held, selected)
	return gone
}

// Forget removes the leases of a deleted entity.
func (w *WakeLeases) Forget(key storage.EntityRef) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if a := w.of[key]; a != nil {
		w.count -= len(a.held)
		delete(w.of, key)
	}
}

// state returns what the leases make of an agent: wakeable, busy, or nothing.
func (a *agentLeases) state(now time.Time) shoal.ReachState {
	l := a.best(now)
	switch {
	case l == nil:
		return ""
	case l.Busy:
		return shoal.ReachBusy
	}
	return shoal.ReachWakeable
}

// best returns the lease through which a message reaches the model first, or nil.
func (a *agentLeases) best(now time.Time) (best *wakeLease) {
	for _, l := range a.held {
		switch {
		case !l.until.After(now):
		case best == nil, best.Busy && !l.Busy, best.Busy == l.Busy && l.until.After(best.until):
			best = l
		}
	}
	return best
}

// find returns the lease through which a message reaches the model of an agent first, and the last one
// that has ended; an agent without such leases has nil. An agent that was created before the server
// started may have a lease that was not renewed yet: knownAt is the time from which all leases are
// known, or zero if they are known already.
func (w *WakeLeases) find(key storage.EntityRef, created, now time.Time) (best, last *wakeLease, knownAt time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if a := w.of[key]; a != nil {
		best, last = a.best(now), a.last(now)
	}
	if last == nil && now.Before(w.known) && created.Before(w.start.Truncate(time.Microsecond)) {
		knownAt = w.known
	}
	return best, last, knownAt
}

// last returns the lease that was held last by now, and has ended, or nil.
func (a *agentLeases) last(now time.Time) (last *wakeLease) {
	last = a.ended
	for _, l := range a.held {
		if !l.until.After(now) && (last == nil || l.renewed.After(last.renewed)) {
			last = l
		}
	}
	return last
}

// refresh shares the renewals of the last second with the other servers, ends the leases whose time is
// up, and returns the agents whose state this server has to announce.
func (w *WakeLeases) refresh() []storage.EntityRef {
	w.shareRenewals()
	ended, changed := w.takeChanges(time.Now())
	for key, gone := range ended {
		w.shareEnds(key, gone)
	}
	return changed
}

// takeChanges ends the leases whose time is up, and forgets those that ended long ago. It returns
// those that this server has to announce, and the agents whose state followers do not know.
func (w *WakeLeases) takeChanges(now time.Time) (ended map[storage.EntityRef][]*wakeLease, changed []storage.EntityRef) {
	ended = map[storage.EntityRef][]*wakeLease{}
	own := w.core.Presence.server
	w.mu.Lock()
	defer w.mu.Unlock()
	for key, a := range w.of {
		gone := w.end(a, func(l *wakeLease) bool {
			return !l.until.After(now) && (l.origin == own || now.Sub(l.until) > leaseGrace)
		})
		for _, l := range gone {
			if l.origin == own {
				ended[key] = append(ended[key], l)
			}
		}
		if slices.ContainsFunc(a.held, func(l *wakeLease) bool { return !l.until.After(now) }) {
			continue // the server that has received it announces its end
		}
		if state := a.state(now); state != a.published {
			a.published = state
			if len(gone) > 0 || a.isFrom(own) {
				changed = append(changed, key)
			}
		}
		if len(a.held) == 0 && (a.ended == nil || now.Sub(a.ended.renewed) > rememberEnded) {
			delete(w.of, key)
		}
	}
	return ended, changed
}

// isFrom reports whether a server has received the last renewal of one of the leases, or the end of the
// last one.
func (a *agentLeases) isFrom(server string) bool {
	if len(a.held) == 0 {
		return a.ended != nil && a.ended.origin == server
	}
	return slices.ContainsFunc(a.held, func(l *wakeLease) bool { return l.origin == server })
}
