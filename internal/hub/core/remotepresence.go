package core

import (
	"context"
	"encoding/json"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// Servers on one database publish what entities are doing on them: at once when an
// entity arrives, within publishInterval when its state changes, and all of it again at
// shareInterval. What was not repeated for remoteTTL is forgotten, because its server is gone.
const (
	shareInterval = 10 * time.Second
	remoteTTL     = 25 * time.Second

	// maxSharedEach limits the entities of one message, so that it fits into a frame of any bus.
	maxSharedEach = 30
	// maxRemote limits the entities of other servers that are remembered.
	maxRemote = 200_000
)

// presenceTopic carries sharedPresence between servers.
const presenceTopic = "presence"

// sharedPresence is what a server publishes for the others: what some entities are doing on it, or, if
// Ask is set, that it wants to know what all of theirs are doing.
type sharedPresence struct {
	Server   string           `json:"server"`
	Ask      bool             `json:"ask,omitempty"`
	Entities []sharedActivity `json:"entities,omitempty"`
}

// sharedActivity is what an entity is doing on a server.
type sharedActivity struct {
	Session    shoal.SessionID `json:"s"`
	Entity     shoal.EntityID  `json:"e"`
	State      shoal.State     `json:"state"`
	LastCallAt shoal.Time      `json:"last"`
	WaitEndsAt *shoal.Time     `json:"ends,omitempty"`
}

// remoteActivity is what an entity is doing on another server.
type remoteActivity struct {
	sharedActivity
	heardAt time.Time
}

// remoteActivities are those of one entity, by server.
type remoteActivities map[string]remoteActivity

// best returns what the entity is doing on the server where it does most, in the order waiting,
// connected, offline. The result has no state if nothing is known.
func (r remoteActivities) best(now time.Time) (best sharedActivity) {
	for _, x := range r {
		switch {
		case now.Sub(x.heardAt) > remoteTTL:
			continue
		case x.State == shoal.Waiting && x.WaitEndsAt != nil && (best.WaitEndsAt == nil || x.WaitEndsAt.After(best.WaitEndsAt.Time)):
			best.State, best.WaitEndsAt = x.State, x.WaitEndsAt
		case best.State == "" || best.State == shoal.Offline && x.State == shoal.Connected:
			best.State = x.State
		}
		if x.LastCallAt.After(best.LastCallAt.Time) {
			best.LastCallAt = x.LastCallAt
		}
	}
	return best
}

// addRemote adds to e what it is doing on other servers. p.mu must be held.
func (p *Presence) addRemote(e *shoal.Entity, now time.Time) {
	r := p.remote[storage.EntityRef{Session: e.SessionID, ID: e.ID}]
	if len(r) == 0 {
		return
	}
	there := r.best(now)
	if there.State == shoal.Waiting || there.State == shoal.Connected && e.State == shoal.Offline {
		e.State = there.State
	}
	if !there.LastCallAt.IsZero() && (e.LastSeenAt == nil || there.LastCallAt.After(e.LastSeenAt.Time)) {
		e.LastSeenAt = &there.LastCallAt
	}
	if there.WaitEndsAt != nil && (e.WaitEndsAt == nil || there.WaitEndsAt.After(e.WaitEndsAt.Time)) {
		e.WaitEndsAt = there.WaitEndsAt
	}
}

// WaitsElsewhere reports whether an entity has an open wait on another server.
func (p *Presence) WaitsElsewhere(s shoal.SessionID, e shoal.EntityID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.remote[storage.EntityRef{Session: s, ID: e}].best(time.Now()).State == shoal.Waiting
}

// WatchWaits lets changed be called whenever it may have changed whether an entity waits on another
// server. Call it before Start; changed must not block.
func (p *Presence) WatchWaits(changed func(storage.EntityRef)) { p.waitsChanged = changed }

// exchange publishes for the other servers what entities are doing here, and receives what they are
// doing there, until ctx ends.
func (p *Presence) exchange(ctx context.Context) {
	sub := p.core.Bus.Subscribe()
	defer sub.Close()
	sub.Add(presenceTopic)
	p.publishShared(sharedPresence{Ask: true})
	tick := time.NewTicker(shareInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			p.publishShared(sharedPresence{Entities: p.allOffline()})
			return
		case <-tick.C:
			p.forgetRemote(ctx)
			p.share(p.activeEntities())
		case <-sub.Ready():
			for _, n := range sub.Take() {
				p.hear(n)
			}
		}
	}
}

