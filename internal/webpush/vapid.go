package webpush

import (
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/url"
	"time"
)

// proofLife is how long the proof of a request is valid; push services accept a day at most.
const proofLife = 12 * time.Hour

// signer proves to push services which server sends.
type signer struct {
	key     *ecdsa.PrivateKey
	public  string
	contact string
}

func newSigner(key *ecdh.PrivateKey, contact string) (*signer, error) {
	// The standard library converts between its two kinds of keys by their encoded form only.
	encoded, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	parsed, err := x509.ParsePKCS8PrivateKey(encoded)
	if err != nil {
		return nil, err
	}
	signing, ok := parsed.(*ecdsa.PrivateKey)
	if !ok {
		return nil, errors.New("the key of push notifications cannot sign")
	}
	return &signer{signing, base64.RawURLEncoding.EncodeToString(key.PublicKey().Bytes()), contact}, nil
}

// authorization returns the header Authorization of a request to an endpoint.
func (s *signer) authorization(endpoint *url.URL, now time.Time) (string, error) {
	claims, err := json.Marshal(map[string]any{"aud": endpoint.Scheme + "://" + endpoint.Host, "exp": now.Add(proofLife).Unix(), "sub": s.contact})
	if err != nil {
		return "", err
	}
	signed := base64.RawURLEncoding.EncodeToString([]byte(`{"typ":"JWT","alg":"ES256"}`)) + "." + base64.RawURLEncoding.EncodeToString(claims)
	sum := sha256.Sum256([]byte(signed))
	r, v, err := ecdsa.Sign(rand.Reader, s.key, sum[:])
	if err != nil {
		return "", err
	}
	signature := make([]byte, 64)
	r.FillBytes(signature[:32])
	v.FillBytes(signature[32:])
	return "vapid t=" + signed + "." + base64.RawURLEncoding.EncodeToString(signature) + ", k=" + s.public, nil
}
