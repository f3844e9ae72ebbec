package spaces

import (
	"errors"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
)

// AddInvited makes a person who accepted an invitation a member of a space, with the creator of the
// invitation as the actor. It does nothing if the space was deleted, closed or filled since.
func AddInvited(ch *core.Change, of shoal.Invite, space shoal.SpaceID, person shoal.EntityID) error {
	by := shoal.Principal{Role: shoal.RoleAdmin}
	if of.CreatedBy != nil {
		by.EntityID = *of.CreatedBy
	}
	s, err := core.WritableSpace(ch, by, of.SessionID, space)
	if errors.Is(err, shoal.NotFound) || errors.Is(err, shoal.SpaceClosed) {
		return nil
	}
	if err != nil || s.MemberCount >= shoal.MaxMembers {
		return err
	}
	_, err = addMember(ch, by, &s, person)
	return err
}
