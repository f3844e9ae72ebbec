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
)

// Edit changes what a posted message says. Only its sender edits it, while it may post
// to the space. The message keeps its place, its sender and who has read it; what it said
// before stays as a version. Nobody is notified again: an unread message is delivered as
// it is now, a run that has not begun starts with the new text, and followers get
// message.updated. An edit that changes nothing is not one.
//
// Forbidden for messages of others and of runs, Conflict for a deleted message and for
// one that is not as e.UpdatedAt says.
func (m *Messages) Edit(ctx context.Context, who shoal.Principal, session shoal.SessionID, id shoal.MessageID, e shoal.MessageEdit) (out shoal.Message, err error) {
	const op = "hub.Messages.Edit"
	if err := errors.Join(core.CheckSession(who, session), e.Validate(), core.CheckMentions(e.Mentions)); err != nil {
		return out, core.Wrap(op, core.FirstError(err))
	}
	sender, err := core.ActingEntity(who)
	if err != nil {
		return out, core.Wrap(op, err)
	}
	err = m.core.Change(ctx, op, func(ch *core.Change) error {
		found, err := lockMessage(ch, who, session, id, sender)
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
		return shoal.E("", shoal.Forbidden, "Only its sender edits a message. Reply to it, or ask its sender.")
	case m.RunID != nil:
		return shoal.E("", shoal.Forbidden, "A message that a run has written is not edited. Delete it, or send a correction.")
	case m.DeletedAt != nil:
		return shoal.E("", shoal.Conflict, "The message is deleted. Send a new one.")
	case e.UpdatedAt != nil && e.UpdatedAt.String() != m.UpdatedAt.String():
		return shoal.E("", shoal.Conflict, "The message was edited since you read it. Read it again, then edit it.")
	}
	return nil
}

// edit stores what a message says from now on, if that is something else.
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
	if at.Sub(m.UpdatedAt.Time) < time.Millisecond { // clients, who see milliseconds, name what they have read by it
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

// replaceMentions gives m new mentions. Entities that it mentions already stay
// mentioned, also if they have left the space.
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

// retrigger gives the new text of a message to the runs that it starts and that have not
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

// emitUpdated tells those who follow the space, and the run that wrote the message, that
// it is not what it was: message.updated. The event shows the message as it is whenever
// the event is read.
func emitUpdated(ch *core.Change, m shoal.Message) error {
	ev := storage.Event{Session: m.SessionID, Space: m.SpaceID, Type: shoal.EventMessageUpdated, Message: m.ID, Private: core.HasPrivateParts(m)}
	if m.RunID != nil {
		ev.Run = *m.RunID
	}
	_, err := core.Emit(ch, ev, func(h shoal.EventHead) any { return h })
	return err
}

// Versions returns what a message said before it was edited, the newest first: versions
// below before, or all if it is 0. For those who may read the message; a deleted one has
// none.
func (m *Messages) Versions(ctx context.Context, who shoal.Principal, session shoal.SessionID, id shoal.MessageID, before int64, limit int) (out []shoal.MessageVersion, err error) {
	err = m.core.View(ctx, "hub.Messages.Versions", func(tx storage.Tx) error {
		if _, err := visibleMessage(tx, who, session, id); err != nil {
			return err
		}
		out, err = tx.MessageVersions(session, id, before, limit)
		return err
	})
	return out, err
}
