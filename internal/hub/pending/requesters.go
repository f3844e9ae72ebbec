package pending

import (
	"errors"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/behalf"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// RootOf returns the root of what a caller starts: its entity, or [shoal.System] for a key
// that acts as no entity.
func RootOf(caller shoal.Principal) []shoal.EntityID {
	if caller.EntityID == "" {
		return []shoal.EntityID{shoal.System}
	}
	return []shoal.EntityID{caller.EntityID}
}

// RequestersOf returns the people whose messages led to a run.
func RequestersOf(tx Tx, r storage.Run) ([]shoal.EntityID, error) {
	return behalf.Requesters(r.Roots(), NewJudge(tx, r.SessionID).entity)
}

// Reads returns the function with which [behalf.Run] checks whether an entity may read a
// space: members may, and admins and owners of the session.
func Reads(tx EntityReader, session shoal.SessionID) behalf.Reads {
	return func(id shoal.EntityID, space shoal.SpaceID) (bool, error) {
		if !core.ValidID(id) {
			return false, nil
		}
		e, err := tx.Entity(session, id)
		if errors.Is(err, shoal.NotFound) {
			return false, nil
		}
		if err != nil || managesSession(e) {
			return err == nil, err
		}
		return tx.IsMember(session, space, id)
	}
}

// EntityReader has the methods of [Tx] that [Reads] needs.
type EntityReader interface {
	Entity(session shoal.SessionID, id shoal.EntityID) (shoal.Entity, error)
	IsMember(session shoal.SessionID, space shoal.SpaceID, entity shoal.EntityID) (bool, error)
}

// RootsOf returns the roots of the chain that a message belongs to. A message from before
// roots were recorded has those of its run; a posted one has its sender.
func RootsOf(tx Tx, m shoal.Message, c storage.Cause) ([]shoal.EntityID, error) {
	if len(c.ActingFor) > 0 {
		return c.ActingFor, nil
	}
	if m.RunID == nil {
		return []shoal.EntityID{m.EntityID}, nil
	}
	r, err := tx.Run(m.SessionID, *m.RunID)
	if errors.Is(err, shoal.NotFound) {
		return []shoal.EntityID{m.EntityID}, nil
	}
	return r.Roots(), err
}
