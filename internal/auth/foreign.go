package auth

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
)

// Tokens recognises people by access tokens that are not of this server, such as JWT of a company's identity provider.
type Tokens interface {
	// Recognise returns the person of a token, their session, and when the token ends. It fails with
	// Unauthenticated, Forbidden or Busy.
	Recognise(ctx context.Context, token string) (session shoal.SessionID, person shoal.EntityID, ends shoal.Time, err error)
	// Name is what people call the issuer of the tokens.
	Name() string
}

// isForeign reports whether a secret has the form of a JWT, which no key has.
func isForeign(secret string) bool {
	return strings.HasPrefix(secret, "eyJ") && strings.Count(secret, ".") == 2
}

// recogniseToken returns the key that belongs to a token that is not of this server. A token is verified when
// it comes for the first time; from then on until it ends, its hash is that of a key, which costs what every
// key costs and ends as every key does.
func (a *Authenticator) recogniseToken(r *http.Request, token string) (recognised, error) {
	hash := Hash(token)
	key, err := a.lookUp(r.Context(), hash)
	if errors.Is(err, shoal.Unauthenticated) {
		if err = a.verify(r, token, hash); err == nil {
			key, err = a.lookUp(r.Context(), hash)
		}
	}
	if err == nil && key.ExpiresAt != nil && !key.ExpiresAt.After(time.Now()) {
		err = denied("This token of " + a.tokens.Name() + " has expired. Get a new one.")
	}
	if err != nil {
		return recognised{}, a.refuse(r, err)
	}
	a.hub.Keys.RecordUse(key.Key, a.address(r))
	return key, nil
}

// verify has a token recognised, and stores the sign-in of its person.
func (a *Authenticator) verify(r *http.Request, token, hash string) error {
	ctx := a.From(r.Context(), r, r.Header.Get("X-Request-Id"))
	session, person, ends, err := a.tokens.Recognise(ctx, token)
	if err != nil {
		return err
	}
	if wait := a.tokenSignIns.Take(madeEntity{session, person}); wait > 0 {
		return &shoal.Error{
			Op: "auth.verify", Kind: shoal.RateLimited, RetryAfter: wait,
			Msg: "Too many tokens have come for this person. Use each until it expires, and try again in a minute.",
		}
	}
	device, address := "Token of "+a.tokens.Name(), a.address(r)
	return a.hub.Keys.SignInByToken(ctx, shoal.Key{SessionID: &session, EntityID: &person, Device: &device, Address: &address}, hash, ends)
}
