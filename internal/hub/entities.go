package hub

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/shoal-dev/shoal"
)

// Entities keeps the participants of sessions and knows what they are doing.
type Entities struct{ *core }

// NewEntities returns the participants of a hub.
func NewEntities(c *core) *Entities { return &Entities{c} }

// Create makes an entity; an agent belongs to the entity that acts. For admins and
// owners of the session. AlreadyExists when the id is or was
// taken, or another entity has the external id.
func (e *Entities) Create(ctx context.Context, who shoal.Principal, session shoal.SessionID, n shoal.NewEntity, idempotencyKey string) (shoal.Entity, error) {
	const op = "hub.Entities.Create"
	if err := errors.Join(enter(who, session), managersOnly(who), n.Validate(), checkOnce(idempotencyKey)); err != nil {
		return shoal.Entity{}, wrap(op, first(err))
	}
	var made shoal.Entity
	err := e.change(ctx, op, func(ch *change) (err error) {
		made, _, err = once(ch, who, session, op, idempotencyKey, n, func() (shoal.Entity, error) {
			return insertEntity(ch, session, n, who.EntityID)
		})
		return err
	})
	return e.presence.live(made), err
}

// Ensure returns the entity and makes it, an agent, if it is new. It is for
// callers that prove no identity: an --auth off server and the first start.
func (e *Entities) Ensure(ctx context.Context, session shoal.SessionID, n shoal.NewEntity) (out shoal.Entity, err error) {
	const op = "hub.Entities.Ensure"
	if err := n.Validate(); err != nil {
		return out, wrap(op, err)
	}
	err = e.change(ctx, op, func(ch *change) (err error) {
		out, err = ch.Entity(session, n.ID)
		if errors.Is(err, shoal.NotFound) {
			out, err = insertEntity(ch, session, n, "")
		}
		return err
	})
	return e.presence.live(out), err
}

// insertEntity makes an entity. An agent belongs to owner; empty for nobody.
func insertEntity(ch *change, session shoal.SessionID, n shoal.NewEntity, owner shoal.EntityID) (shoal.Entity, error) {
	if err := openSession(ch, session); err != nil {
		return shoal.Entity{}, err
	}
	out := shoal.Entity{
		ID: n.ID, SessionID: session, Kind: n.Kind, SessionRole: cmp.Or(n.SessionRole, shoal.SessionMember), Name: n.Name, Description: n.Description,
		ExternalID: n.ExternalID, State: shoal.Offline, Metadata: objectOr(n.Metadata), CreatedAt: ch.at,
	}
	if out.Kind == "" {
		out.Kind = shoal.Agent
	}
	if out.Kind == shoal.Agent && owner != "" && owner != out.ID {
		out.OwnerID = &owner
	}
	if out.Name == "" {
		out.Name = string(out.ID)
	}
	if err := checkNewEntity(ch, out); err != nil {
		return out, err
	}
	return out, takenEntity(ch.InsertEntity(out), out)
}

func takenEntity(err error, e shoal.Entity) error {
	if errors.Is(err, shoal.AlreadyExists) && e.ExternalID != nil {
		return shoal.E("", shoal.AlreadyExists, fmt.Sprintf("There is or was an entity with the id %q, or another has the external id %q. Choose another one.", e.ID, *e.ExternalID))
	}
	return taken(err, "an entity", string(e.ID))
}

// objectOr returns raw, or an empty object when there is none.
func objectOr(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 || string(raw) == "null" {
		return json.RawMessage("{}")
	}
	return raw
}

// Get returns an entity of the session with its live state.
func (e *Entities) Get(ctx context.Context, who shoal.Principal, session shoal.SessionID, id shoal.EntityID) (out shoal.Entity, err error) {
	err = e.view(ctx, "hub.Entities.Get", func(tx Tx) error {
		if err := enter(who, session); err != nil {
			return err
		}
		if out, err = entityOf(tx, session, id); err != nil {
			return err
		}
		return running(tx, session, &out)
	})
	return e.presence.live(out), err
}

func entityOf(tx Tx, session shoal.SessionID, id shoal.EntityID) (shoal.Entity, error) {
	if !mayBe(session) || !mayBe(id) {
		return shoal.Entity{}, noEntity(id)
	}
	out, err := tx.Entity(session, id)
	if errors.Is(err, shoal.NotFound) {
		err = noEntity(id)
	}
	return out, err
}

// List returns the entities behind after, in the order of ids, with their live
// states.
func (e *Entities) List(ctx context.Context, who shoal.Principal, session shoal.SessionID, after shoal.EntityID, limit int) (out []shoal.Entity, err error) {
	err = e.view(ctx, "hub.Entities.List", func(tx Tx) error {
		if err := enter(who, session); err != nil {
			return err
		}
		if _, err := sessionOf(tx, session); err != nil {
			return err
		}
		if out, err = tx.Entities(session, after, limit); err != nil {
			return err
		}
		all := make([]*shoal.Entity, len(out))
		for i := range out {
			all[i] = &out[i]
		}
		return running(tx, session, all...)
	})
	for i := range out {
		out[i] = e.presence.live(out[i])
	}
	return out, err
}

