package inbox

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/roles"
)

// AgentsRequest describes what a wait for agents waits for: that all of IDs are present, that
// is, in any state but offline; without IDs, that Count entities besides the caller are. Ids
// that do not exist yet are allowed. For a guest, entities that share no space with it are like
// those.
type AgentsRequest struct {
	IDs    []shoal.EntityID
	Count  int
	caller shoal.Principal
}

// PresentAgents is what a wait for agents has found at its end: at most a page of the present
// entities, and the ids that are missing. Without ids in the request, Missing is empty.
type PresentAgents struct {
	Present  []shoal.Entity
	Missing  []shoal.EntityID
	complete bool // the wait need not go on
}

// WaitForAgents is [Inbox.Wait] for agents. At the time-out it returns timedOut.
func (b *Inbox) WaitForAgents(ctx context.Context, caller shoal.Principal, session shoal.SessionID, ids []shoal.EntityID, count int, timeout time.Duration) (present []shoal.Entity, missing []shoal.EntityID, timedOut bool, err error) {
	d, err := b.Wait(ctx, caller, &WaitRequest{Session: session, Timeout: timeout, Agents: &AgentsRequest{IDs: ids, Count: count}})
	if err != nil {
		return nil, nil, false, err
	}
	return d.Agents.Present, d.Agents.Missing, d.Result.TimedOut, nil
}

// check checks that the caller may wait in the session, and the ids and the count.
func (r *AgentsRequest) check(caller shoal.Principal, session shoal.SessionID) error {
	if err := core.Authorize(caller, session, roles.ReadSession); err != nil {
		return err
	}
	r.caller = caller
	if len(r.IDs) == 0 && r.Count < 1 {
		return shoal.Invalid("agentIds", "is missing: name agents, or give count")
	}
	if len(r.IDs) > shoal.MaxWaitAgents {
		return shoal.Invalid("agentIds", fmt.Sprintf("has %d entries; at most %d are allowed", len(r.IDs), shoal.MaxWaitAgents))
	}
	for i, id := range r.IDs {
		if err := shoal.CheckID("agentIds", string(id)); err != nil {
			return err
		}
		if slices.Contains(r.IDs[:i], id) {
			return shoal.Invalid("agentIds", fmt.Sprintf("has %q twice", id))
		}
	}
	return nil
}

// find finds which of the ids, or of all entities but the owner of a mailbox, are not offline.
func (r *AgentsRequest) find(ctx context.Context, c *core.Core, box storage.EntityRef) (found *PresentAgents, err error) {
	err = c.Store.View(ctx, func(tx storage.Tx) (err error) {
		if _, err := core.FindSession(tx, box.Session); err != nil {
			return err
		}
		found = &PresentAgents{Present: []shoal.Entity{}, Missing: []shoal.EntityID{}}
		wanted, count := r.IDs, 0
		if len(r.IDs) == 0 {
			if wanted, err = c.Presence.PossiblyPresent(tx, box.Session); err != nil {
				return err
			}
		}
		for _, id := range wanted {
			if len(r.IDs) == 0 && id == box.ID {
				continue
			}
			e, err := core.VisibleEntity(tx, r.caller, box.Session, id) // it may have been deleted since
			if err != nil && !errors.Is(err, shoal.NotFound) {
				return err
			}
			if e = c.Presence.FillLiveState(e); err != nil || e.State == shoal.Offline {
				found.Missing = append(found.Missing, id)
				continue
			}
			if count++; len(found.Present) < shoal.MaxPage {
				found.Present = append(found.Present, e)
			}
		}
		if found.complete = len(found.Missing) == 0; len(r.IDs) == 0 {
			found.Missing, found.complete = found.Missing[:0], count >= r.Count
		}
		return nil
	})
	return found, err
}
