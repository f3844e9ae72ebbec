package core

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// Presence knows what entities are doing now, on this server and, a little later, on the others
// of its bus. Only the times at which entities were last seen are stored, with a delay.
type Presence struct {
	core         *Core
	mu           sync.Mutex
	activities   map[storage.EntityRef]*entityActivity
	keys         map[shoal.KeyID]storage.KeyUse
	arrivals     map[shoal.SessionID]chan struct{} // closed on the next arrival; only of watched sessions
	stored       map[storage.EntityRef]storedEntity
	keyEnds      map[storage.EntityRef]time.Time // when the key expires with which an entity has called last, if it does
	server       string                          // identifies this server to others
	remote       map[storage.EntityRef]remoteActivities
	waitsChanged func(storage.EntityRef) // see WatchWaits
}

// entityActivity is what is known about one entity on this server.
type entityActivity struct {
	lastCallAt     time.Time
	streams        int
	waitEnds       []time.Time // the latest end of each open wait
	publishedState shoal.State // the state that followers know; empty to publish it again
	storedAt       time.Time
}

const (
	// Intervals of the background tasks.
	publishInterval = time.Second
	storeInterval   = 30 * time.Second
	forgetAfter     = 10 * time.Minute

	// storeBatchSize is how many times are stored in one transaction. Posts wait for that
	// transaction.
	storeBatchSize = 500
)

func newPresence(c *Core) *Presence {
	return &Presence{core: c, activities: map[storage.EntityRef]*entityActivity{}, keys: map[shoal.KeyID]storage.KeyUse{}, arrivals: map[shoal.SessionID]chan struct{}{}, stored: map[storage.EntityRef]storedEntity{}, keyEnds: map[storage.EntityRef]time.Time{}, server: rand.Text(), remote: map[storage.EntityRef]remoteActivities{}, waitsChanged: func(storage.EntityRef) {}}
}

// MarkCall records that an entity makes a call now.
func (p *Presence) MarkCall(s shoal.SessionID, e shoal.EntityID) {
	p.update(s, e, func(*entityActivity) {})
}

// StreamOpened records a stream that an entity follows, until StreamClosed.
func (p *Presence) StreamOpened(s shoal.SessionID, e shoal.EntityID) {
	p.update(s, e, func(x *entityActivity) { x.streams++ })
}

// StreamClosed records that a stream of an entity has ended.
func (p *Presence) StreamClosed(s shoal.SessionID, e shoal.EntityID) {
	p.update(s, e, func(x *entityActivity) { x.streams-- })
}

// WaitOpened records a wait that ends at the given time at the latest. Pass the same time
// to WaitClosed.
func (p *Presence) WaitOpened(s shoal.SessionID, e shoal.EntityID, ends time.Time) {
	p.update(s, e, func(x *entityActivity) { x.waitEnds = append(x.waitEnds, ends) })
}

// WaitClosed records the end of a wait that was opened with the same time.
func (p *Presence) WaitClosed(s shoal.SessionID, e shoal.EntityID, ends time.Time) {
	p.update(s, e, func(x *entityActivity) {
		if i := slices.Index(x.waitEnds, ends); i >= 0 {
			x.waitEnds = slices.Delete(x.waitEnds, i, i+1)
		}
	})
}

// Refresh publishes the state of an entity to its followers again, even if it has not
// changed.
func (p *Presence) Refresh(s shoal.SessionID, e shoal.EntityID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.activityOf(s, e).publishedState = ""
}

// Forget removes what is known about a deleted entity.
func (p *Presence) Forget(s shoal.SessionID, e shoal.EntityID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.activities, storage.EntityRef{Session: s, ID: e})
	delete(p.stored, storage.EntityRef{Session: s, ID: e})
	delete(p.keyEnds, storage.EntityRef{Session: s, ID: e})
	delete(p.remote, storage.EntityRef{Session: s, ID: e})
	p.core.Leases.Forget(storage.EntityRef{Session: s, ID: e})
}

