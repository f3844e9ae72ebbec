package core

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/naming"
)

// InsertEntity creates an entity. If it is an agent, it belongs to owner, or to nobody if
// owner is empty.
func InsertEntity(ch *Change, session shoal.SessionID, n shoal.NewEntity, owner shoal.EntityID) (shoal.Entity, error) {
	if err := RequireOpenSession(ch, session); err != nil {
		return shoal.Entity{}, err
	}
	out := shoal.Entity{
		ID: n.ID, SessionID: session, Kind: n.Kind, SessionRole: cmp.Or(n.SessionRole, shoal.SessionMember), Name: n.Name, Description: n.Description,
		ExternalID: n.ExternalID, State: shoal.Offline, Metadata: ObjectOrEmpty(n.Metadata), CreatedAt: ch.At,
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
	return out, ExplainEntityExists(ch.InsertEntity(out), out)
}

// ExplainEntityExists returns an error that says what the caller can do if err is
// AlreadyExists because the id or the external id of e is in use, else err.
func ExplainEntityExists(err error, e shoal.Entity) error {
	if errors.Is(err, shoal.AlreadyExists) && e.ExternalID != nil {
		return shoal.E("", shoal.AlreadyExists, fmt.Sprintf("There is or was an entity with the id %q, or another has the external id %q. Choose another one.", e.ID, *e.ExternalID))
	}
	return ExplainAlreadyExists(err, "an entity", string(e.ID))
}

// AnnounceRename emits space.updated in every space of an entity, because the spaces show
// another name. Followers that are disconnected now find the change in the events when they
// return.
func AnnounceRename(ch *Change, session shoal.SessionID, id shoal.EntityID) error {
	spaces, err := ch.Spaces(session, storage.SpaceFilter{Member: id})
	if err != nil {
		return err
	}
	if err := ListMembers(ch, id, session, spaces); err != nil {
		return err
	}
	for _, s := range spaces {
		if err := EmitSpace(ch, s, shoal.EventSpaceUpdated); err != nil {
			return err
		}
	}
	return nil
}

// checkNewEntity rejects an entity whose id resembles the server's or whose name is
// misleading.
func checkNewEntity(tx Tx, e shoal.Entity) error {
	if naming.Key(string(e.ID)) == naming.Key(string(shoal.System)) {
		return shoal.Invalid("id", fmt.Sprintf("must not be %q: it reads like %q, which is reserved", e.ID, shoal.System))
	}
	return CheckEntityName(tx, e)
}

// ExplainAlreadyExists returns an error with a message for people if err is AlreadyExists, else
// err. noun is the kind of the object with its article, id the id that the caller chose.
func ExplainAlreadyExists(err error, noun, id string) error {
	if errors.Is(err, shoal.AlreadyExists) {
		return shoal.E("", shoal.AlreadyExists, fmt.Sprintf("There is or was %s with the id %q; ids are never used again. Choose another one.", noun, id))
	}
	return err
}
