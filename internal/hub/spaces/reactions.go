package spaces

import (
	"context"
	"errors"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/roles"
)

// React adds a reaction of the acting entity to a message, and returns the message with it.
// Members of an open space may react to all messages, including their own. Followers
// receive message.updated; inboxes receive nothing. An existing reaction changes nothing.
// React fails with Conflict for a message that is deleted or still streaming, and if the
// message has the maximum number of reactions.
func (m *Messages) React(ctx context.Context, caller shoal.Principal, session shoal.SessionID, id shoal.MessageID, emoji string) (shoal.Message, error) {
	return m.changeReactions(ctx, "hub.Messages.React", caller, session, id, emoji, withReaction)
}

// Unreact removes a reaction of the acting entity. Removing a reaction that does not exist
// is not an error.
func (m *Messages) Unreact(ctx context.Context, caller shoal.Principal, session shoal.SessionID, id shoal.MessageID, emoji string) (shoal.Message, error) {
	return m.changeReactions(ctx, "hub.Messages.Unreact", caller, session, id, emoji, func(all []shoal.Reaction, by shoal.EntityID, with string) ([]shoal.Reaction, bool, error) {
		out, changed := withoutReaction(all, by, with)
		return out, changed, nil
	})
}

func (m *Messages) changeReactions(ctx context.Context, op string, caller shoal.Principal, session shoal.SessionID, id shoal.MessageID, emoji string,
	apply func([]shoal.Reaction, shoal.EntityID, string) ([]shoal.Reaction, bool, error),
) (out shoal.Message, err error) {
	if err := errors.Join(core.Authorize(caller, session, roles.Post), shoal.CheckEmoji("emoji", emoji)); err != nil {
		return out, core.Wrap(op, core.FirstError(err))
	}
	by, err := core.ActingEntity(caller)
	if err != nil {
		return out, core.Wrap(op, err)
	}
	err = m.core.Change(ctx, op, storage.In(session), func(ch *core.Change) error {
		found, err := lockMessage(ch, caller, session, id, by)
		if err != nil {
			return err
		}
		if found.DeletedAt != nil {
			return shoal.E("", shoal.Conflict, "The message is deleted and takes no reactions. React to another one.")
		}
		if found.Status == shoal.MessageStreaming {
			return shoal.E("", shoal.Conflict, "The message is still being written. React when it is complete.")
		}
		next, changed, err := apply(found.Reactions, by, emoji)
		out = found.For(core.ReaderEntity(caller))
		if err != nil || !changed {
			return err
		}
		out.Reactions = next
		if err := ch.SetReactions(session, id, next); err != nil {
			return err
		}
		return emitUpdated(ch, found)
	})
	return out, err
}

// lockMessage locks the space of a message and returns the message, if the entity may post
// to that space.
func lockMessage(ch *core.Change, caller shoal.Principal, session shoal.SessionID, id shoal.MessageID, as shoal.EntityID) (shoal.Message, error) {
	found, err := visibleMessage(ch, caller, session, id)
	if err != nil {
		return found, err
	}
	s, err := core.WritableSpace(ch, caller, session, found.SpaceID)
	if err != nil {
		return found, err
	}
	if core.ReaderEntity(caller) == "" {
		if err := core.RequireMember(ch, s, as); err != nil {
			return found, err
		}
	}
	return ch.MessageByID(session, id) // read again under the lock
}
