package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/app"
)

// agentKeyLife is how long the key of an agent lives after its last use.
const agentKeyLife = 90 * 24 * time.Hour

// CreateAgentKey creates a key of an agent of the session and returns it with its secret. The
// key is named after the program that uses it and this machine. It ends when it was not used for 90
// days, or earlier, with the key that makes it.
func (sh *Shell) CreateAgentKey(ctx context.Context, server *client.Client, agent shoal.EntityID, program string) (shoal.Key, error) {
	name := program
	if host, err := os.Hostname(); err == nil && host != "" {
		name += " on " + host
	}
	n := shoal.NewKey{Role: shoal.RoleEntity, SessionID: sh.Session, EntityID: agent, Name: name, RenewForMs: agentKeyLife.Milliseconds()}
	made, err := server.CreateKey(ctx, n)
	if errors.Is(err, shoal.Forbidden) {
		if until, is := ownEnd(ctx, server); is {
			n.RenewForMs, n.ExpiresAt = 0, &until
			if most := shoal.At(time.Now().Add(agentKeyLife)); until.After(most.Time) {
				n.ExpiresAt = &most
			}
			made, err = server.CreateKey(ctx, n)
		}
	}
	if err == nil && made.Secret == nil {
		err = shoal.E("", shoal.Internal, fmt.Sprintf("the key %s was made, but its secret was lost on the way: revoke it and try again", made.ID))
	}
	return made, err
}

// ownEnd returns when the key of a client ends, if it does.
func ownEnd(ctx context.Context, server *client.Client) (shoal.Time, bool) {
	me, err := server.Me(ctx)
	if err != nil {
		return shoal.Time{}, false
	}
	for k, err := range server.Keys(ctx) {
		if err != nil {
			return shoal.Time{}, false
		}
		if k.ID == me.KeyID && k.ExpiresAt != nil {
			return *k.ExpiresAt, true
		}
	}
	return shoal.Time{}, false
}

// IsKeyOf reports whether a key is valid and that of an agent of the session.
func (sh *Shell) IsKeyOf(ctx context.Context, key string, agent shoal.EntityID) (bool, error) {
	holder, err := client.New(sh.Options(key))
	if err != nil {
		return false, err
	}
	me, err := holder.Me(ctx)
	if errors.Is(err, shoal.Unauthenticated) {
		return false, nil
	}
	return err == nil && me.EntityID != nil && *me.EntityID == agent && me.SessionID != nil && *me.SessionID == sh.Session, err
}

// AddAgentToSpaces adds an agent to the named spaces, or to welcome if none is named and welcome
// is open.
func (sh *Shell) AddAgentToSpaces(ctx context.Context, session *client.Session, agent shoal.EntityID, spaces []shoal.SpaceID) error {
	if len(spaces) == 0 {
		welcome, err := session.Space(ctx, app.Welcome)
		switch {
		case errors.Is(err, shoal.NotFound) || err == nil && welcome.Status != shoal.SpaceStatusOpen:
			sh.Output.Note("%s is in no space yet: `shoal spaces add SPACE %s`", agent, agent)
			return nil
		case err != nil:
			return err
		}
		spaces = []shoal.SpaceID{welcome.ID}
	}
	for _, space := range spaces {
		_, err := session.AddMember(ctx, space, agent)
		if errors.Is(err, shoal.AdminRequired) {
			if err = sh.setAdminAgent(ctx, session, space); err == nil {
				_, err = session.AddMember(ctx, space, agent)
			}
		}
		if err != nil {
			return err
		}
		sh.Output.Note("%s is in %s", agent, space)
	}
	return nil
}

// setAdminAgent makes the hosted agent that is in a space its admin agent, before a second one comes:
// it goes on to answer the messages that mention nobody.
func (sh *Shell) setAdminAgent(ctx context.Context, session *client.Session, space shoal.SpaceID) error {
	hosted := map[shoal.EntityID]bool{}
	for a, err := range session.Agents(ctx) {
		if err != nil {
			return err
		}
		hosted[a.ID] = true
	}
	for m, err := range session.Members(ctx, space, client.MemberFilter{}) {
		if err != nil {
			return err
		}
		if hosted[m.EntityID] {
			_, err := session.ChangeSpace(ctx, space, shoal.SpaceChange{AdminAgentID: &m.EntityID})
			if err == nil {
				sh.Output.Note("%s answers messages in %s that mention nobody; to name another: `shoal spaces set %s --admin-agent ID`", m.EntityID, space, space)
			}
			return err
		}
	}
	return nil
}
