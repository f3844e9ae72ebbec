package access

import (
	"context"
	"errors"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/audit"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// NewTokens are the tokens that a client gets. Access makes an access token for a resource and returns its
// hash; it may be called more than once, and the last one counts. Refresh is the hash of the refresh token.
type NewTokens struct {
	Access  func(resource string) (hash string)
	Refresh string
}

// Redemption is the exchange of a code. Challenge is what the client's verifier proves; an empty Resource
// is that of the code.
type Redemption struct {
	CodeHash, FamilyHash string
	ClientID             string
	RedirectURI          string
	Challenge, Resource  string
	New                  NewTokens
}

// Refreshing is the use of a refresh token. FamilyHash is the hash of the part that all refresh tokens of
// a grant have in common, RefreshHash that of the rest.
type Refreshing struct {
	FamilyHash, RefreshHash string
	ClientID, Resource      string
	New                     NewTokens
}

// Why a token is revoked, in the audit log.
const (
	byClient   = "by the client"
	codeReused = "a code was used twice"
	reused     = "a refresh token was used twice"
)

// errResource is the error for tokens that are asked for another resource than the person has allowed.
var errResource = shoal.E("", shoal.InvalidArgument, "The resource is another one than the person has allowed.")

// Redeem exchanges a code for tokens, once. A code that does not exist, has ended, or belongs to another
// client, redirect URI or verifier is Unauthenticated; a code that comes a second time, too, and what it
// was exchanged for is revoked. Another resource is InvalidArgument.
func (g *Grants) Redeem(ctx context.Context, r Redemption) (shoal.Key, error) {
	find := func(tx storage.Tx) (storage.OAuthGrant, error) { return tx.OAuthGrantByCode(r.CodeHash) }
	return g.renew(ctx, "hub.Grants.Redeem", r.New, audit.TokenIssue, find, func(grant *storage.OAuthGrant, at shoal.Time) (string, error) {
		switch {
		case grant.ClientID != r.ClientID:
			return "", noGrant("The code belongs to another client.")
		case grant.FamilyHash != nil:
			return codeReused, noGrant("The code was used before.")
		case !grant.EndsAt.After(at.Time):
			return "", noGrant("The code has expired.")
		case grant.RedirectURI != r.RedirectURI:
			return "", noGrant("The redirect_uri is another one than that of the authorization.")
		case grant.Challenge != r.Challenge:
			return "", noGrant("The code_verifier does not belong to the code_challenge.")
		case r.Resource != "" && grant.Resource != r.Resource:
			return "", errResource
		}
		grant.FamilyHash = &r.FamilyHash
		return "", nil
	})
}

// Refresh exchanges a refresh token for new tokens: the old ones work no more. A token that does not exist,
// has ended, or belongs to another client is Unauthenticated; one that was exchanged before, too, and the
// grant is revoked, because somebody else has a copy. Another resource is InvalidArgument.
func (g *Grants) Refresh(ctx context.Context, r Refreshing) (shoal.Key, error) {
	find := func(tx storage.Tx) (storage.OAuthGrant, error) { return tx.OAuthGrantByFamily(r.FamilyHash) }
	return g.renew(ctx, "hub.Grants.Refresh", r.New, audit.TokenRefresh, find, func(grant *storage.OAuthGrant, at shoal.Time) (string, error) {
		switch {
		case grant.ClientID != r.ClientID:
			return "", noGrant("The refresh token belongs to another client.")
		case !grant.EndsAt.After(at.Time):
			return "", noGrant("The refresh token has expired.")
		case grant.RefreshHash == nil || *grant.RefreshHash != r.RefreshHash:
			return reused, noGrant("The refresh token was used before.")
		case r.Resource != "" && grant.Resource != r.Resource:
			return "", errResource
		}
		return "", nil
	})
}

// renew gives a grant new tokens. check returns an error if the client may not have them, and why
// the grant is revoked besides, or prepares the grant.
func (g *Grants) renew(ctx context.Context, op string, tokens NewTokens, act audit.Act, find func(storage.Tx) (storage.OAuthGrant, error), check func(*storage.OAuthGrant, shoal.Time) (string, error)) (key shoal.Key, err error) {
	// A guess does not begin a change, which would exclude those of everybody else.
	err = g.core.View(ctx, op, func(tx storage.Tx) error {
		_, err := find(tx)
		return endedGrant(err)
	})
	if err != nil {
		return key, err
	}
	var refused error
	revoked := false
	err = g.core.Change(ctx, op, storage.Global, func(ch *core.Change) error {
		grant, err := find(ch)
		if err != nil {
			return endedGrant(err)
		}
		if key, err = ch.Key(grant.Key); err != nil {
			return err
		}
		why := ""
		why, refused = check(&grant, ch.At)
		if revoked = why != ""; revoked {
			return revokeToken(ch, grant, key, why)
		}
		if refused != nil {
			return nil
		}
		ends := earliest(ch.At, TokenLife, grant.LatestEnd)
		grant.RefreshHash, grant.EndsAt = &tokens.Refresh, earliest(ch.At, refreshLife, grant.LatestEnd)
		key.ExpiresAt = &ends
		return errors.Join(ch.RenewOAuthGrant(grant, tokens.Access(grant.Resource), ends), ch.Record(principalOf(key), grant.Session, act, audit.Target{Kind: "key", ID: string(key.ID)}, "client", grant.ClientID))
	})
	g.core.RevokedRights() // the hash of the key that servers remember has changed
	if err == nil && revoked {
		g.core.Calls.EndKey(key.ID)
	}
	if err == nil {
		err = core.Wrap(op, refused)
	}
	return key, err
}

// Revoke ends the grant of a client whose access token, or the common part of whose refresh tokens, has a
// hash, with everything that is open with it. For any other hash, or the token of another client, it does nothing.
func (g *Grants) Revoke(ctx context.Context, client, hash string) error {
	const op = "hub.Grants.Revoke"
	find := func(tx storage.Tx) (grant storage.OAuthGrant, err error) {
		key, err := tx.KeyByHash(hash)
		if errors.Is(err, shoal.NotFound) {
			grant, err = tx.OAuthGrantByFamily(hash)
		} else if err == nil {
			grant, err = tx.OAuthGrant(key.ID)
		}
		if err == nil && grant.ClientID != client {
			err = shoal.NotFound
		}
		return grant, err
	}
	err := g.core.View(ctx, op, func(tx storage.Tx) error {
		_, err := find(tx)
		return err
	})
	var ended shoal.KeyID
	if err == nil {
		err = g.core.Change(ctx, op, storage.Global, func(ch *core.Change) error {
			grant, err := find(ch)
			if err != nil {
				return err
			}
			ended = grant.Key
			key, err := ch.Key(grant.Key)
			if err != nil {
				return err
			}
			return revokeToken(ch, grant, key, byClient)
		})
		g.core.RevokedRights()
	}
	if errors.Is(err, shoal.NotFound) {
		return nil
	}
	if err == nil {
		g.core.Calls.EndKey(ended)
	}
	return err
}

func revokeToken(ch *core.Change, grant storage.OAuthGrant, key shoal.Key, why string) error {
	return errors.Join(ch.DeleteKey(grant.Session, key.ID),
		ch.Record(principalOf(key), grant.Session, audit.TokenRevoke, audit.Target{Kind: "key", ID: string(key.ID)}, "client", grant.ClientID, "why", why))
}

func noGrant(why string) error { return shoal.E("", shoal.Unauthenticated, why) }

// endedGrant replaces NotFound by the error of a token that proves nothing.
func endedGrant(err error) error {
	if errors.Is(err, shoal.NotFound) {
		return noGrant("It is unknown, was revoked or has expired.")
	}
	return err
}

// earliest returns when something ends that begins at a time: after a life, and no later than latest.
func earliest(at shoal.Time, life time.Duration, latest *shoal.Time) shoal.Time {
	ends := shoal.At(at.Add(life))
	if latest != nil && latest.Before(ends.Time) {
		return *latest
	}
	return ends
}
