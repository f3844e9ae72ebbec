package hub

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/shoal-dev/shoal"
)

// Entities keeps the participants of sessions and knows what they are doing.
type Entities struct{ *core }

// Create makes an entity. Admins only. AlreadyExists when the id is or was
// taken, or another entity has the external id.
func (e *Entities) Create(ctx context.Context, who shoal.Principal, session shoal.SessionID, n shoal.NewEntity, idempotencyKey string) (shoal.Entity, error) {
	const op = "hub.Entities.Create"
	if err := errors.Join(enter(who, session), adminOnly(who), n.Validate(), checkOnce(idempotencyKey)); err != nil {
		return shoal.Entity{}, wrap(op, first(err))
	}
	var made shoal.Entity
	err := e.change(ctx, op, func(ch *change) (err error) {
		made, _, err = once(ch, who, session, op, idempotencyKey, n, func() (shoal.Entity, error) {
			return insertEntity(ch, session, n)
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
			out, err = insertEntity(ch, session, n)
		}
		return err
	})
	return e.presence.live(out), err
}

func insertEntity(ch *change, session shoal.SessionID, n shoal.NewEntity) (shoal.Entity, error) {
	if err := openSession(ch, session); err != nil {
		return shoal.Entity{}, err
	}
	out := shoal.Entity{
		ID: n.ID, SessionID: session, Kind: n.Kind, Name: n.Name, Description: n.Description,
		ExternalID: n.ExternalID, State: shoal.Offline, Metadata: objectOr(n.Metadata), CreatedAt: ch.at,
	}
	if out.Kind == "" {
		out.Kind = shoal.Agent
	}
	if out.Name == "" {
		out.Name = string(out.ID)
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

// Update changes how an entity presents itself. An entity may change itself, but
// for its external id; an admin may change everybody.
func (e *Entities) Update(ctx context.Context, who shoal.Principal, session shoal.SessionID, id shoal.EntityID, c shoal.EntityChange) (out shoal.Entity, err error) {
	const op = "hub.Entities.Update"
	if err := errors.Join(enter(who, session), c.Validate()); err != nil {
		return out, wrap(op, first(err))
	}
	err = e.change(ctx, op, func(ch *change) (err error) {
		if out, err = entityOf(ch, session, id); err != nil {
			return err
		}
		if !who.Admin() && (who.Role != shoal.RoleEntity || who.EntityID != id) {
			return shoal.E("", shoal.Forbidden, fmt.Sprintf("Only %q itself or an admin may change it.", id))
		}
		if !who.Admin() && c.ExternalID != nil {
			return shoal.E("", shoal.Forbidden, "Only an admin may set externalId: it decides who signs in as the entity.")
		}
		if err := openSession(ch, session); err != nil {
			return err
		}
		named := out.Name
		applyEntity(&out, c)
		if err := takenEntity(ch.UpdateEntity(out), out); err != nil {
			return err
		}
		if out.Name != named {
			if err := renamed(ch, session, id); err != nil {
				return err
			}
		}
		return running(ch, session, &out)
	})
	if err != nil {
		return shoal.Entity{}, err
	}
	e.presence.touch(session, id)
	return e.presence.live(out), nil
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
// taken. Admins only.
func (e *Entities) Delete(ctx context.Context, who shoal.Principal, session shoal.SessionID, id shoal.EntityID) error {
	const op = "hub.Entities.Delete"
	if err := errors.Join(enter(who, session), adminOnly(who)); err != nil {
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
