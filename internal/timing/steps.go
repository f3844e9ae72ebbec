package timing

import (
	"context"
	"sync"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
)

// Steps records when the model and the tools of a run's steps started and ended,
// until the times are stored with the step. It is an [agent.Observer].
type Steps struct {
	pulse *Pulse

	mu         sync.Mutex
	step       int                   // the current step
	firstToken map[int]time.Duration // by step, from the request to the first chunk of the answer
	calls      map[stepCall]span
}

// stepCall identifies a tool call: a call's id is unique in its step only.
type stepCall struct {
	step int
	call string
}

// span is when a tool started and ended.
type span struct{ began, ended *shoal.Time }

// NewSteps returns the timings of a run without steps. Tools count as activity of p.
func NewSteps(p *Pulse) *Steps {
	return &Steps{pulse: p, firstToken: map[int]time.Duration{}, calls: map[stepCall]span{}}
}

// Name implements [agent.Observer].
func (t *Steps) Name() string { return "timings" }

// Start implements [agent.Observer].
func (t *Steps) Start(ctx context.Context, op agent.Operation) (context.Context, func(agent.OperationResult)) {
	switch op.Kind {
	case agent.OpModel:
		t.mu.Lock()
		t.step = op.Step
		t.mu.Unlock()
		return ctx, func(e agent.OperationResult) {
			t.mu.Lock()
			defer t.mu.Unlock()
			if delete(t.firstToken, op.Step); e.First > 0 { // replaces the time of an earlier attempt
				t.firstToken[op.Step] = e.First
			}
		}
	case agent.OpTool:
		c := stepCall{op.Step, op.Call.ID}
		t.startCall(c)
		return ctx, func(agent.OperationResult) { t.endCall(c) }
	}
	return ctx, nil
}

// CurrentStep returns the index of the step whose model or tools are being called.
func (t *Steps) CurrentStep() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.step
}

// TimeCall measures a call that the executor executes itself: do. If do reports false,
// the call waits, and the hub knows its times.
func (t *Steps) TimeCall(call string, do func() bool) {
	c := stepCall{t.CurrentStep(), call}
	t.startCall(c)
	if do() {
		t.endCall(c)
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.calls, c)
}

func (t *Steps) startCall(c stepCall) {
	t.pulse.Beat(shoal.ActivityTool)
	now := shoal.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.calls[c] = span{began: &now}
}

func (t *Steps) endCall(c stepCall) {
	t.pulse.Beat(shoal.ActivityTool)
	now := shoal.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.calls[c]
	s.ended = &now
	t.calls[c] = s
}

// Restore continues with the times of a stored step.
func (t *Steps) Restore(s shoal.Step, done bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !done {
		t.step = s.Index // its tools continue
	}
	if s.FirstTokenMs != nil {
		t.firstToken[s.Index] = time.Duration(*s.FirstTokenMs) * time.Millisecond
	}
	for _, c := range s.ToolCalls {
		if c.StartedAt != nil {
			t.calls[stepCall{s.Index, c.ToolCallID}] = span{c.StartedAt, c.EndedAt}
		}
	}
}

// Fill writes the recorded times into a step.
func (t *Steps) Fill(s *shoal.Step) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if first, measured := t.firstToken[s.Index]; measured {
		ms := first.Milliseconds()
		s.FirstTokenMs = &ms
	}
	for i := range s.ToolCalls {
		c := &s.ToolCalls[i]
		recorded := t.calls[stepCall{s.Index, c.ToolCallID}]
		c.StartedAt, c.EndedAt = recorded.began, recorded.ended
	}
}
