package hub

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/naming"
)

// Sessions creates, lists and ends sessions.
type Sessions struct{ *core }

// NewSessions returns the sessions of a hub.
func NewSessions(c *core) *Sessions { return &Sessions{c} }

// Create makes a session. Admins only. AlreadyExists when the id is or was
// taken.
func (s *Sessions) Create(ctx context.Context, who shoal.Principal, n shoal.NewSession, idempotencyKey string) (shoal.Session, error) {
	const op = "hub.Sessions.Create"
	if err := errors.Join(adminOnly(who), n.Validate(), naming.Check("name", n.Name), checkOnce(idempotencyKey)); err != nil {
		return shoal.Session{}, wrap(op, first(err))
	}
	var made shoal.Session
	err := s.change(ctx, op, func(ch *change) (err error) {
		made, _, err = once(ch, who, "", op, idempotencyKey, n, func() (shoal.Session, error) {
			out := shoal.Session{ID: n.ID, Name: n.Name, Status: shoal.SessionOpen, Limits: shoal.DefaultLimits, CreatedAt: ch.at}
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
			return out, taken(ch.InsertSession(out), "a session", string(out.ID))
		})
		return err
	})
	return made, err
}

// Get returns a session that the caller may know of.
func (s *Sessions) Get(ctx context.Context, who shoal.Principal, id shoal.SessionID) (out shoal.Session, err error) {
	err = s.view(ctx, "hub.Sessions.Get", func(tx Tx) error {
		if err := enter(who, id); err != nil {
			return err
		}
		out, err = sessionOf(tx, id)
		return err
	})
	return out, err
}

// List returns the sessions behind after, in the order of ids: all for an
// admin, the own one for everybody else.
func (s *Sessions) List(ctx context.Context, who shoal.Principal, after shoal.SessionID, limit int) (out []shoal.Session, err error) {
	if !who.Admin() {
		own, err := s.Get(ctx, who, who.SessionID)
		if err != nil || after >= own.ID {
			return []shoal.Session{}, err
		}
		return []shoal.Session{own}, nil
	}
	err = s.view(ctx, "hub.Sessions.List", func(tx Tx) error {
		out, err = tx.Sessions(after, limit)
		return err
	})
	return out, err
}

// Change changes the limits and the space rights of a session, for admins and owners of the
// session. Runs under way are bound by the limits from their next model call on.
func (s *Sessions) Change(ctx context.Context, who shoal.Principal, id shoal.SessionID, to shoal.SessionChange) (out shoal.Session, err error) {
	const op = "hub.Sessions.Change"
	if err := errors.Join(enter(who, id), managersOnly(who), to.Validate()); err != nil {
		return out, wrap(op, first(err))
	}
	err = s.change(ctx, op, func(ch *change) (err error) {
		if out, err = sessionOf(ch, id); err != nil || to == (shoal.SessionChange{}) {
			return err
		}
		if to.Limits != nil {
			out.Limits = to.Limits.Apply(out.Limits)
		}
		if to.SpaceRights != nil {
			out.SpaceRights = *to.SpaceRights
		}
		return ch.UpdateSession(out)
	})
	return out, err
}

// Close makes a session read-only; what its agents do is canceled. Admins only; Conflict for the default
// session and for one that is closed.
func (s *Sessions) Close(ctx context.Context, who shoal.Principal, id shoal.SessionID) (out shoal.Session, err error) {
	const op = "hub.Sessions.Close"
	if err := errors.Join(enter(who, id), adminOnly(who)); err != nil {
		return out, wrap(op, first(err))
	}
	err = s.change(ctx, op, func(ch *change) (err error) {
		if out, err = endable(ch, id, "closed"); err != nil {
			return err
		}
		if out.Status == shoal.SessionShut {
			return shoal.E("", shoal.Conflict, fmt.Sprintf("The session %q is closed already.", id))
		}
		at := ch.at
		out.Status, out.ClosedAt = shoal.SessionShut, &at
		return errors.Join(endWork(ch, id, ""), ch.CloseSession(id, at))
	})
	return out, err
}

// Delete erases a session with everything in it; its keys stop working at once,
// and its waits and followers end with NotFound. Admins only; Conflict for the
// default session.
func (s *Sessions) Delete(ctx context.Context, who shoal.Principal, id shoal.SessionID) error {
	const op = "hub.Sessions.Delete"
	if err := errors.Join(enter(who, id), adminOnly(who)); err != nil {
		return wrap(op, first(err))
	}
	return s.change(ctx, op, func(ch *change) error {
		if _, err := endable(ch, id, "deleted"); err != nil {
			return err
		}
		ch.hint(workTopic) // whoever executes its runs loses them
		ch.after(func(committed bool) {
			s.revocations.Add(1)
			if committed {
				s.callers.endSession(id)
			}
		})
		return ch.DeleteSession(id)
	})
}

func endable(tx Tx, id shoal.SessionID, what string) (shoal.Session, error) {
	if id == shoal.DefaultSession {
		return shoal.Session{}, shoal.E("", shoal.Conflict, "The session \"default\" always exists; it cannot be "+what+".")
	}
	return sessionOf(tx, id)
}

// taken words AlreadyExists for a thing that a caller named. noun has its
// article.
func taken(err error, noun, id string) error {
	if errors.Is(err, shoal.AlreadyExists) {
		return shoal.E("", shoal.AlreadyExists, fmt.Sprintf("There is or was %s with the id %q; ids are never used again. Choose another one.", noun, id))
	}
	return err
}

// first returns the first error of a joined one, so that one answer has one
// kind.
func first(err error) error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()[0]
	}
	return err
}
