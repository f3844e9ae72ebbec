package compose

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
)

// Options are what a [Composer] is made for.
type Options struct {
	Run shoal.RunID
	// Trigger is the space whose message started the run, if there is one:
	// permissions and questions that show nowhere else show there.
	Trigger shoal.SpaceID
	// Stream shows the model's plain text in the trigger's space while it grows.
	Stream bool
	// Tools are the tools that may appear in spaces. Their names are unique.
	Tools []Tool
	// NewMessageID and NewPartID make ids. Without them ids are counted from the
	// run's id, which is good enough only while every draft is stored.
	NewMessageID func() shoal.MessageID
	NewPartID    func() shoal.PartID
	// MaxPart bounds the text or the arguments of a part in bytes, and what is held
	// back of one call; MaxParts the parts of a message, which is then sealed. 0 are
	// the limits of the root package.
	MaxPart, MaxParts int
}

// Composer turns the events of one run into composite messages. It is a pure
// state machine: no clock, no I/O, no goroutine, and the same inputs give the
// same effects. It is not safe for concurrent use.
//
// The inputs are [Composer.Apply], [Composer.Standing], [Composer.Accept],
// [Composer.Refuse] and [Composer.End]. Each returns the effects of what it was told, in order.
type Composer struct {
	opts  Options
	tools map[string]Tool

	calls    []*call    // of the step that is open, in the order of the model's output
	head     int        // the first call that may still open a part or change its route
	last     *call      // the one that got the last delta
	messages []*message // that are not closed, in the order of their opening
	count    int        // messages that were ever opened
	text     plainText
	spoke    bool // a message with something of the model's is closed
	ended    bool
	out      []Effect
}

// New returns the composer of a run that begins. [Restore] is for one that goes
// on.
func New(opts Options) *Composer {
	opts.MaxPart = cmp.Or(opts.MaxPart, shoal.MaxContent)
	opts.MaxParts = cmp.Or(opts.MaxParts, shoal.MaxParts)
	c := &Composer{opts: opts, tools: make(map[string]Tool, len(opts.Tools))}
	for _, t := range opts.Tools {
		c.tools[t.Name] = t
	}
	return c
}

// Apply takes the next event of the run's turn. Events that concern no space are
// welcome. After a TurnFinished that is not waiting, and after End, nothing
// happens any more.
func (c *Composer) Apply(e agent.Event) []Effect {
	if c.ended {
		return nil
	}
	switch e := e.(type) {
	case agent.TextStarted:
		if c.opts.Stream && c.opts.Trigger != "" {
			c.textStarted(e.MessageID)
		}
	case agent.TextDelta:
		if c.text.source != "" {
			c.textDelta(e.Text)
		}
	case agent.TextEnded:
		c.textEnded()
	case agent.ToolCallStarted:
		c.begin(e.CallID, e.Name, e.MessageID)
	case agent.ToolArgsDelta:
		if k := c.find(e.CallID); k != nil {
			c.feed(k, e.Text)
		}
	case agent.ToolCallEnded:
		if k := c.find(e.Call.ID); k != nil {
			c.endArguments(k, e.Call.Arguments)
		}
	case agent.MessageEnded:
		c.messageEnded(e)
	case agent.Requested:
		c.requested(e.Pending)
	case agent.Answered:
		c.answered(e.Pending)
	case agent.ToolStarted:
		c.toolStarted(e.Call.ID)
	case agent.ToolFinished:
		c.toolFinished(e.Result)
	case agent.StepFinished:
		c.stepFinished()
	case agent.TurnFinished:
		if e.Outcome != agent.Waiting {
			c.end(e.Outcome)
		}
	}
	return c.take()
}

// Standing answers [AskSpace]. It may also come by itself: a Stranger or
// SpaceClosed says that the agent was removed or the space closed, and completes
// the run's messages there.
func (c *Composer) Standing(space shoal.SpaceID, target shoal.EntityID, standing Standing) []Effect {
	if c.ended {
		return nil
	}
	gone := standing == Stranger || standing == SpaceClosed
	for _, k := range c.calls {
		switch {
		case k.stage != stageAsking || k.space != space || (!gone && k.target != target):
		case standing == Member:
			k.stage = stageReady
		default:
			c.shut(k, refusalOf[standing])
		}
	}
	if gone {
		c.leave(space, refusalOf[standing])
	}
	c.advance()
	return c.take()
}

