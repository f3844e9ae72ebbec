package run

import (
	"context"
	"iter"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/internal/hub"
)

// witness notes what the run's model was sent and when things happened, until it is
// stored with the step. It is an [agent.Observer] for the times, and the innermost
// middleware for the requests: what it sees there is what goes to the model.
type witness struct {
	x *execution

	mu       sync.Mutex
	step     int                    // the one under way
	requests map[int]*agent.Request // by step; those that are not stored
	first    map[int]time.Duration  // by step, until the first of the answer
	calls    map[callOf]span

	storing sync.Mutex      // taken before mu; for what follows
	kept    map[string]bool // hashes of texts that are stored
	// These are texts that were made before, by where what they are of begins: nothing
	// of a request is ever changed.
	messages map[*agent.Part]hub.ModelText
	tools    map[*agent.ToolSpec]hub.ModelText
	system   map[string]hub.ModelText
}

// callOf names a tool call: its id is unique in its step.
type callOf struct {
	step int
	call string
}

// span is how long a tool was executed.
type span struct{ began, ended *shoal.Time }

func newWitness(x *execution) *witness {
	return &witness{
		x: x, requests: map[int]*agent.Request{}, first: map[int]time.Duration{}, calls: map[callOf]span{}, kept: map[string]bool{},
		messages: map[*agent.Part]hub.ModelText{}, tools: map[*agent.ToolSpec]hub.ModelText{}, system: map[string]hub.ModelText{},
	}
}

// Name implements [agent.Observer].
func (w *witness) Name() string { return "witness" }

// Start implements [agent.Observer].
func (w *witness) Start(ctx context.Context, op agent.Operation) (context.Context, func(agent.Ended)) {
	switch op.Kind {
	case agent.OpModel:
		w.mu.Lock()
		w.step = op.Step
		w.mu.Unlock()
		return ctx, func(e agent.Ended) {
			w.mu.Lock()
			defer w.mu.Unlock()
			if delete(w.first, op.Step); e.First > 0 { // an attempt before does not count
				w.first[op.Step] = e.First
			}
		}
	case agent.OpTool:
		at := callOf{op.Step, op.Call.ID}
		w.began(at)
		return ctx, func(agent.Ended) { w.ended(at) }
	}
	return ctx, nil
}

// request is the middleware that keeps what is sent. Of a call that is tried again
// it keeps the last request.
func (w *witness) request() agent.Middleware {
	return agent.Middleware{Name: "witness", Model: func(next agent.ModelFunc) agent.ModelFunc {
		return func(ctx context.Context, req *agent.Request) iter.Seq2[agent.Chunk, error] {
			w.mu.Lock()
			w.requests[w.step] = req
			w.mu.Unlock()
			return next(ctx, req)
		}
	}}
}

// performs notes a call that the executor performs itself, for as long as do takes.
// do reports whether that was all; else it is a wait, whose times the hub knows.
func (w *witness) performs(call string, do func() bool) {
	w.mu.Lock()
	at := callOf{w.step, call}
	w.mu.Unlock()
	w.began(at)
	if do() {
		w.ended(at)
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.calls, at)
}

func (w *witness) began(at callOf) {
	w.x.pulse.beat(shoal.ActivityTool)
	now := shoal.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls[at] = span{began: &now}
}

func (w *witness) ended(at callOf) {
	w.x.pulse.beat(shoal.ActivityTool)
	now := shoal.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.calls[at]
	s.ended = &now
	w.calls[at] = s
}

// recall takes the times of a stored step up again.
func (w *witness) recall(s shoal.Step, done bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !done {
		w.step = s.Index // its tools go on
	}
	if s.FirstTokenMs != nil {
		w.first[s.Index] = time.Duration(*s.FirstTokenMs) * time.Millisecond
	}
	for _, c := range s.ToolCalls {
		if c.StartedAt != nil {
			w.calls[callOf{s.Index, c.ToolCallID}] = span{c.StartedAt, c.EndedAt}
		}
	}
}

