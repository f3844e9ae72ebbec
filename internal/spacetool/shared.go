package spacetool

import (
	"slices"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/internal/hub/runs"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// nobody is the reader of what all members of a space may see. No entity has this id, so that
// no part is for it and no message is its own.
const nobody = shoal.EntityID("\x00")

// sharedSince returns the place after which the history begins that agents share in a run whose
// trigger is at seq: at least 2 and at most 4 times as many places back as context.history says.
// It moves in steps of twice that number, because the provider's prompt cache is lost whenever it
// moves, and depends on nothing else, so that it is the same for all agents.
func sharedSince(seq int64, history int) int64 {
	step := 2 * int64(history)
	return max(0, (seq-1)/step-1) * step
}

// shared returns a prompt with the history that the agent shares with the other agents of the
// trigger's space, or without one: where the agent is the only one whose model this server calls,
// where it does not see the trigger's message, and where its configuration gives it another
// history than the others have. spaces are the agent's, the trigger's first.
func (r *Run) shared(tx storage.Tx, spaces []shoal.Space) (*Prompt, error) {
	p := &Prompt{}
	c, t := r.Config.Context, r.Run.Trigger
	reduced := c.Reduction.Strategy != "" && c.Reduction.Strategy != string(agent.ReduceNone)
	if t.Type != shoal.SpaceMessageTrigger || c.History <= 0 || !c.Conversation || reduced || len(spaces) == 0 || spaces[0].ID != t.SpaceID {
		return p, nil
	}
	if alone, err := r.alone(tx); alone || err != nil {
		return p, err
	}
	trigger, err := tx.Message(r.session(), t.SpaceID, t.MessageID)
	if shoal.KindOf(err) == shoal.NotFound {
		return p, nil
	}
	if err != nil {
		return nil, err
	}
	since, err := r.forgotten(tx)
	if err != nil {
		return nil, err
	}
	since = max(since, sharedSince(trigger.Seq, c.History))
	var messages []shoal.Message
	if count := trigger.Seq - 1 - since; count > 0 {
		if messages, err = tx.Messages(r.session(), t.SpaceID, storage.Page{Before: trigger.Seq, Limit: int(count)}); err != nil {
			return nil, err
		}
	}
	who, err := r.senders(tx, t.SpaceID, messages)
	if err != nil {
		return nil, err
	}
	return p, p.show(r, spaces[0], messages, trigger, who)
}

// alone reports whether no other agent of the trigger's space has its model called by this server.
func (r *Run) alone(tx storage.Tx) (bool, error) {
	hosted, err := tx.HostedMembers(r.session(), r.Run.Trigger.SpaceID)
	if err != nil || !slices.Contains(hosted, r.agent()) {
		return true, err
	}
	for _, id := range hosted {
		if id == r.agent() {
			continue
		}
		other, err := tx.HostedAgent(r.session(), id)
		if err == nil && !other.Remote {
			return false, nil
		}
		if err != nil && shoal.KindOf(err) != shoal.NotFound {
			return false, err
		}
	}
	return true, nil
}

// forgotten returns the place of the newest message that started a run whose conversation was
// cleared since, 0 if there is none. The agent does not see what came before it.
func (r *Run) forgotten(tx storage.Tx) (seq int64, err error) {
	conv, err := runs.ReadConversation(tx, r.Run)
	if err != nil || conv.Cleared == 0 {
		return 0, err
	}
	found, err := tx.Runs(r.session(), storage.RunFilter{Agent: r.agent(), Space: r.Run.Space, Limit: 4 * r.Config.Context.History})
	if err != nil {
		return 0, err
	}
	for _, run := range found {
		if run.Conversation != r.Run.Conversation || run.Began == 0 || run.Began > conv.Cleared {
			continue
		}
		m, err := tx.Message(r.session(), run.Space, run.Trigger.MessageID)
		if err != nil && shoal.KindOf(err) != shoal.NotFound {
			return 0, err
		}
		seq = max(seq, m.Seq)
	}
	return seq, nil
}

// show sets the history of a space that the prompt shows, and its form of the trigger, if a member sent that.
func (p *Prompt) show(r *Run, s shoal.Space, messages []shoal.Message, trigger shoal.Message, who senders) error {
	p.space = r.Run.Trigger.SpaceID
	p.Shared, p.since, p.mine = []agent.Message{}, map[string]bool{}, map[string]bool{}
	brief := *r
	brief.listed = map[shoal.EntityID]bool{}
	if s.MemberCount <= promptMembers {
		for _, m := range s.Members {
			brief.listed[m.EntityID] = true
		}
	}
	for _, m := range brief.visible([]shoal.Message{trigger}) {
		if !brief.listed[m.EntityID] {
			continue
		}
		now, err := brief.message(m, who, triggerText)
		if err != nil {
			return err
		}
		p.now = now.Parts[0].Text
	}
	all := brief
	all.Run.AgentID = nobody
	for _, m := range all.visible(messages) {
		shown, err := all.message(m, who, historyText)
		if err != nil {
			return err
		}
		p.Shared = append(p.Shared, shown)
	}
	for _, m := range messages {
		p.since[string(m.ID)] = true
		if m.EntityID == r.agent() {
			p.mine[strings.TrimSpace(m.Text())] = true
			for _, part := range m.Parts {
				p.mine[strings.TrimSpace(part.Text)] = true
			}
		}
		for _, own := range r.visible([]shoal.Message{m}) {
			if !slices.ContainsFunc(own.Parts, func(part shoal.Part) bool { return !part.VisibleTo(nobody) }) {
				continue
			}
			shown, err := r.message(own, who, historyText)
			if err != nil {
				return err
			}
			p.only = append(p.only, shown)
		}
	}
	if n := len(p.Shared); n > 0 {
		p.Shared[n-1].CacheBoundary = true
	}
	return nil
}

// Shorten drops the older half of the shared history, for a model that takes no more, and
// reports whether there was anything to drop.
func (p *Prompt) Shorten() bool {
	n := len(p.Shared)
	p.Shared = p.Shared[(n+1)/2:]
	return n > 0
}
