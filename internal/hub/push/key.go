package push

import (
	"context"
	"crypto/ecdh"
	"crypto/rand"
	"encoding/base64"
	"fmt"

	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// Key returns the key with which the servers of the database prove themselves to push services. The
// first call makes it. It checks no rights.
func (p *Push) Key(ctx context.Context) (*ecdh.PrivateKey, error) {
	const op = "hub.Push.Key"
	var text string
	err := p.core.View(ctx, op, func(tx storage.Tx) (err error) {
		text, err = tx.PushKey("") // which stores nothing
		return err
	})
	if err == nil && text == "" {
		text, err = p.makeKey(ctx, op)
	}
	if err != nil {
		return nil, err
	}
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return nil, core.Wrap(op, fmt.Errorf("the stored key of push notifications: %w", err))
	}
	key, err := ecdh.P256().NewPrivateKey(raw)
	if err != nil {
		return nil, core.Wrap(op, fmt.Errorf("the stored key of push notifications: %w", err))
	}
	return key, nil
}

// makeKey stores a new key, unless another server has done so, and returns the stored one.
func (p *Push) makeKey(ctx context.Context, op string) (text string, err error) {
	made, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		return "", core.Wrap(op, err)
	}
	err = p.core.Change(ctx, op, storage.NoSession, func(ch *core.Change) error {
		text, err = ch.PushKey(base64.RawURLEncoding.EncodeToString(made.Bytes()))
		return err
	})
	return text, err
}

// validPoint reports whether bytes are a public key on the curve, uncompressed.
func validPoint(bytes []byte) bool {
	_, err := ecdh.P256().NewPublicKey(bytes)
	return err == nil
}