// times puts into a step when its parts happened.
func (w *witness) times(s *shoal.Step) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if first, measured := w.first[s.Index]; measured {
		ms := first.Milliseconds()
		s.FirstTokenMs = &ms
	}
	for i := range s.ToolCalls {
		c := &s.ToolCalls[i]
		took := w.calls[callOf{s.Index, c.ToolCallID}]
		c.StartedAt, c.EndedAt = took.began, took.ended
	}
}

// unstored returns the requests of the steps up to one that are not stored, ready to
// be.
func (w *witness) unstored(ctx context.Context, upTo int) []hub.SentRequest {
	w.storing.Lock()
	defer w.storing.Unlock()
	w.mu.Lock()
	requests := maps.Clone(w.requests)
	w.mu.Unlock()
	begun := len(w.kept) > 0
	var out []hub.SentRequest
	for _, step := range slices.Sorted(maps.Keys(requests)) {
		if step > upTo {
			break
		}
		sent, err := w.texts(step, requests[step])
		if err != nil { // a step is worth more than the record of what it was asked
			w.x.log.Error("what the model was sent cannot be kept", "step", step, "error", err)
			continue
		}
		sent.Forget(func(hash string) bool { return w.kept[hash] })
		if !begun { // most of the history may be there from earlier runs
			if err := w.x.hub.Work.ForgetKept(ctx, w.x.run.SessionID, &sent); err != nil {
				w.x.log.Debug("what is kept of the history cannot be read; it is stored again", "error", err)
			}
		}
		out = append(out, sent)
	}
	return out
}

// texts makes the texts of a request. The caller holds storing.
func (w *witness) texts(step int, r *agent.Request) (sent hub.SentRequest, err error) {
	system, err := made(w.system, r.Instructions, func() any { return r.Instructions })
	if err != nil {
		return sent, err
	}
	tools, err := made(w.tools, beginning(r.Tools), func() any { return publicTools(r.Tools) })
	if err != nil {
		return sent, err
	}
	messages := make([]hub.ModelText, len(r.Messages))
	for i, m := range r.Messages {
		key := beginning(m.Parts)
		if slices.ContainsFunc(m.Parts, func(p agent.Part) bool { return p.File != nil && len(p.File.Data) > 0 }) {
			key = nil // it was made for this request, and must not be held for long
		}
		if messages[i], err = made(w.messages, key, func() any { return publicMessage(m) }); err != nil {
			return sent, err
		}
	}
	return hub.NewSentRequest(step, w.x.model.Name, system, tools, messages), nil
}

// made returns the text that was made before, or makes it. The zero key is that of
// nothing.
func made[K comparable](before map[K]hub.ModelText, key K, what func() any) (hub.ModelText, error) {
	if text, there := before[key]; there {
		return text, nil
	}
	text, err := hub.NewModelText(what())
	var nothing K
	if err == nil && key != nothing {
		before[key] = text
	}
	return text, err
}

// beginning is where a list begins, nil for an empty one.
func beginning[T any](list []T) *T {
	if len(list) == 0 {
		return nil
	}
	return &list[0]
}

// stored lets go of what has been stored.
func (w *witness) stored(all []hub.SentRequest) {
	w.storing.Lock()
	defer w.storing.Unlock()
	for _, sent := range all {
		w.mu.Lock()
		delete(w.requests, sent.Step())
		w.mu.Unlock()
		for _, hash := range sent.Hashes() {
			w.kept[hash] = true
		}
	}
	lighten(w.messages, w.kept)
	lighten(w.tools, w.kept)
	lighten(w.system, w.kept)
}

// lighten keeps the hashes alone of what is stored.
func lighten[K comparable](texts map[K]hub.ModelText, kept map[string]bool) {
	for key, text := range texts {
		if text.Body != "" && kept[text.Hash] {
			texts[key] = hub.ModelText{Hash: text.Hash}
		}
	}
}

// keepSent stores what the model was sent.
func keepSent(c *hub.RunChange, all []hub.SentRequest) error {
	for _, sent := range all {
		if err := c.SaveRequest(sent); err != nil {
			return err
		}
	}
	return nil
}
