package access

import (
	"context"
	"errors"
	"fmt"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/audit"
	"github.com/shoal-dev/shoal/internal/hub/agents"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/pending"
	"github.com/shoal-dev/shoal/internal/hub/spaces"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/roles"
	"github.com/shoal-dev/shoal/internal/scopes"
)

// Entities manages the participants of sessions and reports their live state.
type Entities struct{ core *core.Core }

// NewEntities returns the participants of a hub.
func NewEntities(c *core.Core) *Entities { return &Entities{c} }

// Create creates an entity; an agent is owned by the acting entity. For admins and owners
// of the session. It fails with AlreadyExists if the id is or was in use, or if another
// entity has the external id.
func (e *Entities) Create(ctx context.Context, caller shoal.Principal, session shoal.SessionID, n shoal.NewEntity, idempotencyKey string) (shoal.Entity, error) {
	const op = "hub.Entities.Create"
	if err := errors.Join(core.Authorize(caller, session, roles.Manage), n.Validate(), core.CheckIdempotencyKey(idempotencyKey)); err != nil {
		return shoal.Entity{}, core.Wrap(op, core.FirstError(err))
	}
	var entity shoal.Entity
	err := e.core.Change(ctx, op, storage.In(session), func(ch *core.Change) (err error) {
		entity, _, err = core.Once(ch, caller, session, op, idempotencyKey, n, func() (shoal.Entity, error) {
			out, err := core.InsertEntity(ch, session, n, caller.EntityID)
			if err != nil {
				return out, err
			}
			return out, ch.Record(caller, session, audit.EntityCreate, audit.Target{Kind: "entity", ID: string(out.ID)}, "kind", string(out.Kind), "sessionRole", string(out.SessionRole))
		})
		return err
	})
	return e.core.Presence.FillLiveState(entity), err
}

// Ensure returns the entity, and creates it if it does not exist. It checks no rights: it
// is for callers that prove no identity, a server with --auth off and the first start.
func (e *Entities) Ensure(ctx context.Context, session shoal.SessionID, n shoal.NewEntity) (out shoal.Entity, err error) {
	const op = "hub.Entities.Ensure"
	if err := n.Validate(); err != nil {
		return out, core.Wrap(op, err)
	}
	err = e.core.Change(ctx, op, storage.In(session), func(ch *core.Change) (err error) {
		out, err = ch.Entity(session, n.ID)
		if errors.Is(err, shoal.NotFound) {
			out, err = core.InsertEntity(ch, session, n, "")
		}
		return err
	})
	return e.core.Presence.FillLiveState(out), err
}

// Get returns an entity of the session with its live state.
func (e *Entities) Get(ctx context.Context, caller shoal.Principal, session shoal.SessionID, id shoal.EntityID) (out shoal.Entity, err error) {
	err = e.core.View(ctx, "hub.Entities.Get", func(tx storage.Tx) error {
		if err := core.Authorize(caller, session, roles.ReadSession); err != nil {
			return err
		}
		if out, err = core.VisibleEntity(tx, caller, session, id); err != nil {
			return err
		}
		return core.FillRunState(tx, session, &out)
	})
	return e.core.Presence.FillLiveState(out), err
}

// List returns at most limit entities with ids after the given one, in the order of ids,
// with their live states. A guest sees itself and the members of its spaces.
func (e *Entities) List(ctx context.Context, caller shoal.Principal, session shoal.SessionID, after shoal.EntityID, limit int) (out []shoal.Entity, err error) {
	err = e.core.View(ctx, "hub.Entities.List", func(tx storage.Tx) error {
		if err := core.Authorize(caller, session, roles.ReadSession); err != nil {
			return err
		}
		if _, err := core.FindSession(tx, session); err != nil {
			return err
		}
		if own, guest := core.Guest(caller); guest {
			out, err = tx.EntitiesNear(session, own, after, limit)
		} else {
			out, err = tx.Entities(session, after, limit)
		}
		if err != nil {
			return err
		}
		all := make([]*shoal.Entity, len(out))
		for i := range out {
			all[i] = &out[i]
		}
		return core.FillRunState(tx, session, all...)
	})
	for i := range out {
		out[i] = e.core.Presence.FillLiveState(out[i])
	}
	return out, err
}

