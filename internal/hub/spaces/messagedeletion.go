package spaces

import (
	"context"
	"errors"
	"fmt"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/copies"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/pending"
	"github.com/shoal-dev/shoal/internal/hub/runs"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/roles"
	"github.com/shoal-dev/shoal/internal/scopes"
)

func messageNotFound(id shoal.MessageID) error {
	return shoal.E("", shoal.NotFound, fmt.Sprintf("Message %q not found in your spaces.", id))
}

// readableMessage is visibleMessage for callers that read it.
func readableMessage(tx Tx, caller shoal.Principal, session shoal.SessionID, id shoal.MessageID) (shoal.Message, error) {
	if err := core.Authorize(caller, session, roles.ReadSession); err != nil {
		return shoal.Message{}, err
	}
	return visibleMessage(tx, caller, session, id)
}

// visibleMessage returns a message that the caller may know of, and NotFound for any other.
func visibleMessage(tx Tx, caller shoal.Principal, session shoal.SessionID, id shoal.MessageID) (shoal.Message, error) {
	if err := core.CheckSession(caller, session); err != nil {
		return shoal.Message{}, err
	}
	if !core.ValidID(session) || !core.ValidID(id) {
		return shoal.Message{}, messageNotFound(id)
	}
	m, err := tx.MessageByID(session, id)
	if err == nil && !scopes.AllowSpace(caller.Scopes, m.SpaceID) {
		err = shoal.NotFound
	}
	if err == nil {
		_, err = core.VisibleSpace(tx, caller, session, m.SpaceID, tx.Space)
	}
	if errors.Is(err, shoal.NotFound) {
		err = messageNotFound(id)
	}
	return m, err
}

// Get returns a message to callers that may read its space, and NotFound to others.
func (m *Messages) Get(ctx context.Context, caller shoal.Principal, session shoal.SessionID, id shoal.MessageID) (out shoal.Message, err error) {
	err = m.core.View(ctx, "hub.Messages.Get", func(tx storage.Tx) error {
		found, err := visibleMessage(tx, caller, session, id)
		if err == nil && found.DeletedAt == nil { // what is left of a deleted one may be seen by those that may delete
			err = core.May(caller, roles.ReadSession)
		}
		if err == nil {
			out = found.For(core.ReaderEntity(caller))
		}
		return err
	})
	return out, err
}

// Delete erases a message: its text, the copies of it in events, runs and conversations of
// hosted agents, and its words in the search index. A tombstone without parts remains at
// its position, which followers of the space receive as message.updated. For its sender,
// the owner of its sender, moderators of the space, and admins and owners of the session,
// in closed spaces and sessions too. Deleting a deleted message changes nothing.
//
// A run that the message started and that has not begun is canceled. So is the run that is
// still writing the message, with what it asks people there and elsewhere; Delete waits a few
// seconds for its end and then fails with Conflict, having erased nothing: the call can be
// repeated. Delete also fails with Conflict while the run that wrote a complete message, or
// another run that works with it, has not ended.
func (m *Messages) Delete(ctx context.Context, caller shoal.Principal, session shoal.SessionID, id shoal.MessageID) error {
	const op = "hub.Messages.Delete"
	if err := core.Authorize(caller, session, roles.Post); err != nil {
		return core.Wrap(op, err)
	}
	writer, err := m.tryDelete(ctx, op, caller, session, id)
	if err != nil || writer == "" {
		return err
	}
	if _, err := AwaitRuns(ctx, m.core, op, session, func(tx storage.Tx) ([]shoal.RunID, error) {
		r, err := activeRun(tx, session, writer)
		if r.ID == "" {
			return nil, err
		}
		return []shoal.RunID{r.ID}, err
	}); err != nil {
		return err
	}
	if writer, err = m.tryDelete(ctx, op, caller, session, id); err == nil && writer != "" {
		err = shoal.E(op, shoal.Conflict, fmt.Sprintf("The run %q that is writing the message is canceled, but has not ended yet. Delete the message again in a moment.", writer))
	}
	return err
}

// tryDelete deletes the message, or cancels the run that is writing it and returns the run.
func (m *Messages) tryDelete(ctx context.Context, op string, caller shoal.Principal, session shoal.SessionID, id shoal.MessageID) (writer shoal.RunID, err error) {
	err = m.core.Change(ctx, op, storage.In(session), func(ch *core.Change) error {
		writer = ""
		found, err := visibleMessage(ch, caller, session, id)
		if err != nil {
			return err
		}
		in, err := ch.LockSpace(session, found.SpaceID)
		if err != nil {
			return err
		}
		if err := mayDelete(ch, caller, in, found); err != nil || found.DeletedAt != nil {
			return err
		}
		if found.Status == shoal.MessageStreaming && found.RunID != nil {
			r, err := activeRun(ch, session, *found.RunID)
			if err != nil {
				return err
			}
			if writer = r.ID; writer != "" {
				_, err = runs.CancelRun(ch, r)
				return err
			}
		}
		return eraseMessage(ch, found)
	})
	return writer, err
}