// hear handles a message of another server.
func (p *Presence) hear(n Notification) {
	var said sharedPresence
	switch {
	case n.Missed:
		p.publishShared(sharedPresence{Ask: true})
	case !n.Remote || json.Unmarshal(n.Event, &said) != nil:
	case said.Ask:
		p.share(p.activeEntities())
	default:
		p.setRemote(said)
	}
}

// setRemote records what entities are doing on another server.
func (p *Presence) setRemote(said sharedPresence) {
	var changed []storage.EntityRef
	defer func() { p.announceWaits(changed) }()
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, x := range said.Entities {
		key := storage.EntityRef{Session: x.Session, ID: x.Entity}
		r := p.remote[key]
		if r == nil {
			if len(p.remote) >= maxRemote {
				continue
			}
			r = remoteActivities{}
			p.remote[key] = r
		}
		if was := r.best(now).State; x.State != shoal.Offline && (was == "" || was == shoal.Offline) {
			p.notifyArrivals(x.Session)
		}
		if (r[said.Server].State == shoal.Waiting) != (x.State == shoal.Waiting) {
			changed = append(changed, key)
		}
		r[said.Server] = remoteActivity{x, now}
	}
}

// announceWaits reports the entities that have begun or ended to wait on another server.
func (p *Presence) announceWaits(changed []storage.EntityRef) {
	for _, key := range changed {
		p.waitsChanged(key)
	}
}

// forgetRemote forgets what was not repeated, and publishes the states of entities that are
// offline now because their server is gone.
func (p *Presence) forgetRemote(ctx context.Context) {
	now := time.Now()
	var gone []storage.EntityRef
	p.mu.Lock()
	for key, r := range p.remote {
		lost := false
		for server, x := range r {
			if now.Sub(x.heardAt) > remoteTTL {
				delete(r, server)
				lost = lost || x.State != shoal.Offline
			}
		}
		if len(r) == 0 {
			delete(p.remote, key)
		}
		if lost {
			gone = append(gone, key)
		}
	}
	p.mu.Unlock()
	p.announceWaits(gone)
	for _, key := range gone {
		if err := p.publishState(ctx, key); err != nil && ctx.Err() == nil {
			p.core.Log.Warn("the state of an entity that was on a lost server cannot be published", "session", key.Session, "entity", key.ID, "error", err)
		}
	}
}

// activeEntities returns what the entities that are not offline here are doing.
func (p *Presence) activeEntities() (out []sharedActivity) {
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	for key, x := range p.activities {
		if x.state(now) != shoal.Offline {
			out = append(out, x.shared(key, now))
		}
	}
	return out
}

// allOffline returns the entities that are not offline here as offline, for a server that stops.
func (p *Presence) allOffline() []sharedActivity {
	out := p.activeEntities()
	for i := range out {
		out[i].State, out[i].WaitEndsAt = shoal.Offline, nil
	}
	return out
}

// shareEntities publishes for the other servers what these entities are doing here.
func (p *Presence) shareEntities(keys []storage.EntityRef) {
	if !p.core.Bus.Shared() {
		return
	}
	now := time.Now()
	out := make([]sharedActivity, 0, len(keys))
	p.mu.Lock()
	for _, key := range keys {
		if x := p.activities[key]; x != nil {
			out = append(out, x.shared(key, now))
		}
	}
	p.mu.Unlock()
	p.share(out)
}

// share publishes for the other servers what entities are doing here.
func (p *Presence) share(all []sharedActivity) {
	for len(all) > 0 {
		n := min(len(all), maxSharedEach)
		p.publishShared(sharedPresence{Entities: all[:n]})
		all = all[n:]
	}
}

func (p *Presence) publishShared(s sharedPresence) {
	if len(s.Entities) == 0 && !s.Ask {
		return
	}
	s.Server = p.server
	if event, err := json.Marshal(s); err == nil {
		p.core.Bus.Publish(Notification{Topic: presenceTopic, Event: event})
	}
}

// shared returns the activity as other servers see it.
func (x *entityActivity) shared(key storage.EntityRef, now time.Time) sharedActivity {
	s := sharedActivity{Session: key.Session, Entity: key.ID, State: x.state(now), LastCallAt: shoal.At(x.lastCallAt)}
	if ends := x.lastWaitEnd(); !ends.IsZero() {
		at := shoal.At(ends)
		s.WaitEndsAt = &at
	}
	return s
}

// lastWaitEnd returns the latest end of the open waits, or zero if there is none.
func (x *entityActivity) lastWaitEnd() (ends time.Time) {
	for _, t := range x.waitEnds {
		if t.After(ends) {
			ends = t
		}
	}
	return ends
}