// Update changes an entity. An entity may change its own name, description and metadata.
// Kind, session role, owner and external id are for admins and owners of the session, which
// may change every entity. Update fails with Conflict for the kind of a hosted agent, and
// with NotFound for an owner that is not an entity of the session. An entity with a new session
// role loses its open streams and can reopen them with it, and its invitations stop working.
func (e *Entities) Update(ctx context.Context, caller shoal.Principal, session shoal.SessionID, id shoal.EntityID, c shoal.EntityChange) (out shoal.Entity, err error) {
	const op = "hub.Entities.Update"
	if err := errors.Join(core.CheckSession(caller, session), c.Validate()); err != nil {
		return out, core.Wrap(op, core.FirstError(err))
	}
	err = e.core.Change(ctx, op, storage.In(session), func(ch *core.Change) (err error) {
		if out, err = core.VisibleEntity(ch, caller, session, id); err != nil {
			return err
		}
		if err := mayChange(caller, id, c); err != nil {
			return err
		}
		if err := core.RequireOpenSession(ch, session); err != nil {
			return err
		}
		before := out
		oldName, kind := out.Name, out.Kind
		if err := e.applyRestricted(ch, &out, c); err != nil {
			return err
		}
		applyChange(&out, c)
		if out.Name != oldName || out.Kind != kind {
			if err := core.CheckEntityName(ch, out); err != nil {
				return err
			}
		}
		if err := core.ExplainEntityExists(ch.UpdateEntity(out), out); err != nil {
			return err
		}
		if out.Name != oldName {
			if err := core.AnnounceRename(ch, session, id); err != nil {
				return err
			}
		}
		if err := pending.AnnounceTooFewAfterChange(ch, before, out); err != nil {
			return err
		}
		if out.SessionRole != before.SessionRole {
			ch.OnEnd(func(committed bool) { e.endRoleCalls(session, id, committed) })
			if err := ch.DeleteInvitesOf(session, id); err != nil {
				return err
			}
		}
		return errors.Join(recordUpdate(ch, caller, before, out), core.FillRunState(ch, session, &out))
	})
	if err != nil {
		return shoal.Entity{}, err
	}
	e.core.Presence.Refresh(session, id)
	return e.core.Presence.FillLiveState(out), nil
}

// recordUpdate records the changes of an entity that are about rights.
func recordUpdate(ch *core.Change, caller shoal.Principal, before, after shoal.Entity) error {
	var details []string
	if before.SessionRole != after.SessionRole {
		details = append(details, "sessionRole", string(after.SessionRole), "sessionRoleBefore", string(before.SessionRole))
	}
	if before.Kind != after.Kind {
		details = append(details, "kind", string(after.Kind))
	}
	if owner := valueOf(after.OwnerID); owner != valueOf(before.OwnerID) {
		details = append(details, "owner", string(owner))
	}
	if len(details) == 0 {
		return nil
	}
	return ch.Record(caller, after.SessionID, audit.EntityUpdate, audit.Target{Kind: "entity", ID: string(after.ID)}, details...)
}

