package agents

import (
	"context"
	"fmt"
	"slices"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/roles"
)

// Memories returns at most limit memories of an agent in the order of their creation,
// starting after the one with the id after. It also works for agents that are no longer
// hosted. For admins and owners of the session.
func (a *Agents) Memories(ctx context.Context, caller shoal.Principal, session shoal.SessionID, agent shoal.EntityID, after string, limit int) (out []shoal.Memory, err error) {
	err = a.viewNotes(ctx, "hub.Agents.Memories", caller, session, agent, func(tx storage.Tx) error {
		all, err := tx.Memories(session, agent)
		out = notesAfter(all, memoryID, after, limit)
		return err
	})
	return out, err
}

// Goals is Memories for the goals of the agent, including those that are reached.
func (a *Agents) Goals(ctx context.Context, caller shoal.Principal, session shoal.SessionID, agent shoal.EntityID, after string, limit int) (out []shoal.Goal, err error) {
	err = a.viewNotes(ctx, "hub.Agents.Goals", caller, session, agent, func(tx storage.Tx) error {
		all, err := tx.Goals(session, agent)
		out = notesAfter(all, goalID, after, limit)
		return err
	})
	return out, err
}

// DeleteMemory erases one memory of an agent, or all of them if id is empty. Runs that have
// started may still contain them. It fails with NotFound for an unknown id. For admins and
// owners of the session.
func (a *Agents) DeleteMemory(ctx context.Context, caller shoal.Principal, session shoal.SessionID, agent shoal.EntityID, id string) error {
	return a.changeNotes(ctx, "hub.Agents.DeleteMemory", caller, session, agent, func(ch *core.Change) error {
		all, err := ch.Memories(session, agent)
		if err != nil {
			return err
		}
		return deleteNotes(all, memoryID, id, "memory", func(id string) error { return ch.DeleteMemory(session, agent, id) })
	})
}

// DeleteGoal is DeleteMemory for the goals of the agent.
func (a *Agents) DeleteGoal(ctx context.Context, caller shoal.Principal, session shoal.SessionID, agent shoal.EntityID, id string) error {
	return a.changeNotes(ctx, "hub.Agents.DeleteGoal", caller, session, agent, func(ch *core.Change) error {
		all, err := ch.Goals(session, agent)
		if err != nil {
			return err
		}
		return deleteNotes(all, goalID, id, "goal", func(id string) error { return ch.DeleteGoal(session, agent, id) })
	})
}

func memoryID(m shoal.Memory) string { return m.ID }

func goalID(g shoal.Goal) string { return g.ID }

// viewNotes checks the rights of the caller and runs read on the notes of an agent.
func (a *Agents) viewNotes(ctx context.Context, op string, caller shoal.Principal, session shoal.SessionID, agent shoal.EntityID, read func(storage.Tx) error) error {
	if err := core.Authorize(caller, session, roles.ReadSettings); err != nil {
		return core.Wrap(op, err)
	}
	return a.core.View(ctx, op, func(tx storage.Tx) error {
		if _, err := core.FindEntity(tx, session, agent); err != nil {
			return err
		}
		return read(tx)
	})
}

// changeNotes checks the rights of the caller and runs drop, which changes the notes of an
// agent.
func (a *Agents) changeNotes(ctx context.Context, op string, caller shoal.Principal, session shoal.SessionID, agent shoal.EntityID, drop func(*core.Change) error) error {
	if err := core.Authorize(caller, session, roles.Manage); err != nil {
		return core.Wrap(op, err)
	}
	return a.core.Change(ctx, op, storage.In(session), func(ch *core.Change) error {
		if err := core.RequireOpenSession(ch, session); err != nil {
			return err
		}
		if _, err := core.FindEntity(ch, session, agent); err != nil {
			return err
		}
		return drop(ch)
	})
}

// notesAfter returns at most limit notes after the one with an id, from the first if the id
// is empty or no longer exists.
func notesAfter[T any](all []T, idOf func(T) string, after string, limit int) []T {
	at := slices.IndexFunc(all, func(note T) bool { return after != "" && idOf(note) == after })
	all = all[at+1:]
	return all[:min(len(all), max(limit, 0))]
}

// deleteNotes deletes the note with an id, or all notes if the id is empty.
func deleteNotes[T any](all []T, idOf func(T) string, id, noun string, drop func(id string) error) error {
	found := false
	for _, note := range all {
		if id == "" || idOf(note) == id {
			found = true
			if err := drop(idOf(note)); err != nil {
				return err
			}
		}
	}
	if id != "" && !found {
		return shoal.E("", shoal.NotFound, fmt.Sprintf("The agent has no %s %q. List them to see their ids.", noun, id))
	}
	return nil
}
