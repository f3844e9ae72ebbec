package access

import (
	"context"
	"errors"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/audit"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/roles"
	"github.com/shoal-dev/shoal/internal/scopes"
)

// SignInUnused is how long a browser sign-in lasts without use.
const SignInUnused = 12 * time.Hour

// ByProvider is the key that a sign-in by an identity provider names: it used none.
const ByProvider shoal.KeyID = "identity-provider"

// SignIn stores the sign-in of a browser, valid until the given time: a key named "console"
// with the rights of the key of, and its Device and Address, also in a closed session, which can
// be read. of has no id if the browser signs in with a link, and the id [ByProvider] if an
// identity provider has identified the person; logoutToken is what the provider needs when the
// sign-in ends. SignIn also deletes expired and unused sign-ins. The caller must have verified
// the key or the person; SignIn checks no rights.
func (k *Keys) SignIn(ctx context.Context, of shoal.Key, hash, logoutToken string, until shoal.Time) (key shoal.Key, err error) {
	err = k.core.Change(ctx, "hub.Keys.SignIn", storage.Global, func(ch *core.Change) error {
		if key, err = newSignIn(ch, of, "console", until); err != nil {
			return err
		}
		if err := errors.Join(ch.InsertSignIn(key, hash, of.ID), recordSignIn(ch, of, key)); err != nil || logoutToken == "" {
			return err
		}
		return ch.SaveLogoutToken(key.ID, logoutToken)
	})
	return key, err
}

// newSignIn deletes sign-ins that have ended or were not used, and returns the key of a new one with a name: it
// has the rights, the Device and the Address of the key of.
func newSignIn(ch *core.Change, of shoal.Key, name string, until shoal.Time) (shoal.Key, error) {
	key := shoal.Key{
		ID: shoal.NewID[shoal.KeyID](shoal.PrefixKey), Role: of.Role, SessionID: of.SessionID, EntityID: of.EntityID,
		Name: name, CreatedAt: ch.At, ExpiresAt: &until, Scopes: []string{}, Address: of.Address, Device: of.Device,
	}
	return key, ch.SweepSignIns(ch.At, shoal.At(ch.At.Add(-SignInUnused)))
}

// recordSignIn records a sign-in as an act of the key that was exchanged for it, of the person whom an
// identity provider has identified, or of the server if the browser signs in with a link.
func recordSignIn(ch *core.Change, of, signIn shoal.Key) error {
	caller := shoal.Principal{}
	if of.ID != "" {
		caller = principalOf(of)
	}
	session := shoal.SessionID("")
	if signIn.SessionID != nil {
		session = *signIn.SessionID
	}
	details := []string{"role", string(signIn.Role)}
	switch of.ID {
	case "":
		details = append(details, "with", "link")
	case ByProvider:
		details = append(details, "with", "provider")
	}
	return ch.Record(caller, session, audit.SignInCreate, audit.Target{Kind: "key", ID: string(signIn.ID)}, details...)
}

// principalOf returns the caller that a key proves.
func principalOf(key shoal.Key) shoal.Principal {
	out := shoal.Principal{KeyID: key.ID, Role: key.Role, Scopes: scopes.Text(key.Scopes)}
	if key.SessionID != nil {
		out.SessionID = *key.SessionID
	}
	if key.EntityID != nil {
		out.EntityID = *key.EntityID
	}
	return out
}

// SignIns returns at most limit sign-ins of browsers with ids after the given one, ordered by id:
// all for an admin, those of its session for an owner, and for another entity those that act as
// the entity. Sign-ins that have expired, or were not used for [SignInUnused], may be among them
// until the next browser signs in.
func (k *Keys) SignIns(ctx context.Context, caller shoal.Principal, after shoal.KeyID, limit int) (out []shoal.Key, err error) {
	const op = "hub.Keys.SignIns"
	entity := caller.EntityID
	if scopes.Can(caller, roles.Manage) {
		entity = ""
	} else if entity == "" {
		return nil, core.Wrap(op, core.May(caller, roles.Manage))
	}
	err = k.core.View(ctx, op, func(tx storage.Tx) error {
		out, err = tx.SignInsOf(caller.SessionID, entity, after, limit)
		return err
	})
	return out, err
}