func valueOf[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// mayChange checks that the caller may make the change.
func mayChange(caller shoal.Principal, id shoal.EntityID, c shoal.EntityChange) error {
	if scopes.Can(caller, roles.Manage) {
		return nil
	}
	if err := core.May(caller, roles.Present); err != nil {
		return err
	}
	if caller.Role != shoal.RoleEntity || caller.EntityID != id {
		return shoal.E("", shoal.Forbidden, fmt.Sprintf("Only %q itself, an admin or an owner of the session may change it.", id))
	}
	if field, restricted := c.Restricted(); restricted {
		return shoal.E("", shoal.Forbidden, fmt.Sprintf("Only an admin or an owner of the session may set %s; leave it out.", field))
	}
	return nil
}

// applyRestricted applies the changes that only admins and owners may make.
func (e *Entities) applyRestricted(ch *core.Change, out *shoal.Entity, c shoal.EntityChange) error {
	if c.Kind != nil && *c.Kind != out.Kind {
		if out.Hosted {
			return shoal.E("", shoal.Conflict, fmt.Sprintf("%q is a hosted agent and stays one; delete its configuration first.", out.ID))
		}
		out.Kind = *c.Kind
	}
	if c.SessionRole != nil && *c.SessionRole != out.SessionRole {
		if out.Hosted && !roles.MayBeHosted(*c.SessionRole) {
			return shoal.E("", shoal.Conflict, fmt.Sprintf("%q is a hosted agent: its configuration limits what it reaches. Guests and auditors are people and connected agents.", out.ID))
		}
		out.SessionRole = *c.SessionRole
	}
	if c.OwnerID == nil {
		return nil
	}
	if out.OwnerID = c.OwnerID; *c.OwnerID == "" {
		out.OwnerID = nil
		return nil
	}
	if *c.OwnerID == out.ID {
		return shoal.Invalid("ownerId", "must be another entity")
	}
	_, err := core.FindEntity(ch, out.SessionID, *c.OwnerID)
	return err
}

// endRoleCalls makes servers look up the role of the entity's keys again, and ends the open
// calls that it made in its former role.
func (e *Entities) endRoleCalls(session shoal.SessionID, id shoal.EntityID, changed bool) {
	e.core.RevokedRights()
	if changed {
		e.core.Calls.EndRole(session, id)
	}
}

func applyChange(e *shoal.Entity, c shoal.EntityChange) {
	if c.Name != nil {
		if e.Name = *c.Name; e.Name == "" {
			e.Name = string(e.ID)
		}
	}
	if c.Description != nil {
		e.Description = *c.Description
	}
	if c.ExternalID != nil {
		e.ExternalID = c.ExternalID
	}
	if len(c.Metadata) > 0 {
		e.Metadata = core.ObjectOrEmpty(c.Metadata)
	}
}

// Delete deletes an entity. It leaves every space, its keys, invitations and inbox are deleted, its
// runs and plans are canceled, and its waits and followers end with NotFound. Its messages
// remain, and its id cannot be used again. For admins and owners of the session.
func (e *Entities) Delete(ctx context.Context, caller shoal.Principal, session shoal.SessionID, id shoal.EntityID) error {
	const op = "hub.Entities.Delete"
	if err := core.Authorize(caller, session, roles.Manage); err != nil {
		return core.Wrap(op, err)
	}
	return e.core.Change(ctx, op, storage.In(session), func(ch *core.Change) error {
		if _, err := core.FindEntity(ch, session, id); err != nil {
			return err
		}
		return errors.Join(DeleteEntity(ch, session, id), ch.Record(caller, session, audit.EntityDelete, audit.Target{Kind: "entity", ID: string(id)}))
	})
}

// DeleteEntity deletes an entity as [Entities.Delete] does, without checking rights and without a
// record in the audit log.
func DeleteEntity(ch *core.Change, session shoal.SessionID, id shoal.EntityID) error {
	spaces, err := ch.Spaces(session, storage.SpaceFilter{Member: id})
	if err != nil {
		return err
	}
	for _, s := range spaces {
		if err := removeFromSpace(ch, session, s.ID, id); err != nil {
			return err
		}
	}
	// This runs before the notifications are sent, so the entity does not receive them.
	ch.OnEnd(func(committed bool) {
		ch.Core.RevokedRights()
		if committed {
			ch.Core.Calls.EndEntity(session, id)
			ch.Core.Presence.Forget(session, id)
		}
	})
	return errors.Join(agents.CancelWork(ch, session, id), rememberRemoved(ch, session, id), ch.DeleteEntityKeys(session, id), ch.DeleteInvitesOf(session, id), ch.DeleteRunnersOf(session, id), ch.DeleteEntity(session, id, ch.At))
}

// removeFromSpace removes an entity that is being deleted from a space, open or closed.
func removeFromSpace(ch *core.Change, session shoal.SessionID, space shoal.SpaceID, id shoal.EntityID) error {
	if err := spaces.RemoveMember(ch, session, space, id); err != nil {
		return err
	}
	s, err := ch.LockSpace(session, space)
	if err != nil {
		return err
	}
	if s, err = core.FillSpace(ch, shoal.Principal{}, s); err != nil {
		return err
	}
	return spaces.DropAdminAgent(ch, &s)
}

// RecordCall records that the principal's entity made a call now.
func (e *Entities) RecordCall(caller shoal.Principal, session shoal.SessionID) {
	if caller.EntityID != "" {
		e.core.Presence.MarkCall(session, caller.EntityID)
	}
}
