package agent

import (
	"context"
	"iter"
	"slices"
	"time"
)

// observation calls a turn's observers. It tracks the open operations: the turn, and
// at most one step.
type observation struct {
	turn     *turn
	endTurn  func(func() OperationResult)
	step     context.Context // of the open step, nil when none is open
	endStep  func(func() OperationResult)
	stepTime time.Time
}

func newObservation(t *turn) *observation { return &observation{turn: t} }

// start notifies the observers that an operation begins. The function that it returns
// notifies them of the end; its argument is called only if an observer needs the
// result.
func (o *observation) start(ctx context.Context, op Operation) (context.Context, func(func() OperationResult)) {
	observers := o.turn.root.opts.Observers
	if len(observers) == 0 {
		return ctx, func(func() OperationResult) {}
	}
	ends := make([]func(OperationResult), len(observers))
	for i, ob := range observers {
		o.guard(ob, func() {
			inner, end := ob.Start(ctx, op)
			if inner != nil {
				ctx = inner
			}
			ends[i] = end
		})
	}
	return ctx, func(say func() OperationResult) {
		said := say()
		for i, end := range slices.Backward(ends) {
			if end != nil {
				o.guard(observers[i], func() { end(said) })
			}
		}
	}
}

func (o *observation) guard(ob Observer, f func()) {
	name := "?"
	err := guarded("observer", func() error { name = ob.Name(); f(); return nil })
	if err != nil {
		o.turn.warn("observer/"+name, err)
	}
}

func (o *observation) turnBegins(ctx context.Context) context.Context {
	a := o.turn.agent
	ctx, o.endTurn = o.start(ctx, Operation{
		Kind: OpTurn, Agent: a.opts.Name, Description: a.opts.Description, Conversation: o.turn.conv.id,
		TurnID: o.turn.ref.ID, Model: a.model.Info(), Input: o.turn.input,
	})
	return ctx
}

// stepBegins opens the step unless it is open.
func (o *observation) stepBegins(step int) {
	if o.step != nil {
		return
	}
	o.stepTime = time.Now()
	t := o.turn
	o.step, o.endStep = o.start(t.ctx, Operation{
		Kind: OpStep, Agent: t.agent.opts.Name, Conversation: t.conv.id, TurnID: t.ref.ID, Step: step,
	})
}

// stepContext returns the context of the open step, or the turn's.
func (o *observation) stepContext(turn context.Context) context.Context {
	if o.step != nil {
		return o.step
	}
	return turn
}

func (o *observation) stepEnds(s Step) {
	if o.step == nil {
		return
	}
	o.endStep(func() OperationResult {
		return OperationResult{Usage: s.Usage, Cost: s.Cost, Finish: s.Finish, Message: &s.Assistant, Calls: len(s.Results), Duration: time.Since(o.stepTime)}
	})
	o.step = nil
}

func (o *observation) turnEnds(e TurnFinished) {
	if o.step != nil { // a step that was not finished
		o.endStep(func() OperationResult { return OperationResult{Err: e.Err, Duration: time.Since(o.stepTime)} })
		o.step = nil
	}
	if o.endTurn == nil {
		return
	}
	calls := 0
	if o.turn.m != nil {
		calls = o.turn.m.calls
	}
	o.endTurn(func() OperationResult {
		ended := OperationResult{
			Usage: e.Usage, Cost: e.Cost, Outcome: e.Outcome, Reason: e.Reason,
			Steps: e.Steps, Calls: calls, Duration: e.Duration,
		}
		if e.Outcome == Failed || e.Outcome == Canceled {
			ended.Err = &turnError{e.Outcome, e.Reason, e.Message, e.Err}
		}
		return ended
	})
}

// summarizer is the model that writes summaries, with its calls reported to the
// turn's observers.
type summarizer struct {
	Model
	turn *turn
}

// Stream reports the call as an operation of the turn.
func (s summarizer) Stream(ctx context.Context, req *Request) iter.Seq2[Chunk, error] {
	return func(yield func(Chunk, error) bool) {
		t := s.turn
		ctx, ended := t.observe.start(ctx, Operation{
			Kind: OpModel, Agent: t.agent.opts.Name, Conversation: t.conv.id, TurnID: t.ref.ID,
			Step: t.m.step.Index, Attempt: 1, Model: s.Info(), Request: req,
		})
		e, began := OperationResult{Model: s.Info()}, time.Now()
		defer func() {
			e.Duration, e.Cost = time.Since(began), t.rules.priceOf(e.Model, e.Usage)
			ended(func() OperationResult { return e })
		}()
		for c, err := range s.Model.Stream(ctx, req) {
			if c.Model != nil {
				e.Model = *c.Model
			}
			switch {
			case err != nil:
				e.Err = err
			case c.Kind == ChunkUsage && c.Usage != nil:
				e.Usage = *c.Usage
			case c.Kind == ChunkFinish:
				e.Finish = c.Reason
			}
			if e.First == 0 {
				e.First = time.Since(began)
			}
			if !yield(c, err) {
				return
			}
		}
	}
}
