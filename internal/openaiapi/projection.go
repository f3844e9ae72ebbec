package openaiapi

import (
	"slices"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/eventstream"
	"github.com/shoal-dev/shoal/internal/guard"
)

// form is what a projection becomes in one of the protocols. It adds events, which take returns once.
type form interface {
	// text shows a piece of a text of the agent. again says that the text is written anew: the piece is
	// all of it, and what was shown of it before no longer holds.
	text(x *part, piece string, again bool)
	// ended shows that a text is complete.
	ended(x *part)
	// think shows reasoning.
	think(text string)
	// call shows a call of one of the client's tools.
	call(w shoal.PendingAction)
	// finish adds the last events. texts are those of the agent, and reason is why it has finished:
	// stop, tool_calls, or cancelled if the form can say so.
	finish(texts []*part, reason string, u shoal.Usage)
	// sayCancelled reports whether the form can say that a run was canceled; if not, that is an error.
	sayCancelled() bool
	// whole returns the answer in one piece.
	whole(texts []*part, reason string, u shoal.Usage) any
	// failed returns the events for an answer that ends with an error.
	failed(e guard.OpenAIError) []any
	// close sends what follows the last event.
	close(to *eventstream.Stream) error
	take() []any
}

// projection shows what the runs of an agent write in a form: an [exchange.View]. It is a pure state machine.
type projection struct {
	form  form
	mine  func(shoal.RunID) bool // whether a run is the agent's
	tools []string               // the client's

	said  map[shoal.PartID]bool // texts that an earlier answer has shown
	parts map[shoal.PartID]*part
	order []*part                  // texts in the order of their beginnings
	named map[shoal.PendingID]bool // what was named as waiting
}

// part is a text of the agent: as it is, and as much of it as was shown.
type part struct {
	text, shown string
}

func newProjection(x *turn) *projection {
	p := &projection{
		form: x.in.form(x), tools: x.in.tools, said: map[shoal.PartID]bool{}, parts: map[shoal.PartID]*part{}, named: map[shoal.PendingID]bool{},
		mine: func(id shoal.RunID) bool { return x.Runs[id] != nil && x.Runs[id].AgentID == x.agent.ID },
	}
	if x.resumes {
		for _, m := range x.Snapshot.Messages {
			for _, held := range m.Parts {
				p.said[held.ID] = held.Status == shoal.PartDone
			}
		}
	}
	return p
}

// id returns the id of the answer: that of the run of the agent.
func (x *turn) id() (id string) {
	for run, r := range x.Runs {
		if id == "" || r.AgentID == x.agent.ID {
			id = string(run)
		}
	}
	return id
}

// part returns a text of the agent.
func (p *projection) part(h shoal.PartHead) *part {
	x := p.parts[h.PartID]
	if x == nil {
		x = &part{}
		p.parts[h.PartID] = x
		p.order = append(p.order, x)
	}
	return x
}

// set makes a text what it is now, and shows what is new of it. A text that has changed since it was
// shown is shown once more, because neither protocol can take anything back.
func (p *projection) set(x *part, text string) {
	x.text = text
	if strings.HasPrefix(x.shown, text) {
		return
	}
	piece, grown := strings.CutPrefix(text, x.shown)
	if !grown {
		piece = text
	}
	x.shown = text
	p.form.text(x, piece, !grown)
}

// Message shows a message of a run as it is; see [exchange.View].
func (p *projection) Message(m shoal.Message, run shoal.RunID) {
	if !p.mine(run) {
		return
	}
	for _, held := range m.Parts {
		if held.Type != shoal.TextPart || held.Private || held.Text == "" || p.said[held.ID] {
			continue
		}
		x := p.part(shoal.PartHead{PartID: held.ID})
		if held.Status == shoal.PartStreaming && strings.HasPrefix(x.text, held.Text) {
			continue // the deltas are newer than the stored text
		}
		p.set(x, held.Text)
	}
}

// Delta shows a piece of a text, or of reasoning.
func (p *projection) Delta(what shoal.EventType, d shoal.DeltaData, run shoal.RunID) {
	if !p.mine(run) || d.Delta == "" || p.said[d.PartID] {
		return
	}
	switch what {
	case shoal.EventTextDelta:
		x := p.part(d.PartHead)
		if d.Offset <= len(x.text) && d.Offset+len(d.Delta) > len(x.text) {
			p.set(x, x.text[:d.Offset]+d.Delta)
		}
	case shoal.EventReasoningDelta:
		p.form.think(d.Delta)
	}
}

// EndText shows a whole text.
func (p *projection) EndText(d shoal.TextData) {
	if x := p.parts[d.PartID]; x != nil || d.RunID != nil && p.mine(*d.RunID) && !p.said[d.PartID] {
		x = p.part(d.PartHead)
		p.set(x, d.Text)
		p.form.ended(x)
	}
}

// BeginCall does nothing: the server executes its own tools.
func (p *projection) BeginCall(shoal.ToolInputData, shoal.RunID) {}

// EndInput does nothing, as BeginCall.
func (p *projection) EndInput(shoal.ToolInputData, shoal.RunID) {}

// Output does nothing, as BeginCall.
func (p *projection) Output(shoal.ToolOutputData, shoal.RunID) {}

// Reset records that a text is shorter, or gone. What was shown of it stays.
func (p *projection) Reset(d shoal.PartResetData, removed bool) {
	x := p.parts[d.PartID]
	switch {
	case x == nil:
	case removed:
		x.text = ""
	default:
		x.text = x.text[:min(d.Offset, len(x.text))]
	}
}

// Settled does nothing: what waits is asked for when the runs no longer go on.
func (p *projection) Settled(shoal.PendingAction) {}

// waits shows what waits for the client, and returns why the completion ends: tool_calls for calls of the
// client's tools, stop for a question or for a reply, and "" if all that waits has to be answered
// elsewhere.
func (p *projection) waits(waiting []shoal.PendingAction) (finish string) {
	if len(waiting) == 0 {
		return "stop"
	}
	for _, w := range waiting {
		switch {
		case w.Kind == shoal.PendingClientTool && slices.Contains(p.tools, w.ToolName):
			p.form.call(w)
			finish = "tool_calls"
		case w.Kind == shoal.PendingQuestion && finish == "":
			p.ask(w)
			finish = "stop"
		}
	}
	if finish != "" {
		return finish
	}
	for _, w := range waiting {
		if !p.named[w.ID] {
			p.named[w.ID] = true
			p.form.think("Waiting for somebody to answer " + w.ToolName + ": in the console of Shoal, or with `shoal approvals`.\n")
		}
	}
	return ""
}

// ask shows a question.
func (p *projection) ask(w shoal.PendingAction) {
	if w.Question == nil {
		return
	}
	text := *w.Question
	for _, option := range w.Options {
		text += "\n- " + option
	}
	p.set(p.part(shoal.PartHead{PartID: shoal.PartID(w.ID)}), text)
}
