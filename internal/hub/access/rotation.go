package access

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/audit"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/roles"
)

// Rotate replaces a key by a new one, stored under the hash of its secret, which reaches exactly as far.
// The old key works until the overlap has passed, or until it ends anyhow. For admins, and for owners of
// a session for keys of that session; any other key is NotFound for them. Rotate fails with Conflict for
// the sign-in of a browser, for a key that has ended, and for one that was rotated before: its
// successor is rotated instead. A key that expires makes none that lives longer. replayed is that of
// [Keys.Create].
func (k *Keys) Rotate(ctx context.Context, caller shoal.Principal, id shoal.KeyID, r shoal.KeyRotation, hash, idempotencyKey string) (key shoal.Key, replayed bool, err error) {
	const op = "hub.Keys.Rotate"
	overlap := keyOverlap
	if r.OverlapMs != nil {
		overlap = time.Duration(min(*r.OverlapMs, maxKeyOverlap.Milliseconds()+1)) * time.Millisecond
	}
	err = errors.Join(core.May(caller, roles.Manage), checkLife(r.ExpiresAt, 0), core.CheckIdempotencyKey(idempotencyKey))
	if err == nil && (overlap < 0 || overlap > maxKeyOverlap) {
		err = shoal.Invalid("overlapMs", fmt.Sprintf("must be between 0 and %d (%d days)", maxKeyOverlap.Milliseconds(), int(maxKeyOverlap.Hours())/24))
	}
	if err != nil {
		return key, false, core.Wrap(op, core.FirstError(err))
	}
	err = k.core.Change(ctx, op, storage.Global, func(ch *core.Change) (err error) {
		key, replayed, err = core.Once(ch, caller, "", op+" "+string(id), idempotencyKey, r, func() (shoal.Key, error) {
			return rotate(ch, caller, id, overlap, r.ExpiresAt, hash)
		})
		return err
	})
	k.core.RevokedRights() // the end of the key that servers remember has changed
	if err == nil && !replayed && overlap == 0 {
		k.core.Calls.EndKey(id)
	}
	return key, replayed, err
}

func rotate(ch *core.Change, caller shoal.Principal, id shoal.KeyID, overlap time.Duration, expiresAt *shoal.Time, hash string) (shoal.Key, error) {
	old, err := findKey(ch, caller, id)
	if err != nil {
		return old, err
	}
	isToken, err := belongsToClient(ch, id)
	switch {
	case err != nil:
		return old, err
	case old.Device != nil:
		return old, shoal.E("", shoal.Conflict, fmt.Sprintf("%q is the sign-in of a browser, which ends by itself: revoke it, and sign in again.", id))
	case isToken:
		return old, shoal.E("", shoal.Conflict, fmt.Sprintf("%q is the access token of a program that signs in, which renews it by itself: revoke it, and let the program sign in again.", id))
	case old.ReplacedBy != nil:
		return old, shoal.E("", shoal.Conflict, fmt.Sprintf("%q was rotated to %q before: rotate that one.", id, *old.ReplacedBy))
	case old.ExpiresAt != nil && !old.ExpiresAt.After(ch.At.Time):
		return old, shoal.E("", shoal.Conflict, fmt.Sprintf("%q has ended: create a new key.", id))
	}
	n := shoal.NewKey{Role: old.Role, Name: old.Name, ExpiresAt: lifeAgain(old, expiresAt, ch.At), Scopes: old.Scopes}
	if old.SessionID != nil {
		n.SessionID = *old.SessionID
	}
	if old.EntityID != nil {
		n.EntityID = *old.EntityID
	}
	if old.RenewForMs != nil {
		n.RenewForMs = *old.RenewForMs
	}
	if err := mayLive(ch, caller, n.ExpiresAt, n.RenewForMs > 0); err != nil {
		return old, err
	}
	made, err := insertKey(ch, n, hash, "")
	if err != nil {
		return made, err
	}
	ends := shoal.At(ch.At.Add(overlap))
	if err := ch.ReplaceKey(id, made.ID, ends); err != nil {
		return made, err
	}
	return made, recordKey(ch, caller, audit.KeyRotate, old, "to", string(made.ID), "ends", ends.String())
}

// lifeAgain returns when the successor of a key ends: when the caller wants, or after the time for which
// the key was created or is renewed.
func lifeAgain(old shoal.Key, wanted *shoal.Time, at shoal.Time) *shoal.Time {
	if wanted != nil || old.ExpiresAt == nil {
		return wanted
	}
	life := old.ExpiresAt.Sub(old.CreatedAt.Time)
	if old.RenewForMs != nil {
		life = time.Duration(*old.RenewForMs) * time.Millisecond
	}
	return new(shoal.At(at.Add(life)))
}

// belongsToClient reports whether a key is the access token of an OAuth client.
func belongsToClient(tx Tx, id shoal.KeyID) (bool, error) {
	_, err := tx.OAuthGrant(id)
	if errors.Is(err, shoal.NotFound) {
		return false, nil
	}
	return err == nil, err
}

// findKey returns a key that the caller may manage: any for an admin, one of its session for others.
func findKey(ch *core.Change, caller shoal.Principal, id shoal.KeyID) (shoal.Key, error) {
	key, err := shoal.Key{}, error(shoal.NotFound)
	if core.ValidID(id) {
		key, err = ch.Key(id)
	}
	if err == nil && caller.SessionID != "" && (key.SessionID == nil || *key.SessionID != caller.SessionID) {
		err = shoal.NotFound
	}
	if errors.Is(err, shoal.NotFound) {
		err = shoal.E("", shoal.NotFound, fmt.Sprintf("Key %q not found. List the keys to see their ids.", id))
	}
	return key, err
}
