package storage

import (
	"github.com/shoal-dev/shoal"
)

// KeyTx stores keys. A hash is the SHA-256 of the secret, in hexadecimal.
type KeyTx interface {
	InsertKey(k shoal.Key, hash string) error
	// InsertSignIn stores the sign-in of a browser that used the key of, or no key if of
	// is empty.
	InsertSignIn(k shoal.Key, hash string, of shoal.KeyID) error
	// SignIns lists the sign-ins of a key, or those without a key if of is empty, in any
	// order.
	SignIns(of shoal.KeyID) ([]shoal.KeyID, error)
	// SweepSignIns deletes the sign-ins that had expired at the time ended or were not used
	// since the time unused. RevokedKey does not report them as revoked.
	SweepSignIns(ended, unused shoal.Time) error
	// KeyHash returns the hash of a key; NotFound for a revoked key.
	KeyHash(id shoal.KeyID) (string, error)
	// KeyByHash fails with NotFound for a revoked key; it returns expired keys.
	KeyByHash(hash string) (shoal.Key, error)
	// Keys lists the keys of a session, or all if session is empty, in the order of ids,
	// starting after the given one.
	Keys(session shoal.SessionID, after shoal.KeyID, limit int) ([]shoal.Key, error)
	// DeleteKey deletes a key, the invitations that were made with it, and the subscriptions to
	// notifications of its browser and of its sign-ins. It fails with NotFound also
	// for a key of another session; an empty session means any.
	DeleteKey(session shoal.SessionID, id shoal.KeyID) error
	// ReplaceKey ends a key at a time, unless it ends earlier, renews it no more, and names the key
	// that replaces it, which its invitations end with from then on.
	ReplaceKey(id, by shoal.KeyID, ends shoal.Time) error
	// Key returns a key by its id; NotFound for a revoked key.
	Key(id shoal.KeyID) (shoal.Key, error)
	// RevokedKey reports whether a key with this hash was deleted, alone or together with
	// its entity. It does not know the keys of deleted sessions.
	RevokedKey(hash string) (bool, error)
	// RevokeHash makes RevokedKey report a hash that no key has, until its session is deleted.
	RevokeHash(session shoal.SessionID, hash string) error
	// DeleteEntityKeys is DeleteKey for every key of an entity, and deletes all its subscriptions.
	DeleteEntityKeys(session shoal.SessionID, entity shoal.EntityID) error
	// EndedRights returns those of the given rights that have ended at a time: revoked or
	// expired keys, deleted entities and sessions, and roles that the entity no longer has. An
	// entity of Roles that was deleted is among the Entities of the result. It uses one query,
	// however many rights are given.
	EndedRights(held HeldRights, at shoal.Time) (HeldRights, error)
	// UsedKeys stores when keys were last used, and from where if that is known, and moves the ends
	// of those that are renewed and had not ended. Unknown keys are ignored.
	UsedKeys(used map[shoal.KeyID]KeyUse) error
	// SignInsOf lists the keys with a Device, which are the sign-ins of browsers and of programs, that act
	// as an entity, or all of the session if entity is empty, or all of the server if session is, in
	// the order of ids, starting after the given one.
	SignInsOf(session shoal.SessionID, entity shoal.EntityID, after shoal.KeyID, limit int) ([]shoal.Key, error)
	// SignIn fails with NotFound for a key that is neither the sign-in of a browser nor has a Device.
	SignIn(id shoal.KeyID) (shoal.Key, error)
	// SaveLogoutToken stores what an identity provider needs when a sign-in ends, and LogoutToken
	// returns it, or an empty text for any other sign-in.
	SaveLogoutToken(id shoal.KeyID, logoutToken string) error
	LogoutToken(id shoal.KeyID) (string, error)
	// EntityByExternal returns the entity with an external id, or NotFound.
	EntityByExternal(session shoal.SessionID, external string) (shoal.EntityID, error)
}

// KeyUse is when a key was used, and the address that it was used from, empty if unknown.
type KeyUse struct {
	At      shoal.Time
	Address string
}

// HeldRights are the keys, entities and sessions that open calls depend on. Roles are the
// entities that have to have a certain role in their session besides.
type HeldRights struct {
	Keys     []shoal.KeyID
	Entities []EntityRef
	Roles    []HeldRole
	Sessions []shoal.SessionID
}

// HeldRole is the role of an entity in its session that an open call depends on.
type HeldRole struct {
	EntityRef
	Role shoal.SessionRole
}
