package oidc

import (
	"context"
	"errors"
	"strings"
	"time"

	gooidc "github.com/coreos/go-oidc/v3/oidc"

	"github.com/shoal-dev/shoal"
)

// MaxToken bounds an access token, in bytes.
const MaxToken = 16 << 10

// Tokens recognises people by access tokens (JWT) that the provider has made for this server. It is safe for concurrent
// use and holds nothing that must be closed.
//
//	tokens := oidc.NewTokens(oidc.Options{People: h.Entities, Issuer: issuer, Session: "default", Groups: groups}, "https://shoal.example")
//	id, err := tokens.Recognise(ctx, token)
//
// A token counts only if the issuer signed it with an asymmetric key that it publishes now, for this audience,
// and if it is valid now. Keys are fetched when a token names one that is not known, at most once in ten
// seconds, and again every ten minutes; while the issuer does not answer, those that are known count for a day.
type Tokens struct {
	p        *Provider
	audience string
	keys     *keySet
}

// NewTokens returns the Tokens of an issuer for an audience. Of the options, those for browsers and for a client are
// not used. It calls nobody.
func NewTokens(o Options, audience string) (*Tokens, error) {
	p, err := New(o)
	if err != nil {
		return nil, err
	}
	return &Tokens{p: p, audience: audience, keys: &keySet{p: p}}, nil
}

// Check asks the issuer for its keys, and says in the log if it does not answer as it must. It takes three seconds
// at most.
func (t *Tokens) Check(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, pause)
	defer cancel()
	if _, err := t.keys.newer(ctx, 0); err != nil {
		t.p.Log.Warn("nobody is recognised by a token of the issuer now; the server asks it again", "issuer", t.p.Issuer, "error", cause(err))
		return
	}
	t.p.Log.Info("people are recognised by tokens of the issuer", "issuer", t.p.Issuer, "audience", t.audience)
}

// Name is what people call the issuer.
func (t *Tokens) Name() string { return t.p.Name }

// Recognise returns the person of a token, their session, and when the token ends. It creates the person if the
// session does not have them. It fails with Unauthenticated for a token that does not count, with Forbidden for a person who is
// not admitted, and with Busy while the keys of the issuer cannot be had.
func (t *Tokens) Recognise(ctx context.Context, token string) (session shoal.SessionID, person shoal.EntityID, ends shoal.Time, err error) {
	if len(token) > MaxToken {
		return "", "", ends, t.worthless("it is larger than 16 KiB")
	}
	keys := &asked{keySet: t.keys}
	verifier := gooidc.NewVerifier(t.p.Issuer, keys, &gooidc.Config{ClientID: t.audience, SupportedSigningAlgs: algorithmNames, Now: func() time.Time { return time.Now().Add(-leeway) }})
	proved, err := verifier.Verify(ctx, token)
	if keys.away != nil {
		return "", "", ends, keys.away
	}
	if err != nil {
		return "", "", ends, t.notVerified(err)
	}
	var who claims
	if err := proved.Claims(&who); err != nil {
		return "", "", ends, t.worthless("its claims cannot be read")
	}
	switch {
	case proved.Subject == "":
		return "", "", ends, t.worthless("it names no subject")
	case proved.IssuedAt.After(time.Now().Add(ahead)):
		return "", "", ends, t.worthless("it was issued in the future, at " + proved.IssuedAt.UTC().Format(time.RFC3339) + ": the clocks of this server and of the issuer differ")
	}
	e, created, err := t.p.admit(ctx, who, true)
	if err != nil {
		return "", "", ends, err
	}
	t.p.Log.Info("a person was recognised by a token", "issuer", t.p.Issuer, "session", t.p.Session, "entity", e.ID, "created", created)
	return t.p.Session, e.ID, shoal.At(proved.Expiry.Add(leeway)), nil
}

// worthless is the error for a token that proves nothing.
func (t *Tokens) worthless(why string) error {
	return shoal.E("oidc.Recognise", shoal.Unauthenticated, "This token of "+t.p.Name+" does not count here: "+why+".")
}

// notVerified explains a token that proves nothing.
func (t *Tokens) notVerified(err error) error {
	var expired *gooidc.TokenExpiredError
	if errors.As(err, &expired) {
		return t.worthless("it expired at " + expired.Expiry.UTC().Format(time.RFC3339) + ". Get a new one")
	}
	return t.worthless(short(strings.TrimPrefix(strings.TrimPrefix(err.Error(), "failed to verify signature: "), "oidc: ")))
}

// asked is a keySet for one token. It keeps why there are no keys, of which the verifier keeps only the text.
type asked struct {
	*keySet
	away error
}

// VerifySignature implements the KeySet of go-oidc.
func (a *asked) VerifySignature(ctx context.Context, token string) (payload []byte, err error) {
	payload, err = a.keySet.VerifySignature(ctx, token)
	if shoal.KindOf(err) == shoal.Busy {
		a.away = err
	}
	return payload, err
}