// activeRun returns a run that has not ended, or the zero run.
func activeRun(tx Tx, session shoal.SessionID, id shoal.RunID) (storage.Run, error) {
	r, err := tx.Run(session, id)
	if errors.Is(err, shoal.NotFound) || err == nil && r.Status.Ended() {
		return storage.Run{}, nil
	}
	return r, err
}

func mayDelete(tx Tx, caller shoal.Principal, in shoal.Space, m shoal.Message) error {
	may, err := mayErase(tx, caller, m.SessionID, m.EntityID)
	if err == nil && !may {
		may, err = core.Moderates(tx, caller, in)
	}
	if err != nil || may {
		return err
	}
	return shoal.E("", shoal.Forbidden, "Only its sender, the owner of the agent that sent it, moderators of the space, and admins and owners of the session can delete a message. Ask one of them.")
}

// mayErase reports whether the caller may erase what an entity has posted or uploaded: the
// caller is that entity, owns it, or manages the session.
func mayErase(tx Tx, caller shoal.Principal, session shoal.SessionID, by shoal.EntityID) (bool, error) {
	own := core.OwnEntity(caller)
	if scopes.Can(caller, roles.Manage) || own != "" && own == by {
		return true, nil
	}
	if own == "" || !core.ValidID(by) {
		return false, nil
	}
	author, err := tx.Entity(session, by)
	if err != nil && !errors.Is(err, shoal.NotFound) {
		return false, err
	}
	return pending.OwnerOf(author) == own, nil
}

// eraseMessage erases a message that is not deleted yet.
func eraseMessage(ch *core.Change, m shoal.Message) error {
	before, err := ch.MessageVersions(m.SessionID, m.ID, 0, shoal.MaxVersions)
	if err != nil {
		return err
	}
	c := copies.OfMessage(m, before, ch.At)
	if err := cancelQueuedRuns(ch, m, c); err != nil {
		return err
	}
	if err := ch.EraseMessage(m.SessionID, m.ID, ch.At); err != nil {
		return err
	}
	if err := ch.RewriteCopies(m.SessionID, c.Copies(), c.Erase); err != nil {
		return err
	}
	return core.AnnounceMessage(ch, m.SessionID, m.ID)
}

// cancelQueuedRuns cancels the runs that the message started and that have not begun. It
// fails with Conflict while a run could store the erased content again: the run that wrote
// the message, until it has ended, and any run that has a copy of the message in memory.
func cancelQueuedRuns(ch *core.Change, m shoal.Message, c *copies.Eraser) error {
	unfinished, err := ch.Runs(m.SessionID, storage.RunFilter{Status: runs.ActiveStatuses})
	if err != nil {
		return err
	}
	for _, r := range unfinished {
		started := r.Trigger.MessageID == m.ID
		switch {
		case m.RunID != nil && *m.RunID == r.ID:
			return shoal.E("", shoal.Conflict, fmt.Sprintf("The run %q that wrote the message has not ended. Cancel it, or answer what it asks, then delete the message.", r.ID))
		case r.LeaseUntil == nil && r.Status == shoal.RunQueued && started:
			if _, err := runs.CancelRun(ch, r); err != nil {
				return err
			}
		case r.LeaseUntil == nil:
		case started:
			return shoal.E("", shoal.Conflict, fmt.Sprintf("The run %q is working with the message. Cancel it or wait until it has ended, then delete the message.", r.ID))
		default:
			holds, err := holdsCopy(ch, r, c)
			if err != nil {
				return err
			}
			if holds {
				return shoal.E("", shoal.Conflict, "An agent is working with the message. Try again when its run has ended.")
			}
		}
	}
	return nil
}

// holdsCopy reports whether a run has read the message.
func holdsCopy(tx Tx, r storage.Run, c *copies.Eraser) (bool, error) {
	if c.Holds(string(r.Turn)) {
		return true, nil
	}
	steps, err := tx.RunSteps(r.SessionID, r.ID)
	for _, s := range steps {
		if c.Holds(string(s.Data)) {
			return true, err
		}
	}
	return false, err
}
