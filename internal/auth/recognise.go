package auth

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/access"
	"github.com/shoal-dev/shoal/internal/scopes"
)

// knownKey is a key that was looked up a moment ago, and how many revocations
// there had been then.
type knownKey struct {
	recognised
	at          time.Time
	revocations int64
}

// recognised is a key that works. role is that of its entity in the session, empty if it has
// none.
type recognised struct {
	shoal.Key
	role   shoal.SessionRole
	signIn shoal.KeyID // of the browser that acts with the key
}

// recognise returns the key with this secret, if it works, and notes that it was
// used.
func (a *Authenticator) recognise(r *http.Request, secret string) (recognised, error) {
	key, err := a.recogniseHash(r, Hash(secret))
	if err != nil {
		return recognised{}, err
	}
	if strings.HasPrefix(secret, signInPrefix) && unused(key.Key) >= access.SignInUnused {
		return recognised{}, denied("Nobody has used this browser's sign-in for 12 hours. Sign in again.")
	}
	a.hub.Keys.RecordUse(key.Key, a.address(r))
	return key, nil
}

// recogniseHash returns the key whose secret has this hash, if it works.
func (a *Authenticator) recogniseHash(r *http.Request, hash string) (recognised, error) {
	key, err := a.try(r, hash)
	if err != nil {
		return recognised{}, err
	}
	if key.ExpiresAt != nil && !key.ExpiresAt.After(time.Now()) {
		return recognised{}, denied("This key has expired. Ask an admin for a new one.")
	}
	return key, nil
}

// principal returns the principal that a key proves.
func principal(key recognised) shoal.Principal {
	caller := shoal.Principal{KeyID: key.ID, SignIn: key.signIn, Role: key.Role, SessionRole: key.role, Scopes: scopes.Text(key.Scopes)}
	if key.SessionID != nil {
		caller.SessionID = *key.SessionID
	}
	if key.EntityID != nil {
		caller.EntityID = *key.EntityID
	}
	return caller
}

func denied(msg string) error { return shoal.E("auth.Principal", shoal.Unauthenticated, msg) }

// lookUp finds a key by its hash. The hash of a 256-bit secret is compared, so
// the time of the look-up reveals nothing about any secret.
func (a *Authenticator) lookUp(ctx context.Context, hash string) (recognised, error) {
	// Counted before the look-up: a key that is revoked meanwhile is not
	// believed a second time.
	revocations := a.hub.Keys.Revocations()
	a.mu.RLock()
	k, ok := a.known[hash]
	a.mu.RUnlock()
	if ok && k.revocations == revocations && time.Since(k.at) < knownFor {
		return k.recognised, nil
	}
	found, role, err := a.hub.Keys.ByHash(ctx, hash)
	if errors.Is(err, shoal.NotFound) {
		return recognised{}, denied("This key is unknown or was revoked. Ask an admin for a new one.")
	}
	if err != nil {
		return recognised{}, err
	}
	key := recognised{Key: found, role: role}
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.known) >= knownMax {
		clear(a.known)
	}
	a.known[hash] = knownKey{key, time.Now(), revocations}
	return key, nil
}
