package agui

import (
	"slices"
	"strings"

	"github.com/shoal-dev/shoal/agent"
)

// Projection maps the events of one run to the protocol. It is a pure state
// machine: no clock, no I/O, no goroutine; the same run and events give the same
// answer. It is not safe for concurrent use.
//
// What a model call has shown before it is made again is withdrawn by a
// MESSAGES_SNAPSHOT. The protocol has no event that takes a message back, and
// holding all text until an attempt is over would end streaming; a snapshot is
// the one thing that makes the official client drop a message. It carries all
// messages of the thread, so the projection starts from those that the client
// sent and keeps those that it has shown; it is sent only when the dead attempt
// was visible. Two peculiarities of the client are met: a tool call that was
// withdrawn counts as unanswered for it unless it saw a result, so such a call
// gets an empty one first; and a snapshot without any thoughts leaves those that
// the client has, so the first dead thought then stays as an empty message, which
// the next thought takes over.
type Projection struct {
	thread, run, parent string

	shown    transcript
	speakers map[string]*speaker // by the id of the sub-agent's turn
	raised   map[string]string   // request → sub-agent that waits for it
	calls    []string            // started in this run, in order
	usage    []Usage
	out      []Event

	started, ended bool
}

// NewProjection returns the projection of the run that in asks for.
func NewProjection(in *Input) *Projection {
	p := &Projection{
		thread: in.ThreadID, run: in.RunID, parent: in.ParentRunID,
		speakers: map[string]*speaker{}, raised: map[string]string{},
	}
	p.speakers[""] = &speaker{}
	p.shown.open(in.Messages)
	return p
}

// Event returns what e is in the protocol, often nothing. The first event opens
// the run, and the first [agent.TurnFinished] of the agent itself closes it;
// nothing comes after that. A run may hold several turns when the ends of those
// before the last are left out. The slice is valid until the next call.
func (p *Projection) Event(e agent.Event) []Event {
	p.out = p.out[:0]
	if p.ended {
		return nil
	}
	if !p.started {
		p.started = true
		p.out = append(p.out, Event{
			Type: RunStarted, ThreadID: p.thread, RunID: p.run, ParentRunID: p.parent, ProtocolVersion: Version,
		})
	}
	p.project(p.speakers[""], e)
	return p.out
}

func (p *Projection) emit(s *speaker, e Event) {
	e.SubagentRunID = s.id
	p.out = append(p.out, e)
}

func (p *Projection) custom(s *speaker, name string, value map[string]any) {
	p.emit(s, Event{Type: Custom, Name: name, Value: value})
}

// project projects an event of one speaker.
func (p *Projection) project(s *speaker, e agent.Event) {
	switch e := e.(type) {
	case agent.StepStarted:
		p.stepStarted(s, e)
	case agent.ModelCallStarted:
		s.model = e.Model
	case agent.MessageStarted:
		p.closeMessage(s)
		s.begin(e.MessageID)
	case agent.ReasoningStarted:
		p.thoughtStarted(s, e.PartID)
	case agent.ReasoningDelta:
		p.thoughtDelta(s, e.Text)
	case agent.ReasoningEnded:
		p.endThought(s)
	case agent.TextDelta:
		p.textDelta(s, e.Text)
	case agent.TextEnded:
		p.endText(s)
	case agent.ToolCallStarted:
		p.callStarted(s, e)
	case agent.ToolArgsDelta:
		p.callDelta(s, e.CallID, e.Text)
	case agent.ToolCallEnded:
		p.callEnded(s, e.Call)
	case agent.MessageEnded:
		p.count(s.model, e.Usage)
		p.messageEnded(s, e.Discarded)
	case agent.ToolFinished:
		p.toolFinished(s, e.Result)
	case agent.StepFinished:
		p.endStep(s)
	case agent.Nested:
		p.nested(s, e)
	case agent.TurnFinished:
		p.turnFinished(s, e)
	case agent.Reduced:
		p.count(agent.ModelInfo{}, e.Usage)
		p.custom(s, "reduced", map[string]any{"strategy": e.Strategy, "before": e.Before, "after": e.After})
	default:
		p.aside(s, e)
	}
}

