package agents

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/audit"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/runs"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/roles"
)

// Agents stores the configurations of hosted agents. Callers decode and validate the
// content of a configuration.
type Agents struct{ core *core.Core }

// NewAgents returns the hosted agents of a hub.
func NewAgents(c *core.Core) *Agents { return &Agents{c} }

// MayPut checks that the caller may store configurations in a session: admins and owners of the
// session. It fails with NotFound or Forbidden.
func (a *Agents) MayPut(caller shoal.Principal, session shoal.SessionID) error {
	return core.Wrap("hub.Agents.Put", core.Authorize(caller, session, roles.Manage))
}

// Put stores a configuration as the newest version, and creates the entity of the agent if
// it does not exist. The name and description of the entity follow the configuration.
// created reports that the agent was not hosted before. A configuration with the hash of
// the newest version changes nothing. Put fails with Conflict if the entity is a human, and
// with AdminRequired, naming the space, if the agent is in a space that has another hosted
// agent and no admin agent. For admins and owners of the session.
func (a *Agents) Put(ctx context.Context, caller shoal.Principal, n storage.Agent) (out shoal.HostedAgent, created bool, err error) {
	const op = "hub.Agents.Put"
	if err := errors.Join(core.Authorize(caller, n.SessionID, roles.Manage), shoal.CheckID("id", string(n.ID))); err != nil {
		return out, false, core.Wrap(op, core.FirstError(err))
	}
	err = a.core.Change(ctx, op, storage.In(n.SessionID), func(ch *core.Change) (err error) {
		var changed bool
		if out, created, changed, err = putAgent(ch, n, caller.EntityID); err != nil || !changed {
			return err
		}
		return ch.Record(caller, n.SessionID, audit.AgentPut, agentTarget(n.ID), "version", strconv.Itoa(out.Version), "hash", out.Hash)
	})
	if err == nil {
		a.core.Presence.MarkPresent(n.SessionID, n.ID)
	}
	return out, created, err
}

func agentTarget(id shoal.EntityID) audit.Target { return audit.Target{Kind: "agent", ID: string(id)} }

func putAgent(ch *core.Change, n storage.Agent, owner shoal.EntityID) (out shoal.HostedAgent, created, changed bool, err error) {
	if err := core.RequireOpenSession(ch, n.SessionID); err != nil {
		return out, false, false, err
	}
	newest, err := ch.HostedAgent(n.SessionID, n.ID)
	switch {
	case err == nil && newest.Hash == n.Hash:
		return newest.HostedAgent, false, false, nil
	case err == nil:
		n.Version = newest.Version + 1
	case errors.Is(err, shoal.NotFound):
		created = true
		if n.Version, err = nextVersion(ch, n); err != nil {
			return out, false, false, err
		}
	default:
		return out, false, false, err
	}
	if err := ensureAgentEntity(ch, n, owner); err != nil {
		return out, false, false, err
	}
	n.CreatedAt = ch.At
	if err := ch.PutHostedAgent(n); err != nil {
		return out, false, false, err
	}
	if created {
		err = checkAdminAgents(ch, n.SessionID, n.ID)
	}
	return n.HostedAgent, created, true, err
}

// nextVersion returns the version of an agent that is not hosted. It may have been hosted
// before.
func nextVersion(tx Tx, n storage.Agent) (int, error) {
	for version := 1; ; version++ {
		_, err := tx.HostedAgentAt(n.SessionID, n.ID, version)
		if errors.Is(err, shoal.NotFound) {
			return version, nil
		}
		if err != nil {
			return 0, err
		}
	}
}

// ensureAgentEntity creates the entity of a hosted agent, or updates its name and
// description from the configuration.
func ensureAgentEntity(ch *core.Change, n storage.Agent, owner shoal.EntityID) error {
	if n.Name == "" {
		n.Name = string(n.ID)
	}
	e, err := ch.Entity(n.SessionID, n.ID)
	if errors.Is(err, shoal.NotFound) {
		_, err = core.InsertEntity(ch, n.SessionID, shoal.NewEntity{ID: n.ID, Kind: shoal.Agent, Name: n.Name, Description: n.Description}, owner)
		return err
	}
	if err != nil {
		return err
	}
	if !roles.MayBeHosted(e.SessionRole) {
		return shoal.E("", shoal.Conflict, fmt.Sprintf("%q has the role %q in this session. A hosted agent is limited by its configuration and not by such a role: make it a member first.", e.ID, e.SessionRole))
	}
	if e.Kind == shoal.Human {
		return notAnAgent(n.ID)
	}
	oldName := e.Name
	e.Name, e.Description = n.Name, n.Description
	if e.Name != oldName {
		if err := core.CheckEntityName(ch, e); err != nil {
			return err
		}
	}
	ClaimAgent(&e, owner)
	if err := ch.UpdateEntity(e); err != nil || oldName == e.Name {
		return err
	}
	return core.AnnounceRename(ch, n.SessionID, n.ID)
}

