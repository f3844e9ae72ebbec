package erasure

import (
	"context"
	"errors"
	"fmt"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/runs"
	"github.com/shoal-dev/shoal/internal/hub/spaces"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// endRuns cancels the runs that the entity executes or has started, and waits for their end.
func (e *Erasures) endRuns(ctx context.Context, of storage.EntityRef) error {
	const op = "hub.Erasures.endRuns"
	concerned := activeRuns(of.Session, func(_ storage.Tx, r storage.Run) (bool, error) {
		return r.AgentID == of.ID || r.Requester == string(of.ID), nil
	})
	if _, err := e.cancelRuns(ctx, op, of.Session, concerned); err != nil {
		return err
	}
	return e.awaitEnd(ctx, op, of, concerned)
}

// endReaders cancels the runs that are being executed by the agents of some spaces, and waits for
// their end: each can have read a message before it was erased, and not have stored that yet.
func (e *Erasures) endReaders(ctx context.Context, of storage.EntityRef, in map[shoal.SpaceID]bool) error {
	const op = "hub.Erasures.endReaders"
	reading, err := e.cancelRuns(ctx, op, of.Session, activeRuns(of.Session, func(tx storage.Tx, r storage.Run) (bool, error) {
		if r.LeaseUntil == nil {
			return false, nil
		}
		return isIn(tx, of.Session, r.AgentID, in)
	}))
	if err != nil {
		return err
	}
	return e.awaitEnd(ctx, op, of, stillActive(of.Session, reading))
}

// findRuns finds runs in a transaction.
type findRuns func(storage.Tx) ([]shoal.RunID, error)

// activeRuns finds those of the active runs of a session that match.
func activeRuns(session shoal.SessionID, match func(storage.Tx, storage.Run) (bool, error)) findRuns {
	return func(tx storage.Tx) (ids []shoal.RunID, err error) {
		active, err := tx.Runs(session, storage.RunFilter{Status: runs.ActiveStatuses})
		if err != nil {
			return nil, err
		}
		for _, r := range active {
			matches, err := match(tx, r)
			if err != nil {
				return nil, err
			}
			if matches {
				ids = append(ids, r.ID)
			}
		}
		return ids, nil
	}
}

// cancelRuns cancels the runs that find returns in the transaction, and returns them.
func (e *Erasures) cancelRuns(ctx context.Context, op string, session shoal.SessionID, find findRuns) (ids []shoal.RunID, err error) {
	err = e.core.Change(ctx, op, storage.In(session), func(ch *core.Change) (err error) {
		if ids, err = find(ch); err != nil {
			return err
		}
		for _, id := range ids {
			if err := cancel(ch, session, id); err != nil {
				return err
			}
		}
		return nil
	})
	return ids, err
}

// awaitEnd waits until find returns nothing. It fails with Conflict if that takes too long.
func (e *Erasures) awaitEnd(ctx context.Context, op string, of storage.EntityRef, find findRuns) error {
	left, err := spaces.AwaitRuns(ctx, e.core, op, of.Session, find)
	if len(left) == 0 {
		return err
	}
	return errors.Join(err, shoal.E("", shoal.Conflict, fmt.Sprintf("%q is deleted, but the canceled run %q has not ended yet. The erasure continues by itself within a minute; call again to see whether it is complete.", of.ID, left[0])))
}

func cancel(ch *core.Change, session shoal.SessionID, id shoal.RunID) error {
	r, err := ch.Run(session, id)
	if errors.Is(err, shoal.NotFound) {
		return nil
	}
	if err == nil {
		_, err = runs.CancelRun(ch, r)
	}
	return err
}

func isIn(tx storage.Tx, session shoal.SessionID, agent shoal.EntityID, in map[shoal.SpaceID]bool) (bool, error) {
	for space := range in {
		if is, err := tx.IsMember(session, space, agent); err != nil || is {
			return is, err
		}
	}
	return false, nil
}

// stillActive finds those of the runs that have not ended.
func stillActive(session shoal.SessionID, ids []shoal.RunID) findRuns {
	return func(tx storage.Tx) (active []shoal.RunID, err error) {
		for _, id := range ids {
			r, err := tx.Run(session, id)
			if err != nil && !errors.Is(err, shoal.NotFound) {
				return nil, err
			}
			if err == nil && !r.Status.Ended() {
				active = append(active, id)
			}
		}
		return active, nil
	}
}
