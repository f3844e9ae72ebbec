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
		r.message(m)
	}
	r.withdraw()
	for i := range steps {
		r.step(&steps[i])
	}
	return c, c.take()
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

func (r *restorer) message(stored Message) {
	if stored.Status != shoal.MessageStreaming {
		for i := range stored.Parts {
			r.closed[stored.Parts[i].key()] = true
			r.c.spoke = r.c.spoke || !stored.Parts[i].RequestOnly
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

// withdraw removes the parts that no step contains, newest first.
func (r *restorer) withdraw() {
	for _, p := range slices.Backward(r.order) {
		_, call := r.calls[p.Call]
		_, request := r.pending[p.Pending]
		if p.RequestOnly && !request || !p.RequestOnly && !call {
			r.c.removePart(p)
			delete(r.parts, p.key())
		}
	}
}

// step brings the parts of one step to the state of the step.
func (r *restorer) step(s *agent.Step) {
	c := r.c
	results := map[string]bool{}
	for i := range s.Results {
		results[s.Results[i].CallID] = true
	}
	texts := c.plainTexts(s.Assistant)
	for i, said := range s.Assistant.Parts {
		for _, k := range texts[i] {
			r.plain(k, s.Done)
		}
		if said.Type == agent.CallPart {
			r.call(s.Assistant.ID, *said.Call, results[said.Call.ID])
		}
	}
	r.passedOver()
	for _, p := range s.Pending {
		r.request(p)
	}
	for _, result := range s.Results {
		c.toolFinished(result)
	}
	if s.Done {
		c.stepFinished()
	}
}

// call continues a call of a step.
func (r *restorer) call(source string, call agent.ToolCall, finished bool) {
	k := r.c.begin(call.ID, call.Name, source)
	if k == nil {
		return
	}
	p := r.parts[call.ID]
	if p == nil && (finished || r.closed[call.ID]) {
		k.stage = stageShut
	}
	if p == nil {
		r.c.endArguments(k, call.Arguments)
		return
	}
	r.takeUp(k, p, call.Arguments)
}

// plain continues a plain text of a step.
func (r *restorer) plain(k *call, done bool) {
	c := r.c
	c.calls = append(c.calls, k)
	p := r.parts[k.id]
	switch {
	case p == nil && (done || r.closed[k.id]):
		k.stage = stageShut
	case p == nil:
		c.ask(k)
	default:
		k.stage, k.part = stageShown, p
		if p.Status == shoal.PartStreaming {
			r.rest(k, p, string(k.held))
		} else {
			k.held = nil
			c.accept(k)
		}
	}
	c.advance()
}

// rest appends the missing text or arguments to a streaming part.
func (r *restorer) rest(k *call, p *part, whole string) {
	if rest, ok := strings.CutPrefix(whole, string(p.buf)); ok {
		k.held = []byte(rest)
		return
	}
	r.c.restart(k)
	k.held = []byte(whole)
}

// passedOver refuses the calls again that were refused before. Parts open in order, so a
// call without a part before a call with one was refused.
func (r *restorer) passedOver() {
	later := false
	for _, k := range slices.Backward(r.c.calls) {
		switch {
		case k.part != nil || r.closed[k.id]:
			later = true
		case later && (k.stage == stageAsking || k.stage == stageReady):
			r.c.shut(k, RefusedNotMember)
		}
	}
	r.c.advance()
}

// takeUp connects a call with its part and completes the part.
func (r *restorer) takeUp(k *call, p *part, arguments string) {
	k.stage, k.part = stageShown, p
	growing := p.Status == shoal.PartStreaming || p.Status == shoal.PartInputStreaming
	other := k.tool.reader() // reads all arguments, independently of the part
	var whole strings.Builder
	other.all(arguments, func(t Token) {
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
	r.rest(k, p, text)
	r.c.advance()
	if k.broken {
		r.c.cutShort(k)
	}
}

// request continues a part that shows only a request.
func (r *restorer) request(p agent.Pending) {
	part := r.parts[p.ID]
	if part == nil || !part.RequestOnly {
		return
	}
	k := &call{id: p.ID, name: p.Call.Name, ended: true, space: part.in.Space, request: true, pending: p, stage: stageShown, part: part}
	r.c.calls = append(r.c.calls, k)
	r.c.answered(p)
}
