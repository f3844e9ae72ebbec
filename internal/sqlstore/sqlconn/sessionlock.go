package sqlconn

import (
	"crypto/rand"
	"slices"

	"github.com/shoal-dev/shoal"
)

// sessionLock is a session that the current transaction has locked.
type sessionLock struct {
	id    shoal.SessionID
	state string // that the last change has left, see [Cache]
	last  bool   // this connection has made that change

	changed  bool // by this transaction
	reshaped bool // by this transaction, in a way that gives the session another state
}

// Shares reports whether another connection was the last to change a session that the current or
// last transaction has locked.
func (c *Conn) Shares() bool {
	return slices.ContainsFunc(c.locked, func(l sessionLock) bool { return !l.last })
}

// Placed is a message that has got its place in a session.
type Placed struct {
	Space               shoal.SpaceID
	Seq, Arrival, Place int64
	Event               int64 // the position of its event, 0 if it has none
}

// caughtUp is what has changed in a session since a place.
type caughtUp struct {
	id    shoal.SessionID
	since int64
	event int64 // of the last event
	found []Placed
}

// maxCaughtUp is the number of messages that are read of what has changed.
const maxCaughtUp = 512

// beginSessions reports to the cache which sessions the transaction has locked, and what other
// connections have changed in them.
func (c *Conn) beginSessions() error {
	if c.outdated {
		c.cache.Reset()
		c.outdated = false
	}
	c.cache.Begin(0)
	var unread []caughtUp
	for _, l := range c.locked {
		since, stale := c.cache.BeginSession(l.id, l.state, l.last)
		if !stale {
			continue
		}
		i := slices.IndexFunc(c.caughtUp, func(r caughtUp) bool { return r.id == l.id && r.since == since })
		if i < 0 {
			unread = append(unread, caughtUp{id: l.id, since: since})
			continue
		}
		c.catchUp(c.caughtUp[i])
	}
	if len(unread) == 0 {
		return nil
	}
	c.startStatement()
	if err := c.dialect.catchUp(c, unread); err != nil {
		c.cache.Reset()
		return NewFailure(c.dialect.faultOf(err), "read positions", err)
	}
	for _, r := range unread {
		c.catchUp(r)
	}
	return nil
}

func (c *Conn) catchUp(r caughtUp) {
	c.cache.CatchUp(r.id, r.event, len(r.found) < maxCaughtUp, r.found)
}

// noteChange records that this transaction changes the sessions that it may change at this
// moment: other connections may not rely on what they know of them.
func (c *Conn) noteChange() {
	reshaped := false
	if c.cache != nil {
		now := c.cache.Reshaped()
		reshaped, c.reshaped = now != c.reshaped, now
	}
	for i := range c.locked {
		l := &c.locked[i]
		if c.changes == nil || slices.Contains(c.changes, l.id) {
			l.changed, l.reshaped = true, l.reshaped || reshaped
		}
	}
}

// marks returns the sessions in which other connections have to learn of this transaction: that
// its connection was the last, and of other ones that they cannot bring what they know up to date,
// for which there is a new state.
func (c *Conn) marks() (same, other []shoal.SessionID, state string) {
	for i := range c.locked {
		switch l := &c.locked[i]; {
		case !l.changed:
		case l.reshaped || l.state == "":
			if state == "" {
				state = rand.Text()
			}
			l.state, l.reshaped = state, true
			other = append(other, l.id)
		case !l.last:
			same = append(same, l.id)
		}
	}
	return same, other, state
}

// commit commits the transaction with its marks. It reports whether the outcome of an error is
// unknown.
func (c *Conn) commit() (failed *Failure, unknown bool) {
	same, other, state := c.marks()
	if len(same)+len(other) == 0 {
		failed = c.Control("COMMIT")
		return failed, failed != nil
	}
	c.startStatement()
	marked, err := c.dialect.commitMarked(c, same, other, state)
	if err == nil {
		return nil, false
	}
	failed = NewFailure(c.dialect.faultOf(err), "COMMIT", err)
	return failed, marked || failed.Fault == FaultLost
}

// endSessions reports to the cache, after the commit, which sessions have another state.
func (c *Conn) endSessions() {
	if c.cache == nil {
		return
	}
	for _, l := range c.locked {
		if l.changed && l.reshaped {
			c.cache.EndSession(l.id, l.state)
		}
	}
}
