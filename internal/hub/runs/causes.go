package runs

import (
	"errors"
	"fmt"
	"slices"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/behalf"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/pending"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// The maximum depth of a chain of agents: each mention is one deeper. A chain that passes
// connected agents may be longer, because the server does not see what they do.
const (
	maxDepth       = 5
	maxLinkedDepth = 32
)

func depthLimit(c storage.Cause) int {
	if c.Linked {
		return maxLinkedDepth
	}
	return maxDepth
}

// isTooDeep reports whether a chain ends here, because it is too long or because it has
// more roots than a run can act for.
func isTooDeep(c storage.Cause) bool {
	return c.Depth > depthLimit(c) || len(c.ActingFor) > behalf.MaxActingFor
}

// depthScope is the scope of the keys of the messages that say that a chain has ended in a
// space, once for each root. Stored keys depend on it.
const depthScope = "depth"

// postDepthNotice posts a message in a space that says that an agent was not started.
func postDepthNotice(ch *core.Change, s shoal.Space, agent shoal.EntityID, c storage.Cause) error {
	key := storage.PostKey{Scope: depthScope, Key: string(s.ID) + "/" + c.Root}
	_, _, err := ch.MessageByKey(s.SessionID, key.Scope, key.Key)
	if !errors.Is(err, shoal.NotFound) {
		return err
	}
	text := fmt.Sprintf("%s was not started: more than %d members have mentioned the agent that mentions it. Write to %s yourself.", agent, behalf.MaxActingFor, agent)
	if c.Depth > depthLimit(c) {
		text = fmt.Sprintf("%s was not started: agents have mentioned each other %d times in a row here, and at most %d are allowed. A person can continue by writing to the agent.", agent, c.Depth, depthLimit(c))
	}
	_, err = core.PostSystemMessage(ch, s, text, nil, key)
	return err
}

// chainPages limits how many pages of the timeline are searched for mentions of a connected
// agent.
const chainPages = 4

// storePostCause returns the cause of a posted message and stores it for the messages that
// follow. A message of a person starts a chain. A message of an agent continues the deepest
// chain that it was mentioned in since its last message in the space, or that a run of it
// continues: a program that executes a run may post with the key of the agent.
func storePostCause(ch *core.Change, sender shoal.Entity, m shoal.Message) (storage.Cause, error) {
	own := storage.Cause{Root: string(m.ID), ActingFor: []shoal.EntityID{sender.ID}}
	if sender.Kind != shoal.Agent {
		return own, nil
	}
	c, err := deepestMentionCause(ch, m)
	if err == nil {
		c, err = deepestRunCause(ch, m, c)
	}
	if err != nil || c.Root == "" {
		return own, err
	}
	c.Depth, c.Linked, c.ActingFor = c.Depth+1, true, behalf.Join(c.ActingFor, own.ActingFor)
	return c, ch.InsertCause(m.SessionID, m.ID, c)
}

// deepestMentionCause returns the deepest cause among the messages that mention the sender
// of m since its last message, with the roots of all of them. It returns the zero value if
// there are no such messages.
func deepestMentionCause(ch *core.Change, m shoal.Message) (deepest storage.Cause, err error) {
	before := m.Seq
	for range chainPages {
		page, err := ch.Messages(m.SessionID, m.SpaceID, storage.Page{Before: before, Limit: shoal.DefaultPage})
		if err != nil {
			return deepest, err
		}
		var last *shoal.Message
		for _, x := range slices.Backward(page) {
			switch {
			case x.EntityID == m.EntityID && last == nil:
				last = &x
			case !slices.Contains(x.Mentions, m.EntityID) || x.Status == shoal.MessageStreaming:
			case last == nil || x.RunID != nil && x.UpdatedAt.After(last.CreatedAt.Time):
				// A composite message is delivered when it is completed, which may be after
				// messages with higher seqs.
				c, err := findCause(ch, x)
				if err != nil {
					return deepest, err
				}
				roots := behalf.Join(deepest.ActingFor, c.ActingFor)
				if deepest.Root == "" || c.Depth > deepest.Depth {
					deepest = c
				}
				deepest.ActingFor = roots
			}
		}
		if last != nil || len(page) < shoal.DefaultPage {
			break
		}
		before = page[0].Seq
	}
	return deepest, nil
}

// runsOfAnAgent limits how many runs of an agent in progress are searched for a cause.
const runsOfAnAgent = 64

// deepestRunCause returns the deepest of a cause and those of the runs in progress of the sender
// of m, with the roots of all of them.
func deepestRunCause(tx Tx, m shoal.Message, deepest storage.Cause) (storage.Cause, error) {
	active, err := tx.Runs(m.SessionID, storage.RunFilter{
		Agent: m.EntityID, Status: []shoal.RunStatus{shoal.RunRunning, shoal.RunWaitingTool, shoal.RunWaitingReply}, Limit: runsOfAnAgent,
	})
	if err != nil {
		return deepest, err
	}
	for _, r := range active {
		c := r.Cause(0)
		roots := behalf.Join(deepest.ActingFor, c.ActingFor)
		if deepest.Root == "" || c.Depth > deepest.Depth {
			deepest = c
		}
		deepest.ActingFor = roots
	}
	return deepest, nil
}

// findCause returns the cause of a message with its roots.
func findCause(tx Tx, m shoal.Message) (storage.Cause, error) {
	c, err := tx.Cause(m.SessionID, m.ID)
	if c.Root == "" {
		c.Root = string(m.ID)
	}
	if err == nil {
		c.ActingFor, err = pending.RootsOf(tx, m, c)
	}
	return c, err
}
