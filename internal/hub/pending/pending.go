package pending

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/roles"
	"github.com/shoal-dev/shoal/internal/scopes"
)

// Pending are the pending actions of a hub: the answers that runs wait for.
type Pending struct {
	core *core.Core
	fits FitsSchema
}

// FitsSchema returns an error if value does not match a JSON Schema; the error calls the
// value by name.
type FitsSchema func(name string, schema, value json.RawMessage) error

// NewPending returns the pending actions of a hub. If fits is nil, answers are not checked
// against schemas.
func NewPending(c *core.Core, fits FitsSchema) *Pending { return &Pending{c, fits} }

// List returns pending actions that the caller may answer, in the order of the filter. An
// entity gets those that its spaces show and the policy lets it answer; services and admins
// get all. It fails with NotFound for a space that the caller may not read.
func (p *Pending) List(ctx context.Context, caller shoal.Principal, session shoal.SessionID, filter storage.PendingFilter) (out []shoal.PendingAction, err error) {
	err = p.core.View(ctx, "hub.Pending.List", func(tx storage.Tx) error {
		out = []shoal.PendingAction{}
		if err := core.Authorize(caller, session, roles.ReadSession); err != nil {
			return err
		}
		if _, err := core.FindSession(tx, session); err != nil {
			return err
		}
		if filter.Space != "" {
			if _, err := core.ReadableSpace(tx, caller, session, filter.Space); err != nil {
				return err
			}
		} else if err := scopes.Session(caller.Scopes); err != nil {
			return err
		}
		if filter.Run != "" && !core.ValidID(filter.Run) {
			return core.RunNotFound(filter.Run)
		}
		filter.Reader = core.ReaderEntity(caller)
		limit, judge := filter.Limit, NewJudge(tx, session)
		for {
			page, err := tx.PendingActions(session, filter)
			if err != nil {
				return err
			}
			for _, row := range page {
				filter.After = row.ID
				may := filter.Reader == ""
				if !may {
					if may, err = judge.MayAnswer(caller, row); err != nil {
						return err
					}
				}
				if may && (row.Target == "" || filter.Reader == "" || row.Target == filter.Reader) {
					shown, err := judge.viewFor(caller, row)
					if err != nil {
						return err
					}
					out = append(out, shown)
				}
				if limit > 0 && len(out) == limit {
					return nil
				}
			}
			if limit == 0 || len(page) < limit {
				return nil
			}
		}
	})
	return out, err
}

// IDOrEmpty returns the id, or an empty one for nil.
func IDOrEmpty(id *shoal.SpaceID) shoal.SpaceID {
	if id == nil {
		return ""
	}
	return *id
}

func pendingNotFound(id shoal.PendingID) error {
	return shoal.E("", shoal.NotFound, fmt.Sprintf("Pending action %q not found in your spaces.", id))
}

// checkVisible fails with NotFound for a caller that may not know of an action: one that is
// neither in the space that shows the action nor concerned by it, or that is not the one
// member that may see it.
func checkVisible(j *Judge, caller shoal.Principal, row storage.Pending) error {
	if !scopes.AllowSpace(caller.Scopes, IDOrEmpty(row.SpaceID)) {
		return pendingNotFound(row.ID)
	}
	own := core.ReaderEntity(caller)
	if own == "" {
		return nil
	}
	if row.Target != "" && row.Target != own {
		return pendingNotFound(row.ID)
	}
	concerned, err := j.concerns(row, own)
	if err != nil || concerned {
		return err
	}
	if row.SpaceID == nil {
		return pendingNotFound(row.ID)
	}
	in, err := j.tx.IsMember(row.Session, *row.SpaceID, own)
	if err == nil && !in {
		err = pendingNotFound(row.ID)
	}
	return err
}