// mayRevoke checks that the caller may revoke a key.
func (k *Keys) mayRevoke(ctx context.Context, op string, caller shoal.Principal, id shoal.KeyID) error {
	denied := core.May(caller, roles.Manage)
	if denied == nil || caller.Role != shoal.RoleEntity || !core.ValidID(id) {
		return denied
	}
	return k.core.View(ctx, op, func(tx storage.Tx) error {
		key, err := tx.SignIn(id)
		if errors.Is(err, shoal.NotFound) || err == nil && (key.EntityID == nil || *key.EntityID != caller.EntityID || *key.SessionID != caller.SessionID) {
			return denied
		}
		return err
	})
}

// SignOut ends a sign-in and the open calls of its browser. It does nothing if the sign-in
// has ended. It checks no rights.
func (k *Keys) SignOut(ctx context.Context, id shoal.KeyID) error {
	return k.endSignIns(ctx, "hub.Keys.SignOut", func(storage.Tx) ([]shoal.KeyID, error) { return []shoal.KeyID{id}, nil })
}

// SignOutEverywhere ends every sign-in of a key as SignOut does, or every sign-in by link
// if the id is empty. It checks no rights.
func (k *Keys) SignOutEverywhere(ctx context.Context, of shoal.KeyID) error {
	return k.endSignIns(ctx, "hub.Keys.SignOutEverywhere", func(tx storage.Tx) ([]shoal.KeyID, error) {
		if err := tx.DeletePushesBy(of); err != nil { // also those of browsers whose sign-in has lapsed
			return nil, err
		}
		return tx.SignIns(of)
	})
}

// SignOutPerson ends every sign-in that acts as an entity, as SignOut does. It checks no rights.
func (k *Keys) SignOutPerson(ctx context.Context, session shoal.SessionID, entity shoal.EntityID) error {
	return k.endSignIns(ctx, "hub.Keys.SignOutPerson", func(tx storage.Tx) (ended []shoal.KeyID, err error) {
		if err := tx.DeletePushesOf(session, entity); err != nil {
			return nil, err
		}
		found, err := tx.SignInsOf(session, entity, "", shoal.MaxPage)
		for _, key := range found {
			ended = append(ended, key.ID)
		}
		return ended, err
	})
}

// LogoutToken returns what SignIn was given, empty if nothing. It checks no rights.
func (k *Keys) LogoutToken(ctx context.Context, id shoal.KeyID) (logoutToken string, err error) {
	err = k.core.View(ctx, "hub.Keys.LogoutToken", func(tx storage.Tx) error {
		logoutToken, err = tx.LogoutToken(id)
		return err
	})
	return logoutToken, err
}

func (k *Keys) endSignIns(ctx context.Context, op string, find func(storage.Tx) ([]shoal.KeyID, error)) error {
	var ended []shoal.KeyID
	err := k.core.Change(ctx, op, storage.Global, func(ch *core.Change) (err error) {
		if ended, err = find(ch.Tx); err != nil {
			return err
		}
		for _, id := range ended {
			key, err := ch.Key(id)
			if errors.Is(err, shoal.NotFound) {
				continue
			}
			if err == nil {
				err = errors.Join(ch.DeleteKey("", id), recordKey(ch, principalOf(key), audit.SignInEnd, key))
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	k.core.RevokedRights()
	if err != nil {
		return err
	}
	for _, id := range ended {
		k.core.Calls.EndKey(id)
	}
	return nil
}

// Hash returns the hash under which the secret of a key is stored. It fails with NotFound
// for a revoked key. It is for callers that verify signatures, and checks no rights.
func (k *Keys) Hash(ctx context.Context, id shoal.KeyID) (hash string, err error) {
	err = k.core.View(ctx, "hub.Keys.Hash", func(tx storage.Tx) error {
		hash, err = tx.KeyHash(id)
		return err
	})
	return hash, err
}
