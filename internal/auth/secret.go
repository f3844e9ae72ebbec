package auth

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"

	"github.com/shoal-dev/shoal"
)

// NewSecret returns a secret that no other key has.
func NewSecret() string { return "shoal_" + randomText() }

// randomText returns 256 random bits.
func randomText() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // documented to never fail
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// Hash returns the hash under which a secret is stored.
func Hash(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// CreateKey creates a key. Its Secret is set in this result only; repeated under the
// same idempotency key, the call returns the same key with Secret nil.
func (a *Authenticator) CreateKey(ctx context.Context, caller shoal.Principal, n shoal.NewKey, idempotencyKey string) (shoal.Key, error) {
	secret := NewSecret()
	key, replayed, err := a.hub.Keys.Create(ctx, caller, n, Hash(secret), idempotencyKey)
	if err == nil && !replayed {
		key.Secret = &secret
	}
	return key, err
}

// RotateKey replaces a key by a new one, whose Secret is set as CreateKey sets it.
func (a *Authenticator) RotateKey(ctx context.Context, caller shoal.Principal, id shoal.KeyID, r shoal.KeyRotation, idempotencyKey string) (shoal.Key, error) {
	secret := NewSecret()
	key, replayed, err := a.hub.Keys.Rotate(ctx, caller, id, r, Hash(secret), idempotencyKey)
	if err == nil && !replayed {
		key.Secret = &secret
	}
	return key, err
}
