package access

import (
	"context"
	"errors"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/audit"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// GiveLogin stores the consent of the caller that a client acts as the caller: a key with all the rights
// that the person has in the session, whose secret the client gets for the code. Of c, only what is of the
// request counts. The key is listed and ended like the sign-in of a browser, with the name of the client as
// its device, and ends no later than the key with which the person has signed in. For people of every role;
// it fails with Forbidden for an admin that acts as no participant, for an agent, and for a key with scopes.
func (g *Grants) GiveLogin(ctx context.Context, caller shoal.Principal, session shoal.SessionID, c Consent) (key shoal.Key, err error) {
	const op = "hub.Grants.GiveLogin"
	if err := errors.Join(core.CheckSession(caller, session), mayLogIn(caller)); err != nil {
		return key, core.Wrap(op, core.FirstError(err))
	}
	err = g.core.Change(ctx, op, storage.Global, func(ch *core.Change) error {
		client, err := ch.OAuthClient(c.ClientID)
		if err != nil {
			return err
		}
		if err := errors.Join(ch.SweepOAuthGrants(ch.At), mayConsent(ch, caller, session)); err != nil {
			return err
		}
		ends := shoal.At(ch.At.Add(codeLife))
		key = shoal.Key{
			ID: shoal.NewID[shoal.KeyID](shoal.PrefixKey), Role: shoal.RoleEntity, SessionID: &session, EntityID: &caller.EntityID,
			Name: client.Name, Device: &client.Name, CreatedAt: ch.At, ExpiresAt: &ends, Scopes: []string{},
		}
		if err := errors.Join(ch.InsertKey(key, hashOfCode(c)), insertGrant(ch, caller, key, c)); err != nil {
			return err
		}
		return ch.Record(caller, session, audit.ConsentGive, clientTarget(c.ClientID), "key", string(key.ID), "entity", string(caller.EntityID))
	})
	return key, err
}

// mayLogIn rejects callers who cannot lend all that they are.
func mayLogIn(caller shoal.Principal) error {
	switch {
	case caller.Role != shoal.RoleEntity || caller.EntityID == "":
		return shoal.E("", shoal.Forbidden, "You are signed in with an admin key or by a link, as nobody in particular. Sign in as a person: with your account, with an invitation, or with a key of your own.")
	case caller.Scopes != "":
		return shoal.E("", shoal.Forbidden, "The key with which you have signed in has scopes, and a program that signs in gets all your rights. Sign in with another key.")
	}
	return nil
}
