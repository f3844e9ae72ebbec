package access

import (
	"context"
	"errors"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/spaces"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/naming"
)

// Person is somebody whom an identity provider has identified. ExternalID is theirs for ever. Names
// are how to call a new person, the first one that is allowed. An empty Role keeps that of the
// session, which is member for a new person. Spaces are those of which a new person becomes a
// member, as far as they exist and are open.
type Person struct {
	ExternalID string
	Names      []string
	Role       shoal.SessionRole
	Spaces     []shoal.SpaceID
	// ByToken says that a token has identified them, and not the person themselves in a browser: a program
	// that has tokens does not bring back who was removed.
	ByToken bool
}

// nameless is the name of a person without one that is allowed.
const nameless = "Person"

func (p Person) name() string {
	for _, name := range p.Names {
		name = strings.Join(strings.Fields(name), " ")
		if name != "" && len(name) <= shoal.MaxName && naming.CheckReserved("name", name) == nil {
			return name
		}
	}
	return nameless
}

// EnsurePerson returns the entity with the external id of a person, created if there is none, and
// gives it the person's role. It checks no rights: the caller has verified who the person is.
// It fails with Conflict if an agent has the external id, and with Unauthenticated for the token of
// somebody who was removed.
func (e *Entities) EnsurePerson(ctx context.Context, session shoal.SessionID, p Person) (out shoal.Entity, created bool, err error) {
	const op = "hub.Entities.EnsurePerson"
	find := func(tx storage.Tx) error {
		id, err := tx.EntityByExternal(session, p.ExternalID)
		if err == nil {
			out, err = tx.Entity(session, id)
		}
		return err
	}
	err = e.core.View(ctx, op, find)
	if errors.Is(err, shoal.NotFound) {
		err = e.core.Change(ctx, op, storage.In(session), func(ch *core.Change) error {
			created = false
			err := find(ch)
			if !errors.Is(err, shoal.NotFound) {
				return err
			}
			created = true
			out, err = insertPersonOf(ch, session, p)
			return err
		})
	}
	if err == nil && out.Kind != shoal.Human {
		err = core.Wrap(op, shoal.E("", shoal.Conflict, "An agent of this session has the external id of your account. Ask an owner of the session to remove it there."))
	}
	if err == nil && p.Role != "" && out.SessionRole != p.Role {
		out, err = e.Update(ctx, shoal.Principal{Role: shoal.RoleAdmin}, session, out.ID, shoal.EntityChange{SessionRole: &p.Role})
	}
	return e.core.Presence.FillLiveState(out), created, err
}

func insertPersonOf(ch *core.Change, session shoal.SessionID, p Person) (shoal.Entity, error) {
	if err := core.RequireOpenSession(ch, session); err != nil {
		return shoal.Entity{}, err
	}
	if p.ByToken {
		if err := notRemoved(ch, session, p.ExternalID); err != nil {
			return shoal.Entity{}, err
		}
	}
	made, err := insertPerson(ch, session, shoal.NewEntity{SessionRole: p.Role, Name: p.name(), ExternalID: &p.ExternalID})
	if err != nil {
		return made, err
	}
	for _, id := range p.Spaces {
		if err := spaces.AddInvited(ch, shoal.Invite{SessionID: session}, id, made.ID); err != nil {
			return made, err
		}
	}
	return made, nil
}
