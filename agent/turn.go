package agent

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"
)

// Causes with which the package itself cancels a turn's context.
var (
	errTurnTimeout = error(turnTimeout{})
	errGone        = errors.New("the consumer of the events has gone")
	errStore       = errors.New("the store failed")
)

// turnTimeout is a [context.DeadlineExceeded], as if the context had a deadline.
type turnTimeout struct{}

func (turnTimeout) Error() string { return "the turn's time is over" }

func (turnTimeout) Is(target error) bool { return target == context.DeadlineExceeded }

// turn performs what the machine decides: it is the only part of a turn that
// touches clocks, goroutines, models, tools and the store. All of it but the
// tools runs on the goroutine of the consumer.
type turn struct {
	root   *Agent // that was run
	agent  *Agent // that speaks
	conv   *Conversation
	live   liveTurn
	ref    TurnRef
	record Record
	input  []Message
	resume bool

	ctx    context.Context
	cancel context.CancelCauseFunc
	clock  *turnClock
	yield  func(Event, error) bool
	gone   bool

	m       *machine
	rules   *rules
	reducer *reducer
	summary *Summary // written by the reducer of an agent that has transferred
	visits  []*visit // of the agents that have spoken, in order
	context *contextRun
	observe *observation
	history []Message // the record's messages and the turn's own, whole steps only
	base    int       // where the turn's input begins in history
	request *Request  // of the present step
	early   []Event   // shown right after TurnStarted
	write   *pendingWrite
	work    *workers
	partial *partialOutput
	asking  chan struct{} // holds one: Options.Answer, of this turn and those below it, is asked one at a time
}

// run runs one turn; see [Agent.Stream]. It returns nil if the turn could not begin.
func (a *Agent) run(ctx context.Context, c *Conversation, input []Message, yield func(Event, error) bool) *turn {
	t := &turn{root: a, agent: a, conv: c, input: input, yield: yield}
	release, err := c.claim(&t.live)
	if err != nil {
		yield(nil, &BeginError{Err: err})
		return nil
	}
	defer release()
	t.ctx, t.cancel = context.WithCancelCause(ctx)
	defer t.cancel(nil)
	if err := t.prepare(); err != nil {
		yield(nil, &BeginError{TurnID: t.ref.ID, Err: err})
		return nil
	}
	t.clock = newTurnClock(a.opts.TurnTimeout, func() { t.cancel(errTurnTimeout) })
	defer t.clock.stop()
	t.loop()
	return t
}

// loop performs the machine's actions until the turn has ended.
func (t *turn) loop() {
	t.work = newWorkers()
	t.write = &pendingWrite{}
	t.asking = make(chan struct{}, 1)
	if above, ok := t.ctx.Value(toolContextKey{}).(*toolContext); ok {
		t.asking = above.asking
	}
	defer t.abandon()
	t.observe = newObservation(t)
	t.emit(TurnStarted{TurnID: t.ref.ID, Conversation: t.conv.id, Agent: t.agent.opts.Name, Resumed: t.resume, At: t.clock.began})
	for _, e := range t.early {
		t.emit(e)
	}
	if err := t.open(); err != nil {
		t.closeOpen()
		t.finish(&ending{outcome: Failed, reason: ReasonInternal, message: "The turn could not be prepared.", err: err})
		return
	}
	for {
		t.interrupt()
		t.m.interjected(t.live.take())
		t.m.tick(t.clock.elapsed())
		act := t.m.next()
		t.flush()
		switch act.kind {
		case actCallModel:
			t.callModel(act)
		case actReduce:
			t.reduce()
		case actWait:
			t.wait(act.delay)
		case actDecide:
			t.decide(act.calls)
		case actSave:
			t.save(act.step)
		case actAsk:
			t.ask(act.pending)
		case actStart:
			t.start(act.call)
		case actAwait:
			t.await()
		case actTransfer:
			t.transfer(act.agent)
		case actFinish:
			t.finish(t.m.end)
			return
		}
	}
}

// closeOpen ends the open step of a turn that cannot go on, so that what its
// tools did stays in the history.
func (t *turn) closeOpen() {
	open := t.record.Open
	if !t.resume || len(open.Steps) == 0 || open.Steps[len(open.Steps)-1].Done {
		return
	}
	step := open.Steps[len(open.Steps)-1].canceled()
	t.write.begin(t.ctx, func(ctx context.Context) error { return t.conv.store.Commit(ctx, t.conv.id, t.ref, step) })
	t.history = append(t.history, step.Messages()...)
}

