// Package rowcache keeps the rows that a post reads, on a connection that writes, so that a post
// need not query the members of its space and the next positions again.
package rowcache

import (
	"slices"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/sqlstore/sqlconn"
)

// Cache contains what the writer knows about the database from one transaction to the next.
// It belongs to the connection of the writer and is always right: the current transaction
// updates it with everything that it changes, it is reset when the transaction is rolled
// back, and a statement that changes one of its tables in any other way resets it (see
// [sqlconn.Conn.Exec]). Changes of other connections are detected at the start of a
// transaction: SQLite reports them, and in PostgreSQL the row of a session names the connection
// that changed it last and the session's state, which is the same as long as there were only
// posts. Then only positions have changed, and [Cache.CatchUp] brings them up to date. In a
// transaction of PostgreSQL that may change anything, the cache starts empty.
//
// The methods of a nil *Cache, that of a connection for reading, find nothing.
type Cache struct {
	version  int64 // changes when another process has changed the database
	reshaped int64 // see Reshaped
	sessions map[shoal.SessionID]*session
	rows     int // of all sessions together
}

// session is what is known of a session.
type session struct {
	state  string         // of the session when the rows were read; empty in SQLite
	shared bool           // another connection had changed it when it was last locked
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
	listed  []shoal.Member
}

// Listed returns Members as clients see them. The caller must not change them.
func (s *Space) Listed() []shoal.Member {
	if s.listed == nil {
		s.listed = make([]shoal.Member, len(s.Members))
		for i, m := range s.Members {
			s.listed[i] = m.Member
		}
	}
	return s.listed
}

// MaxMembers is the number of members up to which a space is cached with them. In a larger
// space, a post queries the members that concern it.
const MaxMembers = 128

// Member is a member of a space, and whether it is a hosted agent.
type Member struct {
	shoal.Member
	Hosted bool
}

// maxRows limits the size of the cache at the start of a transaction.
const maxRows = 50_000

// tables are the tables of which the cache contains rows, or columns as the names of members. The
// last seq of a space is not in its row but in its messages.
var tables = []string{"sessions", "spaces", "members", "entities", "inbox_places", "events"}

// New returns an empty cache.
func New() *Cache { return &Cache{sessions: map[shoal.SessionID]*session{}} }

// Reset implements [sqlconn.Cache].
func (c *Cache) Reset() {
	if c == nil {
		return
	}
	c.reshaped++
	if len(c.sessions) == 0 {
		return
	}
	c.rows = 0
	c.sessions = map[shoal.SessionID]*session{}
}

// Begin implements [sqlconn.Cache].
func (c *Cache) Begin(version int64) {
	if c.rows > maxRows || version != c.version {
		c.Reset()
		c.version = version
	}
}

// BeginSession implements [sqlconn.Cache].
func (c *Cache) BeginSession(id shoal.SessionID, state string, last bool) (since int64, stale bool) {
	s := c.sessions[id]
	if s != nil && (state == "" || s.state != state) {
		c.forget(id)
	}
	s = c.of(id)
	s.state, s.shared = state, !last
	if last {
		return 0, false
	}
	if s.place == unknown {
		c.dropPositions(s)
		return 0, false
	}
	return s.place, true
}

// Since implements [sqlconn.Cache].
func (c *Cache) Since(id shoal.SessionID) (since int64, likely bool) {
	if s := c.sessions[id]; s != nil && s.shared && s.place != unknown {
		return s.place, true
	}
	return 0, false
}

// CatchUp implements [sqlconn.Cache].
func (c *Cache) CatchUp(id shoal.SessionID, event int64, all bool, since []sqlconn.Placed) {
	s := c.sessions[id]
	if !all || s.place == unknown {
		c.dropPositions(s)
		return
	}
	for _, m := range since {
		event, s.place = max(event, m.Event), max(s.place, m.Place)
		space := s.spaces[m.Space]
		if space == nil {
			continue
		}
		space.Row.LastSeq = max(space.Row.LastSeq, m.Seq)
		if space.Arrival != unknown {
			space.Arrival = max(space.Arrival, m.Arrival)
		}
	}
	if s.event != unknown { // event can be before a post that is older than since
		s.event = max(s.event, event)
	}
}

// dropPositions drops what is known of a session except its row.
func (c *Cache) dropPositions(s *session) {
	c.rows -= s.rows()
	clear(s.spaces)
	s.event, s.place = unknown, unknown
}

// EndSession implements [sqlconn.Cache].
func (c *Cache) EndSession(id shoal.SessionID, state string) { c.of(id).state = state }

// forget drops what is known of a session.
func (c *Cache) forget(id shoal.SessionID) {
	s := c.sessions[id]
	c.rows -= 1 + s.rows()
	delete(c.sessions, id)
}

// rows returns how many rows of spaces and members are cached.
func (s *session) rows() (n int) {
	for _, space := range s.spaces {
		n += 1 + len(space.Members)
	}
	return n
}

// Reshaped implements [sqlconn.Cache].
func (c *Cache) Reshaped() int64 { return c.reshaped }

// Reshape must be called before a change of positions that CatchUp does not learn of: it learns of
// events, and of messages that get their places.
func (c *Cache) Reshape() {
	if c != nil {
		c.reshaped++
	}
}

// Covers implements [sqlconn.Cache].
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

// PutSpace adds a space that is not cached, without its members.
func (c *Cache) PutSpace(row shoal.Space) {
	if c == nil {
		return
	}
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
	if c == nil {
		return
	}
	c.reshaped++
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
