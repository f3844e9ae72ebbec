package spaces

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/roles"
)

// Edit changes the content of a posted message. Only its sender may edit it, while it may
// post to the space. The message keeps its position, its sender and its read state; its
// previous content is kept as a version. Nobody is notified again: an unread message is
// delivered with its new content, a run that has not started uses the new text, and
// followers receive message.updated. An edit that changes nothing is not recorded.
//
// Edit fails with Forbidden for messages of other entities and of runs, and with Conflict
// for a deleted message and for one that was updated after e.UpdatedAt.
func (m *Messages) Edit(ctx context.Context, caller shoal.Principal, session shoal.SessionID, id shoal.MessageID, e shoal.MessageEdit) (out shoal.Message, err error) {
	const op = "hub.Messages.Edit"
	if err := errors.Join(core.Authorize(caller, session, roles.Post), e.Validate(), core.CheckMentions(e.Mentions)); err != nil {
		return out, core.Wrap(op, core.FirstError(err))
	}
	sender, err := core.ActingEntity(caller)
	if err != nil {
		return out, core.Wrap(op, err)
	}
	err = m.core.Change(ctx, op, storage.In(session), func(ch *core.Change) error {
		found, err := lockMessage(ch, caller, session, id, sender)
		if err != nil {
			return err
		}
		if err := mayEdit(found, sender, e); err != nil {
			return err
		}
		out, err = editMessage(ch, found, e)
		return err
	})
	return out, err
}

func mayEdit(m shoal.Message, sender shoal.EntityID, e shoal.MessageEdit) error {
	switch {
	case m.EntityID != sender:
		return shoal.E("", shoal.Forbidden, "Only the sender of a message can edit it. Reply to it, or ask its sender.")
	case m.RunID != nil:
		return shoal.E("", shoal.Forbidden, "A message that a run has written cannot be edited. Delete it, or send a correction.")
	case m.DeletedAt != nil:
		return shoal.E("", shoal.Conflict, "The message is deleted. Send a new one.")
	case e.UpdatedAt != nil && e.UpdatedAt.String() != m.UpdatedAt.String():
		return shoal.E("", shoal.Conflict, "The message was edited since you read it. Read it again, then edit it.")
	}
	return nil
}

// editMessage stores the new content of a message, if it differs from the old one.
func editMessage(ch *core.Change, m shoal.Message, e shoal.MessageEdit) (shoal.Message, error) {
	next := m
	next.Parts = core.NumberParts(e.Parts)
	if e.Mentions != nil {
		if err := replaceMentions(ch, &next, e.Mentions); err != nil {
			return m, err
		}
	}
	if reflect.DeepEqual(next.Parts, m.Parts) && slices.Equal(next.Mentions, m.Mentions) && slices.Equal(next.DroppedMentions, m.DroppedMentions) {
		return m, nil
	}
	at := ch.At
	if at.Sub(m.UpdatedAt.Time) < time.Millisecond { // clients identify a version by this time, which they see in milliseconds
		at = shoal.At(m.UpdatedAt.Add(time.Millisecond))
	}
	next.EditedAt, next.UpdatedAt = &at, at
	if err := core.ShowFiles(ch, next); err != nil {
		return m, err
	}
	if err := ch.EditMessage(next); err != nil {
		return m, err
	}
	if err := retrigger(ch, next); err != nil {
		return m, err
	}
	return next, emitUpdated(ch, next)
}

// replaceMentions replaces the mentions of m. Entities that m mentions already stay
// mentioned, even if they have left the space.
func replaceMentions(ch *core.Change, m *shoal.Message, mentions []shoal.EntityID) error {
	before := m.Mentions
	m.Mentions, m.DroppedMentions = []shoal.EntityID{}, []shoal.EntityID{}
	if _, err := core.ResolveMentions(ch, m, mentions); err != nil {
		return err
	}
	var left []shoal.EntityID
	for _, id := range m.DroppedMentions {
		if slices.Contains(before, id) {
			m.Mentions = append(m.Mentions, id)
		} else {
			left = append(left, id)
		}
	}
	m.DroppedMentions = append([]shoal.EntityID{}, left...)
	return nil
}

// retrigger updates the text of the message in the runs that it starts and that have not
// begun. A run that has begun keeps what its model has read.
func retrigger(ch *core.Change, m shoal.Message) error {
	runs, err := ch.Runs(m.SessionID, storage.RunFilter{Status: []shoal.RunStatus{shoal.RunQueued}, Space: m.SpaceID})
	if err != nil {
		return err
	}
	for _, r := range runs {
		if r.Trigger.MessageID != m.ID || r.LeaseUntil != nil || len(r.Turn) > 0 {
			continue
		}
		r.Trigger.MessageContent = m.Text()
		if err := ch.UpdateRun(r); err != nil {
			return err
		}
	}
	return nil
}

// emitUpdated emits message.updated to the followers of the space, and of the run that
// wrote the message. The event contains the message as it is when the event is read.
func emitUpdated(ch *core.Change, m shoal.Message) error {
	ev := storage.Event{Session: m.SessionID, Space: m.SpaceID, Type: shoal.EventMessageUpdated, Message: m.ID, Private: core.HasPrivateParts(m)}
	if m.RunID != nil {
		ev.Run = *m.RunID
	}
	_, err := core.Emit(ch, ev, func(h shoal.EventHead) any { return h })
	return err
}

// Versions returns at most limit earlier versions of a message, the newest first, with
// numbers below before, or all if before is 0. For callers that may read the message. A
// deleted message has no versions.
func (m *Messages) Versions(ctx context.Context, caller shoal.Principal, session shoal.SessionID, id shoal.MessageID, before int64, limit int) (out []shoal.MessageVersion, err error) {
	err = m.core.View(ctx, "hub.Messages.Versions", func(tx storage.Tx) error {
		if _, err := readableMessage(tx, caller, session, id); err != nil {
			return err
		}
		out, err = tx.MessageVersions(session, id, before, limit)
		return err
	})
	return out, err
}
