package access

import (
	"context"
	"fmt"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/roles"
	"github.com/shoal-dev/shoal/internal/scopes"
)

// HoldWakeLease records the promise of a program to wake the model of an agent, or renews it, and
// returns how a mention reaches the agent now. Nothing is stored: the lease is in memory, known to all
// servers within a second, and ends when it is not renewed. For the agent itself, admins and owners of
// the session. It fails with Conflict for a human.
func (e *Entities) HoldWakeLease(ctx context.Context, caller shoal.Principal, session shoal.SessionID, id shoal.EntityID, l shoal.WakeLease) (shoal.Wake, error) {
	const op = "hub.Entities.HoldWakeLease"
	if err := l.Validate(); err != nil {
		return shoal.Wake{}, core.Wrap(op, err)
	}
	agent, err := e.woken(ctx, op, caller, session, id)
	if err != nil {
		return shoal.Wake{}, err
	}
	if err := e.core.Leases.Hold(storage.EntityRef{Session: session, ID: id}, l); err != nil {
		return shoal.Wake{}, core.Wrap(op, err)
	}
	return *e.core.Presence.FillLiveState(agent).Wake, nil
}

// ReleaseWakeLease ends the leases of an agent, or, if sessionRef is not empty, those for that
// session of its coding agent. It succeeds if there are none. For the callers of HoldWakeLease.
func (e *Entities) ReleaseWakeLease(ctx context.Context, caller shoal.Principal, session shoal.SessionID, id shoal.EntityID, sessionRef string) error {
	const op = "hub.Entities.ReleaseWakeLease"
	if _, err := e.woken(ctx, op, caller, session, id); err != nil {
		return err
	}
	e.core.Leases.Release(storage.EntityRef{Session: session, ID: id}, sessionRef)
	return nil
}

// woken returns the agent whose wake leases the caller may change.
func (e *Entities) woken(ctx context.Context, op string, caller shoal.Principal, session shoal.SessionID, id shoal.EntityID) (out shoal.Entity, err error) {
	err = e.core.View(ctx, op, func(tx storage.Tx) error {
		if err := core.Authorize(caller, session, roles.KeepInbox); err != nil {
			return err
		}
		if out, err = core.VisibleEntity(tx, caller, session, id); err != nil {
			return err
		}
		switch {
		case !scopes.Can(caller, roles.Manage) && (caller.Role != shoal.RoleEntity || caller.EntityID != id):
			return shoal.E("", shoal.Forbidden, fmt.Sprintf("Only %q itself, an admin or an owner of the session may say that a program wakes it.", id))
		case out.Kind != shoal.Agent:
			return shoal.E("", shoal.Conflict, fmt.Sprintf("%q is a human: only agents have a model that a program can wake.", id))
		}
		return nil
	})
	return out, err
}
