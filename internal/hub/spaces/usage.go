package spaces

import (
	"context"
	"slices"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/roles"
)

// Usage reports the usage of model calls.
type Usage struct{ core *core.Core }

// NewUsage returns the usage of a hub.
func NewUsage(c *core.Core) *Usage { return &Usage{c} }

// usageGroups are the names that usage can be grouped by.
var usageGroups = []string{"day", "agent", "model", "run"}

// Sum adds up the usage that q selects, in the groups of q. For admins and owners of the
// session.
func (u *Usage) Sum(ctx context.Context, caller shoal.Principal, session shoal.SessionID, q storage.UsageQuery) (out []shoal.UsageRow, err error) {
	const op = "hub.Usage.Sum"
	if err := core.Authorize(caller, session, roles.ReadSettings); err != nil {
		return nil, core.Wrap(op, err)
	}
	for i, name := range q.By {
		if !slices.Contains(usageGroups, name) || slices.Contains(q.By[:i], name) {
			return nil, core.Wrap(op, shoal.Invalid("by", "must be of day, agent, model and run, each once"))
		}
	}
	switch {
	case q.Agent != "" && !core.ValidID(q.Agent):
		return nil, core.Wrap(op, core.EntityNotFound(q.Agent))
	case q.Run != "" && !core.ValidID(q.Run):
		return nil, core.Wrap(op, core.RunNotFound(q.Run))
	}
	err = u.core.View(ctx, op, func(tx storage.Tx) error {
		if _, err := core.FindSession(tx, session); err != nil {
			return err
		}
		out, err = tx.Usage(session, q)
		return err
	})
	return out, err
}