// ClaimAgent makes owner the owner of an agent that has none.
func ClaimAgent(e *shoal.Entity, owner shoal.EntityID) {
	if e.OwnerID == nil && e.Kind == shoal.Agent && owner != "" && owner != e.ID {
		e.OwnerID = &owner
	}
}

// checkAdminAgents checks the spaces of an agent that has become hosted as
// RequireAdminAgent does.
func checkAdminAgents(ch *core.Change, session shoal.SessionID, id shoal.EntityID) error {
	spaces, err := ch.Spaces(session, storage.SpaceFilter{Member: id, OpenOnly: true})
	if err != nil {
		return err
	}
	for _, s := range spaces {
		if err := RequireAdminAgent(ch, s); err != nil {
			return err
		}
	}
	return nil
}

// RequireAdminAgent fails with AdminRequired for a space with several hosted agents and no
// admin agent: it would be unclear which of them answers a message without mentions.
func RequireAdminAgent(tx Tx, s shoal.Space) error {
	if s.AdminAgentID != nil {
		return nil
	}
	hosted, err := tx.HostedMembers(s.SessionID, s.ID)
	if err != nil || len(hosted) < 2 {
		return err
	}
	return shoal.E("", shoal.AdminRequired, fmt.Sprintf("The space %q would have %d hosted agents (%q and %q among them) and no admin agent. Set its adminAgentId first: that agent answers messages that mention nobody.", s.ID, len(hosted), hosted[0], hosted[1]))
}

// Get returns the newest version of a hosted agent, or the given one if version is not 0.
// It fails with NotFound if there is no such agent or version. For admins and owners of the
// session.
func (a *Agents) Get(ctx context.Context, caller shoal.Principal, session shoal.SessionID, id shoal.EntityID, version int) (out shoal.HostedAgent, err error) {
	const op = "hub.Agents.Get"
	if err := core.Authorize(caller, session, roles.ReadSettings); err != nil {
		return out, core.Wrap(op, err)
	}
	err = a.core.View(ctx, op, func(tx storage.Tx) error {
		found, err := core.FindHostedAgent(tx, session, id)
		if err == nil && version != 0 && version != found.Version {
			found, err = tx.HostedAgentAt(session, id, version)
			if errors.Is(err, shoal.NotFound) {
				err = shoal.E("", shoal.NotFound, fmt.Sprintf("The agent %q has no version %d.", id, version))
			}
		}
		out = found.HostedAgent
		return err
	})
	return out, err
}

// List returns the newest versions of at most limit hosted agents after the given one, in
// the order of ids. For admins and owners of the session.
func (a *Agents) List(ctx context.Context, caller shoal.Principal, session shoal.SessionID, after shoal.EntityID, limit int) (out []shoal.HostedAgent, err error) {
	const op = "hub.Agents.List"
	if err := core.Authorize(caller, session, roles.ReadSettings); err != nil {
		return nil, core.Wrap(op, err)
	}
	err = a.core.View(ctx, op, func(tx storage.Tx) error {
		if _, err := core.FindSession(tx, session); err != nil {
			return err
		}
		found, err := tx.HostedAgents(session, after, limit)
		out = make([]shoal.HostedAgent, len(found))
		for i, f := range found {
			out[i] = f.HostedAgent
		}
		return err
	})
	return out, err
}

// Delete removes the configuration of an agent, which becomes a connected agent, and
// cancels its runs and plans. For admins and owners of the session.
func (a *Agents) Delete(ctx context.Context, caller shoal.Principal, session shoal.SessionID, id shoal.EntityID) error {
	const op = "hub.Agents.Delete"
	if err := core.Authorize(caller, session, roles.Manage); err != nil {
		return core.Wrap(op, err)
	}
	err := a.core.Change(ctx, op, storage.In(session), func(ch *core.Change) error {
		if err := core.RequireOpenSession(ch, session); err != nil {
			return err
		}
		if _, err := core.FindHostedAgent(ch, session, id); err != nil {
			return err
		}
		return errors.Join(CancelWork(ch, session, id), ch.DeleteHostedAgent(session, id), ch.Record(caller, session, audit.AgentDelete, agentTarget(id)))
	})
	if err == nil {
		a.core.Presence.Refresh(session, id)
	}
	return err
}

// CancelWork cancels all runs and plans of an agent, with what the runs ask, or of all
// agents of the session if agent is empty.
func CancelWork(ch *core.Change, session shoal.SessionID, agent shoal.EntityID) error {
	if err := runs.CancelRuns(ch, session, agent); err != nil {
		return err
	}
	return runs.CancelPlans(ch, session, agent)
}

func notAnAgent(id shoal.EntityID) error {
	return shoal.E("", shoal.Conflict, fmt.Sprintf("%q is a person; only an agent can have a configuration. Choose another id.", id))
}
