package agents

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

const (
	planConversation    = "plan:"
	serviceConversation = "service:"
	// maxConversationPage is the approximate size in bytes up to which a page of a
	// conversation is filled with runs. A page has at least one run, however large it is.
	maxConversationPage = 1 << 20
	// conversationChunk is the number of runs that are read at once to fill a page.
	conversationChunk = 10
)

// Conversations returns at most limit conversations of an agent in the order of their ids,
// starting after the one with the id after. It also works for agents that are no longer
// hosted. For admins and owners of the session, as are steps and requests: a run reads
// other spaces on behalf of its requesters, so neither membership of a space nor ownership
// of the agent is sufficient.
func (a *Agents) Conversations(ctx context.Context, caller shoal.Principal, session shoal.SessionID, agent shoal.EntityID, after string, limit int) ([]shoal.Conversation, error) {
	const op = "hub.Agents.Conversations"
	filter := storage.ConversationFilter{Limit: limit}
	if after != "" {
		name, err := conversationName(agent, after)
		if err != nil {
			return nil, core.Wrap(op, err)
		}
		filter.After = name
	}
	out := []shoal.Conversation{}
	err := a.viewNotes(ctx, op, caller, session, agent, func(tx storage.Tx) error {
		found, err := tx.Conversations(session, agent, filter)
		for _, state := range found {
			out = append(out, publicConversation(state, agent))
		}
		return err
	})
	return out, err
}

// ConversationPage is a page of a stored conversation, the newest run first. Before is the
// position before which the runs of the next page began, or 0 if there is none.
type ConversationPage struct {
	Conversation storage.Conversation
	Blocks       []storage.Block
	Before       int64
}

// ReadConversation returns the newest limit runs that began before a position of a
// conversation (0 for its end), or fewer if they are large. It fails with NotFound if no
// run of the conversation has begun since it was cleared. For the callers that may call
// [Agents.Conversations].
func (a *Agents) ReadConversation(ctx context.Context, caller shoal.Principal, session shoal.SessionID, agent shoal.EntityID, id string, before int64, limit int) (page ConversationPage, err error) {
	err = a.viewNotes(ctx, "hub.Agents.ReadConversation", caller, session, agent, func(tx storage.Tx) error {
		if page.Conversation, _, err = findConversation(tx, session, agent, id); err != nil {
			return err
		}
		return page.fillBlocks(tx, before, limit)
	})
	return page, err
}

// fillBlocks reads runs from the newest to older ones until the page is full.
func (p *ConversationPage) fillBlocks(tx Tx, before int64, limit int) error {
	conv := p.Conversation
	read := func(limit int) ([]storage.Block, error) {
		older, err := tx.Blocks(conv.Session, conv.ID, storage.BlockFilter{BeganAfter: conv.Cleared, BeganBefore: before, Limit: limit})
		slices.Reverse(older)
		return older, err
	}
	for size := 0; len(p.Blocks) < limit && size < maxConversationPage; {
		older, err := read(min(conversationChunk, limit-len(p.Blocks)))
		if err != nil || len(older) == 0 {
			return err
		}
		for _, b := range older {
			if size >= maxConversationPage {
				break
			}
			p.Blocks, before = append(p.Blocks, b), b.Began
			size += blockSize(b)
		}
	}
	older, err := read(1)
	if len(older) > 0 {
		p.Before = before
	}
	return err
}

func blockSize(b storage.Block) int {
	n := len(b.Turn)
	for _, step := range b.Steps {
		n += len(step)
	}
	return n
}

// ClearConversation makes later runs start without the history of a conversation, including
// its summary. The runs themselves remain. It fails with NotFound if no run of the
// conversation has begun since it was cleared, and with Conflict while a run is in
// progress. For the callers that may call [Agents.Conversations].
func (a *Agents) ClearConversation(ctx context.Context, caller shoal.Principal, session shoal.SessionID, agent shoal.EntityID, id string) error {
	return a.changeNotes(ctx, "hub.Agents.ClearConversation", caller, session, agent, func(ch *core.Change) error {
		conv, state, err := findConversation(ch, session, agent, id)
		if err != nil {
			return err
		}
		if state.ActiveRun != "" {
			return shoal.E("", shoal.Conflict, fmt.Sprintf("The run %q of this conversation is in progress. Cancel it or wait until it has ended, then clear the conversation.", state.ActiveRun))
		}
		conv.Cleared, conv.Data = conv.Clock, nil
		return ch.PutConversation(conv)
	})
}

func findConversation(tx Tx, session shoal.SessionID, agent shoal.EntityID, id string) (conv storage.Conversation, state storage.ConversationState, err error) {
	notFound := shoal.E("", shoal.NotFound, fmt.Sprintf("The agent has no conversation %q. List them to see their ids.", id))
	name, err := conversationName(agent, id)
	if err != nil {
		return conv, state, notFound
	}
	found, err := tx.Conversations(session, agent, storage.ConversationFilter{ID: name})
	if err != nil {
		return conv, state, err
	}
	if len(found) == 0 {
		return conv, state, notFound
	}
	conv, err = tx.Conversation(session, name)
	return conv, found[0], err
}

// conversationName returns the stored name of a conversation, see
// [runs.StartRequest.ConversationName].
func conversationName(agent shoal.EntityID, id string) (string, error) {
	if plan, found := strings.CutPrefix(id, planConversation); found {
		return fmt.Sprintf("%s/plan/%s", agent, plan), shoal.CheckID("conversation", plan)
	}
	if service, found := strings.CutPrefix(id, serviceConversation); found {
		return fmt.Sprintf("%s/service/%s", agent, service), shoal.CheckTrigger(service, []byte("null"))
	}
	return fmt.Sprintf("%s/%s", agent, id), shoal.CheckID("conversation", id)
}

// publicConversation returns the conversation as the API shows it.
func publicConversation(s storage.ConversationState, agent shoal.EntityID) shoal.Conversation {
	out := shoal.Conversation{AgentID: agent, LastRunAt: s.LastEnded}
	if s.ActiveRun != "" {
		out.ActiveRunID = &s.ActiveRun
	}
	name := strings.TrimPrefix(s.ID, string(agent)+"/")
	if plan, found := strings.CutPrefix(name, "plan/"); found {
		id := shoal.PlanID(plan)
		out.ID, out.PlanID = planConversation+plan, &id
	} else if service, found := strings.CutPrefix(name, "service/"); found {
		out.ID, out.ServiceName = serviceConversation+service, &service
	} else {
		id := shoal.SpaceID(name)
		out.ID, out.SpaceID = name, &id
	}
	return out
}
