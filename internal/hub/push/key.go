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
	made, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		return nil, core.Wrap(op, err)
	}
	var text string
	// An empty candidate stores nothing: most calls only read.
	err = p.core.View(ctx, op, func(tx storage.Tx) error {
		text, err = tx.PushKey("")
		return err
	})
	if err == nil && text == "" {
		err = p.core.Change(ctx, op, storage.NoSession, func(ch *core.Change) error {
			text, err = ch.PushKey(base64.RawURLEncoding.EncodeToString(made.Bytes()))
			return err
		})
	}
	if err != nil {
		return nil, err
	}
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil {
		made, err = ecdh.P256().NewPrivateKey(raw)
	}
	if err != nil {
		return nil, core.Wrap(op, fmt.Errorf("the stored key of push notifications: %w", err))
	}
	return made, nil
}

// validPoint reports whether bytes are a public key on the curve, uncompressed.
func validPoint(bytes []byte) bool {
	_, err := ecdh.P256().NewPublicKey(bytes)
	return err == nil
}
