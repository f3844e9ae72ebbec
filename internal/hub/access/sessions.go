package access

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/audit"
	"github.com/shoal-dev/shoal/internal/hub/agents"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/naming"
	"github.com/shoal-dev/shoal/internal/roles"
)

// Sessions creates, lists and ends sessions.
type Sessions struct {
	core   *core.Core
	server shoal.Retention
}

// NewSessions returns the sessions of a hub. server is how long it keeps things at most.
func NewSessions(c *core.Core, server shoal.Retention) *Sessions { return &Sessions{c, server} }

// Create creates a session. Admins only. It fails with AlreadyExists if the id is or was in
// use.
func (s *Sessions) Create(ctx context.Context, caller shoal.Principal, n shoal.NewSession, idempotencyKey string) (shoal.Session, error) {
	const op = "hub.Sessions.Create"
	if err := errors.Join(core.RequireAdmin(caller), n.Validate(), naming.Check("name", n.Name), core.CheckIdempotencyKey(idempotencyKey)); err != nil {
		return shoal.Session{}, core.Wrap(op, core.FirstError(err))
	}
	var session shoal.Session
	err := s.core.Change(ctx, op, storage.Global, func(ch *core.Change) (err error) {
		session, _, err = core.Once(ch, caller, "", op, idempotencyKey, n, func() (shoal.Session, error) {
			out := shoal.Session{ID: n.ID, Name: n.Name, Status: shoal.SessionStatusOpen, Limits: shoal.DefaultLimits, CreatedAt: ch.At}
			if n.Limits != nil {
				out.Limits = *n.Limits
			}
			out.SpaceRights = cmp.Or(n.SpaceRights, shoal.SpaceRightsMembers)
			if out.ID == "" {
				out.ID = shoal.NewID[shoal.SessionID](shoal.PrefixSession)
			}
			if out.Name == "" {
				out.Name = string(out.ID)
			}
			if err := core.ExplainAlreadyExists(ch.InsertSession(out), "a session", string(out.ID)); err != nil {
				return out, err
			}
			return out, ch.Record(caller, "", audit.SessionCreate, sessionTarget(out.ID))
		})
		return err
	})
	return session, err
}

// Get returns a session that the caller may see.
func (s *Sessions) Get(ctx context.Context, caller shoal.Principal, id shoal.SessionID) (out shoal.Session, err error) {
	err = s.core.View(ctx, "hub.Sessions.Get", func(tx storage.Tx) error {
		if err := core.Authorize(caller, id, roles.ReadSession); err != nil {
			return err
		}
		out, err = core.FindSession(tx, id)
		return err
	})
	return out, err
}

// List returns at most limit sessions with ids after the given one, in the order of ids:
// all sessions for an admin, their own for other callers.
func (s *Sessions) List(ctx context.Context, caller shoal.Principal, after shoal.SessionID, limit int) (out []shoal.Session, err error) {
	if !caller.Admin() {
		own, err := s.Get(ctx, caller, caller.SessionID)
		if err != nil || after >= own.ID {
			return []shoal.Session{}, err
		}
		return []shoal.Session{own}, nil
	}
	err = s.core.View(ctx, "hub.Sessions.List", func(tx storage.Tx) error {
		out, err = tx.Sessions(after, limit)
		return err
	})
	return out, err
}

