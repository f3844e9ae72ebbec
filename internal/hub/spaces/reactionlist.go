package spaces

import (
	"fmt"

	"github.com/shoal-dev/shoal"
)

// reactionLimit returns the error for a message that has the maximum of reactions.
func reactionLimit(what string, n int) error {
	return shoal.E("", shoal.Conflict, fmt.Sprintf("%s %d; remove one first.", what, n))
}

// withReaction returns reactions with that of an entity added, and whether that changes
// them. The error is Conflict when there are too many.
func withReaction(all []shoal.Reaction, by shoal.EntityID, with string) (out []shoal.Reaction, changed bool, err error) {
	at, own := -1, 0
	for i, r := range all {
		same := shoal.SameEmoji(r.Emoji, with)
		if same {
			at = i
		}
		for _, id := range r.EntityIDs {
			if id != by {
				continue
			}
			if same {
				return all, false, nil
			}
			own++
		}
	}
	switch {
	case own >= shoal.MaxOwnReactions:
		return all, false, reactionLimit("You have reacted to this message with as many emoji as an entity may, which is", shoal.MaxOwnReactions)
	case at < 0 && len(all) >= shoal.MaxReactions:
		return all, false, reactionLimit("The message has as many different reactions as it may have, which is", shoal.MaxReactions)
	case at >= 0 && len(all[at].EntityIDs) >= shoal.MaxReactors:
		return all, false, shoal.E("", shoal.Conflict, fmt.Sprintf("%d entities have reacted with this emoji, which is as many as may.", shoal.MaxReactors))
	}
	out = append([]shoal.Reaction{}, all...)
	if at < 0 {
		return append(out, shoal.Reaction{Emoji: with, EntityIDs: []shoal.EntityID{by}}), true, nil
	}
	out[at].EntityIDs = append(append([]shoal.EntityID{}, out[at].EntityIDs...), by)
	return out, true, nil
}

// withoutReaction returns reactions without that of an entity, and whether that changes
// them.
func withoutReaction(all []shoal.Reaction, by shoal.EntityID, with string) (out []shoal.Reaction, changed bool) {
	out = []shoal.Reaction{}
	for _, r := range all {
		if shoal.SameEmoji(r.Emoji, with) {
			ids := []shoal.EntityID{}
			for _, id := range r.EntityIDs {
				if id != by {
					ids = append(ids, id)
				}
			}
			changed = changed || len(ids) < len(r.EntityIDs)
			r.EntityIDs = ids
		}
		if len(r.EntityIDs) > 0 {
			out = append(out, r)
		}
	}
	return out, changed
}
