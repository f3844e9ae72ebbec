package sqlstore

import (
	"slices"
	"strings"

	"github.com/shoal-dev/shoal"
)

// known is what the writer remembers of the database from one transaction to the
// next, so that a post does not ask again who is in its space and which places come
// next. It belongs to the writer's connection and is never wrong: what the
// transaction under way does to it is noted as it is done, everything is forgotten
// when that is undone, and a statement that changes one of its tables in any other
// way empties it (see prepare). What other processes write is noticed at the
// beginning of a transaction, where the dialect can tell; where it cannot, nothing
// is kept from one transaction to the next.
//
// The methods of a nil *known, that of a connection for reading, know nothing.
type known struct {
	version  int64 // of the database, as others change it
	sessions map[shoal.SessionID]shoal.Session
	spaces   map[placeIn[shoal.SpaceID]]*knownSpace
	inboxes  map[placeIn[shoal.EntityID]]inboxEnd
	events   map[shoal.SessionID]int64 // the last place
	members  int                       // of all spaces together
}

// placeIn is an id in a session.
type placeIn[T ~string] struct {
	session shoal.SessionID
	id      T
}

// knownSpace is a space with its members, in the order of their joining.
type knownSpace struct {
	space   shoal.Space
	members []knownMember // nil until somebody asked
}

// knownMember is what a post wants to know of a member.
type knownMember struct {
	id     shoal.EntityID
	hosted bool
	kind   shoal.EntityKind
	muted  bool
}

// inboxEnd is the last place that was given in an inbox, and which of them the
// table inboxes tells.
type inboxEnd struct{ last, stored int64 }

// knownMost is how much is remembered at most, in rows.
const knownMost = 50_000

// knownTables are those that are remembered something of. A space's last seq is not
// in its row: messages tell it.
var knownTables = []string{"sessions", "spaces", "members", "inboxes", "events"}

func newKnown() *known {
	k := &known{}
	k.forget()
	return k
}

// size is how many rows are remembered.
func (k *known) size() int {
	return len(k.sessions) + len(k.spaces) + len(k.inboxes) + len(k.events) + k.members
}

// forget empties k.
func (k *known) forget() {
	if k == nil || k.sessions != nil && k.size() == 0 {
		return
	}
	k.members = 0
	k.sessions = map[shoal.SessionID]shoal.Session{}
	k.spaces = map[placeIn[shoal.SpaceID]]*knownSpace{}
	k.inboxes = map[placeIn[shoal.EntityID]]inboxEnd{}
	k.events = map[shoal.SessionID]int64{}
}

// begin keeps what still holds at the beginning of a transaction on c.
func (k *known) begin(c *conn) error {
	if k == nil {
		return nil
	}
	if c.dialect.version == "" || k.size() > knownMost {
		k.forget()
		return nil
	}
	version, err := number(c, c.dialect.version)
	if err != nil || version != k.version {
		k.forget()
		k.version = version
	}
	return err
}

// changesKnown reports whether a statement changes a table of which something is
// remembered.
func changesKnown(query string) bool {
	for _, verb := range []string{"INSERT INTO ", "UPDATE ", "DELETE FROM "} {
		if rest, found := strings.CutPrefix(strings.TrimSpace(query), verb); found {
			if end := strings.IndexAny(rest, " ("); end >= 0 {
				rest = rest[:end]
			}
			return slices.Contains(knownTables, rest)
		}
	}
	return false
}

// space returns what is known of a space, nil if that is nothing.
func (k *known) space(session shoal.SessionID, id shoal.SpaceID) *knownSpace {
	if k == nil {
		return nil
	}
	return k.spaces[placeIn[shoal.SpaceID]{session, id}]
}

func (k *known) noteSpace(s shoal.Space) {
	if k != nil {
		k.spaces[placeIn[shoal.SpaceID]{s.SessionID, s.ID}] = &knownSpace{space: s}
	}
}

// forgetSpace is for what changes a space or who is in it.
func (k *known) forgetSpace(session shoal.SessionID, id shoal.SpaceID) {
	if s := k.space(session, id); s != nil {
		k.members -= len(s.members)
		delete(k.spaces, placeIn[shoal.SpaceID]{session, id})
	}
}

func (k *known) session(id shoal.SessionID) (shoal.Session, bool) {
	if k == nil {
		return shoal.Session{}, false
	}
	s, ok := k.sessions[id]
	return s, ok
}

func (k *known) noteSession(s shoal.Session) {
	if k != nil {
		k.sessions[s.ID] = s
	}
}

func (k *known) eventEnd(id shoal.SessionID) (int64, bool) {
	if k == nil {
		return 0, false
	}
	last, ok := k.events[id]
	return last, ok
}

func (k *known) noteEventEnd(id shoal.SessionID, last int64) {
	if k != nil {
		k.events[id] = last
	}
}

func (k *known) inboxEnd(session shoal.SessionID, id shoal.EntityID) (inboxEnd, bool) {
	if k == nil {
		return inboxEnd{}, false
	}
	end, ok := k.inboxes[placeIn[shoal.EntityID]{session, id}]
	return end, ok
}

func (k *known) noteInboxEnd(session shoal.SessionID, id shoal.EntityID, end inboxEnd) {
	if k != nil {
		k.inboxes[placeIn[shoal.EntityID]{session, id}] = end
	}
}
