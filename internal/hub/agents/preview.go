package agents

import (
	"cmp"
	"context"
	"errors"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/runs"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/roles"
)

// Example texts of a preview.
const (
	exampleText    = "Hello! What can you do for me?"
	exampleService = "preview"
	exampleMessage = "msg_preview"
	exampleRun     = "run_preview"
)

// Draft returns the run that an agent would start now, for a preview. Its trigger is the
// newest message of another sender in the space, or an example from the caller if there is
// none; without a space it is a service. The agent does not need to exist yet. member
// reports whether it is in the space. Nothing is stored. Draft fails with NotFound for a
// session or space that does not exist. For admins and owners of the session.
func (a *Agents) Draft(ctx context.Context, caller shoal.Principal, session shoal.SessionID, agent shoal.EntityID, space shoal.SpaceID) (r storage.Run, member bool, err error) {
	const op = "hub.Agents.Draft"
	if err := errors.Join(core.Authorize(caller, session, roles.Manage), shoal.CheckID("id", string(agent))); err != nil {
		return r, false, core.Wrap(op, core.FirstError(err))
	}
	err = a.core.View(ctx, op, func(tx storage.Tx) error {
		if _, err := core.FindSession(tx, session); err != nil {
			return err
		}
		if e, err := tx.Entity(session, agent); err == nil && e.Kind == shoal.Human {
			return notAnAgent(agent)
		} else if err != nil && !errors.Is(err, shoal.NotFound) {
			return err
		}
		of := runs.StartRequest{Session: session, Agent: agent, Trigger: shoal.Trigger{Type: shoal.ServiceTrigger, ServiceName: exampleService, Payload: []byte("null")}}
		if space != "" {
			s, err := core.ReadableSpace(tx, caller, session, space)
			if err != nil {
				return err
			}
			if member, err = tx.IsMember(session, space, agent); err != nil {
				return err
			}
			if of.Trigger, err = exampleTrigger(tx, caller, s, agent); err != nil {
				return err
			}
		}
		r = storage.Run{
			Run: shoal.Run{
				ID: exampleRun, SessionID: session, AgentID: agent, Status: shoal.RunRunning, Trigger: of.Trigger, CauseRoot: exampleRun,
				Usage: shoal.Usage{Currency: shoal.Currency}, PendingToolCalls: []shoal.PendingToolCall{}, CreatedAt: shoal.Now(),
			},
			Space: space, Requester: string(of.Trigger.SenderEntityID), Conversation: of.ConversationName(), Began: 1,
		}
		conv, err := tx.Conversation(session, r.Conversation)
		if err == nil {
			r.Began = conv.Clock + 1
		} else if errors.Is(err, shoal.NotFound) {
			err = nil
		}
		return err
	})
	return r, member, err
}

// exampleTrigger returns the trigger of the newest message in a space that would start an
// agent, or of an example.
func exampleTrigger(tx Tx, caller shoal.Principal, s shoal.Space, agent shoal.EntityID) (shoal.Trigger, error) {
	newest, err := tx.Messages(s.SessionID, s.ID, storage.Page{Before: s.LastSeq + 1, Limit: shoal.DefaultPage})
	if err != nil {
		return shoal.Trigger{}, err
	}
	for i := len(newest) - 1; i >= 0; i-- {
		m := newest[i]
		if m.EntityID == agent || m.EntityID == shoal.System {
			continue
		}
		sender, err := tx.Entity(s.SessionID, m.EntityID)
		if errors.Is(err, shoal.NotFound) {
			continue // deleted
		}
		return runs.MessageTrigger(s, m, sender), err
	}
	id := cmp.Or(caller.EntityID, shoal.Operator)
	sender, err := tx.Entity(s.SessionID, id)
	if errors.Is(err, shoal.NotFound) {
		sender, err = shoal.Entity{ID: id, Name: string(id), Kind: shoal.Human}, nil
	}
	return runs.MessageTrigger(s, shoal.Message{ID: exampleMessage, Parts: []shoal.Part{{Type: shoal.TextPart, Text: exampleText}}}, sender), err
}
