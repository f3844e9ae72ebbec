package core

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// Calls are the calls that stay open: waits and followers. Whoever takes a
// right away ends those that rest on it, or a revoked key would go on reading
// through a call that it opened before.
type Calls struct {
	mu        sync.Mutex
	open      map[*Call]struct{}
	revokedAt map[shoal.KeyID]time.Time // lately
}

// Call is one open call. Entity is whose right to read it rests on, if it is
// an entity's.
type Call struct {
	key     shoal.KeyID
	signIn  shoal.KeyID // of the browser that called; empty for a key in a header
	session shoal.SessionID
	entity  shoal.EntityID
	owner   bool // it reads as an owner of the session

	checkedAt time.Time     // when its rights were last read; guarded by callers.mu
	onEnd     func(error)   // nil is allowed
	Gone      chan struct{} // closed when the right has ended; err is set then
	err       error
}

// revokedKeyRetention is longer than it takes from proving a key to opening a call
// with it.
const revokedKeyRetention = time.Minute

// Enter notes an open call until leave. Rights that the store knows must be
// checked after it, so that none is taken away unseen.
func (c *Calls) Enter(who shoal.Principal, session shoal.SessionID, entity shoal.EntityID) *Call {
	return c.EnterWith(who, session, entity, nil)
}

// EnterWith is enter for a call that is to be called when its right has ended. onEnd
// must not block.
func (c *Calls) EnterWith(who shoal.Principal, session shoal.SessionID, entity shoal.EntityID, onEnd func(error)) *Call {
	x := &Call{
		key: who.KeyID, signIn: who.SignIn, session: session, entity: entity, owner: who.Owner && who.Role == shoal.RoleEntity,
		checkedAt: time.Now(), onEnd: onEnd, Gone: make(chan struct{}),
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, key := range []shoal.KeyID{x.key, x.signIn} {
		if _, late := c.revokedAt[key]; late {
			x.end(keyRevoked())
			return x
		}
	}
	if c.open == nil {
		c.open = map[*Call]struct{}{}
	}
	c.open[x] = struct{}{}
	return x
}

// Leave records that a call has ended.
func (c *Calls) Leave(x *Call) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.open, x)
}

// Err returns why the call must end, nil if it need not.
func (x *Call) Err() error {
	select {
	case <-x.Gone:
		return x.err
	default:
		return nil
	}
}

func (x *Call) end(err error) {
	x.err = err
	close(x.Gone)
	if x.onEnd != nil {
		x.onEnd(err)
	}
}

// EndKey ends the open calls of a revoked key, and those that enter with it within the next
// minute.
func (c *Calls) EndKey(id shoal.KeyID) {
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	for key, at := range c.revokedAt {
		if now.Sub(at) > revokedKeyRetention {
			delete(c.revokedAt, key)
		}
	}
	if c.revokedAt == nil {
		c.revokedAt = map[shoal.KeyID]time.Time{}
	}
	c.revokedAt[id] = now
	c.endMatching(keyRevoked(), func(x *Call) bool { return x.key == id || x.signIn == id })
}

// EndEntity ends the open calls that depend on an entity.
func (c *Calls) EndEntity(session shoal.SessionID, id shoal.EntityID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.endMatching(EntityNotFound(id), func(x *Call) bool { return x.session == session && x.entity == id })
}

// EndRole ends what an entity has open that is no owner of its session any more.
func (c *Calls) EndRole(session shoal.SessionID, id shoal.EntityID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.endMatching(roleChanged(id), func(x *Call) bool { return x.session == session && x.entity == id })
}

func roleChanged(id shoal.EntityID) error {
	return shoal.E("", shoal.Unauthenticated, fmt.Sprintf("The role of %q in the session has changed. Connect again.", id))
}

// EndSession ends the open calls in a session.
func (c *Calls) EndSession(id shoal.SessionID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.endMatching(SessionNotFound(id), func(x *Call) bool { return x.session == id })
}

// endMatching must be called with mu held.
func (c *Calls) endMatching(err error, matches func(*Call) bool) {
	for x := range c.open {
		if matches(x) {
			delete(c.open, x)
			x.end(err)
		}
	}
}

func keyRevoked() error {
	return shoal.E("", shoal.Unauthenticated, "This key was revoked. Ask an admin for a new one.")
}

// Another server, or a command beside this one, revokes keys and removes entities and
// sessions in the store alone. What an open call depends on is therefore read again at
// intervals, for all calls in one query. A call whose rights were not read for
// RecheckLimit ends, too: nobody knows whether its caller may still read.
const (
	RecheckEvery = 2 * time.Second
	RecheckLimit = 5 * time.Second
)

// HeldRights lists what the open calls depend on, each once. A key that the store does not
// know, like that of a server without keys, has no id that the hub gave.
func (c *Calls) HeldRights() storage.HeldRights {
	keys, sessions := map[shoal.KeyID]struct{}{}, map[shoal.SessionID]struct{}{}
	entities, owners := map[storage.EntityRef]struct{}{}, map[storage.EntityRef]struct{}{}
	c.mu.Lock()
	defer c.mu.Unlock()
	for x := range c.open {
		sessions[x.session] = struct{}{}
		for _, key := range []shoal.KeyID{x.key, x.signIn} {
			if strings.HasPrefix(string(key), shoal.PrefixKey) {
				keys[key] = struct{}{}
			}
		}
		e := storage.EntityRef{Session: x.session, ID: x.entity}
		if x.entity != "" {
			entities[e] = struct{}{}
		}
		if x.owner {
			owners[e] = struct{}{}
		}
	}
	return storage.HeldRights{Keys: keysOf(keys), Entities: keysOf(entities), Owners: keysOf(owners), Sessions: keysOf(sessions)}
}

func keysOf[T comparable](set map[T]struct{}) []T {
	keys := make([]T, 0, len(set))
	for x := range set {
		keys = append(keys, x)
	}
	return keys
}

// MarkChecked notes when the rights of the open calls were read: of those that were open
// then.
func (c *Calls) MarkChecked(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for x := range c.open {
		if x.checkedAt.Before(at) {
			x.checkedAt = at
		}
	}
}

// EndUnchecked ends the calls whose rights were read before a time, and counts them.
func (c *Calls) EndUnchecked(before time.Time) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	open := len(c.open)
	c.endMatching(uncheckedRights(), func(x *Call) bool { return !x.checkedAt.After(before) })
	return open - len(c.open)
}

// EndOwner ends what an entity has open as an owner of its session.
func (c *Calls) EndOwner(session shoal.SessionID, id shoal.EntityID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.endMatching(roleChanged(id), func(x *Call) bool { return x.owner && x.session == session && x.entity == id })
}

func uncheckedRights() error {
	err := shoal.E("", shoal.Busy, "The server could not read for 5 s whether this key still works. Try again in a moment.")
	err.RetryAfter = RecheckLimit
	return err
}
