// Package erasure erases persons and other entities: what they have said, what the store knows of
// them, and the copies of both.
package erasure

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/audit"
	"github.com/shoal-dev/shoal/internal/hub/access"
	"github.com/shoal-dev/shoal/internal/hub/copies"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/roles"
)

// Bounds of one transaction and of what is in memory at once.
const (
	batch      = 50
	partTexts  = 16 << 20 // bytes of the texts whose copies are searched at once
	partLength = 10_000   // messages, and as many answers
	maxSweeps  = 5
)

// Erasures erases entities. It is safe for concurrent use.
type Erasures struct {
	core *core.Core
	due  chan struct{} // has a value at the start
}

// New returns the erasures of a hub.
func New(c *core.Core) *Erasures {
	e := &Erasures{c, make(chan struct{}, 1)}
	e.due <- struct{}{}
	return e
}

// Erase deletes an entity as [access.Entities.Delete] does, if that has not been done, and erases
// its name, description, metadata and external id, the files that it has uploaded, its answers to
// pending actions, and its messages: tombstones remain at their positions, which followers receive as
// message.updated. It erases the copies in events, runs, conversations, notes and schedules of
// hosted agents, in what models were sent and in stored responses, and replaces the name there by the
// id. Of an agent it also erases the runs and everything that belongs to it. The id remains, and
// cannot be used again. For admins and owners of the session. An entity that is erased already can be
// erased again; NotFound is returned for one that never existed.
//
// Runs that the entity has started are canceled, and so are those that agents in the spaces of its
// messages are executing, as they can have read them. Erase fails with Conflict if one of them has
// not ended after a few seconds. After any failure that follows the deletion, and after the next
// start of a server, the erasure continues by itself within a minute.
func (e *Erasures) Erase(ctx context.Context, caller shoal.Principal, session shoal.SessionID, id shoal.EntityID) error {
	const op = "hub.Erasures.Erase"
	if err := core.Authorize(caller, session, roles.Manage); err != nil {
		return core.Wrap(op, err)
	}
	of := storage.EntityRef{Session: session, ID: id}
	err := e.core.Change(ctx, op, storage.In(session), func(ch *core.Change) error {
		if _, err := core.FindSession(ch, session); err != nil {
			return err
		}
		_, err := core.FindEntity(ch, session, id)
		switch {
		case err == nil:
			err = access.DeleteEntity(ch, session, id)
		case errors.Is(err, shoal.NotFound) && core.ValidID(id):
			if names, failed := ch.EntityNames(session, []shoal.EntityID{id}); failed != nil || len(names) > 0 {
				err = failed
			}
		}
		if err != nil {
			return err
		}
		if _, err := ch.BeginErasure(of, ch.At); err != nil {
			return err
		}
		return ch.Record(caller, session, audit.EntityErase, audit.Target{Kind: "entity", ID: string(id)})
	})
	if err != nil {
		return err
	}
	return core.Wrap(op, e.finish(ctx, of))
}

// Start starts the task that continues erasures which a failure or the end of a server has
// interrupted. It ends when the hub stops.
func (e *Erasures) Start() {
	e.core.Go(func(ctx context.Context) {
		e.core.RepeatOn(ctx, time.Minute, e.due, "erasures of participants", e.resume)
	})
}

func (e *Erasures) resume(ctx context.Context) error {
	var left []storage.EntityRef
	err := e.core.Store.View(ctx, func(tx storage.Tx) (err error) {
		left, err = tx.Erasures(batch)
		return err
	})
	for _, of := range left {
		err = errors.Join(err, e.finish(ctx, of))
	}
	return err
}