// aside shows what the protocol has no event for.
func (p *Projection) aside(s *speaker, e agent.Event) {
	switch e := e.(type) {
	case agent.ModelRetrying:
		p.custom(s, "model_retrying", map[string]any{"attempt": e.Attempt, "delayMs": e.Delay.Milliseconds()})
	case agent.Interjected:
		for i := range e.Messages {
			p.custom(s, "interjected", map[string]any{"messageId": e.Messages[i].ID, "content": e.Messages[i].Text()})
		}
	case agent.Cited:
		p.custom(s, "cited", map[string]any{"messageId": e.MessageID, "url": e.Citation.URL, "title": e.Citation.Title, "quote": e.Citation.Quote})
	case agent.Transferred:
		p.custom(s, "transferred", map[string]any{"from": e.From, "to": e.To})
	case agent.OutputPartial:
		p.custom(s, "output_partial", map[string]any{"messageId": e.MessageID, "value": e.Value})
	case agent.RequestOpened:
		if e.Pending.Kind != agent.ClientCall && e.Pending.Via == "" { // the call, or the sub-agent, has said it
			p.emit(s, Event{Type: Custom, Name: "requested", Value: p.interrupt(s, e.Pending)})
		}
	case agent.RequestAnswered:
		if a := e.Pending.Answer; a != nil && e.Pending.Kind != agent.ClientCall && e.Pending.Via == "" {
			p.custom(s, "answered", map[string]any{"id": e.Pending.ID, "approved": a.Approved})
		}
	case agent.ToolStarted:
		p.custom(s, "tool_started", map[string]any{"toolCallId": s.wireID(e.Call.ID), "toolCallName": e.Call.Name})
	case agent.ToolProgress:
		p.progress(s, e)
	case agent.Warning:
		// The cause is for the operator.
		p.custom(s, "warning", map[string]any{"source": e.Source})
	}
}

func (p *Projection) progress(s *speaker, e agent.ToolProgress) {
	value := map[string]any{"toolCallId": s.wireID(e.CallID), "message": e.Message}
	if e.Percent >= 0 {
		value["percent"] = e.Percent
	}
	p.custom(s, "tool_progress", value)
}

// nested shows an event of a sub-agent under the id of its turn.
func (p *Projection) nested(root *speaker, e agent.Nested) {
	chain := strings.Join(e.Chain, "/")
	id := e.TurnID
	if id == "" { // of an event that was made by hand
		id = e.CallID + "/" + chain
	}
	s := p.speakers[id]
	if s == nil {
		s = &speaker{id: id, call: e.CallID, chain: chain}
		p.speakers[s.id] = s
		p.emit(s, p.subagentStarted(root, s, e.Chain))
	}
	if !s.ended {
		p.project(s, e.Event)
	}
}

// subagentStarted announces s. Nested events name the outermost call: of an
// agent further inside only the agent that called it is known, by its chain.
func (p *Projection) subagentStarted(root, s *speaker, chain []string) Event {
	e := Event{Type: SubagentStarted, Name: "agent"}
	if n := len(chain); n > 0 && chain[n-1] != "" {
		e.Name = chain[n-1]
	}
	if len(chain) <= 2 {
		e.ParentToolCallID = root.wireID(s.call)
		e.ParentMessageID = p.shown.ownerOf(e.ParentToolCallID)
		return e
	}
	above := strings.Join(chain[:len(chain)-1], "/")
	for id, other := range p.speakers {
		if other.call == s.call && other.chain == above && !other.ended && id > e.ParentSubagentRunID {
			e.ParentSubagentRunID = id
		}
	}
	return e
}

// count adds what a step cost.
func (p *Projection) count(model agent.ModelInfo, u agent.Usage) {
	if u == (agent.Usage{}) {
		return
	}
	at := slices.IndexFunc(p.usage, func(have Usage) bool {
		return have.Provider == model.Provider && have.Model == model.Name
	})
	if at < 0 {
		at = len(p.usage)
		p.usage = append(p.usage, Usage{Provider: model.Provider, Model: model.Name})
	}
	sum := &p.usage[at]
	sum.InputTokens += u.InputTokens
	sum.OutputTokens += u.OutputTokens
	sum.TotalTokens += u.InputTokens + u.OutputTokens
	sum.ReasoningTokens += u.ReasoningTokens
	sum.CachedInputTokens += u.CachedTokens
	sum.CacheWriteInputTokens += u.CacheWriteTokens
}
