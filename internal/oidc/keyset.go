package oidc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/shoal-dev/shoal"
)

const (
	// keysFresh is how long keys are used before they are fetched again: one that the issuer withdraws counts no longer.
	keysFresh = 10 * time.Minute
	// keysKept is how long they are used if the issuer does not answer.
	keysKept = 24 * time.Hour
	// keysAtOnce is how often the issuer is asked at once, whatever tokens name, and keysPause after which time once more.
	keysAtOnce = 5
	keysPause  = 10 * time.Second
	maxKeys    = 100
)

// algorithms are those with which issuers sign. None of them verifies with a secret, so that no public key can be one.
var (
	algorithms     = []jose.SignatureAlgorithm{jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512, jose.ES256, jose.ES384, jose.ES512, jose.EdDSA}
	algorithmNames = func() (names []string) {
		for _, a := range algorithms {
			names = append(names, string(a))
		}
		return names
	}()
)

// keySet are the keys that an issuer publishes.
type keySet struct {
	p *Provider

	mu    sync.Mutex
	keys  []jose.JSONWebKey
	at    time.Time // when they were fetched
	asks  int       // how often the issuer may be asked, at the time since
	since time.Time
	wrong error // why the last fetch failed
}

// mayAsk reports whether the issuer may be asked again, and counts it.
func (s *keySet) mayAsk(now time.Time) bool {
	if s.since.IsZero() {
		s.asks, s.since = keysAtOnce, now
	}
	if more := int(now.Sub(s.since) / keysPause); more > 0 {
		s.asks, s.since = min(keysAtOnce, s.asks+more), s.since.Add(time.Duration(more)*keysPause)
	}
	if s.asks == 0 {
		return false
	}
	s.asks--
	return true
}

// VerifySignature implements the KeySet of go-oidc.
func (s *keySet) VerifySignature(ctx context.Context, token string) ([]byte, error) {
	signed, err := jose.ParseSigned(token, algorithms)
	if err != nil {
		return nil, errors.New("its signature or its algorithm is not one that this server accepts")
	}
	if len(signed.Signatures) != 1 {
		return nil, errors.New("it does not have exactly one signature")
	}
	head := signed.Signatures[0].Header
	for _, age := range []time.Duration{keysFresh, 0} {
		keys, err := s.newer(ctx, age)
		if err != nil {
			return nil, err
		}
		fits := func(k jose.JSONWebKey) bool {
			return (k.KeyID == head.KeyID || head.KeyID == "" && len(keys) == 1) && (k.Algorithm == "" || k.Algorithm == head.Algorithm)
		}
		if i := slices.IndexFunc(keys, fits); i >= 0 {
			if payload, err := signed.Verify(&keys[i]); err == nil {
				return payload, nil
			}
			return nil, errors.New("its signature is wrong")
		}
	}
	return nil, errors.New("the issuer does not publish the key that has signed it")
}

// newer returns the keys if they are not older than age, or else fetches them. Those that cannot be fetched stay those
// that are known, for a day. It fails with Busy.
func (s *keySet) newer(ctx context.Context, age time.Duration) ([]jose.JSONWebKey, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if now.Sub(s.at) <= age && s.keys != nil {
		return s.keys, nil
	}
	if s.mayAsk(now) {
		// A caller that goes away does not count against the issuer.
		keys, err := s.fetch(context.WithoutCancel(ctx))
		if s.wrong = err; err == nil {
			s.keys, s.at = keys, now
		} else {
			s.p.Log.Warn("the keys of the issuer of tokens cannot be fetched", "issuer", s.p.Issuer, "error", cause(err))
		}
	}
	if s.wrong != nil && (s.keys == nil || now.Sub(s.at) > keysKept) {
		return nil, s.p.unreachable(s.wrong)
	}
	return s.keys, nil
}

func (s *keySet) fetch(ctx context.Context) ([]jose.JSONWebKey, error) {
	m, err := s.p.discover(ctx)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, pause)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, m.more.Keys, http.NoBody)
	if err != nil {
		return nil, err
	}
	answer, err := s.p.client.Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if err != nil {
		return nil, err
	}
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answers with the status %d", m.more.Keys, answer.StatusCode)
	}
	return readKeys(text)
}

// readKeys returns the public keys for signatures in a JWKS. Others, and those of kinds that are not known, are
// left out.
func readKeys(text []byte) (keys []jose.JSONWebKey, err error) {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(text, &set); err != nil {
		return nil, err
	}
	for _, one := range set.Keys[:min(len(set.Keys), maxKeys)] {
		var k jose.JSONWebKey
		if k.UnmarshalJSON(one) == nil && k.Valid() && k.IsPublic() && (k.Use == "" || k.Use == "sig") {
			keys = append(keys, k)
		}
	}
	if len(keys) == 0 {
		err = shoal.E("", shoal.Internal, "the issuer publishes no key with which it could sign")
	}
	return keys, err
}