// interrupt cancels the machine's turn for the reason that the context ended.
func (t *turn) interrupt() {
	if err := t.write.failed(); err != nil {
		t.cancel(errStore)
		t.m.saved(err)
		return
	}
	if t.ctx.Err() == nil {
		return
	}
	switch cause := context.Cause(t.ctx); {
	case errors.Is(cause, errTurnTimeout) && t.clock.over():
		t.m.cancel(ReasonTimeout, "The turn took longer than "+t.root.opts.TurnTimeout.String()+".", cause)
	default: // includes the reasons that ended the caller's turn
		t.m.cancel(ReasonCanceled, "The turn was canceled.", cause)
	}
}

// flush emits the machine's events.
func (t *turn) flush() {
	for _, e := range t.m.take() {
		t.emit(e)
	}
}

// emit yields one event to the consumer, unless it has left the range.
func (t *turn) emit(e Event) {
	if t.gone {
		return
	}
	if !t.yield(e, nil) {
		t.gone = true
		t.cancel(errGone)
	}
}

func (t *turn) warn(source string, err error) { t.emit(Warning{Source: source, Err: err}) }

// wait waits for the delay of a retry.
func (t *turn) wait(delay time.Duration) {
	if delay > 0 {
		timer := time.NewTimer(delay)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-t.ctx.Done():
			return
		}
	}
	t.m.waited()
}

// save stores a step. It waits for an open step, because a tool or a person comes
// next; it writes a complete one while the turn continues.
func (t *turn) save(step Step) {
	_ = t.clock.paused(t.write.wait) // pendingWrite keeps a failure, and writes nothing after it
	t.write.begin(t.ctx, func(ctx context.Context) error { return t.conv.store.Commit(ctx, t.conv.id, t.ref, step) })
	if step.Done {
		t.history = append(t.history, step.Messages()...)
		t.observe.stepEnds(step)
		t.afterStep(step)
		return
	}
	err := t.clock.paused(t.write.wait)
	if err != nil {
		t.cancel(errStore)
	}
	t.m.saved(err)
}

// abandon ends the goroutines of a turn whose consumer panicked. After finish it has
// nothing to do.
func (t *turn) abandon() {
	t.cancel(nil)
	t.work.stop()
	_ = t.write.wait() // the resumed turn will find a failure
}

// finish stores the end of the turn and emits the last event.
func (t *turn) finish(end *ending) {
	t.work.stop()
	err := t.clock.paused(t.write.wait)
	if err != nil {
		end = unsaved(err)
	}
	states := t.notifyProviders(end)
	if !end.unsaved {
		if err := t.clock.paused(func() error { return t.storeEnd(end, states) }); err != nil {
			end = unsaved(err)
		}
	}
	done := TurnFinished{
		TurnID: t.ref.ID, Agent: t.agent.opts.Name, Outcome: end.outcome, Reason: end.reason, Message: end.message, Err: end.err,
		Duration: t.clock.elapsed(), Unsaved: end.unsaved,
	}
	if t.m != nil {
		done.Steps, done.Usage, done.Cost = t.m.step.Index, t.m.usage, t.m.cost
		done.ByAgent = t.m.shares
		t.m.interjected(t.live.take())
		if end.outcome == Waiting {
			done.Pending = t.m.waitingFor()
		} else {
			done.Unread = append(slices.Clip(t.m.step.Before), t.m.queue...) // of a step that was not stored, and later ones
		}
	}
	t.afterTurn(done)
	t.observe.turnEnds(done)
	t.emit(done)
}

func unsaved(err error) *ending {
	return &ending{outcome: Failed, reason: ReasonStorage, message: "The conversation could not be stored.", err: err, unsaved: true}
}

// storeEnd closes the turn in the store, with the states, rules and summary to keep.
func (t *turn) storeEnd(end *ending, states map[string]json.RawMessage) error {
	t.live.mu.Lock() // a message is added to the turn before its end, or refused
	defer t.live.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.ctx), writeTimeout)
	defer cancel()
	out := TurnEnd{Outcome: end.outcome, Reason: end.reason, Message: end.message, At: time.Now(), ContextState: states}
	if t.m != nil && !t.agent.opts.FullAccess {
		out.Rules = t.m.choices
	}
	out.Summary = t.latestSummary()
	return t.conv.store.End(ctx, t.conv.id, t.ref, out)
}

// turnMessages returns what the turn has added after its input.
func (t *turn) turnMessages() []Message { return slices.Clone(t.history[t.base+len(t.input):]) }
