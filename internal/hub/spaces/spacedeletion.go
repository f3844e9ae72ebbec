package spaces

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/audit"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/pending"
	"github.com/shoal-dev/shoal/internal/hub/runs"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/roles"
)

// eraseBatch is the number of rows of a deleted space that one transaction erases.
const eraseBatch = 100

// Delete erases a space: its messages, the runs that started there and their data, its
// conversations, memories and events, and the files that no other space shows. Its id
// cannot be used again. For admins and owners of the session. Deleting a deleted space
// changes nothing.
//
// Delete first closes the space and cancels its runs. It fails with Conflict if one of
// them, or a run of another space that is writing here, has not ended after a few seconds;
// then nothing is erased, and the call can be repeated. Followers receive space.deleted and
// end, as do waits for this space. The rest is erased in small transactions; if the server
// stops during that, it continues after the next start.
func (s *Spaces) Delete(ctx context.Context, caller shoal.Principal, session shoal.SessionID, id shoal.SpaceID) error {
	const op = "hub.Spaces.Delete"
	if err := core.Authorize(caller, session, roles.Manage); err != nil {
		return core.Wrap(op, err)
	}
	if !core.ValidID(session) || !core.ValidID(id) {
		return core.Wrap(op, core.SpaceNotFound(id))
	}
	gone, err := s.closeAndCancel(ctx, op, session, id)
	if err == nil && !gone {
		if err = s.awaitRuns(ctx, op, session, id); err == nil {
			err = s.removeSpace(ctx, op, caller, session, id)
		}
	}
	if err != nil {
		return err
	}
	return core.Wrap(op, s.eraseRemainder(ctx, storage.DeletedSpace{Session: session, ID: id}))
}

// closeAndCancel closes the space, so that nothing can be added, and cancels its runs. It
// reports whether the space is already deleted.
func (s *Spaces) closeAndCancel(ctx context.Context, op string, session shoal.SessionID, id shoal.SpaceID) (gone bool, err error) {
	err = s.core.Change(ctx, op, storage.In(session), func(ch *core.Change) error {
		found, err := ch.LockSpace(session, id)
		if errors.Is(err, shoal.NotFound) {
			if gone, err = ch.DeletedSpace(session, id); err == nil && !gone {
				err = core.SpaceNotFound(id)
			}
			return err
		}
		if err != nil || found.Status == shoal.SpaceStatusClosed {
			return err
		}
		at := ch.At
		found.Status, found.ClosedAt = shoal.SpaceStatusClosed, &at
		if found, err = core.FillSpace(ch, shoal.Principal{}, found); err != nil {
			return err
		}
		return errors.Join(core.SaveSpace(ch, found, shoal.EventSpaceClosed), pending.EndInSpace(ch, session, id, ""))
	})
	for before, more := shoal.RunID(""), true; more && !gone && err == nil; {
		err = s.core.Change(ctx, op, storage.In(session), func(ch *core.Change) error {
			page, err := ch.Runs(session, storage.RunFilter{Space: id, Status: runs.ActiveStatuses, Before: before, Limit: eraseBatch})
			if more = len(page) == eraseBatch; more {
				before = page[len(page)-1].ID
			}
			for _, r := range page {
				if err == nil && r.Space == id {
					_, err = runs.CancelRun(ch, r)
				}
			}
			return err
		})
	}
	return gone, err
}

// awaitRuns waits until no run is active in a closed space.
func (s *Spaces) awaitRuns(ctx context.Context, op string, session shoal.SessionID, id shoal.SpaceID) error {
	left, err := AwaitRuns(ctx, s.core, op, session, func(tx storage.Tx) ([]shoal.RunID, error) { return activeRunsIn(tx, session, id) }, core.SpaceTopic(session, id))
	if err == nil && len(left) > 0 {
		err = spaceBusy(op, id, left[0])
	}
	return err
}