// MarkKeyUsed records that a key is used now, from an address.
func (p *Presence) MarkKeyUsed(k shoal.Key, address string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.keys[k.ID] = storage.KeyUse{At: shoal.Now(), Address: address}
	if k.EntityID == nil || k.SessionID == nil {
		return
	}
	if key := (storage.EntityRef{Session: *k.SessionID, ID: *k.EntityID}); k.ExpiresAt != nil {
		p.keyEnds[key] = k.ExpiresAt.Time
	} else {
		delete(p.keyEnds, key)
	}
}

func (p *Presence) update(s shoal.SessionID, e shoal.EntityID, change func(*entityActivity)) {
	if e == "" {
		return
	}
	now := time.Now()
	p.mu.Lock()
	x := p.activityOf(s, e)
	wasOffline := x.state(now) == shoal.Offline
	x.lastCallAt = now
	change(x)
	if wasOffline {
		p.notifyArrivals(s)
	}
	p.mu.Unlock()
	if wasOffline {
		p.shareEntities([]storage.EntityRef{{Session: s, ID: e}})
	}
}

// activityOf returns the activity of an entity and creates it if necessary. The caller must
// hold mu.
func (p *Presence) activityOf(s shoal.SessionID, e shoal.EntityID) *entityActivity {
	key := storage.EntityRef{Session: s, ID: e}
	x := p.activities[key]
	if x == nil {
		x = &entityActivity{publishedState: shoal.Offline}
		p.activities[key] = x
	}
	return x
}

func (x *entityActivity) state(now time.Time) shoal.State {
	switch {
	case len(x.waitEnds) > 0:
		return shoal.Waiting
	case x.streams > 0 || now.Sub(x.lastCallAt) < shoal.PresenceWindow:
		return shoal.Connected
	}
	return shoal.Offline
}

// Arrivals returns a channel that is closed when the next entity of a session stops being
// offline.
func (p *Presence) Arrivals(session shoal.SessionID) <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.arrivals[session] == nil {
		p.arrivals[session] = make(chan struct{})
	}
	return p.arrivals[session]
}

// notifyArrivals closes the channel that [Presence.Arrivals] returned for a session. The
// caller must hold mu.
func (p *Presence) notifyArrivals(session shoal.SessionID) {
	if arrived := p.arrivals[session]; arrived != nil {
		close(arrived)
		delete(p.arrivals, session)
	}
}

