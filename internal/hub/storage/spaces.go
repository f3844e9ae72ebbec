package storage

import (
	"github.com/shoal-dev/shoal"
)

// SpaceTx stores spaces. Members and the counts of unread messages of the returned spaces are
// empty. LastSeq is the seq of the last message and MemberCount the number of members,
// regardless of what was stored.
type SpaceTx interface {
	Space(session shoal.SessionID, id shoal.SpaceID) (shoal.Space, error)
	// LockSpace is Space for a transaction that will change the space, its members or its
	// timeline: no other transaction changes them until this one ends.
	LockSpace(session shoal.SessionID, id shoal.SpaceID) (shoal.Space, error)
	Spaces(session shoal.SessionID, filter SpaceFilter) ([]shoal.Space, error)
	InsertSpace(s shoal.Space) error
	// DeleteSpace removes a space with its memberships and inbox entries. Its id cannot be
	// used again. EraseSpace erases the rest of its data. place is the position of its
	// last event.
	DeleteSpace(session shoal.SessionID, id shoal.SpaceID, place int64) error
	// DeletedSpace reports whether a space with this id existed and is deleted.
	DeletedSpace(session shoal.SessionID, id shoal.SpaceID) (bool, error)
	// EraseSpace erases about limit rows of the remaining data of a deleted space:
	// messages and their words in the search index, runs that started there and their
	// pending actions, conversations, memories, files that no other space shows, and all
	// but its last events. It reports whether there may be more.
	EraseSpace(session shoal.SessionID, id shoal.SpaceID, limit int) (more bool, err error)
	// LeftSpaces returns the first limit deleted spaces that may have remaining data.
	LeftSpaces(limit int) ([]DeletedSpace, error)
	// CountCreated counts the spaces that an entity owns, and stops at upTo.
	CountCreated(session shoal.SessionID, by shoal.EntityID, upTo int) (int, error)
	// UpdateSpace stores name, status, summary, admin agent, reasoning flag,
	// metadata and closing time. The owner does not change.
	UpdateSpace(s shoal.Space) error
}

// DeletedSpace identifies a deleted space.
type DeletedSpace struct {
	Session shoal.SessionID
	ID      shoal.SpaceID
}

// SpaceFilter selects spaces, in the order of ids.
type SpaceFilter struct {
	// Member, if set, selects only spaces that this entity is in.
	Member shoal.EntityID
	// OpenOnly excludes closed spaces.
	OpenOnly bool
	// After is the id after which the list starts; Limit is its maximum length, 0 for
	// all.
	After shoal.SpaceID
	Limit int
}

// MemberTx stores the members of spaces.
type MemberTx interface {
	// Members lists at most limit members in the order of ids, after the given one.
	Members(session shoal.SessionID, space shoal.SpaceID, after shoal.EntityID, limit int) ([]shoal.Member, error)
	// MemberEntities is Members with everything that is stored of the entities.
	MemberEntities(session shoal.SessionID, space shoal.SpaceID, after shoal.EntityID, limit int) ([]shoal.Entity, error)
	// Member fails with NotFound if the entity is not a member.
	Member(session shoal.SessionID, space shoal.SpaceID, entity shoal.EntityID) (shoal.Member, error)
	// ListedMembers returns the members that [shoal.Space] contains for a reader, for several
	// spaces at once.
	ListedMembers(session shoal.SessionID, reader shoal.EntityID, spaces []shoal.SpaceID) (map[shoal.SpaceID][]shoal.Member, error)
	IsMember(session shoal.SessionID, space shoal.SpaceID, entity shoal.EntityID) (bool, error)
	// MembersAmong returns those of ids that are members, in any order.
	MembersAmong(session shoal.SessionID, space shoal.SpaceID, ids []shoal.EntityID) ([]MemberKind, error)
	// InsertMember stores the id, the time, AddedBy and Muted of a member. It fails with
	// AlreadyExists when the entity is already a member. The entity must exist.
	InsertMember(session shoal.SessionID, space shoal.SpaceID, m shoal.Member) error
	// MuteMember stores whether a member has muted the space; NotFound when it is not a
	// member.
	MuteMember(session shoal.SessionID, space shoal.SpaceID, entity shoal.EntityID, muted bool) error
	// DeleteMember ends a membership and removes the entity's inbox entries of that
	// space; NotFound when the entity is not a member.
	DeleteMember(session shoal.SessionID, space shoal.SpaceID, entity shoal.EntityID) error
}

// MemberKind is a member of a space with what decides how a mention reaches it.
type MemberKind struct {
	ID     shoal.EntityID
	Kind   shoal.EntityKind
	Hosted bool
}
