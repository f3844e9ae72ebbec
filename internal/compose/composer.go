package compose

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
)

// Options configure a [Composer].
type Options struct {
	Run shoal.RunID
	// Trigger is the space whose message started the run, if there is one.
	// Permissions and questions without a part elsewhere are shown there.
	Trigger shoal.SpaceID
	// Stream shows the model's plain text in the trigger's space while the model writes it.
	Stream bool
	// Tools are the tools that may appear in spaces. Their names are unique.
	Tools []Tool
	// PlainResults means that the result of a call whose arguments a person changed does not
	// begin with a line that says so, as those of package agent do for the model.
	PlainResults bool
	// NewMessageID and NewPartID create ids. When nil, ids are counted from the run's
	// id, which keeps them unique only if every draft is stored.
	NewMessageID func() shoal.MessageID
	NewPartID    func() shoal.PartID
	// MaxPart limits the text or the arguments of a part in bytes, and the buffer of a
	// call that is not shown yet. MaxParts limits the parts of a message; a full
	// message is sealed. 0 means the limits of the root package.
	MaxPart, MaxParts int
}

// Composer turns the events of one run into composite messages. It is a pure
// state machine: no clock, no I/O, no goroutine, and the same inputs give the
// same effects. It is not safe for concurrent use.
//
// The inputs are [Composer.Apply], [Composer.SetMembership], [Composer.Accept],
// [Composer.Refuse], [Composer.Say] and [Composer.End]. Each returns its effects in order.
type Composer struct {
	opts  Options
	tools map[string]Tool

	calls     []*call    // calls of the open step, in the order of the model's output
	head      int        // index of the first call that may still open a part or change its route
	last      *call      // the call that received the last delta
	messages  []*message // open messages, in the order of their opening
	count     int        // messages opened so far
	text      plainText
	hasOutput bool // a closed message contains output of the model
	ended     bool
	out       []Effect
}

// New returns the composer of a new run. [Restore] returns the composer of a run that
// continues.
func New(opts Options) *Composer {
	opts.MaxPart = cmp.Or(opts.MaxPart, shoal.MaxContent)
	opts.MaxParts = cmp.Or(opts.MaxParts, shoal.MaxParts)
	c := &Composer{opts: opts, tools: make(map[string]Tool, len(opts.Tools))}
	for _, t := range opts.Tools {
		c.tools[t.Name] = t
	}
	return c
}

// Apply processes the next event of the run's turn. Events that concern no space have no
// effects. After a TurnFinished whose outcome is not Waiting, and after End, Apply returns
// nothing.
func (c *Composer) Apply(e agent.Event) []Effect {
	if c.ended {
		return nil
	}
	switch e := e.(type) {
	case agent.TextStarted:
		if c.opts.Stream && c.opts.Trigger != "" {
			c.startText(e.MessageID)
		}
	case agent.TextDelta:
		if c.text.source != "" {
			c.appendText(e.Text)
		}
	case agent.TextEnded:
		c.finishText()
	case agent.ToolCallStarted:
		c.startCall(e.CallID, e.Name, e.MessageID)
	case agent.ToolArgsDelta:
		if k := c.find(e.CallID); k != nil {
			c.feedCall(k, e.Text)
		}
	case agent.ToolCallEnded:
		if k := c.find(e.Call.ID); k != nil {
			c.endArguments(k, e.Call.Arguments)
		}
	case agent.MessageEnded:
		c.endMessage(e)
	case agent.RequestOpened:
		c.showRequest(e.Pending)
	case agent.RequestAnswered:
		c.applyAnswer(e.Pending)
	case agent.ToolStarted:
		c.startTool(e.Call.ID)
	case agent.ToolFinished:
		c.applyResult(e.Result)
	case agent.StepFinished:
		c.endStep()
	case agent.TurnFinished:
		if e.Outcome != agent.Waiting {
			c.endRun(e.Outcome)
		}
	}
	return c.drainEffects()
}

// SetMembership answers [AskSpace]. The caller may also report a change without being asked:
// NotMember or SpaceClosed says that the agent was removed or the space was closed, and
// completes the run's messages there.
func (c *Composer) SetMembership(space shoal.SpaceID, target shoal.EntityID, membership Membership) []Effect {
	if c.ended {
		return nil
	}
	gone := membership == NotMember || membership == SpaceClosed
	for _, k := range c.calls {
		switch {
		case k.stage != stageAsking || k.space != space || (!gone && k.target != target):
		case membership == Member:
			k.stage = stageReady
		default:
			c.hide(k, refusals[membership])
		}
	}
	if gone {
		c.leaveSpace(space, refusals[membership])
	}
	c.advance()
	return c.drainEffects()
}

// Accept reports that the call of sendSpaceMessage was permitted: the entity that it
// mentions was found, and its message is valid. From then on the text stays, however the
// call ends. A result with status ok accepts the call, too. Accept a call that waits for a
// reply before the wait starts: until then its mention does not start, and nobody replies.
func (c *Composer) Accept(callID string) []Effect {
	if k := c.find(callID); k != nil && !c.ended {
		c.accept(k)
	}
	return c.drainEffects()
}

// Refuse reports that a call must not be executed because of its route, such as a mention
// of an entity that is not a member. Everything that the call has shown is withdrawn, also
// for a display tool, and a message that it sealed is open again. Refuse has no effect on a
// call that was accepted.
func (c *Composer) Refuse(callID string, why Refusal) []Effect {
	if k := c.find(callID); k != nil && !c.ended && !k.finished && (k.part == nil || !k.part.Accepted) {
		c.hide(k, why)
		c.advance()
	}
	return c.drainEffects()
}

// End ends a run whose turn does not report its end: the run was canceled while it waited,
// or no process can continue it. All messages of the run are closed. End does nothing for
// the outcome Waiting.
func (c *Composer) End(outcome agent.Outcome) []Effect {
	if !c.ended && outcome != agent.Waiting {
		c.endRun(outcome)
	}
	return c.drainEffects()
}

// Route returns where a call of the open step is shown. The second result is false for
// calls of tools that appear in no space. The route is final once the call's arguments are
// complete and AskSpace was answered.
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

// Drafts returns the open messages that have changed since the last call of Drafts or the
// last effect that contained them. Its cost is proportional to the texts in progress.
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

// OpenMessages returns all open messages, also those that have not changed.
func (c *Composer) OpenMessages() []Message {
	out := make([]Message, len(c.messages))
	for i, m := range c.messages {
		m.changed = false
		out[i] = m.snapshot()
	}
	return out
}

func (c *Composer) emit(e Effect) { c.out = append(c.out, e) }

// drainEffects returns the collected effects, followed by a SaveMessage for each message that is
// due.
func (c *Composer) drainEffects() []Effect {
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

// find returns the call of the open step with that id, or nil.
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

// endMessage handles the end of the model's output: it withdraws the calls of a discarded
// attempt and otherwise interrupts the calls that are incomplete.
func (c *Composer) endMessage(e agent.MessageEnded) {
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
	c.acceptPlain(e.MessageID)
}

// endStep drops the calls of the step. Each of them has its result.
func (c *Composer) endStep() {
	for _, k := range c.calls {
		if k.request && k.part != nil && !k.part.isFinal() {
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

// AddTool declares a tool that may appear in spaces, or describes one anew. It applies to
// the calls that start from then on.
func (c *Composer) AddTool(t Tool) { c.tools[t.Name] = t }
