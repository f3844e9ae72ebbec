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
	core    *Core
	mu      sync.Mutex
	seen    map[storage.EntityRef]*sight
	keys    map[shoal.KeyID]shoal.Time
	arrived map[shoal.SessionID]chan struct{} // of the sessions that somebody watches
	absent  map[storage.EntityRef]lastSeen    // of entities that this node has not seen
}

// sight is what is known of one entity.
type sight struct {
	last      time.Time
	streams   int
	waits     []time.Time // when each open wait ends at the latest
	announced shoal.State // the state that followers know
	stored    time.Time
}

// Intervals of the upkeep.
const (
	announceEvery = time.Second
	storeEvery    = 30 * time.Second
	dropAfter     = 10 * time.Minute

	// flushTogether is how many sightings are stored at once: posts wait behind
	// them.
	flushTogether = 500
)

func newPresence(c *Core) *Presence {
	return &Presence{core: c, seen: map[storage.EntityRef]*sight{}, keys: map[shoal.KeyID]shoal.Time{}, arrived: map[shoal.SessionID]chan struct{}{}, absent: map[storage.EntityRef]lastSeen{}}
}

// MarkCall records that an entity made a call now.
func (p *Presence) MarkCall(s shoal.SessionID, e shoal.EntityID) { p.update(s, e, func(*sight) {}) }

// StreamOpened records a stream that an entity follows, until StreamClosed.
func (p *Presence) StreamOpened(s shoal.SessionID, e shoal.EntityID) {
	p.update(s, e, func(x *sight) { x.streams++ })
}

// StreamClosed records that a stream of an entity has ended.
func (p *Presence) StreamClosed(s shoal.SessionID, e shoal.EntityID) {
	p.update(s, e, func(x *sight) { x.streams-- })
}

// WaitOpened notes a wait that ends at the latest at the given time; WaitClosed
// takes the same time.
func (p *Presence) WaitOpened(s shoal.SessionID, e shoal.EntityID, ends time.Time) {
	p.update(s, e, func(x *sight) { x.waits = append(x.waits, ends) })
}

// WaitClosed records that a wait has ended that was opened with the same time.
func (p *Presence) WaitClosed(s shoal.SessionID, e shoal.EntityID, ends time.Time) {
	p.update(s, e, func(x *sight) {
		if i := slices.Index(x.waits, ends); i >= 0 {
			x.waits = slices.Delete(x.waits, i, i+1)
		}
	})
}

// Refresh makes followers learn anew about an entity.
func (p *Presence) Refresh(s shoal.SessionID, e shoal.EntityID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sight(s, e).announced = ""
}

// Forget drops what is known about an entity that is deleted.
func (p *Presence) Forget(s shoal.SessionID, e shoal.EntityID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.seen, storage.EntityRef{Session: s, ID: e})
	delete(p.absent, storage.EntityRef{Session: s, ID: e})
}

// MarkKeyUsed records that a key is used now.
func (p *Presence) MarkKeyUsed(id shoal.KeyID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.keys[id] = shoal.Now()
}

func (p *Presence) update(s shoal.SessionID, e shoal.EntityID, change func(*sight)) {
	if e == "" {
		return
	}
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	x := p.sight(s, e)
	away := x.state(now) == shoal.Offline
	x.last = now
	change(x)
	if away {
		p.wakeArrivals(s)
	}
}

// sight must be called with mu held.
func (p *Presence) sight(s shoal.SessionID, e shoal.EntityID) *sight {
	key := storage.EntityRef{Session: s, ID: e}
	x := p.seen[key]
	if x == nil {
		x = &sight{announced: shoal.Offline}
		p.seen[key] = x
	}
	return x
}

func (x *sight) state(now time.Time) shoal.State {
	switch {
	case len(x.waits) > 0:
		return shoal.Waiting
	case x.streams > 0 || now.Sub(x.last) < shoal.ConnectedFor:
		return shoal.Connected
	}
	return shoal.Offline
}

// Arrivals returns a channel that is closed when somebody of a session stops being
// offline.
func (p *Presence) Arrivals(session shoal.SessionID) <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.arrived[session] == nil {
		p.arrived[session] = make(chan struct{})
	}
	return p.arrived[session]
}

// wakeArrivals wakes whoever watches the arrivals of a session. It must be called with mu
// held.
func (p *Presence) wakeArrivals(session shoal.SessionID) {
	if arrived := p.arrived[session]; arrived != nil {
		close(arrived)
		delete(p.arrived, session)
	}
}

// presentHere lists who of a session is not offline, in the order of ids.
func (p *Presence) presentHere(session shoal.SessionID) (out []shoal.EntityID) {
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	for key, x := range p.seen {
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
	x := p.seen[storage.EntityRef{Session: e.SessionID, ID: e.ID}]
	if x == nil {
		return e
	}
	e.State = x.state(now)
	if !x.last.IsZero() {
		last := shoal.At(x.last)
		e.LastSeenAt = &last
	}
	var ends time.Time
	for _, t := range x.waits {
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

// announce tells followers about changed states; run once a second, it tells
// them at most once a second about each entity.
func (p *Presence) announce(ctx context.Context) error {
	var errs []error
	for _, key := range p.changed() {
		errs = append(errs, p.publish(ctx, key))
	}
	return errors.Join(errs...)
}

// changed returns whose state followers do not know, and takes it as told. They
// come in the order of ids, so that followers of several see the same order.
func (p *Presence) changed() (out []storage.EntityRef) {
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	for key, x := range p.seen {
		if state := x.state(now); state != x.announced {
			x.announced = state
			out = append(out, key)
		}
	}
	slices.SortFunc(out, func(a, b storage.EntityRef) int {
		return cmp.Or(cmp.Compare(a.Session, b.Session), cmp.Compare(a.ID, b.ID))
	})
	return out
}

func (p *Presence) publish(ctx context.Context, key storage.EntityRef) error {
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
	tick := time.NewTicker(storeEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			p.flush()
			return
		case <-tick.C:
			p.flush()
		}
	}
}

func (p *Presence) flush() {
	seen, keys := p.unstored()
	var err error
	if len(keys) > 0 {
		err = p.core.Store.Update(context.WithoutCancel(p.core.Ctx), func(tx storage.Tx) error { return tx.UsedKeys(keys) })
	}
	for some := range slices.Chunk(seen, flushTogether) {
		err = errors.Join(err, p.core.Store.Update(context.WithoutCancel(p.core.Ctx), func(tx storage.Tx) error { return tx.SawEntities(some) }))
	}
	if err != nil {
		p.core.Log.Error("the times of the last calls could not be stored", "error", err)
	}
}

func (p *Presence) unstored() (seen []storage.Sighting, keys map[shoal.KeyID]shoal.Time) {
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	for key, x := range p.seen {
		if x.last.After(x.stored) {
			seen = append(seen, storage.Sighting{Session: key.Session, Entity: key.ID, At: shoal.At(x.last)})
			x.stored = x.last
		}
		if x.state(now) == shoal.Offline && x.announced == shoal.Offline && now.Sub(x.last) > dropAfter {
			delete(p.seen, key)
		}
	}
	keys, p.keys = p.keys, map[shoal.KeyID]shoal.Time{}
	return seen, keys
}
