package access

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/audit"
	"github.com/shoal-dev/shoal/internal/hub/agents"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/naming"
	"github.com/shoal-dev/shoal/internal/roles"
	"github.com/shoal-dev/shoal/internal/scopes"
)

// Keys manages keys. It never sees a secret, only its hash.
type Keys struct{ core *core.Core }

// NewKeys returns the keys of a hub.
func NewKeys(c *core.Core) *Keys { return &Keys{c} }

// Create stores a key under the hash of its secret. For admins, and for owners of a session
// for keys of that session; a key that expires creates none that lives longer. An entity key
// creates its entity if it does not exist; an agent without an owner is owned by the acting
// entity from then on. replayed reports that an earlier call with the same idempotency key
// created the key: then the secret that the caller generated belongs to no key.
func (k *Keys) Create(ctx context.Context, caller shoal.Principal, n shoal.NewKey, hash, idempotencyKey string) (key shoal.Key, replayed bool, err error) {
	const op = "hub.Keys.Create"
	if err := errors.Join(mayCreateKey(caller, &n), n.Validate(), naming.Check("name", n.Name), core.CheckIdempotencyKey(idempotencyKey)); err != nil {
		return key, false, core.Wrap(op, core.FirstError(err))
	}
	if n.Scopes, err = cleanScopes(n); err != nil {
		return key, false, core.Wrap(op, err)
	}
	if n.Door != "" {
		n.Kind = shoal.Human
	}
	if err := checkLife(n.ExpiresAt, n.RenewForMs); err != nil {
		return key, false, core.Wrap(op, err)
	}
	err = k.core.Change(ctx, op, storage.Global, func(ch *core.Change) (err error) {
		key, replayed, err = core.Once(ch, caller, "", op, idempotencyKey, n, func() (shoal.Key, error) {
			if n.RenewForMs > 0 && n.ExpiresAt == nil {
				n.ExpiresAt = new(shoal.At(ch.At.Add(time.Duration(n.RenewForMs) * time.Millisecond)))
			}
			if err := mayLive(ch, caller, n.ExpiresAt, n.RenewForMs > 0); err != nil {
				return shoal.Key{}, err
			}
			out, err := insertKey(ch, n, hash, caller.EntityID)
			if err != nil {
				return out, err
			}
			return out, recordKey(ch, caller, audit.KeyCreate, out)
		})
		return err
	})
	return key, replayed, err
}

// mayCreateKey rejects keys with more rights than the caller. If a session owner names no
// session, the key is for the owner's session.
func mayCreateKey(caller shoal.Principal, n *shoal.NewKey) error {
	if caller.Admin() {
		return nil
	}
	if err := core.May(caller, roles.Manage); err != nil {
		return err
	}
	if n.Role == shoal.RoleAdmin {
		return shoal.E("", shoal.Forbidden, "An owner of a session creates keys of that session; an admin key is created by an admin.")
	}
	if n.SessionID == "" {
		n.SessionID = caller.SessionID
	}
	return core.CheckSession(caller, n.SessionID)
}

// insertKey stores a key. The agent of an entity key is owned by owner if it has no owner
// yet.
func insertKey(ch *core.Change, n shoal.NewKey, hash string, owner shoal.EntityID) (shoal.Key, error) {
	out := shoal.Key{
		ID: shoal.NewID[shoal.KeyID](shoal.PrefixKey), Role: n.Role, Name: n.Name, CreatedAt: ch.At, ExpiresAt: n.ExpiresAt, Scopes: append([]string{}, n.Scopes...),
	}
	if n.RenewForMs > 0 {
		out.RenewForMs = &n.RenewForMs
	}
	if n.Role != shoal.RoleAdmin {
		session := n.SessionID
		if session == "" {
			session = shoal.DefaultSession
		}
		out.SessionID = &session
		if err := core.RequireOpenSession(ch, session); err != nil {
			return out, err
		}
	}
	if n.Role == shoal.RoleEntity {
		entity := n.EntityID
		out.EntityID = &entity
		if err := ensureKeyEntity(ch, *out.SessionID, n, owner); err != nil {
			return out, err
		}
	}
	if out.Name == "" {
		out.Name = string(n.Role)
		if out.EntityID != nil {
			out.Name = string(*out.EntityID)
		}
	}
	return out, ch.InsertKey(out, hash)
}

