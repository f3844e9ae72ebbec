package oidc

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"
)

// The uses of sealed values: one does not open as another.
const (
	attemptUse = "attempt"
	logoutUse  = "logout token"
)

// attemptLife is how long a person may take at the provider.
const attemptLife = 10 * time.Minute

// attempt is a sign-in that has begun. It is in a cookie of the browser, sealed.
type attempt struct {
	State    string    `json:"state"`
	Nonce    string    `json:"nonce"`
	Verifier string    `json:"verifier"`
	Redirect string    `json:"redirect"`
	Until    time.Time `json:"until"`
}

// seal encrypts values that are kept outside of the server, so that they can be neither read nor
// made there.
type seal struct{ aead cipher.AEAD }

// newSeal returns the seal of a secret, or of this process without one.
func newSeal(secret string) (seal, error) {
	if secret == "" {
		secret = randomText()
	}
	key, err := hkdf.Key(sha256.New, []byte(secret), nil, "shoal: sign-in with an OpenID provider", 32)
	if err != nil {
		return seal{}, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return seal{}, err
	}
	aead, err := cipher.NewGCM(block)
	return seal{aead}, err
}

func (s seal) close(use string, v any) (string, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return "", err
	}
	nonce := make([]byte, s.aead.NonceSize())
	_, _ = rand.Read(nonce) // documented to never fail
	return base64.RawURLEncoding.EncodeToString(s.aead.Seal(nonce, nonce, text, []byte(use))), nil
}

func (s seal) open(use, sealed string, v any) error {
	raw, err := base64.RawURLEncoding.DecodeString(sealed)
	if err != nil {
		return err
	}
	size := s.aead.NonceSize()
	if len(raw) < size {
		return errors.New("it is too short")
	}
	text, err := s.aead.Open(nil, raw[:size], raw[size:], []byte(use))
	if err != nil {
		return err
	}
	return json.Unmarshal(text, v)
}

// randomText returns 256 random bits.
func randomText() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // documented to never fail
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// bounded limits what is read of each answer.
type bounded struct{ http.RoundTripper }

// RoundTrip implements [http.RoundTripper].
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := b.RoundTripper.RoundTrip(r)
	if err == nil {
		answer.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(answer.Body, maxAnswer), answer.Body}
	}
	return answer, err
}