func spaceBusy(op string, id shoal.SpaceID, run shoal.RunID) error {
	return shoal.E(op, shoal.Conflict, fmt.Sprintf("The space %q is closed, but the run %q there has not ended yet. Delete the space again in a moment.", id, run))
}

// activeRunsIn returns the first runs that were started in a space and have not ended, or
// that are writing a message there.
func activeRunsIn(tx Tx, session shoal.SessionID, id shoal.SpaceID) (working []shoal.RunID, err error) {
	found, err := tx.Runs(session, storage.RunFilter{Space: id, Status: runs.ActiveStatuses, Limit: eraseBatch})
	if err != nil {
		return nil, err
	}
	for _, r := range found {
		if r.Space == id {
			working = append(working, r.ID)
		}
	}
	open, err := tx.Streaming(session, id)
	for _, m := range open {
		if m.RunID != nil {
			working = append(working, *m.RunID)
		}
	}
	return working, err
}

// removeSpace removes the space from its members and followers.
func (s *Spaces) removeSpace(ctx context.Context, op string, caller shoal.Principal, session shoal.SessionID, id shoal.SpaceID) error {
	return s.core.Change(ctx, op, storage.In(session), func(ch *core.Change) error {
		s, err := ch.LockSpace(session, id)
		if errors.Is(err, shoal.NotFound) {
			return nil // another call has deleted it
		} else if err != nil {
			return err
		}
		if working, err := activeRunsIn(ch, session, id); err != nil || len(working) > 0 {
			if err == nil {
				err = spaceBusy(op, id, working[0])
			}
			return err
		}
		place, err := core.Emit(ch, storage.Event{Session: session, Space: id, Type: shoal.EventSpaceDeleted}, func(h shoal.EventHead) any {
			return shoal.SpaceDeletedData{EventHead: h}
		})
		if err != nil {
			return err
		}
		left := s.MemberCount
		if err := eachMember(ch, session, id, "", func(m shoal.Member) (bool, error) {
			left--
			ch.Notify(core.EntityTopic(session, m.EntityID))
			ch.Notify(core.InboxTopic(session, m.EntityID)) // ends its waits for this space
			// A follower of all spaces of an entity receives only events about the entity
			// from a space that the entity has left.
			return true, core.EmitInSpace(ch, session, id, m.EntityID, shoal.EventMemberLeft, func(h shoal.EventHead) any {
				return shoal.MemberData{EventHead: h, Member: m, MemberCount: left}
			})
		}); err != nil {
			return err
		}
		return errors.Join(ch.DeleteSpace(session, id, place), ch.Record(caller, session, audit.SpaceDelete, spaceTarget(id)))
	})
}

// eraseRemainder erases the remaining data of a deleted space.
func (s *Spaces) eraseRemainder(ctx context.Context, of storage.DeletedSpace) error {
	for more := true; more; {
		err := s.core.Store.Update(ctx, storage.In(of.Session), func(tx storage.Tx) (err error) {
			more, err = tx.EraseSpace(of.Session, of.ID, eraseBatch)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// eraseRemainders erases the remaining data of all deleted spaces: a server may have
// stopped, or a call may have ended, before it was erased.
func (s *Spaces) eraseRemainders(ctx context.Context) error {
	for {
		var left []storage.DeletedSpace
		err := s.core.Store.View(ctx, func(tx storage.Tx) (err error) {
			left, err = tx.LeftSpaces(eraseBatch)
			return err
		})
		for _, of := range left {
			err = errors.Join(err, s.eraseRemainder(ctx, of))
		}
		if err != nil || len(left) < eraseBatch {
			return err
		}
	}
}

// Start starts the task that erases the data of deleted spaces. It ends when the hub stops.
func (s *Spaces) Start() {
	s.core.Go(func(ctx context.Context) { s.core.Repeat(ctx, time.Minute, "deleted spaces", s.eraseRemainders) })
}
