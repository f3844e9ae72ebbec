package hub

import (
	"context"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
)

// Another server, or a command beside this one, revokes keys and removes entities and
// sessions in the store alone. What an open call depends on is therefore read again at
// intervals, for all calls in one query. A call whose rights were not read for
// recheckLimit ends, too: nobody knows whether its caller may still read.
const (
	recheckEvery = 2 * time.Second
	recheckLimit = 5 * time.Second
)

// EntityRef names an entity across sessions.
type EntityRef struct {
	Session shoal.SessionID
	ID      shoal.EntityID
}

// HeldRights are the keys, entities and sessions that open calls depend on. Owners are
// the entities that have to be owners of their session besides.
type HeldRights struct {
	Keys     []shoal.KeyID
	Entities []EntityRef
	Owners   []EntityRef
	Sessions []shoal.SessionID
}

// recheck ends the open calls whose rights are gone from the store.
func (k *Keys) recheck(ctx context.Context) error {
	held := k.callers.held()
	if len(held.Sessions) == 0 {
		return nil
	}
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, recheckLimit)
	defer cancel()
	var ended HeldRights
	err := k.store.ViewFirst(ctx, func(tx Tx) (err error) {
		ended, err = tx.EndedRights(held, shoal.Time{Time: began})
		return err
	})
	if err != nil {
		return err
	}
	if len(ended.Keys)+len(ended.Entities)+len(ended.Owners)+len(ended.Sessions) > 0 {
		k.revocations.Add(1)
		k.end(ended)
	}
	k.callers.checked(began)
	return nil
}

// end ends what depends on the given rights, the narrowest first.
func (k *Keys) end(ended HeldRights) {
	for _, session := range ended.Sessions {
		k.callers.endSession(session)
	}
	for _, e := range ended.Entities {
		k.callers.endEntity(e.Session, e.ID)
	}
	for _, e := range ended.Owners {
		k.callers.endOwner(e.Session, e.ID)
	}
	for _, id := range ended.Keys {
		k.callers.endKey(id)
	}
}

// expire ends the open calls whose rights could not be read for too long.
func (k *Keys) expire(context.Context) error {
	if n := k.callers.endUnchecked(time.Now().Add(-recheckLimit)); n > 0 {
		k.log.Error("open calls were ended because their rights could not be read for too long", "calls", n, "limit", recheckLimit)
	}
	return nil
}

// Watch calls ended, once and from any goroutine, when the right of who to an open call
// in the session is taken away, on this server or another, or could not be read for
// five seconds. ended must not block. The caller must call stop.
func (k *Keys) Watch(who shoal.Principal, session shoal.SessionID, ended func(error)) (stop func()) {
	x := k.callers.enterWith(who, session, ownEntity(who), ended)
	return func() { k.callers.leave(x) }
}

// held lists what the open calls depend on, each once. A key that the store does not
// know, like that of a server without keys, has no id that the hub gave.
func (c *callers) held() HeldRights {
	keys, sessions := map[shoal.KeyID]struct{}{}, map[shoal.SessionID]struct{}{}
	entities, owners := map[EntityRef]struct{}{}, map[EntityRef]struct{}{}
	c.mu.Lock()
	defer c.mu.Unlock()
	for x := range c.open {
		sessions[x.session] = struct{}{}
		for _, key := range []shoal.KeyID{x.key, x.signIn} {
			if strings.HasPrefix(string(key), shoal.PrefixKey) {
				keys[key] = struct{}{}
			}
		}
		e := EntityRef{x.session, x.entity}
		if x.entity != "" {
			entities[e] = struct{}{}
		}
		if x.owner {
			owners[e] = struct{}{}
		}
	}
	return HeldRights{Keys: listOf(keys), Entities: listOf(entities), Owners: listOf(owners), Sessions: listOf(sessions)}
}

func listOf[T comparable](set map[T]struct{}) []T {
	list := make([]T, 0, len(set))
	for x := range set {
		list = append(list, x)
	}
	return list
}

// checked notes when the rights of the open calls were read: of those that were open
// then.
func (c *callers) checked(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for x := range c.open {
		if x.checkedAt.Before(at) {
			x.checkedAt = at
		}
	}
}

// endUnchecked ends the calls whose rights were read before a time, and counts them.
func (c *callers) endUnchecked(before time.Time) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	open := len(c.open)
	c.endWhere(uncheckedRights(), func(x *caller) bool { return !x.checkedAt.After(before) })
	return open - len(c.open)
}

// endOwner ends what an entity has open as an owner of its session.
func (c *callers) endOwner(session shoal.SessionID, id shoal.EntityID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.endWhere(roleChanged(id), func(x *caller) bool { return x.owner && x.session == session && x.entity == id })
}

func uncheckedRights() error {
	err := shoal.E("", shoal.Busy, "The server could not read for 5 s whether this key still works. Try again in a moment.")
	err.RetryAfter = recheckLimit
	return err
}

// Start starts the tasks that end open calls whose rights have ended.
func (k *Keys) Start() {
	k.own(func(ctx context.Context) { k.every(ctx, recheckEvery, "rights of open calls", k.recheck) })
	k.own(func(ctx context.Context) { k.every(ctx, time.Second, "unchecked rights", k.expire) })
}
