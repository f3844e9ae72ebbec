package hub

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/shoal-dev/shoal"
)

// presence knows what entities are doing now on this node. It is never stored
// but for when they were last seen, and that with delay.
type presence struct {
	*core
	mu      sync.Mutex
	seen    map[EntityRef]*sight
	keys    map[shoal.KeyID]shoal.Time
	arrived map[shoal.SessionID]chan struct{} // of the sessions that somebody watches
	absent  map[EntityRef]lastSeen           // of entities that this node has not seen
}

// sight is what is known of one entity.
type sight struct {
	last    time.Time
	streams int
	waits   []time.Time // when each open wait ends at the latest
	told    shoal.State // the state that followers know
	stored  time.Time
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

func newPresence(c *core) *presence {
	return &presence{core: c, seen: map[EntityRef]*sight{}, keys: map[shoal.KeyID]shoal.Time{}, arrived: map[shoal.SessionID]chan struct{}{}, absent: map[EntityRef]lastSeen{}}
}

// Called notes that the principal's entity made a call now.
func (e *Entities) Called(who shoal.Principal, session shoal.SessionID) {
	if who.EntityID != "" {
		e.presence.called(session, who.EntityID)
	}
}

// called records that an entity made a call now.
func (p *presence) called(s shoal.SessionID, e shoal.EntityID) { p.note(s, e, func(*sight) {}) }

func (p *presence) opened(s shoal.SessionID, e shoal.EntityID) {
	p.note(s, e, func(x *sight) { x.streams++ })
}

func (p *presence) closed(s shoal.SessionID, e shoal.EntityID) {
	p.note(s, e, func(x *sight) { x.streams-- })
}

// waitOpened notes a wait that ends at the latest at the given time; waitClosed
// takes the same time.
func (p *presence) waitOpened(s shoal.SessionID, e shoal.EntityID, ends time.Time) {
	p.note(s, e, func(x *sight) { x.waits = append(x.waits, ends) })
}

func (p *presence) waitClosed(s shoal.SessionID, e shoal.EntityID, ends time.Time) {
	p.note(s, e, func(x *sight) {
		if i := slices.Index(x.waits, ends); i >= 0 {
			x.waits = slices.Delete(x.waits, i, i+1)
		}
	})
}

// touch makes followers learn anew about an entity.
func (p *presence) touch(s shoal.SessionID, e shoal.EntityID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sight(s, e).told = ""
}

func (p *presence) forget(s shoal.SessionID, e shoal.EntityID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.seen, EntityRef{s, e})
	delete(p.absent, EntityRef{s, e})
}

func (p *presence) used(id shoal.KeyID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.keys[id] = shoal.Now()
}

func (p *presence) note(s shoal.SessionID, e shoal.EntityID, change func(*sight)) {
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
		p.cameTo(s)
	}
}

// sight must be called with mu held.
func (p *presence) sight(s shoal.SessionID, e shoal.EntityID) *sight {
	key := EntityRef{s, e}
	x := p.seen[key]
	if x == nil {
		x = &sight{told: shoal.Offline}
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

// arrivals returns a channel that is closed when somebody of a session stops being
// offline.
func (p *presence) arrivals(session shoal.SessionID) <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.arrived[session] == nil {
		p.arrived[session] = make(chan struct{})
	}
	return p.arrived[session]
}

// cameTo wakes whoever watches the arrivals of a session. It must be called with mu
// held.
func (p *presence) cameTo(session shoal.SessionID) {
	if arrived := p.arrived[session]; arrived != nil {
		close(arrived)
		delete(p.arrived, session)
	}
}

// here lists who of a session is not offline, in the order of ids.
func (p *presence) here(session shoal.SessionID) (out []shoal.EntityID) {
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

// live fills in what e is doing now. A hosted agent is always there.
func (p *presence) live(e shoal.Entity) shoal.Entity {
	runs := e.State == shoal.Running
	e = p.felt(e)
	switch {
	case runs && e.State != shoal.Waiting:
		e.State = shoal.Running
	case e.Hosted && e.State == shoal.Offline:
		e.State = shoal.Connected
	}
	return e
}

// felt fills in what the calls of e say.
func (p *presence) felt(e shoal.Entity) shoal.Entity {
	e.State = shoal.Offline
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	x := p.seen[EntityRef{e.SessionID, e.ID}]
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
func (p *presence) announce(ctx context.Context) error {
	var errs []error
	for _, key := range p.changed() {
		errs = append(errs, p.tell(ctx, key))
	}
	return errors.Join(errs...)
}

// changed returns whose state followers do not know, and takes it as told. They
// come in the order of ids, so that followers of several see the same order.
func (p *presence) changed() (out []EntityRef) {
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	for key, x := range p.seen {
		if state := x.state(now); state != x.told {
			x.told = state
			out = append(out, key)
		}
	}
	slices.SortFunc(out, func(a, b EntityRef) int {
		return cmp.Or(cmp.Compare(a.Session, b.Session), cmp.Compare(a.ID, b.ID))
	})
	return out
}

func (p *presence) tell(ctx context.Context, key EntityRef) error {
	topics := []string{entityTopic(key.Session, key.ID), sessionTopic(key.Session)}
	topics = slices.DeleteFunc(topics, func(t string) bool { return !p.bus.Watched(t) })
	if len(topics) == 0 {
		return nil
	}
	var e shoal.Entity
	err := p.store.View(ctx, func(tx Tx) (err error) {
		if e, err = entityOf(tx, key.Session, key.ID); err != nil {
			return err
		}
		return running(tx, key.Session, &e)
	})
	if shoal.KindOf(err) == shoal.NotFound {
		return nil
	}
	if err != nil {
		return err
	}
	body, err := json.Marshal(shoal.EntityData{EventHead: shoal.EventHead{Type: shoal.EventEntityUpdated, At: shoal.Now()}, Entity: p.live(e)})
	if err != nil {
		return err
	}
	for _, topic := range topics {
		p.bus.Publish(Note{Topic: topic, Event: body})
	}
	return nil
}

// keep stores now and then, and at the end, when entities were last seen and
// keys last used, and forgets those who are long gone.
func (p *presence) keep(ctx context.Context) {
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

func (p *presence) flush() {
	seen, keys := p.unstored()
	var err error
	if len(keys) > 0 {
		err = p.store.Update(context.WithoutCancel(p.ctx), func(tx Tx) error { return tx.UsedKeys(keys) })
	}
	for some := range slices.Chunk(seen, flushTogether) {
		err = errors.Join(err, p.store.Update(context.WithoutCancel(p.ctx), func(tx Tx) error { return tx.SawEntities(some) }))
	}
	if err != nil {
		p.log.Error("the times of the last calls could not be stored", "error", err)
	}
}

func (p *presence) unstored() (seen []Sighting, keys map[shoal.KeyID]shoal.Time) {
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	for key, x := range p.seen {
		if x.last.After(x.stored) {
			seen = append(seen, Sighting{Session: key.Session, Entity: key.ID, At: shoal.At(x.last)})
			x.stored = x.last
		}
		if x.state(now) == shoal.Offline && x.told == shoal.Offline && now.Sub(x.last) > dropAfter {
			delete(p.seen, key)
		}
	}
	keys, p.keys = p.keys, map[shoal.KeyID]shoal.Time{}
	return seen, keys
}
