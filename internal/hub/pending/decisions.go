package pending

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/audit"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/roles"
	"github.com/shoal-dev/shoal/internal/scopes"
)

// OwnerOf returns the owner of an agent, or an empty id for an entity without one.
func OwnerOf(e shoal.Entity) shoal.EntityID {
	if e.OwnerID == nil {
		return ""
	}
	return *e.OwnerID
}

// managesSession reports whether an entity manages the session: as its owner or as an admin
// of it.
func managesSession(e shoal.Entity) bool {
	return roles.Allows(e.SessionRole, roles.Moderate)
}

// storeDecision stores the decision that settled row, so that it answers later calls.
func storeDecision(ch *core.Change, row storage.Pending, r shoal.Remember) error {
	d := shoal.RememberedDecision{
		ID: shoal.NewID[shoal.RememberedID](shoal.PrefixDecision), AgentID: row.ToolAgent(), ToolName: row.ToolName, SpaceID: row.SpaceID,
		Requesters: append([]shoal.EntityID{}, requestersFor(row)...), Decision: r.Decision, Scope: r.Scope, ArgsHash: row.Hash, Args: row.Args,
		EntityID: row.AnsweredBy, CreatedAt: ch.At, ExpiresAt: shoal.At(ch.At.Add(shoal.RememberFor)),
	}
	if d.Scope == "" {
		d.Scope = shoal.RememberCall
	}
	if r.ForMs > 0 {
		d.ExpiresAt = shoal.At(ch.At.Add(time.Duration(r.ForMs) * time.Millisecond))
	}
	return ch.InsertRemembered(row.Session, d)
}

// Remembered lists the decisions that have not expired, in the order of ids, starting after
// the given one. Services and admins see all. An entity sees those that it made, those for
// its own agents, those for runs that it requested, and those for calls in its spaces.
func (p *Pending) Remembered(ctx context.Context, caller shoal.Principal, session shoal.SessionID, after shoal.RememberedID, limit int) (out []shoal.RememberedDecision, err error) {
	err = p.core.View(ctx, "hub.Pending.Remembered", func(tx storage.Tx) error {
		out = []shoal.RememberedDecision{}
		if err := errors.Join(core.Authorize(caller, session, roles.ReadSession), scopes.Session(caller.Scopes)); err != nil {
			return core.FirstError(err)
		}
		if _, err := core.FindSession(tx, session); err != nil {
			return err
		}
		now := shoal.Now()
		filter := storage.RememberedFilter{Until: &now, After: after, Limit: shoal.MaxPage}
		for {
			page, err := tx.RememberedDecisions(session, filter)
			if err != nil {
				return err
			}
			for _, d := range page {
				filter.After = d.ID
				sees, _, err := decisionRights(tx, caller, session, d)
				if err != nil {
					return err
				}
				if sees {
					out = append(out, d)
				}
				if len(out) == limit {
					return nil
				}
			}
			if len(page) < filter.Limit {
				return nil
			}
		}
	})
	return out, err
}

// Forget revokes a remembered decision: the next call asks again. The entity that made it
// may revoke it, and so may admins and every human with access to it. It fails with NotFound
// for a decision that the caller does not see.
func (p *Pending) Forget(ctx context.Context, caller shoal.Principal, session shoal.SessionID, id shoal.RememberedID) error {
	return p.core.Change(ctx, "hub.Pending.Forget", storage.In(session), func(ch *core.Change) error {
		if err := errors.Join(core.Authorize(caller, session, roles.Approve), scopes.Session(caller.Scopes)); err != nil {
			return core.FirstError(err)
		}
		notFound := shoal.E("", shoal.NotFound, fmt.Sprintf("Remembered decision %q not found among those you can see.", id))
		if !core.ValidID(id) {
			return notFound
		}
		d, err := ch.Remembered(session, id)
		if errors.Is(err, shoal.NotFound) {
			return notFound
		}
		if err != nil {
			return err
		}
		if err := core.RequireOpenSession(ch, session); err != nil {
			return err
		}
		switch sees, may, err := decisionRights(ch, caller, session, d); {
		case err != nil:
			return err
		case !sees:
			return notFound
		case !may:
			return shoal.E("", shoal.Forbidden, "Only a person who sees a remembered decision, or an admin, can revoke it.")
		}
		return errors.Join(ch.DeleteRemembered(session, id), ch.Record(caller, session, audit.ApprovalForget, audit.Target{Kind: "remembered", ID: string(id)}, "agent", string(d.AgentID)))
	})
}

// decisionRights reports whether the caller sees a remembered decision, and whether it may
// revoke it.
func decisionRights(tx Tx, caller shoal.Principal, session shoal.SessionID, d shoal.RememberedDecision) (sees, may bool, err error) {
	own := core.ReaderEntity(caller)
	if own == "" {
		return true, scopes.Can(caller, roles.Manage), nil
	}
	judge := NewJudge(tx, session)
	me, err := judge.entity(own)
	if err != nil {
		return false, false, err
	}
	agent, err := judge.entity(d.AgentID)
	if err != nil {
		return false, false, err
	}
	if d.EntityID != nil && *d.EntityID == own || OwnerOf(agent) == own || slices.Contains(d.Requesters, own) {
		return true, me.Kind == shoal.Human || d.EntityID != nil && *d.EntityID == own, nil
	}
	if d.SpaceID == nil {
		return false, false, nil
	}
	in, err := tx.IsMember(session, *d.SpaceID, own)
	return in, in && me.Kind == shoal.Human, err
}

// dropExpiredDecisions erases remembered decisions that have expired.
func (p *Pending) dropExpiredDecisions(ctx context.Context) error {
	return p.core.Change(ctx, "hub.Pending.dropExpiredDecisions", storage.Global, func(ch *core.Change) error { return ch.DropRemembered(ch.At) })
}
