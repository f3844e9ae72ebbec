package storage

import (
	"cmp"

	"github.com/shoal-dev/shoal"
)

// EntityTx stores entities. State and WaitEndsAt of the returned entities are zero;
// LastSeenAt is the last stored value.
type EntityTx interface {
	// Entity fails with NotFound for a deleted entity.
	Entity(session shoal.SessionID, id shoal.EntityID) (shoal.Entity, error)
	// Entities lists entities in the order of ids, starting after the given one.
	Entities(session shoal.SessionID, after shoal.EntityID, limit int) ([]shoal.Entity, error)
	// EntitiesNear is Entities for the entity near and those that share a space with it.
	EntitiesNear(session shoal.SessionID, near, after shoal.EntityID, limit int) ([]shoal.Entity, error)
	// ShareSpace reports whether two entities are members of one space, open or closed, or are
	// the same.
	ShareSpace(session shoal.SessionID, a, b shoal.EntityID) (bool, error)
	// InsertEntity fails with AlreadyExists also for the id of a deleted entity and for an
	// external id that another entity of the session has.
	InsertEntity(e shoal.Entity) error
	// UpdateEntity stores kind, session role, owner, name, description, external id and
	// metadata. It fails with AlreadyExists when another entity has the external id.
	UpdateEntity(e shoal.Entity) error
	// DeleteEntity hides the entity and erases its inbox and its memberships. Its messages
	// stay, and its id cannot be used again.
	DeleteEntity(session shoal.SessionID, id shoal.EntityID, at shoal.Time) error
	// EntityNames returns the display names of those entities that exist or existed.
	EntityNames(session shoal.SessionID, ids []shoal.EntityID) (map[shoal.EntityID]string, error)
	// SetLastFailure stores the last failure of an agent; nil removes it.
	SetLastFailure(session shoal.SessionID, agent shoal.EntityID, f *shoal.Failure) error
	// SetWakeProof stores what came of the last test whether a mention wakes an agent.
	SetWakeProof(session shoal.SessionID, agent shoal.EntityID, p shoal.WakeProof) error
	// HumanNames returns the display names of the session's humans, without deleted ones.
	HumanNames(session shoal.SessionID) (map[shoal.EntityID]string, error)
	// SetLastSeen stores when entities were last seen. Unknown entities are ignored.
	SetLastSeen(seen []LastSeen) error
}

// LastSeen is the time at which an entity was last active.
type LastSeen struct {
	Session shoal.SessionID
	Entity  shoal.EntityID
	At      shoal.Time
}

// EntityRef names an entity across sessions.
type EntityRef struct {
	Session shoal.SessionID
	ID      shoal.EntityID
}

// Compare orders entities by session and id.
func (r EntityRef) Compare(o EntityRef) int {
	return cmp.Or(cmp.Compare(r.Session, o.Session), cmp.Compare(r.ID, o.ID))
}
