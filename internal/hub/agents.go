package hub

import (
	"context"
	"errors"
	"time"

	"github.com/shoal-dev/shoal"
)

// WaitForAgents returns once all of ids, or, with none, count entities besides
// the caller, are present: in any state but offline. On time-out it returns who
// is missing (with a count: nobody by name) and timedOut.
func (b *Inbox) WaitForAgents(ctx context.Context, who shoal.Principal, session shoal.SessionID, ids []shoal.EntityID, count int, timeout time.Duration) (present []shoal.Entity, missing []shoal.EntityID, timedOut bool, err error) {
	const op = "hub.Inbox.WaitForAgents"
	if len(ids) == 0 && count < 1 {
		return nil, nil, false, wrap(op, shoal.Invalid("agentIds", "is missing: name agents, or give count"))
	}
	defer b.open.Add(-1)
	if err := b.countWait(); err != nil {
		return nil, nil, false, wrap(op, err)
	}
	timer := time.NewTimer(shoal.ClampWait(timeout))
	defer timer.Stop()
	for last := false; ; {
		arrivals := b.presence.arrivals()
		if present, missing, err = b.present(ctx, who, session, ids); err != nil {
			return nil, nil, false, wrap(op, err)
		}
		if len(ids) > 0 && len(missing) == 0 || len(ids) == 0 && len(present) >= count {
			return present, missing, false, nil
		}
		if last {
			return present, missing, true, nil
		}
		select {
		case <-arrivals:
		case <-timer.C:
			last = true // who is missing now, not when somebody came last
		case <-b.ctx.Done():
			return present, missing, true, nil
		case <-ctx.Done():
			return nil, nil, false, context.Cause(ctx)
		}
	}
}

// present lists who of ids, or of everybody but the caller, is not offline.
func (b *Inbox) present(ctx context.Context, who shoal.Principal, session shoal.SessionID, ids []shoal.EntityID) (here []shoal.Entity, missing []shoal.EntityID, err error) {
	here, missing = []shoal.Entity{}, []shoal.EntityID{}
	err = b.view(ctx, "hub.Inbox.present", func(tx Tx) error {
		if err := enter(who, session); err != nil {
			return err
		}
		here, missing = here[:0], missing[:0]
		wanted := ids
		if len(ids) == 0 {
			if wanted, err = b.presence.around(tx, session); err != nil {
				return err
			}
		}
		for _, id := range wanted {
			e, err := entityOf(tx, session, id)
			if errors.Is(err, shoal.NotFound) && len(ids) == 0 {
				continue // deleted a moment ago
			}
			if err != nil {
				return err
			}
			if e = b.presence.live(e); e.State == shoal.Offline {
				missing = append(missing, id)
			} else if len(ids) > 0 || id != who.EntityID {
				here = append(here, e)
			}
		}
		return nil
	})
	return here, missing, err
}
