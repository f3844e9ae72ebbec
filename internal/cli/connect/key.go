package connect

import (
	"context"
	"errors"
	"fmt"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/connect"
)

// keyClient returns a client that may create keys. It first checks everything that creating
// this key needs.
func (n *connection) keyClient(ctx context.Context) (*client.Client, error) {
	server, err := n.sh.Client()
	if err != nil {
		return nil, err
	}
	me, err := server.Me(ctx)
	if err != nil {
		return nil, err
	}
	if err := n.mayCreateKeys(ctx, server, me); err != nil {
		return nil, err
	}
	if err := shoal.CheckID("--agent", string(n.agent())); err != nil {
		return nil, err
	}
	session := server.Session(n.sh.Session)
	who, err := session.Entity(ctx, n.agent())
	switch {
	case errors.Is(err, shoal.NotFound):
		_, err = session.Get(ctx) // a missing session is an error, a missing agent is not
	case err == nil && who.Hosted:
		err = shoal.E("", shoal.Conflict, fmt.Sprintf("the server itself runs the agent %q; give the client another name with --agent", who.ID))
	case err == nil && who.Kind != shoal.Agent:
		err = shoal.E("", shoal.Conflict, fmt.Sprintf("%q is a person; give the client another name with --agent", who.ID))
	}
	if err != nil {
		return nil, err
	}
	for _, space := range n.Space {
		if _, err := session.Space(ctx, space); err != nil {
			return nil, err
		}
	}
	return server, nil
}

// mayCreateKeys refuses callers that the server would refuse after the first step.
func (n *connection) mayCreateKeys(ctx context.Context, server *client.Client, me shoal.Caller) error {
	if me.Role == shoal.RoleAdmin {
		return nil
	}
	if me.EntityID != nil && me.SessionID != nil && *me.SessionID == n.sh.Session {
		self, err := server.Session(n.sh.Session).Entity(ctx, *me.EntityID)
		if err != nil {
			return err
		}
		if self.SessionRole == shoal.SessionOwner {
			return nil
		}
	}
	return shoal.E("", shoal.Forbidden, fmt.Sprintf("creating the key of an agent takes an admin key or the key of an owner of the session %s", n.sh.Session))
}

// createKey creates the agent if it is new, creates its key, and adds it to the spaces.
func (n *connection) createKey(ctx context.Context, server *client.Client) error {
	session, id := server.Session(n.sh.Session), n.agent()
	name := n.Name
	if name == "" {
		name = n.client.Name
	}
	_, err := session.CreateEntity(ctx, shoal.NewEntity{ID: id, Kind: shoal.Agent, Name: name})
	if errors.Is(err, shoal.AlreadyExists) || errors.Is(err, shoal.Conflict) {
		if err = n.noteOtherKeys(ctx, server); err == nil && n.Name != "" {
			_, err = session.ChangeEntity(ctx, id, shoal.EntityChange{Name: &n.Name})
		}
	}
	if err != nil {
		return err
	}
	made, err := n.sh.CreateAgentKey(ctx, server, id, n.client.Name)
	if err != nil {
		return err
	}
	n.key = &made
	return n.addToSpaces(ctx, server)
}

// addToSpaces adds the agent to the spaces of the command.
func (n *connection) addToSpaces(ctx context.Context, server *client.Client) error {
	return n.sh.AddAgentToSpaces(ctx, server.Session(n.sh.Session), n.agent(), n.Space)
}

// noteOtherKeys notes another key of the agent. The holders of both share one inbox.
func (n *connection) noteOtherKeys(ctx context.Context, server *client.Client) error {
	for k, err := range server.Keys(ctx) {
		if err != nil {
			return err
		}
		mine := n.record != nil && k.ID == n.record.KeyID
		if k.EntityID != nil && *k.EntityID == n.agent() && k.SessionID != nil && *k.SessionID == n.sh.Session && !mine {
			n.sh.Output.Note("%s has another key, %s (%s): its holder is the same agent and shares its inbox; use another agent with --agent ID", n.agent(), k.ID, k.Name)
			return nil
		}
	}
	return nil
}

// noteKey prints a key that is not written into the file.
func (n *connection) noteKey() {
	switch {
	case n.storesKey() || n.key == nil:
	case n.client.Asks():
		n.sh.Output.Note("%s will ask for the key, which is shown this once: %s", n.client.Name, *n.key.Secret)
	default:
		n.sh.Output.Note("the key is shown this once: %s", *n.key.Secret)
		variable := connect.Variable(n.agent())
		n.sh.Output.Note("%s looks for it in %s: run `read -rs %s && export %s`, paste it, and start %s from that shell", n.client.Name, variable, variable, variable, n.client.Start)
	}
}

// keyWorks reports whether the key of the existing entry is still valid for the agent.
func (n *connection) keyWorks(ctx context.Context, server *client.Client) (bool, error) {
	if n.entry.Key != "" {
		return n.sh.IsKeyOf(ctx, n.entry.Key, n.agent())
	}
	if n.record == nil || n.record.Agent != n.agent() || n.record.Session != n.sh.Session {
		return false, nil
	}
	for k, err := range server.Keys(ctx) {
		if err != nil || k.ID == n.record.KeyID {
			return err == nil && (k.ExpiresAt == nil || k.ExpiresAt.After(shoal.Now().Time)), err
		}
	}
	return false, nil
}
