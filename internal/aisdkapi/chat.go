package aisdkapi

import (
	"slices"

	"github.com/shoal-dev/shoal"
)

// chat is a timeline in the form that clients store.
type chat struct {
	caller  shoal.EntityID
	people  map[shoal.EntityID]bool
	runs    map[shoal.RunID]shoal.Run
	entries []*entry
	last    *entry // the answer to the newest message of the caller, nil if nothing has begun it
	asked   shoal.MessageID
}

// entry is a message of the client: a message of the space, or an answer that is made of several.
type entry struct {
	id, role string
	view     *projection // of an answer
}

func newChat(caller shoal.EntityID, members []shoal.Member, runs []shoal.Run) *chat {
	c := &chat{caller: caller, people: map[shoal.EntityID]bool{caller: true}, runs: map[shoal.RunID]shoal.Run{}}
	for _, m := range members {
		c.people[m.EntityID] = c.people[m.EntityID] || m.Kind == shoal.Human
	}
	for _, run := range runs {
		c.runs[run.ID] = run
	}
	return c
}

// add adds the next message of the timeline.
func (c *chat) add(m shoal.Message) {
	switch {
	case m.DeletedAt != nil: // the protocol has no form for it, and models refuse an empty message
	case m.RunID != nil:
		c.answer(m).view.Message(m, *m.RunID)
	default:
		if m.EntityID == c.caller {
			c.last, c.asked = nil, m.ID
		}
		role := roleAssistant
		switch {
		case m.EntityID == shoal.System:
			role = roleSystem
		case c.people[m.EntityID]:
			role = roleUser
		}
		e := c.begin(string(m.ID), role)
		e.view.Message(m, "")
		for i := range e.view.order {
			e.view.order[i].from.EntityID = m.EntityID
		}
	}
}

// answer returns the entry of a message of a run: for the caller's runs the answer to its newest message.
func (c *chat) answer(m shoal.Message) *entry {
	if !slices.Contains(c.runs[*m.RunID].ActingFor, c.caller) || c.asked == "" {
		return c.begin(string(m.ID), roleAssistant)
	}
	if c.last == nil {
		c.last = c.begin(answerID(c.asked), roleAssistant)
	}
	return c.last
}

func (c *chat) begin(id, role string) *entry {
	e := &entry{id: id, role: role, view: newProjection(newHeld(), func(run shoal.RunID) shoal.EntityID { return c.runs[run].AgentID })}
	c.entries = append(c.entries, e)
	return e
}

// offer shows that an action waits for the caller.
func (c *chat) offer(w shoal.PendingAction) {
	for _, e := range c.entries {
		if w.PartID != nil && e.view.parts[*w.PartID] != nil {
			e.view.offer(w)
			return
		}
	}
	if w.PartID == nil && slices.Contains(c.runs[w.RunID].ActingFor, c.caller) && c.asked != "" {
		if c.last == nil {
			c.last = c.begin(answerID(c.asked), roleAssistant)
		}
		c.last.view.offer(w)
	}
}

// messages returns the chat.
func (c *chat) messages() []uiMessage {
	out := []uiMessage{}
	for _, e := range c.entries {
		m := uiMessage{ID: e.id, Role: e.role, Parts: []uiPart{}}
		for _, x := range e.view.order {
			m.Parts = append(m.Parts, x.ui())
		}
		if len(m.Parts) > 0 {
			out = append(out, m)
		}
	}
	return out
}
