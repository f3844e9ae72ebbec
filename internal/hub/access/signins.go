package access

import (
	"context"
	"errors"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/audit"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// SignInUnused is how long a browser sign-in lasts without use.
const SignInUnused = 12 * time.Hour

// SignIn stores the sign-in of a browser, valid until the given time: a key named "console"
// with the rights of the key of, also in a closed session, which can be read. of has no id
// if the browser signs in with a link. SignIn also deletes expired and unused sign-ins. The
// caller must have verified the other key or the link; SignIn checks no rights.
func (k *Keys) SignIn(ctx context.Context, of shoal.Key, hash string, until shoal.Time) (key shoal.Key, err error) {
	err = k.core.Change(ctx, "hub.Keys.SignIn", storage.Global, func(ch *core.Change) error {
		if err := ch.SweepSignIns(ch.At, shoal.At(ch.At.Add(-SignInUnused))); err != nil {
			return err
		}
		key = shoal.Key{
			ID: shoal.NewID[shoal.KeyID](shoal.PrefixKey), Role: of.Role, SessionID: of.SessionID, EntityID: of.EntityID,
			Name: "console", CreatedAt: ch.At, ExpiresAt: &until,
		}
		return errors.Join(ch.InsertSignIn(key, hash, of.ID), recordSignIn(ch, of, key))
	})
	return key, err
}

// recordSignIn records a sign-in as an act of the key that was exchanged for it, or of the server if
// the browser signs in with a link.
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
	if of.ID == "" {
		details = append(details, "with", "link")
	}
	return ch.Record(caller, session, audit.SignInCreate, audit.Target{Kind: "key", ID: string(signIn.ID)}, details...)
}

// principalOf returns the caller that a key proves.
func principalOf(key shoal.Key) shoal.Principal {
	out := shoal.Principal{KeyID: key.ID, Role: key.Role}
	if key.SessionID != nil {
		out.SessionID = *key.SessionID
	}
	if key.EntityID != nil {
		out.EntityID = *key.EntityID
	}
	return out
}

// SignOut ends a sign-in and the open calls of its browser. It does nothing if the sign-in
// has ended. It checks no rights.
func (k *Keys) SignOut(ctx context.Context, id shoal.KeyID) error {
	return k.endSignIns(ctx, "hub.Keys.SignOut", func(storage.Tx) ([]shoal.KeyID, error) { return []shoal.KeyID{id}, nil })
}

// SignOutEverywhere ends every sign-in of a key as SignOut does, or every sign-in by link
// if the id is empty. It checks no rights.
func (k *Keys) SignOutEverywhere(ctx context.Context, of shoal.KeyID) error {
	return k.endSignIns(ctx, "hub.Keys.SignOutEverywhere", func(tx storage.Tx) ([]shoal.KeyID, error) { return tx.SignIns(of) })
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
