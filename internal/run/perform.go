package run

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/behalf"
	"github.com/shoal-dev/shoal/internal/compose"
	"github.com/shoal-dev/shoal/internal/hub/live"
	"github.com/shoal-dev/shoal/internal/hub/pending"
	"github.com/shoal-dev/shoal/internal/hub/runs"
)

// perform performs the effects of one input, and the effects that follow from them. All
// stored effects, and also after them, run in one transaction; the remaining deltas are
// relayed after it. The transaction also answers questions about memberships.
func (x *execution) perform(effects []compose.Effect, also func(*runs.RunChange) error) error {
	if len(effects) == 1 && also == nil {
		if _, delta := effects[0].(compose.AppendPart); delta {
			x.relay(effects) // nearly all inputs
			return nil
		}
	}
	for len(effects) > 0 || also != nil {
		before, stored, after := compose.Split(x.withDrafts(effects))
		x.relay(before)
		var answers []membership
		if len(stored) > 0 || also != nil {
			var done *performance
			err := x.write(x.ctx, func(c *runs.RunChange) error {
				done = &performance{x: x, c: c, opened: map[shoal.MessageID]shoal.Message{}, refused: map[shoal.MessageID]bool{}, updates: updatedMessages(stored)}
				for _, e := range stored {
					if err := done.perform(e); err != nil {
						return err
					}
				}
				if also != nil {
					return also(c)
				}
				return nil
			})
			if err != nil {
				return err
			}
			done.apply()
			answers = done.answers
		}
		x.relay(after)
		effects, also = nil, nil
		for _, a := range answers {
			effects = append(effects, x.composer.SetMembership(a.space, a.target, a.standing)...)
		}
	}
	return nil
}

// withDrafts adds the messages in progress if a part was opened or truncated: its events
// must not survive a crash without the part.
func (x *execution) withDrafts(effects []compose.Effect) []compose.Effect {
	for _, e := range effects {
		switch e.(type) {
		case compose.OpenPart, compose.ResetPart:
			for _, m := range x.composer.Drafts() {
				effects = append(effects, compose.SaveMessage{Message: m})
			}
			return effects
		}
	}
	return effects
}

func (x *execution) relay(effects []compose.Effect) {
	deltas := make([]live.Delta, 0, len(effects))
	for _, e := range effects {
		a, ok := e.(compose.AppendPart)
		if !ok || x.unopened[a.Place.Message] {
			continue
		}
		d := live.Delta{
			Space: a.Place.Space, Message: a.Place.Message, Part: a.Place.Part, Tool: a.Place.Tool,
			Target: a.Place.Target, Offset: a.Offset, Text: a.Delta,
		}
		if d.Tool != "" {
			d.Call = a.Place.Call
		}
		deltas = append(deltas, d)
	}
	if len(deltas) > 0 {
		x.hub.Work.Relay(x.lease, deltas)
	}
}

// updatedMessages returns the messages in which a part changed without an event of the
// part.
func updatedMessages(effects []compose.Effect) map[shoal.MessageID]bool {
	changed := map[shoal.MessageID]bool{}
	for _, e := range effects {
		if e, ok := e.(compose.ChangePart); ok {
			changed[e.Place.Message] = true
		}
	}
	return changed
}

// membership is an answer to a question about a space.
type membership struct {
	space    shoal.SpaceID
	target   shoal.EntityID
	standing compose.Membership
}

// performance is one attempt at a transaction. It changes the execution only in
// apply.
type performance struct {
	x       *execution
	c       *runs.RunChange
	opened  map[shoal.MessageID]shoal.Message
	refused map[shoal.MessageID]bool // the space refused them
	updates map[shoal.MessageID]bool
	asked   map[shoal.SpaceID]bool
	answers []membership
}

func (p *performance) apply() {
	for id, m := range p.opened {
		p.x.messages[id] = m
	}
	for id := range p.refused {
		p.x.unopened[id] = true
	}
}

// isUnopened reports whether the message was never opened.
func (p *performance) isUnopened(id shoal.MessageID) bool { return p.refused[id] || p.x.unopened[id] }

// perform performs one effect that is stored.
func (p *performance) perform(e compose.Effect) error {
	switch e := e.(type) {
	case compose.AskSpace:
		return p.checkMembership(e.Space, e.Target)
	case compose.OpenMessage:
		return p.openMessage(e.Message)
	case compose.SaveMessage:
		return p.saveMessage(e.Message, p.c.SaveMessage)
	case compose.CloseMessage:
		return p.saveMessage(e.Message, p.c.CloseMessage)
	case compose.StartMention:
		if p.isUnopened(e.Message) || e.Entity == p.x.run.AgentID {
			return nil // an agent does not trigger itself
		}
		return p.c.StartMention(e.Space, e.Message, e.Entity)
	case compose.ShowPending:
		return p.openPending(e)
	}
	return p.performPart(e)
}

