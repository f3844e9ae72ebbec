package core

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// Calls are the open calls of this server: waits and followers. Withdrawing a right ends
// the calls that depend on it. Otherwise a revoked key could go on reading through a call
// that it opened before.
type Calls struct {
	mu        sync.Mutex
	open      map[*Call]struct{}
	revokedAt map[shoal.KeyID]time.Time // the keys revoked within the last revokedKeyRetention
}

// Call is one open call. If entity is set, the call reads with the rights of that entity.
type Call struct {
	key     shoal.KeyID
	signIn  shoal.KeyID // the sign-in of the browser that called; empty for a key in a header
	session shoal.SessionID
	entity  shoal.EntityID
	role    shoal.SessionRole // of the entity when the call began; empty if unknown

	checkedAt time.Time     // when its rights were last read; guarded by Calls.mu
	onEnd     func(error)   // nil is allowed
	Gone      chan struct{} // closed when the right has ended; err is set then
	err       error
}

// revokedKeyRetention is how long a revoked key is remembered. It is longer than the time
// between proving a key and opening a call with it.
const revokedKeyRetention = time.Minute

// Enter registers an open call until [Calls.Leave]. The caller must check the rights in the
// store after Enter returns, so that no revocation goes unnoticed in between.
func (c *Calls) Enter(caller shoal.Principal, session shoal.SessionID, entity shoal.EntityID) *Call {
	return c.EnterWith(caller, session, entity, nil)
}

// EnterWith is Enter with a function that is called when the call has to end because its
// right has ended. onEnd must not block.
func (c *Calls) EnterWith(caller shoal.Principal, session shoal.SessionID, entity shoal.EntityID, onEnd func(error)) *Call {
	x := &Call{
		key: caller.KeyID, signIn: caller.SignIn, session: session, entity: entity, role: roleOf(caller),
		checkedAt: time.Now(), onEnd: onEnd, Gone: make(chan struct{}),
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, key := range []shoal.KeyID{x.key, x.signIn} {
		if _, late := c.revokedAt[key]; late {
			x.end(keyRevokedError())
			return x
		}
	}
	if c.open == nil {
		c.open = map[*Call]struct{}{}
	}
	c.open[x] = struct{}{}
	return x
}

// Leave removes a call that has ended.
func (c *Calls) Leave(x *Call) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.open, x)
}

// Err returns the reason why the call must end, or nil if it may continue.
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

// EndKey ends the open calls of a revoked key, and those that are entered with it within
// the next minute.
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
	c.endMatching(keyRevokedError(), func(x *Call) bool { return x.key == id || x.signIn == id })
}

// EndEntity ends the open calls that depend on an entity, because it was deleted.
func (c *Calls) EndEntity(session shoal.SessionID, id shoal.EntityID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.endMatching(EntityNotFound(id), func(x *Call) bool { return x.session == session && x.entity == id })
}

// EndRole ends the open calls of an entity that has got another role in its session.
func (c *Calls) EndRole(session shoal.SessionID, id shoal.EntityID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.endMatching(roleChangedError(id), func(x *Call) bool { return x.session == session && x.entity == id })
}

// roleOf returns the session role with whose rights a caller calls, empty for keys without an
// entity.
func roleOf(caller shoal.Principal) shoal.SessionRole {
	if caller.Role == shoal.RoleEntity {
		return caller.SessionRole
	}
	return ""
}

func roleChangedError(id shoal.EntityID) error {
	return shoal.E("", shoal.Unauthenticated, fmt.Sprintf("The role of %q in the session has changed. Connect again.", id))
}

// EndSession ends the open calls in a session, because it was deleted.
func (c *Calls) EndSession(id shoal.SessionID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.endMatching(SessionNotFound(id), func(x *Call) bool { return x.session == id })
}

// endMatching ends the calls that matches selects. The caller must hold mu.
func (c *Calls) endMatching(err error, matches func(*Call) bool) {
	for x := range c.open {
		if matches(x) {
			delete(c.open, x)
			x.end(err)
		}
	}
}

func keyRevokedError() error {
	return shoal.E("", shoal.Unauthenticated, "This key was revoked. Ask an admin for a new one.")
}

// RecheckEvery is how often the rights of the open calls are read again, for all calls in
// one query: another server, or a command on this machine, revokes keys and removes
// entities and sessions only in the store. A call whose rights could not be read for
// RecheckLimit ends, too, because its caller may have lost the right to read.
const (
	RecheckEvery = 2 * time.Second
	RecheckLimit = 5 * time.Second
)

// HeldRights lists the rights that the open calls depend on, each once. It skips keys that
// the store does not know, such as that of a server without keys: their ids do not have the
// prefix of ids that the hub creates.
func (c *Calls) HeldRights() storage.HeldRights {
	keys, sessions := map[shoal.KeyID]struct{}{}, map[shoal.SessionID]struct{}{}
	entities, roles := map[storage.EntityRef]struct{}{}, map[storage.HeldRole]struct{}{}
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
		switch {
		case x.entity == "":
		case x.role == "":
			entities[e] = struct{}{}
		default:
			roles[storage.HeldRole{EntityRef: e, Role: x.role}] = struct{}{}
		}
	}
	return storage.HeldRights{Keys: keysOf(keys), Entities: keysOf(entities), Roles: keysOf(roles), Sessions: keysOf(sessions)}
}

func keysOf[T comparable](set map[T]struct{}) []T {
	keys := make([]T, 0, len(set))
	for x := range set {
		keys = append(keys, x)
	}
	return keys
}

// MarkChecked records that the rights of the calls that were open at that time were read
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

// EndUnchecked ends the calls whose rights were last read at or before a time, and returns
// their number.
func (c *Calls) EndUnchecked(before time.Time) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	open := len(c.open)
	c.endMatching(uncheckedRightsError(), func(x *Call) bool { return !x.checkedAt.After(before) })
	return open - len(c.open)
}

// EndHeldRole ends the open calls that an entity made in a role that it has lost.
func (c *Calls) EndHeldRole(r storage.HeldRole) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.endMatching(roleChangedError(r.ID), func(x *Call) bool { return x.role == r.Role && x.session == r.Session && x.entity == r.ID })
}

func uncheckedRightsError() error {
	err := shoal.E("", shoal.Busy, "The server could not read for 5 s whether this key still works. Try again in a moment.")
	err.RetryAfter = RecheckLimit
	return err
}
