// Package perform stores the effects of a run's composer: it opens, changes and closes the
// messages that members of spaces see.
//
//	attempt := run.Begin(c, effects) // in a transaction
//	for _, e := range effects {
//		err := attempt.Perform(e)
//		…
//	}
//	attempt.Apply() // after the commit
//
// Guarantees:
//   - Whether the agent may write in a space is read in the transaction that writes.
//   - A space that refuses a message is an answer for the composer, not an error.
//   - A transaction that runs again, or fails, leaves no trace in the state of the run.
package perform

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/behalf"
	"github.com/shoal-dev/shoal/internal/compose"
	"github.com/shoal-dev/shoal/internal/hub/pending"
	"github.com/shoal-dev/shoal/internal/hub/runs"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// Run is a run whose effects are stored, with what is known about its messages.
type Run struct {
	Agent  shoal.EntityID
	Access behalf.Access
	// OpenPending stores a request that people see.
	OpenPending func(*Attempt, *runs.RunChange, compose.ShowPending) error
	// Messages are the messages of the run as the hub returned them. Unopened are those that
	// their space refused.
	Messages map[shoal.MessageID]shoal.Message
	Unopened map[shoal.MessageID]bool
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

// Membership is an answer to a question about a space.
type Membership struct {
	Space    shoal.SpaceID
	Target   shoal.EntityID
	Standing compose.Membership
}

// Attempt is one attempt at a transaction. It changes the state of the run only in
// [Attempt.Apply].
type Attempt struct {
	r       *Run
	c       *runs.RunChange
	opened  map[shoal.MessageID]shoal.Message
	refused map[shoal.MessageID]bool // the space refused them
	updates map[shoal.MessageID]bool
	asked   map[shoal.SpaceID]bool
	answers []Membership
}

// Begin returns an attempt to store these effects of the run in the transaction c.
func (r *Run) Begin(c *runs.RunChange, effects []compose.Effect) *Attempt {
	return &Attempt{r: r, c: c, opened: map[shoal.MessageID]shoal.Message{}, refused: map[shoal.MessageID]bool{}, updates: updatedMessages(effects)}
}

// Answers returns the answers to the questions about memberships, for
// [compose.Composer.SetMembership], in their order.
func (p *Attempt) Answers() []Membership { return p.answers }

// Apply makes the state of the run that of the transaction, which was committed.
func (p *Attempt) Apply() {
	for id, m := range p.opened {
		p.r.Messages[id] = m
	}
	for id := range p.refused {
		p.r.Unopened[id] = true
	}
}

// IsUnopened reports whether the message was never opened, because its space refused it.
func (p *Attempt) IsUnopened(id shoal.MessageID) bool { return p.refused[id] || p.r.Unopened[id] }

// Perform performs one effect. Deltas are not stored, so it ignores them.
func (p *Attempt) Perform(e compose.Effect) error {
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
		if p.IsUnopened(e.Message) || e.Entity == p.r.Agent {
			return nil // an agent does not trigger itself
		}
		return p.c.StartMention(e.Space, e.Message, e.Entity)
	case compose.ShowPending:
		return p.r.OpenPending(p, p.c, e)
	}
	return p.performPart(e)
}

// performPart performs an effect on a part.
func (p *Attempt) performPart(e compose.Effect) error {
	switch e := e.(type) {
	case compose.OpenPart:
		if _, fresh := p.opened[e.Place.Message]; !fresh && !p.IsUnopened(e.Place.Message) {
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
			ToolCallID: e.Place.Call, ToolName: e.Place.Tool, Status: e.Status, Result: e.Result, Error: OrNil(e.Error), AnsweredBy: OrNil(e.AnsweredBy), Decision: e.Decision,
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

// OrNil returns a pointer to v, nil if v is empty.
func OrNil[T ~string](v T) *T {
	if v == "" {
		return nil
	}
	return &v
}

func (p *Attempt) publishPart(at *compose.PartRef, what shoal.EventType, data runs.PartEvent) error {
	if p.IsUnopened(at.Message) {
		return nil
	}
	head := data.Head()
	head.MessageID, head.PartID, head.TargetEntityID = at.Message, at.Part, at.Target
	return p.c.EmitPart(at.Space, at.Target, what, data)
}

// checkMembership answers a question about a space.
func (p *Attempt) checkMembership(space shoal.SpaceID, target shoal.EntityID) error {
	is, err := Standing(p.c.Tx, p.c.Run, p.r.Access, space, target)
	p.answers = append(p.answers, Membership{space, target, is})
	return err
}

// Standing returns whether the agent of a run may write in a space, and whether target, if it
// is not empty, is a member of it.
func Standing(tx storage.Tx, run *storage.Run, access behalf.Access, space shoal.SpaceID, target shoal.EntityID) (compose.Membership, error) {
	s, err := runs.ReadSpaceAccess(tx, run, space, target)
	if err != nil {
		return 0, err
	}
	may, err := run.OnBehalf(access).MayWrite(space, pending.Reads(tx, run.SessionID))
	switch {
	case err != nil:
		return 0, err
	case !s.Member || !may:
		return compose.NotMember, nil
	case s.Closed:
		return compose.SpaceClosed, nil
	case !s.Target:
		return compose.NoTarget, nil
	}
	return compose.Member, nil
}

// recheckMembership checks once per transaction whether an open message may continue.
func (p *Attempt) recheckMembership(space shoal.SpaceID) error {
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
	if p.answers[before].Standing == compose.Member { // no change
		p.answers = p.answers[:before]
	}
	return nil
}

// openMessage opens a message. A space that refuses it is an answer, not a failure.
func (p *Attempt) openMessage(m compose.Message) error {
	state, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("perform: the state of a message: %w", err)
	}
	opened, err := p.c.OpenMessage(m.Public(shoal.Message{}), state)
	switch {
	case errors.Is(err, shoal.SpaceClosed):
		p.answers = append(p.answers, Membership{m.Space, "", compose.SpaceClosed})
	case errors.Is(err, shoal.NotFound):
		p.answers = append(p.answers, Membership{m.Space, "", compose.NotMember})
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
func (p *Attempt) saveMessage(m compose.Message, store func(shoal.Message, json.RawMessage) error) error {
	if p.IsUnopened(m.ID) {
		return nil
	}
	state, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("perform: the state of a message: %w", err)
	}
	base, ok := p.opened[m.ID]
	if !ok {
		base = p.r.Messages[m.ID]
	}
	out := m.Public(base)
	p.opened[m.ID] = out
	if m.Status == shoal.MessageStreaming && p.updates[m.ID] {
		delete(p.updates, m.ID) // one event for each
		store = p.c.UpdateMessage
	}
	return store(out, state)
}