// performPart performs an effect on a part.
func (p *performance) performPart(e compose.Effect) error {
	switch e := e.(type) {
	case compose.OpenPart:
		if _, fresh := p.opened[e.Place.Message]; !fresh && !p.isUnopened(e.Place.Message) {
			if err := p.recheckMembership(e.Place.Space); err != nil {
				return err
			}
		}
		if e.Place.Tool == "" {
			return p.publishPart(e.Place, shoal.EventTextStart, &shoal.TextData{})
		}
		return p.publishPart(e.Place, shoal.EventToolInputStart, &shoal.ToolInputData{ToolCallID: e.Place.Call, ToolName: e.Place.Tool, Display: e.Part.Rendering})
	case compose.ResetPart:
		return p.publishPart(e.Place, shoal.EventPartReset, &shoal.PartResetData{Offset: e.Offset})
	case compose.RemovePart:
		return p.publishPart(e.Place, shoal.EventPartRemoved, &shoal.PartResetData{})
	case compose.EndText:
		return p.publishPart(e.Place, shoal.EventTextEnd, &shoal.TextData{Text: e.Text, Status: e.Status})
	case compose.InputAvailable:
		return p.publishPart(e.Place, shoal.EventToolInputAvailable, &shoal.ToolInputData{ToolCallID: e.Place.Call, ToolName: e.Place.Tool, Args: e.Args})
	case compose.FinishTool:
		return p.publishPart(e.Place, outputEvent(e.Status), &shoal.ToolOutputData{
			ToolCallID: e.Place.Call, ToolName: e.Place.Tool, Status: e.Status, Result: e.Result, Error: orNil(e.Error), AnsweredBy: orNil(e.AnsweredBy),
		})
	}
	return nil // seals and status changes are stored with their message
}

func outputEvent(s shoal.PartStatus) shoal.EventType {
	if s == shoal.PartDone {
		return shoal.EventToolOutputAvailable
	}
	return shoal.EventToolOutputError
}

func orNil[T ~string](v T) *T {
	if v == "" {
		return nil
	}
	return &v
}

func (p *performance) publishPart(at *compose.PartRef, what shoal.EventType, data runs.PartEvent) error {
	if p.isUnopened(at.Message) {
		return nil
	}
	head := data.Head()
	head.MessageID, head.PartID, head.TargetEntityID = at.Message, at.Part, at.Target
	return p.c.EmitPart(at.Space, at.Target, what, data)
}

// checkMembership answers a question about a space.
func (p *performance) checkMembership(space shoal.SpaceID, target shoal.EntityID) error {
	s, err := p.c.SpaceAccess(space, target)
	if err != nil {
		return err
	}
	a := membership{space, target, compose.Member}
	access := behalf.Access{Read: behalf.Scope(p.x.config.Access.Read), Write: behalf.Scope(p.x.config.Access.Write)}
	may, err := p.c.Run.OnBehalf(access).MayWrite(space, pending.Reads(p.c, p.c.Run.SessionID))
	if err != nil {
		return err
	}
	switch {
	case !s.Member || !may:
		a.standing = compose.NotMember
	case s.Closed:
		a.standing = compose.SpaceClosed
	case !s.Target:
		a.standing = compose.NoTarget
	}
	p.answers = append(p.answers, a)
	return nil
}

// recheckMembership checks once per transaction whether an open message may continue.
func (p *performance) recheckMembership(space shoal.SpaceID) error {
	if p.asked[space] {
		return nil
	}
	if p.asked == nil {
		p.asked = map[shoal.SpaceID]bool{}
	}
	p.asked[space] = true
	before := len(p.answers)
	if err := p.checkMembership(space, ""); err != nil {
		return err
	}
	if p.answers[before].standing == compose.Member { // no change
		p.answers = p.answers[:before]
	}
	return nil
}

// openMessage opens a message. A space that refuses it is an answer, not a failure.
func (p *performance) openMessage(m compose.Message) error {
	state, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("run: the state of a message: %w", err)
	}
	opened, err := p.c.OpenMessage(m.Public(shoal.Message{}), state)
	switch {
	case errors.Is(err, shoal.SpaceClosed):
		p.answers = append(p.answers, membership{m.Space, "", compose.SpaceClosed})
	case errors.Is(err, shoal.NotFound):
		p.answers = append(p.answers, membership{m.Space, "", compose.NotMember})
	case err != nil:
		return err
	default:
		p.opened[m.ID] = opened
		return nil
	}
	p.refused[m.ID] = true
	return nil
}

// saveMessage stores a message in progress, or its final state.
func (p *performance) saveMessage(m compose.Message, store func(shoal.Message, json.RawMessage) error) error {
	if p.isUnopened(m.ID) {
		return nil
	}
	state, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("run: the state of a message: %w", err)
	}
	base, ok := p.opened[m.ID]
	if !ok {
		base = p.x.messages[m.ID]
	}
	out := m.Public(base)
	p.opened[m.ID] = out
	if m.Status == shoal.MessageStreaming && p.updates[m.ID] {
		delete(p.updates, m.ID) // one event for each
		store = p.c.UpdateMessage
	}
	return store(out, state)
}
