package access

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/audit"
	"github.com/shoal-dev/shoal/internal/hub/agents"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/spaces"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/naming"
	"github.com/shoal-dev/shoal/internal/roles"
	"github.com/shoal-dev/shoal/internal/scopes"
)

// Limits of OAuth.
const (
	// TokenLife is how long an access token works.
	TokenLife = time.Hour
	// codeLife is how long a client may take to exchange a code.
	codeLife = 2 * time.Minute
	// refreshLife is how long a refresh token works that nobody uses, as long as the keys of connect.
	refreshLife = 90 * 24 * time.Hour
	// maxIdleClients bounds the clients that nobody has allowed anything.
	maxIdleClients = 1000
)

// Grants manages OAuth clients and what people allow them. The access token of a client is a key, which
// a grant renews: its id stays, and its secret and its end change. Whatever ends the key ends the grant.
// Grants never sees a secret, only hashes.
type Grants struct{ core *core.Core }

// NewGrants returns the grants of a hub.
func NewGrants(c *core.Core) *Grants { return &Grants{c} }

// Consent is what a person allows a client: to act as an agent, which is new if Name is not empty, in
// addition in Spaces, within Scopes. The rest is of the request of the client; CodeHash is the hash of
// the code that it is to exchange.
type Consent struct {
	ClientID    string
	Agent       shoal.EntityID
	Name        string
	Spaces      []shoal.SpaceID
	Scopes      []string
	RedirectURI string
	Challenge   string
	Resource    string
	CodeHash    string
}

// Register stores a client with a new id. It checks no rights: anybody may register, and a client may do
// nothing before a person consents. Of the clients without a grant only the newest 1,000 are kept.
func (g *Grants) Register(ctx context.Context, name string, redirectURIs, hosts []string) (c storage.OAuthClient, err error) {
	err = g.core.Change(ctx, "hub.Grants.Register", storage.Global, func(ch *core.Change) error {
		c = storage.OAuthClient{ID: shoal.NewID[string]("client_"), Name: name, RedirectURIs: redirectURIs, CreatedAt: ch.At}
		return register(ch, shoal.Principal{}, c, hosts)
	})
	return c, err
}

func register(ch *core.Change, caller shoal.Principal, c storage.OAuthClient, hosts []string) error {
	if err := errors.Join(ch.SweepOAuthGrants(ch.At), ch.PutOAuthClient(c), ch.TrimOAuthClients(maxIdleClients)); err != nil {
		return err
	}
	return ch.Record(caller, "", audit.ClientRegister, clientTarget(c.ID), "hosts", strings.Join(hosts, " "))
}

// Remember stores a client as the metadata document at its id describes it, which was read for the caller
// and is fresh for so long. It checks no rights, and keeps as few clients as Register. A document that has
// not changed is recorded in the audit log once.
func (g *Grants) Remember(ctx context.Context, caller shoal.Principal, id, name string, redirectURIs, hosts []string, fresh time.Duration) (c storage.OAuthClient, err error) {
	err = g.core.Change(ctx, "hub.Grants.Remember", storage.Global, func(ch *core.Change) error {
		until := shoal.At(ch.At.Add(fresh))
		c = storage.OAuthClient{ID: id, Name: name, RedirectURIs: redirectURIs, CreatedAt: ch.At, FreshUntil: &until}
		known, err := ch.OAuthClient(id)
		if err == nil && known.Name == name && slices.Equal(known.RedirectURIs, redirectURIs) {
			return ch.PutOAuthClient(c)
		}
		if err != nil && !errors.Is(err, shoal.NotFound) {
			return err
		}
		return register(ch, caller, c, hosts)
	})
	return c, err
}

// Client returns a client, or NotFound. It checks no rights.
func (g *Grants) Client(ctx context.Context, id string) (c storage.OAuthClient, err error) {
	err = g.core.View(ctx, "hub.Grants.Client", func(tx storage.Tx) error {
		c, err = tx.OAuthClient(id)
		return err
	})
	return c, err
}

// Give stores the consent of the caller: a key of the agent, whose secret the client gets for the code.
// For people and admins who may connect agents; an agent that exists has to be owned by the person, or
// the person to be an owner of the session. It fails with Forbidden for an agent that may more than the
// person, and for a space that the person may not change, with Conflict for one that the server runs,
// and as [Keys.Create] does for a caller whose own key ends.
func (g *Grants) Give(ctx context.Context, caller shoal.Principal, session shoal.SessionID, c Consent) (key shoal.Key, err error) {
	const op = "hub.Grants.Give"
	err = errors.Join(core.Authorize(caller, session, roles.ConnectAgent), shoal.CheckID("agent", string(c.Agent)), naming.CheckReserved("name", c.Name))
	if err != nil {
		return key, core.Wrap(op, core.FirstError(err))
	}
	if c.Scopes, err = scopes.Clean(c.Scopes); err != nil {
		return key, core.Wrap(op, err)
	}
	err = g.core.Change(ctx, op, storage.Global, func(ch *core.Change) error {
		client, err := ch.OAuthClient(c.ClientID)
		if err != nil {
			return err
		}
		if err := errors.Join(ch.SweepOAuthGrants(ch.At), mayConsent(ch, caller, session)); err != nil {
			return err
		}
		if err := prepareAgent(ch, caller, session, c); err != nil {
			return err
		}
		ends := shoal.At(ch.At.Add(codeLife))
		n := shoal.NewKey{Role: shoal.RoleEntity, SessionID: session, EntityID: c.Agent, Name: client.Name, ExpiresAt: &ends, Scopes: c.Scopes}
		if key, err = insertKey(ch, n, hashOfCode(c), caller.EntityID); err != nil {
			return err
		}
		if err := insertGrant(ch, caller, key, c); err != nil {
			return err
		}
		in := make([]string, len(c.Spaces))
		for i, id := range c.Spaces {
			in[i] = string(id)
		}
		return ch.Record(caller, session, audit.ConsentGive, clientTarget(c.ClientID), "key", string(key.ID), "entity", string(c.Agent), "spaces", strings.Join(in, " "), "scopes", scopes.Text(c.Scopes))
	})
	return key, err
}

