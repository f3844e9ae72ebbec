package core

import (
	"errors"
	"fmt"
	"slices"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/scopes"
)

// RunNotFound returns the error for a run that does not exist or that the caller may not see.
func RunNotFound(id shoal.RunID) error {
	return shoal.E("", shoal.NotFound, fmt.Sprintf("Run %q not found in your spaces.", id))
}

// VisibleRun returns a run that the caller may see. Services and admins see all runs; an
// entity sees those of its spaces: the space of the trigger and the spaces that the run
// wrote to. A key that is limited to spaces sees those that were started there.
func VisibleRun(tx Tx, caller shoal.Principal, session shoal.SessionID, id shoal.RunID) (storage.Run, error) {
	if err := CheckSession(caller, session); err != nil {
		return storage.Run{}, err
	}
	if !ValidID(session) || !ValidID(id) {
		return storage.Run{}, RunNotFound(id)
	}
	r, err := tx.Run(session, id)
	if errors.Is(err, shoal.NotFound) {
		return r, RunNotFound(id)
	}
	if err == nil && !scopes.AllowSpace(caller.Scopes, r.Space) {
		return storage.Run{}, RunNotFound(id)
	}
	if err != nil || ReaderEntity(caller) == "" {
		return r, err
	}
	spaces, err := runSpaces(tx, r)
	if err != nil {
		return r, err
	}
	for _, space := range spaces {
		in, err := tx.IsMember(session, space, ReaderEntity(caller))
		if in || err != nil {
			return r, err
		}
	}
	return r, RunNotFound(id)
}

// runSpaces returns the spaces that show a run: that of its trigger and those that it wrote
// to.
func runSpaces(tx Tx, r storage.Run) ([]shoal.SpaceID, error) {
	spaces, err := tx.RunSpaces(r.SessionID, r.ID)
	if r.Space != "" && !slices.Contains(spaces, r.Space) {
		spaces = append(spaces, r.Space)
	}
	return spaces, err
}