// Accept says that a call of sendSpaceMessage was let through: whom it mentions
// is known, and its message stands. The text stays from now on, whatever becomes
// of the call. A result that is ok accepts too; a call that waits for a reply has
// to be accepted before it waits, or nobody will reply.
func (c *Composer) Accept(callID string) []Effect {
	if k := c.find(callID); k != nil && !c.ended {
		c.accept(k)
	}
	return c.take()
}

// Refuse says that a call must not happen because of its route: whom it mentions
// is no member. What it has shown is withdrawn, also of a display tool, and what
// it sealed is open again. A call that was accepted cannot be refused.
func (c *Composer) Refuse(callID string, why Refusal) []Effect {
	if k := c.find(callID); k != nil && !c.ended && !k.finished && (k.part == nil || !k.part.Accepted) {
		c.shut(k, why)
		c.advance()
	}
	return c.take()
}

// End ends the run in a way that its turn does not tell: it was canceled while
// it waited, or nobody can take it up again. All its messages are closed; the
// outcome Waiting is not an end and does nothing.
func (c *Composer) End(outcome agent.Outcome) []Effect {
	if !c.ended && outcome != agent.Waiting {
		c.end(outcome)
	}
	return c.take()
}

// Route returns where a call of the open step goes, and whether it can go
// anywhere: false for calls of tools that appear in no space. It is final once
// the call's arguments are whole and AskSpace was answered.
func (c *Composer) Route(callID string) (Route, bool) {
	k := c.find(callID)
	if k == nil || k.request {
		return Route{}, false
	}
	r := Route{Space: k.space, Mention: k.mention, Target: k.target, Wait: k.wait, Refusal: k.refusal}
	if k.part != nil && k.stage == stageShown {
		r.Place = k.part.place
	}
	return r, true
}

// Drafts returns the open messages that have changed since they were last handed
// out, by Drafts or with an effect. It costs what the texts in progress are long.
func (c *Composer) Drafts() []Message {
	var out []Message
	for _, m := range c.messages {
		if m.changed {
			m.changed = false
			out = append(out, m.snapshot())
		}
	}
	return out
}

func (c *Composer) emit(e Effect) { c.out = append(c.out, e) }

// take returns the effects, and at their end the messages that are to be saved.
func (c *Composer) take() []Effect {
	for _, m := range c.messages {
		if m.due {
			m.due, m.changed = false, false
			c.emit(SaveMessage{m.snapshot()})
		}
	}
	out := c.out
	c.out = nil
	return out
}

// find returns the call of the open step with that id.
func (c *Composer) find(id string) *call {
	if c.last != nil && c.last.id == id {
		return c.last
	}
	at := slices.IndexFunc(c.calls, func(k *call) bool { return k.id == id })
	if at < 0 {
		return nil
	}
	c.last = c.calls[at]
	return c.last
}

// messageEnded settles what the end of the model's output decides: whether what
// was cut off stays.
func (c *Composer) messageEnded(e agent.MessageEnded) {
	c.text = plainText{}
	if e.Discarded {
		for _, k := range slices.Backward(c.calls) {
			if k.source == e.MessageID {
				c.withdraw(k)
			}
		}
		c.calls = slices.DeleteFunc(c.calls, func(k *call) bool { return k.source == e.MessageID })
		c.head, c.last = 0, nil
		c.advance()
		return
	}
	for _, k := range c.calls {
		if k.source == e.MessageID && k.broken && k.stage == stageShown {
			c.cutShort(k)
		}
	}
	c.keepPlain(e.MessageID)
}

// stepFinished forgets the calls: each has its result.
func (c *Composer) stepFinished() {
	for _, k := range c.calls {
		if k.request && k.part != nil && !k.part.whole() {
			c.finishTool(k.part, shoal.PartCanceled, nil, "canceled")
		}
	}
	c.calls, c.head, c.last = nil, 0, nil
}

func (c *Composer) messageID() shoal.MessageID {
	c.count++
	if c.opts.NewMessageID != nil {
		return c.opts.NewMessageID()
	}
	return shoal.MessageID(fmt.Sprintf("%s%s.%d", shoal.PrefixMessage, c.opts.Run, c.count))
}

func (c *Composer) partID(m *message) shoal.PartID {
	m.Opened++
	if c.opts.NewPartID != nil {
		return c.opts.NewPartID()
	}
	return shoal.PartID(fmt.Sprintf("%s%s.%d", shoal.PrefixPart, m.ID, m.Opened))
}