func ensureKeyEntity(ch *core.Change, session shoal.SessionID, n shoal.NewKey, owner shoal.EntityID) error {
	e, err := ch.Entity(session, n.EntityID)
	if errors.Is(err, shoal.NotFound) {
		_, err = core.InsertEntity(ch, session, shoal.NewEntity{ID: n.EntityID, Kind: n.Kind}, owner)
		return err
	}
	if err != nil {
		return err
	}
	if n.Kind != "" && n.Kind != e.Kind {
		return shoal.E("", shoal.Conflict, fmt.Sprintf("The entity %q is of kind %q, and this key is for one of kind %q. Name another entity, leave kind and door out, or change the kind first: PATCH …/entities/%s {\"kind\": %q}.", e.ID, e.Kind, n.Kind, e.ID, n.Kind))
	}
	if agents.ClaimAgent(&e, owner); e.OwnerID == nil || *e.OwnerID != owner {
		return nil
	}
	return ch.UpdateEntity(e)
}

// recordKey records what was done with a key, in the session of the key.
func recordKey(ch *core.Change, caller shoal.Principal, act audit.Act, key shoal.Key, more ...string) error {
	session, details := shoal.SessionID(""), []string{"role", string(key.Role)}
	if key.SessionID != nil {
		session = *key.SessionID
	}
	if key.EntityID != nil {
		details = append(details, "entity", string(*key.EntityID))
	}
	if len(key.Scopes) > 0 {
		details = append(details, "scopes", scopes.Text(key.Scopes))
	}
	return ch.Record(caller, session, act, audit.Target{Kind: "key", ID: string(key.ID)}, append(details, more...)...)
}

// ByHash returns the key whose secret has this hash, and the role of its entity in the session,
// empty for a key without one. It fails with NotFound if the key never existed or is revoked. It identifies
// callers, so it checks no rights.
func (k *Keys) ByHash(ctx context.Context, hash string) (out shoal.Key, role shoal.SessionRole, err error) {
	err = k.core.View(ctx, "hub.Keys.ByHash", func(tx storage.Tx) error {
		if out, err = tx.KeyByHash(hash); err != nil || out.Role != shoal.RoleEntity {
			return err
		}
		e, err := tx.Entity(*out.SessionID, *out.EntityID)
		if role = e.SessionRole; errors.Is(err, shoal.NotFound) {
			return nil
		}
		return err
	})
	return out, role, err
}

// Adopt stores a key whose secret was generated elsewhere, unless a key with this hash
// exists. It reports false for a revoked key, which stays revoked even if a file still
// contains it. It is for the process that owns the data directory, and checks no rights.
func (k *Keys) Adopt(ctx context.Context, n shoal.NewKey, hash string) (works bool, err error) {
	err = k.core.Change(ctx, "hub.Keys.Adopt", storage.Global, func(ch *core.Change) error {
		_, err := ch.KeyByHash(hash)
		if works = err == nil; !errors.Is(err, shoal.NotFound) {
			return err
		}
		revoked, err := ch.RevokedKey(hash)
		if err != nil || revoked {
			return err
		}
		works = true
		key, err := insertKey(ch, n, hash, "")
		if err != nil {
			return err
		}
		return recordKey(ch, shoal.Principal{}, audit.KeyCreate, key)
	})
	return works, err
}

// List returns at most limit keys after the given one, ordered by id: all keys for an admin,
// those of its session for an owner.
func (k *Keys) List(ctx context.Context, caller shoal.Principal, after shoal.KeyID, limit int) (out []shoal.Key, err error) {
	const op = "hub.Keys.List"
	if err := core.May(caller, roles.ReadSettings); err != nil {
		return nil, core.Wrap(op, err)
	}
	err = k.core.View(ctx, op, func(tx storage.Tx) error {
		out, err = tx.Keys(caller.SessionID, after, limit)
		return err
	})
	return out, err
}

// Revoke revokes a key. Calls with it fail from now on, and its open waits and followers
// end with Unauthenticated. For admins, and for owners of a session for keys of that
// session; any other key is NotFound for them. Everybody may end the sign-ins of browsers that
// act as the same entity.
func (k *Keys) Revoke(ctx context.Context, caller shoal.Principal, id shoal.KeyID) error {
	const op = "hub.Keys.Revoke"
	if err := k.mayRevoke(ctx, op, caller, id); err != nil {
		return core.Wrap(op, err)
	}
	err := k.core.Change(ctx, op, storage.Global, func(ch *core.Change) error {
		key, err := findKey(ch, caller, id)
		if err == nil {
			err = ch.DeleteKey(caller.SessionID, id)
		}
		if err != nil {
			return err
		}
		return recordKey(ch, caller, audit.KeyRevoke, key)
	})
	k.core.RevokedRights()
	if err == nil {
		k.core.Calls.EndKey(id)
	}
	return err
}

// Revocations returns how often keys were revoked on this server. While the count is the
// same, a key that was valid is still valid, unless it has expired or another server has
// revoked it.
func (k *Keys) Revocations() int64 { return k.core.Revocations.Load() }

// RecordUse records that a key was used now, from an address. Both are stored with a delay.
func (k *Keys) RecordUse(key shoal.Key, address string) { k.core.Presence.MarkKeyUsed(key, address) }