// Update changes an entity. An entity may change how it presents itself; kind, session
// role, owner and external id are for admins and owners of the session, who may change
// everybody. Conflict for the kind of a hosted agent; NotFound for an owner that is no
// entity of the session. An entity that stops being an owner loses its open streams,
// and may open them again as what it is.
func (e *Entities) Update(ctx context.Context, who shoal.Principal, session shoal.SessionID, id shoal.EntityID, c shoal.EntityChange) (out shoal.Entity, err error) {
	const op = "hub.Entities.Update"
	if err := errors.Join(enter(who, session), c.Validate()); err != nil {
		return out, wrap(op, first(err))
	}
	err = e.change(ctx, op, func(ch *change) (err error) {
		if out, err = entityOf(ch, session, id); err != nil {
			return err
		}
		if err := mayChange(who, id, c); err != nil {
			return err
		}
		if err := openSession(ch, session); err != nil {
			return err
		}
		before := out
		named, kind, owned := out.Name, out.Kind, out.SessionRole == shoal.SessionOwner
		if err := e.reassign(ch, &out, c); err != nil {
			return err
		}
		applyEntity(&out, c)
		if out.Name != named || out.Kind != kind {
			if err := checkEntityName(ch, out); err != nil {
				return err
			}
		}
		if err := takenEntity(ch.UpdateEntity(out), out); err != nil {
			return err
		}
		if out.Name != named {
			if err := renamed(ch, session, id); err != nil {
				return err
			}
		}
		if err := tellTooFewAfter(ch, before, out); err != nil {
			return err
		}
		if owns := out.SessionRole == shoal.SessionOwner; owns != owned {
			ch.after(func(committed bool) { e.changedRole(session, id, committed && owned) })
		}
		return running(ch, session, &out)
	})
	if err != nil {
		return shoal.Entity{}, err
	}
	e.presence.touch(session, id)
	return e.presence.live(out), nil
}

// mayChange refuses a change that is not the caller's to make.
func mayChange(who shoal.Principal, id shoal.EntityID, c shoal.EntityChange) error {
	if who.Manages() {
		return nil
	}
	if who.Role != shoal.RoleEntity || who.EntityID != id {
		return shoal.E("", shoal.Forbidden, fmt.Sprintf("Only %q itself, an admin or an owner of the session may change it.", id))
	}
	if field, restricted := c.Restricted(); restricted {
		return shoal.E("", shoal.Forbidden, fmt.Sprintf("Only an admin or an owner of the session may set %s; leave it out.", field))
	}
	return nil
}

// reassign applies what only admins and owners change.
func (e *Entities) reassign(ch *change, out *shoal.Entity, c shoal.EntityChange) error {
	if c.Kind != nil && *c.Kind != out.Kind {
		if out.Hosted {
			return shoal.E("", shoal.Conflict, fmt.Sprintf("%q is a hosted agent and stays one; delete its configuration first.", out.ID))
		}
		out.Kind = *c.Kind
	}
	if c.SessionRole != nil {
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
	_, err := entityOf(ch, out.SessionID, *c.OwnerID)
	return err
}

// changedRole makes callers with keys of the entity be recognised anew, and ends what
// an owner that is none any more has open.
func (e *Entities) changedRole(session shoal.SessionID, id shoal.EntityID, demoted bool) {
	e.revocations.Add(1)
	if demoted {
		e.callers.endRole(session, id)
	}
}

// renamed tells the spaces of an entity that they show another name: followers
// who are away now must find that in the events when they come back.
func renamed(ch *change, session shoal.SessionID, id shoal.EntityID) error {
	spaces, err := ch.Spaces(session, SpaceFilter{Member: id})
	if err != nil {
		return err
	}
	for _, s := range spaces {
		if s, err = ch.LockSpace(session, s.ID); err != nil {
			return err
		}
		if s, err = whole(ch, shoal.Principal{}, s); err != nil {
			return err
		}
		if err := tellSpace(ch, s, shoal.EventSpaceUpdated); err != nil {
			return err
		}
	}
	return nil
}

func applyEntity(e *shoal.Entity, c shoal.EntityChange) {
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
		e.Metadata = objectOr(c.Metadata)
	}
}

// Delete ends an entity: it leaves every space, its keys and inbox are gone, its
// runs and plans are canceled, its waits and followers end with NotFound, its messages stay, and its id stays
// taken. For admins and owners of the session.
func (e *Entities) Delete(ctx context.Context, who shoal.Principal, session shoal.SessionID, id shoal.EntityID) error {
	const op = "hub.Entities.Delete"
	if err := errors.Join(enter(who, session), managersOnly(who)); err != nil {
		return wrap(op, first(err))
	}
	return e.change(ctx, op, func(ch *change) error {
		if _, err := entityOf(ch, session, id); err != nil {
			return err
		}
		spaces, err := ch.Spaces(session, SpaceFilter{Member: id})
		if err != nil {
			return err
		}
		for _, s := range spaces {
			if err := withdraw(ch, session, s.ID, id); err != nil {
				return err
			}
		}
		// Before what happens to it is hinted at: it hears nothing of that.
		ch.after(func(committed bool) {
			e.revocations.Add(1)
			if committed {
				e.callers.endEntity(session, id)
				e.presence.forget(session, id)
			}
		})
		return errors.Join(endWork(ch, session, id), ch.DeleteEntityKeys(session, id), ch.DeleteEntity(session, id, ch.at))
	})
}

// withdraw takes an entity that is being deleted out of a space, closed or not.
func withdraw(ch *change, session shoal.SessionID, space shoal.SpaceID, id shoal.EntityID) error {
	s, err := ch.LockSpace(session, space)
	if err != nil {
		return err
	}
	if err := leave(ch, session, space, id); err != nil {
		return err
	}
	if s, err = whole(ch, shoal.Principal{}, s); err != nil {
		return err
	}
	return dropAdminAgent(ch, &s)
}
