package agents

import (
	"context"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/roles"
)

// Versions returns at most limit versions of a hosted agent, the newest first, with numbers
// below before, or all if before is 0. For admins and owners of the session.
func (a *Agents) Versions(ctx context.Context, caller shoal.Principal, session shoal.SessionID, id shoal.EntityID, before, limit int) (out []shoal.HostedAgent, err error) {
	const op = "hub.Agents.Versions"
	if err := core.Authorize(caller, session, roles.ReadSettings); err != nil {
		return nil, core.Wrap(op, err)
	}
	err = a.core.View(ctx, op, func(tx storage.Tx) error {
		if _, err := core.FindHostedAgent(tx, session, id); err != nil {
			return err
		}
		found, err := tx.HostedAgentVersions(session, id, before, limit)
		out = make([]shoal.HostedAgent, len(found))
		for i, f := range found {
			out[i] = f.HostedAgent
		}
		return err
	})
	return out, err
}
