package spaces

import (
	"cmp"
	"fmt"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// announceAdded posts a system message into a space when somebody adds a member to it.
// The message mentions the new member, so it enters that inbox alone and ends a wait for
// mentions.
func announceAdded(ch *core.Change, who shoal.Principal, s shoal.Space, member newMember) error {
	if !needsNotice(ch, who, member.entity) {
		return nil
	}
	names, err := ch.EntityNames(s.SessionID, []shoal.EntityID{member.EntityID, who.EntityID})
	if err != nil {
		return err
	}
	by := "An administrator"
	if who.EntityID != "" {
		by = nameAndID(names, who.EntityID)
	}
	text := fmt.Sprintf("%s added %s to the space %q (id %s). Leave or mute the space to stop receiving its messages.",
		by, nameAndID(names, member.EntityID), s.Name, s.ID)
	_, err = core.PostSystemMessage(ch, s, text, []shoal.EntityID{member.EntityID}, storage.PostKey{})
	return err
}

// needsNotice reports whether an entity gets a message when the caller adds it to a
// space. An entity that adds itself does not, nor does a hosted agent, which has no inbox.
// Neither does one that has never connected and that its owner or a manager of the session
// adds: that is setting it up, and its first message should be the first that somebody
// writes to it. The members of a new space are not asked about here: there is nothing to
// read yet, and a message would wake each of them once more than the first post does.
func needsNotice(ch *core.Change, who shoal.Principal, e shoal.Entity) bool {
	if e.Hosted || e.ID == who.EntityID {
		return false
	}
	owns := who.Manages() || e.OwnerID != nil && *e.OwnerID == who.EntityID
	return !owns || ch.Core.Presence.FillState(e).LastSeenAt != nil
}

// nameAndID is the name of an entity, with its id if that is another one.
func nameAndID(names map[shoal.EntityID]string, id shoal.EntityID) string {
	name := cmp.Or(names[id], string(id))
	if name == string(id) {
		return name
	}
	return fmt.Sprintf("%s (@%s)", name, id)
}
