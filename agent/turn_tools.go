package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

var errToolTimeout = errors.New("the tool's time is over")

// workers are the running tools. Their goroutines report on one channel; nothing reads
// the reports of tools that were abandoned when stop returned.
type workers struct {
	reports chan report
	quit    chan struct{}
	once    sync.Once
	group   sync.WaitGroup
}

// report is an event of a running tool, or its end.
type report struct {
	callID   string
	event    Event
	done     bool
	result   ToolResult
	duration time.Duration
	requests []Pending
	err      error
	ended    func(func() OperationResult)
}

func newWorkers() *workers {
	return &workers{reports: make(chan report), quit: make(chan struct{})}
}

// stop waits for the supervisors; then every tool has reported or was abandoned.
func (w *workers) stop() {
	w.once.Do(func() { close(w.quit) })
	w.group.Wait()
}

// toolContext is what a tool's context carries: the way to the turn's events.
type toolContext struct {
	callID  string
	turnID  string
	step    int
	agent   string
	conv    *Conversation
	depth   int
	history []Message // before the present turn
	answer  func(context.Context, Pending) (Answer, bool)
	asking  chan struct{}            // see turn
	paused  func(func() error) error // calls outside of the time of this turn and those above
	send    func(ctx context.Context, e Event)
}

type toolContextKey struct{}

func (t *toolContext) emit(ctx context.Context, e Event) { t.send(ctx, e) }

// decide asks hooks and rules about the calls of a step that may run.
func (t *turn) decide(calls []ToolCall) {
	batch := &Batch{Calls: calls}
	for _, mw := range t.agent.opts.Middleware {
		if mw.BeforeTools == nil {
			continue
		}
		if err := guarded("middleware "+mw.Name, func() error { return mw.BeforeTools(t.ctx, batch) }); err != nil {
			t.m.cancel(ReasonInternal, "The tools could not be prepared.", err)
			return
		}
	}
	verdicts := map[string]verdict{}
	for _, c := range batch.Calls {
		var v verdict
		if r, ok := batch.blocked[c.ID]; ok {
			v.blocked = &r
		}
		bound, o := t.rules.specs[c.Name], &t.agent.opts
		if bound != nil && bound.spec.RequiresPermission && o.Authorize != nil && !o.FullAccess {
			if err := guarded("Options.Authorize", func() error { v.choice = o.Authorize(t.ctx, c, bound.spec); return nil }); err != nil {
				t.warn("authorize", err)
			}
		}
		verdicts[c.ID] = v
	}
	t.m.decided(verdicts)
}

// start runs a tool on a goroutine of its own, and a second goroutine that abandons
// the tool if it ignores its context.
func (t *turn) start(call ToolCall) {
	bound := t.rules.specs[call.Name]
	t.observe.stepBegins(t.m.step.Index)
	ctx, cancel := t.toolTime(bound.spec)
	ctx, ended := t.observe.start(ctx, Operation{
		Kind: OpTool, Agent: t.agent.opts.Name, Conversation: t.conv.id, TurnID: t.ref.ID,
		Step: t.m.step.Index, Call: call, Tool: bound.spec,
	})
	w, grace := t.work, t.agent.opts.Grace+graceOf(bound.tool)
	ctx = context.WithValue(ctx, toolContextKey{}, &toolContext{
		callID: call.ID, turnID: t.ref.ID, step: t.m.step.Index, agent: t.agent.opts.Name, conv: t.conv, answer: t.answerer(), asking: t.asking, paused: t.paused,
		depth: t.depth(), history: t.history[:t.base:t.base],
		send: func(ctx context.Context, e Event) {
			select {
			case w.reports <- report{callID: call.ID, event: e}:
			case <-ctx.Done():
			case <-w.quit:
			}
		},
	})
	f := t.toolFunc(bound.tool)
	returned := make(chan toolReturn, 1)
	began := time.Now()
	go func() { returned <- callTool(ctx, f, call) }()
	w.group.Go(func() {
		defer cancel(nil)
		r := report{done: true, ended: ended}
		out, ok := supervise(ctx, returned, grace)
		r.result, r.requests = t.toolResult(ctx, call, out, ok)
		r.duration, r.err = time.Since(began), toolError(out, ok)
		select {
		case w.reports <- r:
		case <-w.quit:
		}
	})
}

