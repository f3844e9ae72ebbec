package webpush

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"

	"github.com/shoal-dev/shoal/internal/hub/storage"
)

const (
	saltSize   = 16
	secretSize = 16 // of the authentication secret of a browser
	recordSize = 4096
	// maxText is the longest text: with its header the one record has at most the 4096 bytes
	// that every push service accepts.
	maxText = recordSize - saltSize - 4 - 1 - 65 - 16 - 1
	// padTo is what the length of a text is padding to a multiple of, so that it says nothing about
	// the names in it.
	padTo = 512
	last  = 2 // the delimiter of the padding of the last record
)

// encrypt returns a text as one record of the content encoding aes128gcm for the browser of a
// target, with a fresh key and salt.
func encrypt(to storage.PushTarget, text []byte) ([]byte, error) {
	own, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	salt := make([]byte, saltSize)
	_, _ = rand.Read(salt) // documented to never fail
	padding := make([]byte, max(0, min(maxText, (len(text)/padTo+1)*padTo)-len(text)))
	return seal(to, own, salt, text, padding)
}

// seal is encrypt with a given key, salt and padding, which is zero bytes.
func seal(to storage.PushTarget, own *ecdh.PrivateKey, salt, text, padding []byte) ([]byte, error) {
	if len(text)+len(padding) > maxText {
		return nil, fmt.Errorf("a text of %d bytes is too long", len(text))
	}
	point, err := base64.RawURLEncoding.DecodeString(to.P256dh)
	if err != nil {
		return nil, fmt.Errorf("the public key: %w", err)
	}
	theirs, err := ecdh.P256().NewPublicKey(point)
	if err != nil {
		return nil, fmt.Errorf("the public key: %w", err)
	}
	secret, err := base64.RawURLEncoding.DecodeString(to.Auth)
	if err != nil || len(secret) != secretSize {
		return nil, fmt.Errorf("the secret of the browser has %d bytes: %w", len(secret), err)
	}
	shared, err := own.ECDH(theirs)
	if err != nil {
		return nil, err
	}
	public := own.PublicKey().Bytes()
	sealer, nonce, err := keys(shared, secret, salt, "WebPush: info\x00"+string(point)+string(public))
	if err != nil {
		return nil, err
	}
	out := binary.BigEndian.AppendUint32(append([]byte{}, salt...), recordSize)
	out = append(append(out, byte(len(public))), public...)
	record := append(append(append([]byte{}, text...), last), padding...)
	return sealer.Seal(out, nonce, record, nil), nil
}

// keys derives the key and the nonce of the record.
func keys(shared, secret, salt []byte, info string) (cipher.AEAD, []byte, error) {
	input, err := hkdf.Key(sha256.New, shared, secret, info, sha256.Size)
	if err != nil {
		return nil, nil, err
	}
	key, err := hkdf.Key(sha256.New, input, salt, "Content-Encoding: aes128gcm\x00", 16)
	if err != nil {
		return nil, nil, err
	}
	nonce, err := hkdf.Key(sha256.New, input, salt, "Content-Encoding: nonce\x00", 12)
	if err != nil {
		return nil, nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, nil, err
	}
	sealer, err := cipher.NewGCM(block)
	return sealer, nonce, err
}