// hashOfCode returns what is stored as the hash of a key until the code of a consent is exchanged.
// Nobody has a secret with this hash: the exchange replaces it.
func hashOfCode(c Consent) string { return "code " + c.CodeHash }

// insertGrant stores what the caller has allowed a client to do with a key, which ends with the code. The
// grant ends no later than the key of the caller.
func insertGrant(ch *core.Change, caller shoal.Principal, key shoal.Key, c Consent) error {
	own, err := callerKey(ch, caller)
	if err != nil {
		return err
	}
	return ch.InsertOAuthGrant(storage.OAuthGrant{
		Key: key.ID, Session: *key.SessionID, ClientID: c.ClientID, RedirectURI: c.RedirectURI, Challenge: c.Challenge, Resource: c.Resource,
		CodeHash: c.CodeHash, EndsAt: *key.ExpiresAt, LatestEnd: own.ExpiresAt,
	})
}

// Deny records that the caller allows a client nothing. It checks no rights: nothing follows from it.
func (g *Grants) Deny(ctx context.Context, caller shoal.Principal, session shoal.SessionID, client string) error {
	return g.core.Change(ctx, "hub.Grants.Deny", storage.In(session), func(ch *core.Change) error {
		if err := core.CheckSession(caller, session); err != nil {
			return err
		}
		return ch.Record(caller, session, audit.ConsentDeny, clientTarget(client))
	})
}

func clientTarget(id string) audit.Target { return audit.Target{Kind: "client", ID: id} }

// mayConsent rejects agents: with a key of its own making, one would survive the end of its key.
func mayConsent(ch *core.Change, caller shoal.Principal, session shoal.SessionID) error {
	if caller.Role == shoal.RoleAdmin {
		return nil
	}
	e, err := core.FindEntity(ch, session, caller.EntityID)
	if err == nil && e.Kind != shoal.Human {
		err = shoal.E("", shoal.Forbidden, fmt.Sprintf("%q is an agent. Only people connect programs to Shoal in this way.", e.ID))
	}
	return err
}

// prepareAgent creates the agent of a consent, or checks that the caller may let a client act as it, and
// adds it to the spaces.
func prepareAgent(ch *core.Change, caller shoal.Principal, session shoal.SessionID, c Consent) error {
	if c.Name != "" {
		if _, err := core.InsertEntity(ch, session, shoal.NewEntity{ID: c.Agent, Kind: shoal.Agent, Name: c.Name}, caller.EntityID); err != nil {
			return err
		}
	} else if err := mayLendAgent(ch, caller, session, c.Agent); err != nil {
		return err
	}
	by := shoal.Invite{SessionID: session}
	if caller.EntityID != "" {
		by.CreatedBy = &caller.EntityID
	}
	for _, id := range c.Spaces {
		if _, err := core.ModeratedSpace(ch, caller, session, id); err != nil {
			return err
		}
		in, err := ch.IsMember(session, id, c.Agent)
		if err == nil && !in {
			err = spaces.AddInvited(ch, by, id, c.Agent)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func mayLendAgent(ch *core.Change, caller shoal.Principal, session shoal.SessionID, id shoal.EntityID) error {
	e, err := core.VisibleEntity(ch, caller, session, id)
	manages := core.May(caller, roles.Manage) == nil
	switch {
	case err != nil:
		return err
	case e.Kind != shoal.Agent:
		return shoal.E("", shoal.Forbidden, fmt.Sprintf("%q is a person. A program acts as an agent: choose one, or create one.", id))
	case e.Hosted:
		return shoal.E("", shoal.Conflict, fmt.Sprintf("The runs of %q follow its configuration; a program that signs in acts as an agent of its own. Choose another agent, or create one.", id))
	case manages:
		if agents.ClaimAgent(&e, caller.EntityID); e.OwnerID != nil && *e.OwnerID == caller.EntityID {
			return ch.UpdateEntity(e)
		}
		return nil
	case e.OwnerID == nil || *e.OwnerID != caller.EntityID:
		return shoal.E("", shoal.Forbidden, fmt.Sprintf("%q is not your agent. Choose one that you own, or create one.", id))
	case !roles.Within(e.SessionRole, caller.SessionRole):
		return shoal.E("", shoal.Forbidden, fmt.Sprintf("%q has the role %q in this session, which allows more than yours. Choose another agent, or create one.", id, e.SessionRole))
	}
	return nil
}
