package hub

import (
	"fmt"
	"sync"
	"time"

	"github.com/shoal-dev/shoal"
)

// callers are the calls that stay open: waits and followers. Whoever takes a
// right away ends those that rest on it, or a revoked key would go on reading
// through a call that it opened before.
type callers struct {
	mu      sync.Mutex
	open    map[*caller]struct{}
	revoked map[shoal.KeyID]time.Time // lately
}

// caller is one open call. Entity is whose right to read it rests on, if it is
// an entity's.
type caller struct {
	key     shoal.KeyID
	signIn  shoal.KeyID // of the browser that called; empty for a key in a header
	session shoal.SessionID
	entity  shoal.EntityID
	owner   bool // it reads as an owner of the session

	checkedAt time.Time     // when its rights were last read; guarded by callers.mu
	onEnd     func(error)   // nil is allowed
	gone      chan struct{} // closed when the right has ended; err is set then
	err       error
}

// rememberRevoked is longer than it takes from proving a key to opening a call
// with it.
const rememberRevoked = time.Minute

// enter notes an open call until leave. Rights that the store knows must be
// checked after it, so that none is taken away unseen.
func (c *callers) enter(who shoal.Principal, session shoal.SessionID, entity shoal.EntityID) *caller {
	return c.enterWith(who, session, entity, nil)
}

// enterWith is enter for a call that is to be called when its right has ended. onEnd
// must not block.
func (c *callers) enterWith(who shoal.Principal, session shoal.SessionID, entity shoal.EntityID, onEnd func(error)) *caller {
	x := &caller{
		key: who.KeyID, signIn: who.SignIn, session: session, entity: entity, owner: who.Owner && who.Role == shoal.RoleEntity,
		checkedAt: time.Now(), onEnd: onEnd, gone: make(chan struct{}),
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, key := range []shoal.KeyID{x.key, x.signIn} {
		if _, late := c.revoked[key]; late {
			x.end(keyRevoked())
			return x
		}
	}
	if c.open == nil {
		c.open = map[*caller]struct{}{}
	}
	c.open[x] = struct{}{}
	return x
}

func (c *callers) leave(x *caller) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.open, x)
}

// ended returns why the call must end, nil if it need not.
func (x *caller) ended() error {
	select {
	case <-x.gone:
		return x.err
	default:
		return nil
	}
}

func (x *caller) end(err error) {
	x.err = err
	close(x.gone)
	if x.onEnd != nil {
		x.onEnd(err)
	}
}

func (c *callers) endKey(id shoal.KeyID) {
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	for key, at := range c.revoked {
		if now.Sub(at) > rememberRevoked {
			delete(c.revoked, key)
		}
	}
	if c.revoked == nil {
		c.revoked = map[shoal.KeyID]time.Time{}
	}
	c.revoked[id] = now
	c.endWhere(keyRevoked(), func(x *caller) bool { return x.key == id || x.signIn == id })
}

func (c *callers) endEntity(session shoal.SessionID, id shoal.EntityID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.endWhere(noEntity(id), func(x *caller) bool { return x.session == session && x.entity == id })
}

// endRole ends what an entity has open that is no owner of its session any more.
func (c *callers) endRole(session shoal.SessionID, id shoal.EntityID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.endWhere(roleChanged(id), func(x *caller) bool { return x.session == session && x.entity == id })
}

func roleChanged(id shoal.EntityID) error {
	return shoal.E("", shoal.Unauthenticated, fmt.Sprintf("The role of %q in the session has changed. Connect again.", id))
}

func (c *callers) endSession(id shoal.SessionID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.endWhere(noSession(id), func(x *caller) bool { return x.session == id })
}

// endWhere must be called with mu held.
func (c *callers) endWhere(err error, which func(*caller) bool) {
	for x := range c.open {
		if which(x) {
			delete(c.open, x)
			x.end(err)
		}
	}
}

func keyRevoked() error {
	return shoal.E("", shoal.Unauthenticated, "This key was revoked. Ask an admin for a new one.")
}
