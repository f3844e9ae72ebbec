package spaces

import (
	"context"
	"errors"
	"fmt"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/roles"
)

// Mute sets whether the acting entity has muted a space that it is a member of, and returns
// the space. While a space is muted, only messages that mention the entity enter its inbox.
// Unread messages remain; messages that were skipped are not added later. Mute also works
// in closed spaces and sessions, because it affects only the caller. It fails with
// Forbidden for an entity that is not a member.
func (s *Spaces) Mute(ctx context.Context, caller shoal.Principal, session shoal.SessionID, id shoal.SpaceID, muted bool) (out shoal.Space, err error) {
	const op = "hub.Spaces.Mute"
	if err := core.Authorize(caller, session, roles.KeepInbox); err != nil {
		return out, core.Wrap(op, err)
	}
	entity, err := core.ActingEntity(caller)
	if err != nil {
		return out, core.Wrap(op, err)
	}
	err = s.core.Change(ctx, op, storage.In(session), func(ch *core.Change) (err error) {
		if out, err = core.VisibleSpace(ch, caller, session, id, ch.LockSpace); err != nil {
			return err
		}
		err = ch.MuteMember(session, id, entity, muted)
		if errors.Is(err, shoal.NotFound) {
			return shoal.E("", shoal.Forbidden, fmt.Sprintf("%q is not a member of the space %q, so it has nothing to mute there.", entity, id))
		}
		if err != nil {
			return err
		}
		out, err = core.FillSpace(ch, caller, out)
		return err
	})
	return out, err
}
