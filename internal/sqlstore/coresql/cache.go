package coresql

import (
	"slices"

	"github.com/shoal-dev/shoal"
)

// Cache contains what the writer knows about the database from one transaction to the next,
// so that a post need not query again who is in its space and which positions come next. It
// belongs to the connection of the writer and is always right: the current transaction
// updates it with everything that it changes, it is reset when the transaction is rolled
// back, and a statement that changes one of its tables in any other way resets it (see
// [sqlconn.Conn.Exec]). Changes of other connections are detected at the start of a
// transaction: SQLite reports them, and in PostgreSQL the row of a session names the connection
// that changed it last. In a transaction of PostgreSQL that may change anything, the cache
// starts empty.
//
// The methods of a nil *Cache, that of a connection for reading, find nothing.
type Cache struct {
	version  int64 // changes when another process has changed the database
	sessions map[shoal.SessionID]shoal.Session
	spaces   map[idIn[shoal.SpaceID]]*cachedSpace
	places   map[shoal.SessionID]int64 // the last place
	events   map[shoal.SessionID]int64 // the last position
	members  int                       // of all spaces together
}

// idIn is an id in a session.
type idIn[T ~string] struct {
	session shoal.SessionID
	id      T
}

// cachedSpace is a space with its members, in the order of joining.
type cachedSpace struct {
	space   shoal.Space
	arrival int64          // of the newest final message, or -1 until it is read
	members []cachedMember // nil until they are read
}

// maxCachedMembers is the number of members up to which a space is cached with them. In a
// larger space, a post queries the members that concern it.
const maxCachedMembers = 128

// cachedMember is what a post needs of a member.
type cachedMember struct {
	id     shoal.EntityID
	hosted bool
	kind   shoal.EntityKind
	muted  bool
}

// maxCachedRows limits the size of the cache at the start of a transaction.
const maxCachedRows = 50_000

// cachedTables are the tables of which the cache contains rows. The last seq of a space is
// not in its row but in its messages.
var cachedTables = []string{"sessions", "spaces", "members", "inbox_places", "events"}

// NewCache returns an empty cache.
func NewCache() *Cache {
	c := &Cache{}
	c.Reset()
	return c
}

// size returns the number of cached rows.
func (c *Cache) size() int {
	return len(c.sessions) + len(c.spaces) + len(c.places) + len(c.events) + c.members
}

// Reset implements [sqlconn.Cache].
func (c *Cache) Reset() {
	if c == nil || c.sessions != nil && c.size() == 0 {
		return
	}
	c.members = 0
	c.sessions = map[shoal.SessionID]shoal.Session{}
	c.spaces = map[idIn[shoal.SpaceID]]*cachedSpace{}
	c.places = map[shoal.SessionID]int64{}
	c.events = map[shoal.SessionID]int64{}
}

// Begin implements [sqlconn.Cache].
func (c *Cache) Begin(version int64) {
	if c.size() > maxCachedRows || version != c.version {
		c.Reset()
		c.version = version
	}
}

// Covers implements [sqlconn.Cache].
func (c *Cache) Covers(table string) bool { return slices.Contains(cachedTables, table) }

// space returns a space, nil if it is not cached.
func (c *Cache) space(session shoal.SessionID, id shoal.SpaceID) *cachedSpace {
	if c == nil {
		return nil
	}
	return c.spaces[idIn[shoal.SpaceID]{session, id}]
}

func (c *Cache) putSpace(s shoal.Space) {
	if c != nil {
		c.spaces[idIn[shoal.SpaceID]{s.SessionID, s.ID}] = &cachedSpace{space: s, arrival: -1}
	}
}

// dropSpace must be called before a space or its members change.
func (c *Cache) dropSpace(session shoal.SessionID, id shoal.SpaceID) {
	if s := c.space(session, id); s != nil {
		c.members -= len(s.members)
		delete(c.spaces, idIn[shoal.SpaceID]{session, id})
	}
}

func (c *Cache) session(id shoal.SessionID) (shoal.Session, bool) {
	if c == nil {
		return shoal.Session{}, false
	}
	s, ok := c.sessions[id]
	return s, ok
}

func (c *Cache) putSession(s shoal.Session) {
	if c != nil {
		c.sessions[s.ID] = s
	}
}

func (c *Cache) eventEnd(id shoal.SessionID) (int64, bool) {
	if c == nil {
		return 0, false
	}
	last, ok := c.events[id]
	return last, ok
}

func (c *Cache) putEventEnd(id shoal.SessionID, last int64) {
	if c != nil {
		c.events[id] = last
	}
}

func (c *Cache) lastPlace(id shoal.SessionID) (int64, bool) {
	if c == nil {
		return 0, false
	}
	last, ok := c.places[id]
	return last, ok
}

func (c *Cache) putPlace(id shoal.SessionID, last int64) {
	if c != nil {
		c.places[id] = last
	}
}