// toolTime returns the context of a call, which ends at its time-out or with the turn.
func (t *turn) toolTime(spec ToolSpec) (context.Context, context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(t.observe.stepContext(t.ctx))
	limit := orElse(spec.Timeout, t.agent.opts.ToolTimeout)
	if limit <= 0 {
		return ctx, cancel
	}
	timer := time.AfterFunc(limit, func() { cancel(errToolTimeout) })
	return ctx, func(cause error) {
		timer.Stop()
		cancel(cause)
	}
}

// toolReturn is what a tool's function returned.
type toolReturn struct {
	out Output
	err error
}

func callTool(ctx context.Context, f ToolFunc, call ToolCall) (r toolReturn) {
	defer func() {
		if p := recover(); p != nil {
			r.err = fmt.Errorf("panic: %v", p)
		}
	}()
	r.out, r.err = f(ctx, call)
	return r
}

// supervise waits for a tool, and only for Grace after its context has ended.
func supervise(ctx context.Context, returned <-chan toolReturn, grace time.Duration) (toolReturn, bool) {
	select {
	case r := <-returned:
		return r, true
	case <-ctx.Done():
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case r := <-returned:
		return r, true
	case <-timer.C:
		return toolReturn{}, false
	}
}

// toolResult converts what a tool returned to a result.
func (t *turn) toolResult(ctx context.Context, call ToolCall, r toolReturn, returned bool) (ToolResult, []Pending) {
	out := ToolResult{CallID: call.ID, Name: call.Name, Status: ResultOK, Text: r.out.Text, Files: r.out.Files}
	var suspended *suspendedError
	switch {
	case returned && r.err == nil && r.out.Failed:
		out.Status = ResultFailed
	case returned && r.err == nil:
	case errors.As(r.err, &suspended):
		return out, suspended.pending
	case errors.Is(context.Cause(ctx), errToolTimeout):
		out.Status, out.Text = ResultTimedOut, fmt.Sprintf("Error: Function '%s' timed out.", call.Name)
	case ctx.Err() != nil:
		out.Status, out.Text = ResultCanceled, fmt.Sprintf("Error: Function '%s' was canceled.", call.Name)
	case t.agent.opts.DetailedErrors:
		out.Status, out.Text = ResultFailed, fmt.Sprintf("Error invoking function '%s': %v", call.Name, r.err)
	default:
		out.Status, out.Text = ResultFailed, fmt.Sprintf("Error: Function '%s' failed.", call.Name)
	}
	return out, nil
}

func (t *turn) toolFunc(tool Tool) ToolFunc {
	f := tool.Call
	for _, mw := range slices.Backward(t.agent.opts.Middleware) {
		if mw.Tool != nil {
			f = mw.Tool(f)
		}
	}
	return f
}

// await waits for one report of a tool.
func (t *turn) await() {
	r := <-t.work.reports
	if !r.done {
		if t.m.runs(r.callID) { // an abandoned tool may still report
			t.emit(r.event)
		}
		return
	}
	t.m.tick(t.clock.elapsed())
	t.m.toolEnded(r.result, toolEnd{duration: r.duration, err: r.err, requests: r.requests})
	r.ended(func() OperationResult { return OperationResult{Result: r.result, Err: r.err, Duration: r.duration} })
}

// toolError is the cause of a failed call, for the operator.
func toolError(r toolReturn, returned bool) error {
	var suspended *suspendedError
	switch {
	case !returned:
		return errors.New("the tool ignored the end of its context")
	case errors.As(r.err, &suspended):
		return nil
	case r.err == nil && r.out.Failed:
		return errors.New("the tool reported a failure")
	}
	return r.err
}

// depth is the number of agents that this turn is nested in.
func (t *turn) depth() int {
	if above, ok := t.ctx.Value(toolContextKey{}).(*toolContext); ok {
		return above.depth + 1
	}
	return 0
}
