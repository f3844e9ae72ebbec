package compose

import (
	"slices"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
)

// Restore returns the composer of a run that continues in another process, after a crash or
// a wait. stored contains all composite messages of the run in the order of their opening,
// as [OpenMessage], [SaveMessage], [CloseMessage] and [Composer.Drafts] last returned them.
// steps contains all stored steps of the run's turn, open or done, even if the turn has
// ended. Nothing else is needed. With missing steps Restore would withdraw output that is
// final.
//
// The effects bring the messages to the state of the steps. Output of a model call that is
// in no step is withdrawn, since the call will be repeated. Parts of calls that are in a
// step receive the rest of their text or arguments and their result. Restore emits AskSpace
// for calls without a result that show nothing yet.
func Restore(opts Options, stored []Message, steps []agent.Step) (*Composer, []Effect) {
	c := New(opts)
	c.count = len(stored)
	r := restorer{c: c, parts: map[string]*part{}, closed: map[string]bool{}, calls: map[string]agent.ToolCall{}, pending: map[string]agent.Pending{}}
	for _, s := range steps {
		for _, call := range s.Assistant.Calls() {
			r.calls[call.ID] = call
		}
		for _, texts := range c.plainTexts(s.Assistant) {
			for _, k := range texts {
				r.calls[k.id] = agent.ToolCall{ID: k.id}
			}
		}
		for _, p := range s.Pending {
			r.pending[p.ID] = p
		}
	}
	for _, m := range stored {
		r.restoreMessage(m)
	}
	r.withdrawUnknown()
	for i := range steps {
		r.restoreStep(&steps[i])
	}
	return c, c.drainEffects()
}

// restorer is the state of Restore. parts contains the parts of open messages, by call, or
// by request for parts that show only a request.
type restorer struct {
	c       *Composer
	parts   map[string]*part
	order   []*part
	closed  map[string]bool // calls whose parts are in closed messages
	calls   map[string]agent.ToolCall
	pending map[string]agent.Pending
}

func (p *Part) key() string {
	if p.RequestOnly {
		return p.Pending
	}
	return p.Call
}

func (r *restorer) restoreMessage(stored Message) {
	if stored.Status != shoal.MessageStreaming {
		for i := range stored.Parts {
			r.closed[stored.Parts[i].key()] = true
			r.c.hasOutput = r.c.hasOutput || !stored.Parts[i].RequestOnly
		}
		return
	}
	m := &message{Message: stored}
	m.Parts = nil
	for i := range stored.Parts {
		p := &part{Part: stored.Parts[i], in: m}
		p.place = placeOf(m, &p.Part)
		switch p.Status {
		case shoal.PartStreaming:
			p.buf, p.Text = []byte(p.Text), ""
		case shoal.PartInputStreaming:
			p.buf, p.Input = []byte(p.Input), ""
		}
		m.parts = append(m.parts, p)
		r.parts[p.key()] = p
		r.order = append(r.order, p)
	}
	r.c.messages = append(r.c.messages, m)
}

// withdrawUnknown removes the parts that no step contains, newest first.
func (r *restorer) withdrawUnknown() {
	for _, p := range slices.Backward(r.order) {
		_, call := r.calls[p.Call]
		_, request := r.pending[p.Pending]
		if p.RequestOnly && !request || !p.RequestOnly && !call {
			r.c.removePart(p)
			delete(r.parts, p.key())
		}
	}
}

// restoreStep brings the parts of one step to the state of the step.
func (r *restorer) restoreStep(s *agent.Step) {
	c := r.c
	results := map[string]bool{}
	for i := range s.Results {
		results[s.Results[i].CallID] = true
	}
	texts := c.plainTexts(s.Assistant)
	for i, said := range s.Assistant.Parts {
		for _, k := range texts[i] {
			r.restoreText(k, s.Done)
		}
		if said.Type == agent.CallPart {
			r.restoreCall(s.Assistant.ID, *said.Call, results[said.Call.ID])
		}
	}
	r.refuseSkipped()
	for _, p := range s.Pending {
		r.restoreRequest(p)
	}
	for _, result := range s.Results {
		c.applyResult(result)
	}
	if s.Done {
		c.endStep()
	}
}

// restoreCall continues a call of a step.
func (r *restorer) restoreCall(source string, call agent.ToolCall, finished bool) {
	k := r.c.startCall(call.ID, call.Name, source)
	if k == nil {
		return
	}
	p := r.parts[call.ID]
	if p == nil && (finished || r.closed[call.ID]) {
		k.stage = stageHidden
	}
	if p == nil {
		r.c.endArguments(k, call.Arguments)
		return
	}
	r.joinPart(k, p, call.Arguments)
}

// restoreText continues a plain text of a step.
func (r *restorer) restoreText(k *call, done bool) {
	c := r.c
	c.calls = append(c.calls, k)
	p := r.parts[k.id]
	switch {
	case p == nil && (done || r.closed[k.id]):
		k.stage = stageHidden
	case p == nil:
		c.askSpace(k)
	default:
		k.stage, k.part = stageShown, p
		if p.Status == shoal.PartStreaming {
			r.completePart(k, p, string(k.buffer))
		} else {
			k.buffer = nil
			c.accept(k)
		}
	}
	c.advance()
}

// completePart appends the missing text or arguments to a streaming part.
func (r *restorer) completePart(k *call, p *part, whole string) {
	if rest, ok := strings.CutPrefix(whole, string(p.buf)); ok {
		k.buffer = []byte(rest)
		return
	}
	r.c.restart(k)
	k.buffer = []byte(whole)
}

// refuseSkipped refuses the calls again that were refused before. Parts open in order, so a
// call without a part before a call with one was refused.
func (r *restorer) refuseSkipped() {
	later := false
	for _, k := range slices.Backward(r.c.calls) {
		switch {
		case k.part != nil || r.closed[k.id]:
			later = true
		case later && (k.stage == stageAsking || k.stage == stageReady):
			r.c.hide(k, RefusedNotMember)
		}
	}
	r.c.advance()
}

// joinPart connects a call with its part and completes the part.
func (r *restorer) joinPart(k *call, p *part, arguments string) {
	k.stage, k.part = stageShown, p
	growing := p.Status == shoal.PartStreaming || p.Status == shoal.PartInputStreaming
	other := k.tool.reader() // reads all arguments, independently of the part
	var whole strings.Builder
	other.readAll(arguments, func(t Token) {
		switch t.Kind {
		case TokenBegin, TokenOther:
			whole.Reset()
		case TokenText, TokenRest:
			whole.WriteString(k.showable(t.Text))
		case TokenString, TokenValue:
			k.route(t)
		}
	})
	k.ended, k.broken = true, other.Err() != nil
	if !growing {
		return
	}
	text := whole.String()
	if k.tool.HideInput && !k.tool.Send {
		text = "{}"
	}
	r.completePart(k, p, text)
	r.c.advance()
	if k.broken {
		r.c.cutShort(k)
	}
}

// restoreRequest continues a part that shows only a request.
func (r *restorer) restoreRequest(p agent.Pending) {
	part := r.parts[p.ID]
	if part == nil || !part.RequestOnly {
		return
	}
	k := &call{id: p.ID, name: p.Call.Name, ended: true, space: part.in.Space, request: true, pending: p, stage: stageShown, part: part}
	r.c.calls = append(r.c.calls, k)
	r.c.applyAnswer(p)
}