// Change changes the limits, the space rights and the retention of a session. For admins and owners
// of the session. New limits apply to runs in progress from their next model call. What is older than
// a new retention is erased within an hour. Change fails with InvalidArgument for a retention that is
// longer than that of the server.
func (s *Sessions) Change(ctx context.Context, caller shoal.Principal, id shoal.SessionID, to shoal.SessionChange) (out shoal.Session, err error) {
	const op = "hub.Sessions.Change"
	if err := errors.Join(core.Authorize(caller, id, roles.Manage), to.Validate(), s.mayKeep(to.Retention)); err != nil {
		return out, core.Wrap(op, core.FirstError(err))
	}
	err = s.core.Change(ctx, op, storage.In(id), func(ch *core.Change) (err error) {
		if out, err = core.FindSession(ch, id); err != nil || to == (shoal.SessionChange{}) {
			return err
		}
		if to.Limits != nil {
			out.Limits = to.Limits.Apply(out.Limits)
		}
		if to.SpaceRights != nil {
			out.SpaceRights = *to.SpaceRights
		}
		if to.Retention != nil {
			out.Retention = to.Retention.Apply(out.Retention)
		}
		return errors.Join(ch.UpdateSession(out), ch.Record(caller, id, audit.SessionUpdate, sessionTarget(id),
			"spaceRights", string(out.SpaceRights), "maxCostPerRequest", fmt.Sprint(out.Limits.MaxCostPerRequest), "maxTokensPerRequest", fmt.Sprint(out.Limits.MaxTokensPerRequest),
			"messagesForMs", fmt.Sprint(out.Retention.MessagesForMs), "runsForMs", fmt.Sprint(out.Retention.RunsForMs), "promptsForMs", fmt.Sprint(out.Retention.PromptsForMs)))
	})
	return out, err
}

// mayKeep returns an error if a change makes a session keep something for longer than the server does.
func (s *Sessions) mayKeep(to *shoal.RetentionChange) error {
	if to == nil {
		return nil
	}
	wrong := to.Apply(shoal.Retention{}).Beyond(s.server)
	if len(wrong) == 0 {
		return nil
	}
	return shoal.Invalid(wrong[0].Field, wrong[0].Message)
}

// Close makes a session read-only and cancels the runs and plans of its agents. Admins
// only. It fails with Conflict for the default session and for a closed one.
func (s *Sessions) Close(ctx context.Context, caller shoal.Principal, id shoal.SessionID) (out shoal.Session, err error) {
	const op = "hub.Sessions.Close"
	if err := errors.Join(core.CheckSession(caller, id), core.RequireAdmin(caller)); err != nil {
		return out, core.Wrap(op, core.FirstError(err))
	}
	err = s.core.Change(ctx, op, storage.In(id), func(ch *core.Change) (err error) {
		if out, err = findEndable(ch, id, "closed"); err != nil {
			return err
		}
		if out.Status == shoal.SessionStatusClosed {
			return shoal.E("", shoal.Conflict, fmt.Sprintf("The session %q is already closed.", id))
		}
		at := ch.At
		out.Status, out.ClosedAt = shoal.SessionStatusClosed, &at
		return errors.Join(agents.CancelWork(ch, id, ""), ch.CloseSession(id, at), ch.Record(caller, id, audit.SessionClose, sessionTarget(id)))
	})
	return out, err
}

// Delete erases a session and everything in it. Its keys stop working at once, and its
// waits and followers end with NotFound. Admins only. It fails with Conflict for the
// default session.
func (s *Sessions) Delete(ctx context.Context, caller shoal.Principal, id shoal.SessionID) error {
	const op = "hub.Sessions.Delete"
	if err := errors.Join(core.CheckSession(caller, id), core.RequireAdmin(caller)); err != nil {
		return core.Wrap(op, core.FirstError(err))
	}
	return s.core.Change(ctx, op, storage.In(id), func(ch *core.Change) error {
		if _, err := findEndable(ch, id, "deleted"); err != nil {
			return err
		}
		ch.Notify(core.WorkTopic) // executors must stop its runs
		ch.OnEnd(func(committed bool) {
			s.core.RevokedRights()
			if committed {
				s.core.Calls.EndSession(id)
			}
		})
		head, err := ch.AuditHead(id)
		if err != nil {
			return err
		}
		return errors.Join(ch.DeleteSession(id), ch.Record(caller, "", audit.SessionDelete, sessionTarget(id), "auditHead", head.String()))
	})
}

func sessionTarget(id shoal.SessionID) audit.Target {
	return audit.Target{Kind: "session", ID: string(id)}
}

// findEndable returns a session, unless it is the default one, which cannot be closed or
// deleted.
func findEndable(tx Tx, id shoal.SessionID, what string) (shoal.Session, error) {
	if id == shoal.DefaultSession {
		return shoal.Session{}, shoal.E("", shoal.Conflict, "The session \"default\" always exists; it cannot be "+what+".")
	}
	return core.FindSession(tx, id)
}
