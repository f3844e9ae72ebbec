// Package rowcache keeps the rows that a post reads, on a connection that writes, so that a post
// need not query again who is in its space and which positions come next.
package rowcache

import (
	"slices"

	"github.com/shoal-dev/shoal"
)

// Cache contains what the writer knows about the database from one transaction to the next.
// It belongs to the connection of the writer and is always right: the current transaction
// updates it with everything that it changes, it is reset when the transaction is rolled
// back, and a statement that changes one of its tables in any other way resets it (see
// sqlconn.Conn.Exec). Changes of other connections are detected at the start of a
// transaction: SQLite reports them, and in PostgreSQL the row of a session names the connection
// that changed it last. In a transaction of PostgreSQL that may change anything, the cache
// starts empty.
//
// The methods of a nil *Cache, that of a connection for reading, find nothing.
type Cache struct {
	version  int64 // changes when another process has changed the database
	sessions map[shoal.SessionID]*session
	rows     int // of all sessions together
}

// session is what is known of a session.
type session struct {
	row    *shoal.Session // nil until it is read
	spaces map[shoal.SpaceID]*Space
	event  int64 // the last position of an event, or unknown
	place  int64 // the last place, or unknown
}

// unknown is a position that was not read yet.
const unknown = -1

// Space is a space with its members, in the order of joining.
type Space struct {
	Row     shoal.Space
	Arrival int64    // of the newest final message, or negative until it is read
	Members []Member // nil until they are read
}

// MaxMembers is the number of members up to which a space is cached with them. In a larger
// space, a post queries the members that concern it.
const MaxMembers = 128

// Member is what a post needs of a member.
type Member struct {
	ID     shoal.EntityID
	Hosted bool
	Kind   shoal.EntityKind
	Muted  bool
}

// maxRows limits the size of the cache at the start of a transaction.
const maxRows = 50_000

// tables are the tables of which the cache contains rows. The last seq of a space is not in
// its row but in its messages.
var tables = []string{"sessions", "spaces", "members", "inbox_places", "events"}

// New returns an empty cache.
func New() *Cache { return &Cache{sessions: map[shoal.SessionID]*session{}} }

// Reset implements sqlconn.Cache.
func (c *Cache) Reset() {
	if c == nil || len(c.sessions) == 0 {
		return
	}
	c.rows = 0
	c.sessions = map[shoal.SessionID]*session{}
}

// Begin implements sqlconn.Cache.
func (c *Cache) Begin(version int64) {
	if c.rows > maxRows || version != c.version {
		c.Reset()
		c.version = version
	}
}

// Covers implements sqlconn.Cache.
func (c *Cache) Covers(table string) bool { return slices.Contains(tables, table) }

// of returns what is known of a session, to add to it.
func (c *Cache) of(id shoal.SessionID) *session {
	s := c.sessions[id]
	if s == nil {
		s = &session{spaces: map[shoal.SpaceID]*Space{}, event: unknown, place: unknown}
		c.sessions[id] = s
		c.rows++
	}
	return s
}

// Space returns a space, nil if it is not cached. The caller updates it with what it changes.
func (c *Cache) Space(session shoal.SessionID, id shoal.SpaceID) *Space {
	if c == nil {
		return nil
	}
	if s := c.sessions[session]; s != nil {
		return s.spaces[id]
	}
	return nil
}

// PutSpace adds a space without its members.
func (c *Cache) PutSpace(row shoal.Space) {
	if c == nil {
		return
	}
	c.DropSpace(row.SessionID, row.ID)
	c.of(row.SessionID).spaces[row.ID] = &Space{Row: row, Arrival: unknown}
	c.rows++
}

// PutMembers adds the members of a cached space.
func (c *Cache) PutMembers(s *Space, members []Member) {
	s.Members = members
	c.rows += len(members)
}

// DropSpace must be called before a space or its members change.
func (c *Cache) DropSpace(session shoal.SessionID, id shoal.SpaceID) {
	if s := c.Space(session, id); s != nil {
		c.rows -= 1 + len(s.Members)
		delete(c.sessions[session].spaces, id)
	}
}

// Session returns the row of a session, if it is cached.
func (c *Cache) Session(id shoal.SessionID) (row shoal.Session, ok bool) {
	if c == nil {
		return row, false
	}
	if s := c.sessions[id]; s != nil && s.row != nil {
		return *s.row, true
	}
	return row, false
}

// PutSession adds the row of a session.
func (c *Cache) PutSession(row shoal.Session) {
	if c != nil {
		c.of(row.ID).row = &row
	}
}

// EventEnd returns the position of the last event of a session, if it is known.
func (c *Cache) EventEnd(id shoal.SessionID) (last int64, ok bool) {
	if c == nil {
		return 0, false
	}
	if s := c.sessions[id]; s != nil && s.event != unknown {
		return s.event, true
	}
	return 0, false
}

// PutEventEnd records the position of the last event of a session.
func (c *Cache) PutEventEnd(id shoal.SessionID, last int64) {
	if c != nil {
		c.of(id).event = last
	}
}

// LastPlace returns the last place of a session, if it is known.
func (c *Cache) LastPlace(id shoal.SessionID) (last int64, ok bool) {
	if c == nil {
		return 0, false
	}
	if s := c.sessions[id]; s != nil && s.place != unknown {
		return s.place, true
	}
	return 0, false
}

// PutPlace records the last place of a session.
func (c *Cache) PutPlace(id shoal.SessionID, last int64) {
	if c != nil {
		c.of(id).place = last
	}
}
