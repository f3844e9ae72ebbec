package hub

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/approval"
)

// ownerOf is whose agent an entity is, empty for nobody's.
func ownerOf(e shoal.Entity) shoal.EntityID {
	if e.OwnerID == nil {
		return ""
	}
	return *e.OwnerID
}

// manages reports whether an entity manages the session.
func manages(e shoal.Entity) bool {
	return e.SessionRole == shoal.SessionOwner || e.SessionRole == shoal.SessionAdmin
}

// remember stores the decision that settled row for later calls.
func remember(ch *change, row StoredPending, r shoal.Remember) error {
	d := shoal.RememberedDecision{
		ID: shoal.NewID[shoal.RememberedID](shoal.PrefixDecided), AgentID: row.AgentID, ToolName: row.ToolName, SpaceID: row.SpaceID,
		Requesters: append([]shoal.EntityID{}, requestersFor(row)...), Decision: r.Decision, Scope: r.Scope, ArgsHash: row.Hash, Args: row.Args,
		EntityID: row.AnsweredBy, CreatedAt: ch.at, ExpiresAt: shoal.At(ch.at.Add(shoal.RememberFor)),
	}
	if d.Scope == "" {
		d.Scope = shoal.RememberCall
	}
	if r.ForMs > 0 {
		d.ExpiresAt = shoal.At(ch.at.Add(time.Duration(r.ForMs) * time.Millisecond))
	}
	return ch.InsertRemembered(row.Session, d)
}

// recall settles a permission that is about to be opened with the remembered decision
// that covers it, if there is one.
func (c *RunChange) recall(p *StoredPending) error {
	now, looks := c.at, newJudge(c.change, p.Session)
	all, err := c.RememberedDecisions(p.Session, RememberedFilter{Agent: p.AgentID, Tool: p.ToolName, Until: &now})
	if err != nil || len(all) == 0 || p.ToolName == "" {
		return err
	}
	action, err := looks.action(*p)
	if err != nil {
		return err
	}
	var known []approval.Remembered
	for _, d := range all {
		who := shoal.Principal{Role: shoal.RoleAdmin, SessionID: p.Session}
		if d.EntityID != nil {
			who.Role, who.EntityID = shoal.RoleEntity, *d.EntityID
		}
		voter, err := looks.voter(who, *p)
		if err != nil {
			return err
		}
		known = append(known, approval.Remembered{RememberedDecision: d, Voter: voter})
	}
	found := rules.Answers(known, approval.Call{Action: action, Tool: p.ToolName, Space: orEmptyID(p.SpaceID), Now: now})
	if found == nil {
		return nil
	}
	yes, why := found.Decision == shoal.RememberAllow, fmt.Sprintf("This was decided on %s, for later calls, too.", found.CreatedAt)
	p.Status, p.AnsweredAt, p.AnsweredBy, p.Taken = shoal.PendingAnswered, &now, found.EntityID, true
	p.Answer, p.Policy.Remembered = &shoal.PendingAnswer{Approved: &yes, Reason: &why}, found.ID
	return nil
}

// Remembered lists the decisions that count for later calls, in the order of ids, those
// after the given one. Services and admins see all; an entity those that it made, those
// of its own agents and those that count for calls in its spaces.
func (p *Pending) Remembered(ctx context.Context, who shoal.Principal, session shoal.SessionID, after shoal.RememberedID, limit int) (out []shoal.RememberedDecision, err error) {
	err = p.view(ctx, "hub.Pending.Remembered", func(tx Tx) error {
		out = []shoal.RememberedDecision{}
		if err := enter(who, session); err != nil {
			return err
		}
		if _, err := sessionOf(tx, session); err != nil {
			return err
		}
		now := shoal.Now()
		filter := RememberedFilter{Until: &now, After: after, Limit: shoal.MaxPage}
		for {
			page, err := tx.RememberedDecisions(session, filter)
			if err != nil {
				return err
			}
			for _, d := range page {
				filter.After = d.ID
				sees, _, err := rememberedFor(tx, who, session, d)
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

// Forget revokes a remembered decision: from the next call on, somebody is asked. Who
// made it may, the owner of the agent, any person of the space that it counts for, and
// admins. NotFound for one that the caller does not see.
func (p *Pending) Forget(ctx context.Context, who shoal.Principal, session shoal.SessionID, id shoal.RememberedID) error {
	return p.change(ctx, "hub.Pending.Forget", func(ch *change) error {
		if err := enter(who, session); err != nil {
			return err
		}
		none := shoal.E("", shoal.NotFound, fmt.Sprintf("There is no remembered decision %q among those that you see.", id))
		if !mayBe(id) {
			return none
		}
		d, err := ch.Remembered(session, id)
		if errors.Is(err, shoal.NotFound) {
			return none
		}
		if err != nil {
			return err
		}
		if err := openSession(ch, session); err != nil {
			return err
		}
		switch sees, may, err := rememberedFor(ch, who, session, d); {
		case err != nil:
			return err
		case !sees:
			return none
		case !may:
			return shoal.E("", shoal.Forbidden, "A remembered decision is revoked by a person who sees it, or by an admin.")
		}
		return ch.DeleteRemembered(session, id)
	})
}

// rememberedFor reports whether the caller sees a remembered decision, and whether it
// may revoke it.
func rememberedFor(tx Tx, who shoal.Principal, session shoal.SessionID, d shoal.RememberedDecision) (sees, may bool, err error) {
	own := reader(who)
	if own == "" {
		return true, who.Manages(), nil
	}
	looks := newJudge(tx, session)
	me, err := looks.entity(own)
	if err != nil {
		return false, false, err
	}
	agent, err := looks.entity(d.AgentID)
	if err != nil {
		return false, false, err
	}
	if d.EntityID != nil && *d.EntityID == own || ownerOf(agent) == own || slices.Contains(d.Requesters, own) {
		return true, me.Kind == shoal.Human || d.EntityID != nil && *d.EntityID == own, nil
	}
	if d.SpaceID == nil {
		return false, false, nil
	}
	in, err := tx.IsMember(session, *d.SpaceID, own)
	return in, in && me.Kind == shoal.Human, err
}

// dropRemembered forgets decisions whose time is over.
func (p *Pending) dropRemembered(ctx context.Context) error {
	return p.change(ctx, "hub.Pending.dropRemembered", func(ch *change) error { return ch.DropRemembered(ch.at) })
}