// presentEntities returns the ids of the entities of a session that are not offline, sorted.
func (p *Presence) presentEntities(session shoal.SessionID) (out []shoal.EntityID) {
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	for key, x := range p.activities {
		if key.Session == session && x.state(now) != shoal.Offline {
			out = append(out, key.ID)
		}
	}
	for key, r := range p.remote {
		if key.Session == session {
			if there := r.best(now).State; there != "" && there != shoal.Offline {
				out = append(out, key.ID)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// FillLiveState sets what e is doing now: from its calls, from its runs if [FillRunState]
// has set the state, and as connected for an agent that the server runs or whose program holds a
// run. Of an agent it sets how a mention reaches it.
func (p *Presence) FillLiveState(e shoal.Entity) shoal.Entity {
	runs := e.State == shoal.Running
	e = p.FillState(e)
	switch {
	case runs && e.State != shoal.Waiting:
		e.State = shoal.Running
	case (e.AtWork || e.Hosted && !e.Remote) && e.State == shoal.Offline:
		e.State = shoal.Connected
	}
	e.Wake = p.Wake(e)
	return e
}

// FillState sets the state, LastSeenAt and WaitEndsAt of e from its calls on all servers.
func (p *Presence) FillState(e shoal.Entity) shoal.Entity {
	e.State = shoal.Offline
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	if x := p.activities[storage.EntityRef{Session: e.SessionID, ID: e.ID}]; x != nil {
		e.State = x.state(now)
		if !x.lastCallAt.IsZero() {
			last := shoal.At(x.lastCallAt)
			e.LastSeenAt = &last
		}
		if ends := x.lastWaitEnd(); !ends.IsZero() {
			at := shoal.At(ends)
			e.WaitEndsAt = &at
		}
	}
	p.addRemote(&e, now)
	return e
}

// publishChangedStates publishes the states that have changed to their followers. It runs
// once per publishInterval, so followers receive at most one update about an entity in that
// time. The entities are sorted, so that followers of several see one order.
func (p *Presence) publishChangedStates(ctx context.Context) error {
	var errs []error
	changed := p.takeChangedStates()
	p.shareEntities(changed)
	changed = append(changed, p.core.Leases.refresh()...)
	slices.SortFunc(changed, storage.EntityRef.Compare)
	for _, key := range slices.Compact(changed) {
		errs = append(errs, p.publishState(ctx, key))
	}
	return errors.Join(errs...)
}

// takeChangedStates returns the entities whose current state followers do not know, and
// records it as published.
func (p *Presence) takeChangedStates() (out []storage.EntityRef) {
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	for key, x := range p.activities {
		if state := x.state(now); state != x.publishedState {
			x.publishedState = state
			out = append(out, key)
		}
	}
	return out
}

func (p *Presence) publishState(ctx context.Context, key storage.EntityRef) error {
	topics := []string{EntityTopic(key.Session, key.ID), SessionTopic(key.Session)}
	topics = slices.DeleteFunc(topics, func(t string) bool { return !p.core.Bus.Watched(t) })
	if len(topics) == 0 {
		return nil
	}
	var e shoal.Entity
	err := p.core.Store.View(ctx, func(tx storage.Tx) (err error) {
		if e, err = FindEntity(tx, key.Session, key.ID); err != nil {
			return err
		}
		return FillRunState(tx, key.Session, &e)
	})
	if shoal.KindOf(err) == shoal.NotFound {
		return nil
	}
	if err != nil {
		return err
	}
	body, err := json.Marshal(shoal.EntityData{EventHead: shoal.EventHead{Type: shoal.EventEntityUpdated, At: shoal.Now()}, Entity: p.FillLiveState(e)})
	if err != nil {
		return err
	}
	for _, topic := range topics {
		p.core.Bus.Publish(Notification{Topic: topic, Event: body})
	}
	return nil
}

// storeLoop stores at an interval, and when ctx ends, when entities were last seen and keys
// last used, and drops entities that have been offline for a long time.
func (p *Presence) storeLoop(ctx context.Context) {
	tick := time.NewTicker(storeInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			p.storeTimes()
			return
		case <-tick.C:
			p.storeTimes()
		}
	}
}

func (p *Presence) storeTimes() {
	seen, keys := p.takeUnstored()
	var err error
	if len(keys) > 0 {
		err = p.core.Store.Update(context.WithoutCancel(p.core.Ctx), storage.NoSession, func(tx storage.Tx) error { return tx.UsedKeys(keys) })
	}
	slices.SortFunc(seen, func(a, b storage.LastSeen) int { return cmp.Compare(a.Session, b.Session) })
	for some := range slices.Chunk(seen, storeBatchSize) {
		err = errors.Join(err, p.storeLastSeen(some))
	}
	if err != nil {
		p.core.Log.Error("storing the times of the last calls failed", "error", err)
	}
}

// storeLastSeen stores when entities were last seen, in the order of their sessions.
func (p *Presence) storeLastSeen(seen []storage.LastSeen) (err error) {
	sessions := make([]shoal.SessionID, len(seen))
	for i, s := range seen {
		sessions[i] = s.Session
	}
	for at := range storage.Batches(sessions) {
		n := 0
		for n < len(seen) && at.Includes(seen[n].Session) {
			n++
		}
		some := seen[:n]
		seen = seen[n:]
		err = errors.Join(err, p.core.Store.Update(context.WithoutCancel(p.core.Ctx), at, func(tx storage.Tx) error { return tx.SetLastSeen(some) }))
	}
	return err
}

func (p *Presence) takeUnstored() (seen []storage.LastSeen, keys map[shoal.KeyID]storage.KeyUse) {
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	for key, x := range p.activities {
		if x.lastCallAt.After(x.storedAt) {
			seen = append(seen, storage.LastSeen{Session: key.Session, Entity: key.ID, At: shoal.At(x.lastCallAt)})
			x.storedAt = x.lastCallAt
		}
		if x.state(now) == shoal.Offline && x.publishedState == shoal.Offline && now.Sub(x.lastCallAt) > forgetAfter {
			delete(p.activities, key)
		}
	}
	keys, p.keys = p.keys, map[shoal.KeyID]storage.KeyUse{}
	return seen, keys
}
