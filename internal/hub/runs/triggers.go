package runs

import (
	"errors"
	"slices"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/pending"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// Triggered is the effect of a message on hosted agents.
type TriggerResult struct {
	Runs    []shoal.StartedRun
	Skipped []shoal.EntityID // are busy and do not accept a second message
	Queued  []shoal.EntityID // their run waits for the end of another
	Replied []shoal.EntityID // a run of theirs continues with the message
	Remote  []shoal.EntityID // a program outside of the server executes their run
}

func milliseconds(ms int64) time.Duration { return time.Duration(ms) * time.Millisecond }

// StartForMessage starts the runs of the hosted agents that act on a posted message. If
// start points to false, it only settles the waits for a reply. In a space without hosted
// agents it costs one read.
func StartForMessage(ch *core.Change, s shoal.Space, m shoal.Message, start *bool, client *storage.ClientInput) (out TriggerResult, err error) {
	if m.EntityID == shoal.System {
		return out, nil
	}
	hosted, err := ch.HostedMembers(m.SessionID, m.SpaceID)
	if err != nil || len(hosted) == 0 {
		return out, err
	}
	sender, err := ch.Entity(m.SessionID, m.EntityID)
	if err != nil {
		return out, err
	}
	if out.Replied, err = pending.SettleReplies(ch, m); err != nil {
		return out, err
	}
	cause, err := storePostCause(ch, sender, m)
	if err != nil || start != nil && !*start {
		return out, err
	}
	agents, err := actingAgents(ch, s, m, sender, hosted)
	if err != nil {
		return out, err
	}
	s.LastSeq = m.Seq
	for _, id := range agents {
		if slices.Contains(out.Replied, id) {
			continue
		}
		r, refused, err := startAgent(ch, s, m, sender, id, cause, client)
		switch {
		case err != nil:
			return out, err
		case refused:
			out.Skipped = append(out.Skipped, id)
		case r.ID != "": // else the chain is too deep
			out.Runs = append(out.Runs, shoal.StartedRun{AgentID: id, RunID: r.ID})
			if !r.Awake {
				out.Queued = append(out.Queued, id)
			}
			if r.Remote {
				out.Remote = append(out.Remote, id)
			}
		}
	}
	return out, nil
}

// actingAgents returns the hosted agents that act on a message. On an agent's message,
// those that it mentions act; on a person's, the mentioned agents if there are any, else
// the space's admin agent, else the only hosted agent.
func actingAgents(tx Tx, s shoal.Space, m shoal.Message, sender shoal.Entity, hosted []shoal.EntityID) (out []shoal.EntityID, err error) {
	agents := false
	for _, id := range m.Mentions {
		switch {
		case slices.Contains(hosted, id):
			agents = true
			if id != sender.ID {
				out = append(out, id)
			}
		case !agents:
			e, err := tx.Entity(m.SessionID, id)
			if err != nil {
				return nil, err
			}
			agents = e.Kind == shoal.Agent
		}
	}
	switch {
	case agents || sender.Kind == shoal.Agent:
		return out, nil
	case s.AdminAgentID != nil && slices.Contains(hosted, *s.AdminAgentID):
		return []shoal.EntityID{*s.AdminAgentID}, nil
	case s.AdminAgentID == nil && len(hosted) == 1:
		return hosted, nil
	}
	return nil, nil
}

// startAgent starts one agent on a message and returns its run. The run is empty if the
// chain is too deep, or if the agent refuses the message because it is busy.
func startAgent(ch *core.Change, s shoal.Space, m shoal.Message, sender shoal.Entity, agent shoal.EntityID, cause storage.Cause, client *storage.ClientInput) (r storage.Run, refused bool, err error) {
	if isTooDeep(cause) {
		return r, false, postDepthNotice(ch, s, agent, cause)
	}
	t := MessageTrigger(s, m, sender)
	return StartRequest{Session: s.SessionID, Agent: agent, Trigger: t, cause: cause, requester: string(sender.ID), client: client}.startOnMessage(ch)
}

// MessageTrigger returns the trigger of a run that a message starts.
func MessageTrigger(s shoal.Space, m shoal.Message, sender shoal.Entity) shoal.Trigger {
	t := shoal.Trigger{
		Type: shoal.SpaceMessageTrigger, SpaceID: s.ID, SpaceName: s.Name, MessageID: m.ID, MessageContent: m.Text(),
		SenderEntityID: sender.ID, SenderName: sender.Name, SenderType: sender.Kind,
	}
	if sender.Kind == shoal.Agent {
		t.MentionReason = sender.Name + " mentioned you."
	}
	return t
}

// StartMention starts a run of a hosted agent that a closed message mentions, one level
// deeper in the chain. If the agent is too deep in the chain, StartMention posts a message
// about it in the space instead, once for each root. It does nothing for an agent that has
// continued because it waited for this message, has left the space, or rejects messages
// while it runs; nor for an entity that is not hosted, which has the message in its inbox.
func (c *RunChange) StartMention(space shoal.SpaceID, message shoal.MessageID, mentioned shoal.EntityID) error {
	if mentioned == c.Run.AgentID || slices.Contains(c.RepliedTo[message], mentioned) {
		return nil
	}
	hosted, err := c.HostedMembers(c.Run.SessionID, space)
	if err != nil || !slices.Contains(hosted, mentioned) {
		return err
	}
	s, err := c.LockSpace(c.Run.SessionID, space)
	if err != nil || s.Status == shoal.SpaceStatusClosed {
		return err
	}
	m, err := c.Message(c.Run.SessionID, space, message)
	if err != nil {
		return err
	}
	sender, err := c.Entity(c.Run.SessionID, c.Run.AgentID)
	if errors.Is(err, shoal.NotFound) {
		return nil // deleted: it starts nobody any more
	}
	if err != nil {
		return err
	}
	_, _, err = startAgent(c.Change, s, m, sender, mentioned, c.Run.Cause(1), nil)
	return err
}
