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
	// maxConversationPage is about how many bytes of stored runs a page of a conversation
	// has at most, unless its first run has more.
	maxConversationPage = 1 << 20
	// conversationChunk is how many runs are read at once to fill a page.
	conversationChunk = 10
)

// Conversations lists the conversations of an agent, also of one that is not hosted any
// more, in the order of their ids: limit of them, after the one with the given id. For
// admins and owners of the session, as steps and requests are: runs read other spaces on
// behalf of those they act for, so neither being in a space nor owning the agent is enough.
func (a *Agents) Conversations(ctx context.Context, who shoal.Principal, session shoal.SessionID, agent shoal.EntityID, after string, limit int) ([]shoal.Conversation, error) {
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
	err := a.viewNotes(ctx, op, who, session, agent, func(tx storage.Tx) error {
		found, err := tx.Conversations(session, agent, filter)
		for _, state := range found {
			out = append(out, publicConversation(state, agent))
		}
		return err
	})
	return out, err
}

// ConversationPage is a part of a conversation as it is stored, the newest run first.
// Before is the place before which the runs of the next page began, 0 if there is none.
type ConversationPage struct {
	Conversation storage.Conversation
	Blocks       []storage.Block
	Before       int64
}

// ReadConversation returns the newest limit runs that began before a place of a
// conversation (0 for its end), fewer when they are large. NotFound if no run of it has
// begun since it was cleared. For the readers of [Agents.Conversations].
func (a *Agents) ReadConversation(ctx context.Context, who shoal.Principal, session shoal.SessionID, agent shoal.EntityID, id string, before int64, limit int) (page ConversationPage, err error) {
	err = a.viewNotes(ctx, "hub.Agents.ReadConversation", who, session, agent, func(tx storage.Tx) error {
		if page.Conversation, _, err = findConversation(tx, session, agent, id); err != nil {
			return err
		}
		return page.fillBlocks(tx, before, limit)
	})
	return page, err
}

// fillBlocks reads runs from the newest to older ones until there are enough.
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

// ClearConversation makes later runs begin without what was said in a conversation,
// its summary included. The runs themselves stay. NotFound if no run of it has begun
// since it was cleared, Conflict while one is under way. For the readers of
// [Agents.Conversations].
func (a *Agents) ClearConversation(ctx context.Context, who shoal.Principal, session shoal.SessionID, agent shoal.EntityID, id string) error {
	return a.changeNotes(ctx, "hub.Agents.ClearConversation", who, session, agent, func(ch *core.Change) error {
		conv, state, err := findConversation(ch, session, agent, id)
		if err != nil {
			return err
		}
		if state.ActiveRun != "" {
			return shoal.E("", shoal.Conflict, fmt.Sprintf("The run %q of this conversation is under way. Cancel it or wait until it has ended, then clear the conversation.", state.ActiveRun))
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

// conversationName returns the stored name of a conversation, see start.conversation.
func conversationName(agent shoal.EntityID, id string) (string, error) {
	if plan, found := strings.CutPrefix(id, planConversation); found {
		return fmt.Sprintf("%s/plan/%s", agent, plan), shoal.CheckID("conversation", plan)
	}
	if service, found := strings.CutPrefix(id, serviceConversation); found {
		return fmt.Sprintf("%s/service/%s", agent, service), shoal.CheckTrigger(service, []byte("null"))
	}
	return fmt.Sprintf("%s/%s", agent, id), shoal.CheckID("conversation", id)
}

// publicConversation is the conversation as others read it.
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
