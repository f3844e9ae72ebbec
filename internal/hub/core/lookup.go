package core

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// ObjectOrEmpty returns raw, or an empty object if raw is empty or null.
func ObjectOrEmpty(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 || string(raw) == "null" {
		return json.RawMessage("{}")
	}
	return raw
}

// FindEntity returns an entity of a session; NotFound if it does not exist or is deleted.
func FindEntity(tx Tx, session shoal.SessionID, id shoal.EntityID) (shoal.Entity, error) {
	if !ValidID(session) || !ValidID(id) {
		return shoal.Entity{}, EntityNotFound(id)
	}
	out, err := tx.Entity(session, id)
	if errors.Is(err, shoal.NotFound) {
		err = EntityNotFound(id)
	}
	return out, err
}

// FindHostedAgent returns the configuration of a hosted agent; NotFound, with a message for
// people, if the entity does not have one.
func FindHostedAgent(tx Tx, session shoal.SessionID, id shoal.EntityID) (storage.Agent, error) {
	if !ValidID(session) || !ValidID(id) {
		return storage.Agent{}, hostedAgentNotFound(id)
	}
	found, err := tx.HostedAgent(session, id)
	if errors.Is(err, shoal.NotFound) {
		err = hostedAgentNotFound(id)
	}
	return found, err
}

func hostedAgentNotFound(id shoal.EntityID) error {
	return shoal.E("", shoal.NotFound, fmt.Sprintf("Hosted agent %q not found in this session. Give it a configuration first.", id))
}

// RequireMember checks that the entity that an admin acts as is a member of the space.
func RequireMember(tx Tx, s shoal.Space, sender shoal.EntityID) error {
	in, err := tx.IsMember(s.SessionID, s.ID, sender)
	if err != nil || in {
		return err
	}
	if _, err := FindEntity(tx, s.SessionID, sender); err != nil {
		return err
	}
	return shoal.E("", shoal.Forbidden, fmt.Sprintf("%q is not a member of the space %q; add it first.", sender, s.ID))
}

// FirstError returns the first error of a joined error, so that a response has one kind;
// any other error is returned as it is.
func FirstError(err error) error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()[0]
	}
	return err
}