// finish erases everything that remains of a deleted entity. It begins anew each time: what is
// erased already is found to be so, and a copy that was stored meanwhile is found by the id of its
// message.
func (e *Erasures) finish(ctx context.Context, of storage.EntityRef) error {
	var name string
	if err := e.core.Store.Update(ctx, storage.In(of.Session), func(tx storage.Tx) (err error) {
		name, err = tx.BeginErasure(of, shoal.Now())
		return err
	}); err != nil {
		return err
	}
	if err := e.endRuns(ctx, of); err != nil {
		return err
	}
	for more := true; more; {
		if err := e.core.Store.Update(ctx, storage.In(of.Session), func(tx storage.Tx) (err error) {
			more, err = tx.EraseOwn(of, batch)
			return err
		}); err != nil {
			return err
		}
	}
	r := &reader{of: of}
	for first := true; ; first = false {
		var p *part
		if err := e.core.Store.View(ctx, func(tx storage.Tx) (err error) { p, err = r.next(tx); return err }); err != nil {
			return err
		}
		if p.empty() && !first {
			break
		}
		if err := e.erasePart(ctx, of, p, copies.OfEntity(of.ID, name)); err != nil {
			return err
		}
	}
	return e.core.Store.Update(ctx, storage.In(of.Session), func(tx storage.Tx) error { return tx.EndErasure(of) })
}

// erasePart erases some messages and answers of an entity. Copies are erased before the messages,
// because copies without an id are found by the text, and after them, because a run can have read
// a message in between.
func (e *Erasures) erasePart(ctx context.Context, of storage.EntityRef, p *part, person *copies.Eraser) error {
	if _, err := e.sweep(ctx, of.Session, p.index, person); err != nil {
		return err
	}
	if err := e.eraseMessages(ctx, of.Session, p.messages); err != nil {
		return err
	}
	if err := e.endReaders(ctx, of, p.spaces); err != nil {
		return err
	}
	for range maxSweeps {
		working, err := e.sweep(ctx, of.Session, p.index, person)
		if err != nil {
			return err
		}
		if len(working) == 0 {
			return e.eraseAnswers(ctx, of, p.answers)
		}
		if err := e.awaitEnd(ctx, "hub.Erasures.erasePart", of, stillActive(of.Session, working)); err != nil {
			return err
		}
	}
	return shoal.E("", shoal.Conflict, fmt.Sprintf("%q is deleted, but agents go on working with its messages. The erasure continues by itself within a minute; call again to see whether it is complete.", of.ID))
}

// eraseMessages replaces messages by their tombstones.
func (e *Erasures) eraseMessages(ctx context.Context, session shoal.SessionID, ids []shoal.MessageID) error {
	return inBatches(ids, func(some []shoal.MessageID) error {
		return e.core.Change(ctx, "hub.Erasures.eraseMessages", storage.In(session), func(ch *core.Change) error {
			for _, id := range some {
				if err := eraseMessage(ch, session, id); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

func eraseMessage(ch *core.Change, session shoal.SessionID, id shoal.MessageID) error {
	m, err := ch.MessageByID(session, id)
	if errors.Is(err, shoal.NotFound) || err == nil && m.DeletedAt != nil {
		return nil // its space was deleted meanwhile, or somebody else has deleted it
	}
	if err != nil {
		return err
	}
	return core.EraseMessage(ch, m)
}

// eraseAnswers erases the content of answers of the entity. Whether it has allowed something
// remains, because votes count.
func (e *Erasures) eraseAnswers(ctx context.Context, of storage.EntityRef, ids []shoal.PendingID) error {
	return inBatches(ids, func(some []shoal.PendingID) error {
		return e.core.Change(ctx, "hub.Erasures.eraseAnswers", storage.In(of.Session), func(ch *core.Change) error {
			for _, id := range some {
				p, err := ch.Pending(of.Session, id)
				if errors.Is(err, shoal.NotFound) {
					continue
				}
				if err != nil {
					return err
				}
				eraseAnswersOf(&p, of.ID)
				if err := ch.UpdatePending(p); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

func inBatches[T any](all []T, do func([]T) error) error {
	for len(all) > 0 {
		some := all[:min(batch, len(all))]
		if err := do(some); err != nil {
			return err
		}
		all = all[len(some):]
	}
	return nil
}
