package access

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/audit"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// SignInByToken stores that a person was recognised by an access token of an identity provider with this hash: a key
// that works until the token ends, and is listed and ended like the sign-in of a browser. of has the person,
// the Device and the Address. If the token is known already, SignInByToken does nothing. It fails with
// Unauthenticated if the key of the token was revoked, or the person is gone. The caller must have verified
// the token; SignInByToken checks no rights.
func (k *Keys) SignInByToken(ctx context.Context, of shoal.Key, hash string, until shoal.Time) error {
	return k.core.Change(ctx, "hub.Keys.SignInByToken", storage.Global, func(ch *core.Change) error {
		if _, err := ch.KeyByHash(hash); !errors.Is(err, shoal.NotFound) {
			return err
		}
		revoked, err := ch.RevokedKey(hash)
		if err == nil && !revoked {
			_, err = core.FindEntity(ch, *of.SessionID, *of.EntityID)
			revoked = errors.Is(err, shoal.NotFound)
		}
		if revoked {
			return shoal.E("", shoal.Unauthenticated, "The sign-in with this token was ended. Get a new token.")
		}
		if err != nil {
			return err
		}
		of.Role = shoal.RoleEntity
		key, err := newSignIn(ch, of, "token", until)
		if err != nil {
			return err
		}
		caller := principalOf(key)
		caller.KeyID = ByProvider
		return errors.Join(ch.InsertSignIn(key, hash, ByProvider),
			ch.Record(caller, *key.SessionID, audit.SignInCreate, audit.Target{Kind: "key", ID: string(key.ID)}, "role", string(key.Role), "with", "token"))
	})
}

// removedPerson is what is stored as a revoked key when a person with an external id is removed from a session, so
// that their tokens do not bring them back.
func removedPerson(session shoal.SessionID, externalID string) string {
	sum := sha256.Sum256([]byte("person\n" + string(session) + "\n" + externalID))
	return hex.EncodeToString(sum[:])
}

// rememberRemoved stores that a person is being removed, if an identity provider knows them.
func rememberRemoved(ch *core.Change, session shoal.SessionID, id shoal.EntityID) error {
	e, err := ch.Entity(session, id)
	if err != nil || e.ExternalID == nil {
		return err
	}
	return ch.RevokeHash(session, removedPerson(session, *e.ExternalID))
}

// notRemoved fails with Unauthenticated if a person was removed from a session.
func notRemoved(ch *core.Change, session shoal.SessionID, externalID string) error {
	removed, err := ch.RevokedKey(removedPerson(session, externalID))
	if removed {
		err = shoal.E("", shoal.Unauthenticated, "The person of this token was removed from the session. They come back by signing in to the console, if they may, or when an owner gives their externalId to a participant.")
	}
	return err
}
