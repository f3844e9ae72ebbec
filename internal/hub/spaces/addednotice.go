package spaces

import (
	"cmp"
	"fmt"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/roles"
	"github.com/shoal-dev/shoal/internal/scopes"
)

// announceAdded posts a system message into a space when an entity or an administrator adds
// a member to it. The message mentions the new member, so it enters only that inbox and
// ends a wait for mentions.
func announceAdded(ch *core.Change, caller shoal.Principal, s shoal.Space, member newMember) error {
	if !needsNotice(ch, caller, member.entity) {
		return nil
	}
	names, err := ch.EntityNames(s.SessionID, []shoal.EntityID{member.EntityID, caller.EntityID})
	if err != nil {
		return err
	}
	by := "An administrator"
	if caller.EntityID != "" {
		by = nameAndID(names, caller.EntityID)
	}
	text := fmt.Sprintf("%s added %s to the space %q (id %s). Leave or mute the space to stop receiving its messages.",
		by, nameAndID(names, member.EntityID), s.Name, s.ID)
	_, err = core.PostSystemMessage(ch, s, text, []shoal.EntityID{member.EntityID}, storage.PostKey{})
	return err
}

// needsNotice reports whether an entity receives a message when the caller adds it to a
// space. An entity that adds itself does not, nor does a hosted agent, which has no inbox.
// Neither does an entity that has never connected and is added by its owner or by a manager
// of the session: that is part of its setup, and its first message should be the first one
// that is written to it. The members of a new space receive no notice either: there is
// nothing to read yet, and the notice would wake each of them once more than the first post
// does.
func needsNotice(ch *core.Change, caller shoal.Principal, e shoal.Entity) bool {
	if e.Hosted || e.ID == caller.EntityID {
		return false
	}
	owns := scopes.Can(caller, roles.Manage) || e.OwnerID != nil && *e.OwnerID == caller.EntityID
	return !owns || ch.Core.Presence.FillState(e).LastSeenAt != nil
}

// nameAndID returns the name of an entity, with its id if the two differ.
func nameAndID(names map[shoal.EntityID]string, id shoal.EntityID) string {
	name := cmp.Or(names[id], string(id))
	if name == string(id) {
		return name
	}
	return fmt.Sprintf("%s (@%s)", name, id)
}
