package core

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// Presence knows what entities are doing now on this node. It is never stored
// but for when they were last seen, and that with delay.
type Presence struct {
	core          *Core
	mu            sync.Mutex
	activities    map[storage.EntityRef]*entityActivity
	keys          map[shoal.KeyID]shoal.Time
	arrivals      map[shoal.SessionID]chan struct{} // of the sessions that somebody watches
	lastSeenCache map[storage.EntityRef]lastSeen    // of entities that this node has not seen
}

// entityActivity is what is known of one entity.
type entityActivity struct {
	lastCallAt     time.Time
	streams        int
	waitEnds       []time.Time // when each open wait ends at the latest
	publishedState shoal.State // the state that followers know
	storedAt       time.Time
}

// Intervals of the upkeep.
const (
	publishInterval = time.Second
	storeInterval   = 30 * time.Second
	forgetAfter     = 10 * time.Minute

	// storeBatchSize is how many sightings are stored at once: posts wait behind
	// them.
	storeBatchSize = 500
)

func newPresence(c *Core) *Presence {
	return &Presence{core: c, activities: map[storage.EntityRef]*entityActivity{}, keys: map[shoal.KeyID]shoal.Time{}, arrivals: map[shoal.SessionID]chan struct{}{}, lastSeenCache: map[storage.EntityRef]lastSeen{}}
}

// MarkCall records that an entity made a call now.
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

// WaitOpened notes a wait that ends at the latest at the given time; WaitClosed
// takes the same time.
func (p *Presence) WaitOpened(s shoal.SessionID, e shoal.EntityID, ends time.Time) {
	p.update(s, e, func(x *entityActivity) { x.waitEnds = append(x.waitEnds, ends) })
}

// WaitClosed records that a wait has ended that was opened with the same time.
func (p *Presence) WaitClosed(s shoal.SessionID, e shoal.EntityID, ends time.Time) {
	p.update(s, e, func(x *entityActivity) {
		if i := slices.Index(x.waitEnds, ends); i >= 0 {
			x.waitEnds = slices.Delete(x.waitEnds, i, i+1)
		}
	})
}

// Refresh makes followers learn anew about an entity.
func (p *Presence) Refresh(s shoal.SessionID, e shoal.EntityID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.activityOf(s, e).publishedState = ""
}

// Forget drops what is known about an entity that is deleted.
func (p *Presence) Forget(s shoal.SessionID, e shoal.EntityID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.activities, storage.EntityRef{Session: s, ID: e})
	delete(p.lastSeenCache, storage.EntityRef{Session: s, ID: e})
}

// MarkKeyUsed records that a key is used now.
func (p *Presence) MarkKeyUsed(id shoal.KeyID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.keys[id] = shoal.Now()
}

func (p *Presence) update(s shoal.SessionID, e shoal.EntityID, change func(*entityActivity)) {
	if e == "" {
		return
	}
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	x := p.activityOf(s, e)
	wasOffline := x.state(now) == shoal.Offline
	x.lastCallAt = now
	change(x)
	if wasOffline {
		p.notifyArrivals(s)
	}
}

// activityOf must be called with mu held.
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
	case x.streams > 0 || now.Sub(x.lastCallAt) < shoal.ConnectedFor:
		return shoal.Connected
	}
	return shoal.Offline
}

// Arrivals returns a channel that is closed when somebody of a session stops being
// offline.
func (p *Presence) Arrivals(session shoal.SessionID) <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.arrivals[session] == nil {
		p.arrivals[session] = make(chan struct{})
	}
	return p.arrivals[session]
}

// notifyArrivals wakes whoever watches the arrivals of a session. It must be called with mu
// held.
func (p *Presence) notifyArrivals(session shoal.SessionID) {
	if arrived := p.arrivals[session]; arrived != nil {
		close(arrived)
		delete(p.arrivals, session)
	}
}

// presentEntities lists who of a session is not offline, in the order of ids.
func (p *Presence) presentEntities(session shoal.SessionID) (out []shoal.EntityID) {
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	for key, x := range p.activities {
		if key.Session == session && x.state(now) != shoal.Offline {
			out = append(out, key.ID)
		}
	}
	slices.Sort(out)
	return out
}

// FillLiveState fills in what e is doing now. A hosted agent is always there.
func (p *Presence) FillLiveState(e shoal.Entity) shoal.Entity {
	runs := e.State == shoal.Running
	e = p.FillState(e)
	switch {
	case runs && e.State != shoal.Waiting:
		e.State = shoal.Running
	case e.Hosted && e.State == shoal.Offline:
		e.State = shoal.Connected
	}
	return e
}

// FillState fills in what the calls of e say.
func (p *Presence) FillState(e shoal.Entity) shoal.Entity {
	e.State = shoal.Offline
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	x := p.activities[storage.EntityRef{Session: e.SessionID, ID: e.ID}]
	if x == nil {
		return e
	}
	e.State = x.state(now)
	if !x.lastCallAt.IsZero() {
		last := shoal.At(x.lastCallAt)
		e.LastSeenAt = &last
	}
	var ends time.Time
	for _, t := range x.waitEnds {
		if t.After(ends) {
			ends = t
		}
	}
	if !ends.IsZero() {
		at := shoal.At(ends)
		e.WaitEndsAt = &at
	}
	return e
}

// publishChangedStates tells followers about changed states; run once a second, it tells
// them at most once a second about each entity.
func (p *Presence) publishChangedStates(ctx context.Context) error {
	var errs []error
	for _, key := range p.takeChangedStates() {
		errs = append(errs, p.publishState(ctx, key))
	}
	return errors.Join(errs...)
}

// takeChangedStates returns whose state followers do not know, and takes it as told. They
// come in the order of ids, so that followers of several see the same order.
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
	slices.SortFunc(out, func(a, b storage.EntityRef) int {
		return cmp.Or(cmp.Compare(a.Session, b.Session), cmp.Compare(a.ID, b.ID))
	})
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
		p.core.Bus.Publish(Note{Topic: topic, Event: body})
	}
	return nil
}

// storeLoop stores now and then, and at the end, when entities were last seen and
// keys last used, and forgets those who are long gone.
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
		err = p.core.Store.Update(context.WithoutCancel(p.core.Ctx), func(tx storage.Tx) error { return tx.UsedKeys(keys) })
	}
	for some := range slices.Chunk(seen, storeBatchSize) {
		err = errors.Join(err, p.core.Store.Update(context.WithoutCancel(p.core.Ctx), func(tx storage.Tx) error { return tx.SawEntities(some) }))
	}
	if err != nil {
		p.core.Log.Error("the times of the last calls could not be stored", "error", err)
	}
}

func (p *Presence) takeUnstored() (seen []storage.Sighting, keys map[shoal.KeyID]shoal.Time) {
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	for key, x := range p.activities {
		if x.lastCallAt.After(x.storedAt) {
			seen = append(seen, storage.Sighting{Session: key.Session, Entity: key.ID, At: shoal.At(x.lastCallAt)})
			x.storedAt = x.lastCallAt
		}
		if x.state(now) == shoal.Offline && x.publishedState == shoal.Offline && now.Sub(x.lastCallAt) > forgetAfter {
			delete(p.activities, key)
		}
	}
	keys, p.keys = p.keys, map[shoal.KeyID]shoal.Time{}
	return seen, keys
}
