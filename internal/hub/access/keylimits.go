package access

import (
	"errors"
	"fmt"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/scopes"
)

// cleanScopes returns the scopes of a new key as they are stored. An admin key has none: what it can
// do has no end that a scope could draw, such as making other keys.
func cleanScopes(n shoal.NewKey) ([]string, error) {
	if len(n.Scopes) > 0 && n.Role == shoal.RoleAdmin {
		return nil, shoal.Invalid("scopes", "must be left out: an admin key may do everything; a service key or an entity key can be limited")
	}
	return scopes.Clean(n.Scopes)
}

// Limits of the lives of keys.
const (
	keyOverlap    = 24 * time.Hour // if the caller does not choose
	maxKeyOverlap = 30 * 24 * time.Hour
	minKeyRenewal = time.Hour
	maxKeyRenewal = 366 * 24 * time.Hour
)

// checkLife checks when a new key ends, without regard to the caller.
func checkLife(expiresAt *shoal.Time, renewForMs int64) error {
	if expiresAt != nil && !expiresAt.After(shoal.Now().Time) {
		return shoal.Invalid("expiresAt", "lies in the past")
	}
	if renewForMs != 0 && (renewForMs < minKeyRenewal.Milliseconds() || renewForMs > maxKeyRenewal.Milliseconds()) {
		return shoal.Invalid("renewForMs", fmt.Sprintf("must be between %d (an hour) and %d (366 days), or 0", minKeyRenewal.Milliseconds(), maxKeyRenewal.Milliseconds()))
	}
	return nil
}

// mayLive checks that a new key does not live longer than the key of the caller that makes it.
func mayLive(ch *core.Change, caller shoal.Principal, expiresAt *shoal.Time, renewed bool) error {
	own, err := callerKey(ch, caller)
	if err != nil || own.ExpiresAt == nil {
		return err
	}
	if renewed || outlives(expiresAt, own.ExpiresAt) {
		return tooLong("key", *own.ExpiresAt)
	}
	return nil
}

// callerKey returns the key of a caller, empty if it has none, or only the sign-in of a browser or of the
// command line: that is not a key that the person has, but a way of using one, and limits nothing. A
// sign-in of the command line that cannot be renewed for ever limits what it makes to that time.
func callerKey(ch *core.Change, caller shoal.Principal) (shoal.Key, error) {
	if !core.ValidID(caller.KeyID) {
		return shoal.Key{}, nil
	}
	key, err := ch.Key(caller.KeyID)
	if err == nil && key.Device != nil {
		var grant storage.OAuthGrant
		grant, err = ch.OAuthGrant(key.ID)
		key = shoal.Key{ExpiresAt: grant.LatestEnd}
	}
	if errors.Is(err, shoal.NotFound) {
		return shoal.Key{}, nil
	}
	return key, err
}

// outlives reports whether what ends at a time, or never, lives longer than what ends at another.
func outlives(at, ends *shoal.Time) bool {
	return ends != nil && (at == nil || at.After(ends.Time))
}

// tooLong returns the error for something made with a key that ends earlier.
func tooLong(what string, ends shoal.Time) error {
	return shoal.E("", shoal.Forbidden, fmt.Sprintf("Your key expires at %s, and a %s that it makes cannot live longer: send an expiresAt that is not later and no renewForMs, or use a key that does not expire.", ends, what))
}
