package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
)

// guarded calls f and converts a panic to an error that names what panicked.
func guarded(who string, f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%s: panic: %v", who, p)
		}
	}()
	if err := f(); err != nil {
		return fmt.Errorf("%s: %w", who, err)
	}
	return nil
}

// contextRun is what the context providers added to a turn.
type contextRun struct {
	called       []ContextProvider
	messages     []Message
	tools        []Tool
	instructions string
}

// callProviders calls the context providers. It leaves out one that fails.
func (t *turn) callProviders() *contextRun {
	run := &contextRun{}
	for _, p := range t.agent.opts.Context {
		var got ProvidedContext
		err := guarded("context "+p.Name(), func() (err error) {
			got, err = p.Provide(t.ctx, ContextRequest{Conversation: t.conv.id, Input: t.input, State: t.record.ContextState[p.Name()]})
			return err
		})
		if err != nil {
			t.warn("context/"+p.Name(), err)
			continue
		}
		run.called = append(run.called, p)
		run.messages = append(run.messages, got.Messages...)
		run.tools = append(run.tools, got.Tools...)
		run.instructions = joinLines(run.instructions, got.Instructions)
	}
	return run
}

// notifyProviders notifies the context providers of the end of the turn and returns
// the states that they want to store. A turn that waits has not ended.
func (t *turn) notifyProviders(end *ending) map[string]json.RawMessage {
	if end.outcome == Waiting {
		return nil
	}
	var failure error
	if end.outcome != Completed {
		failure = &turnError{end.outcome, end.reason, end.message, end.err}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.ctx), writeTimeout)
	defer cancel()
	states := map[string]json.RawMessage{}
	for _, v := range t.visits {
		for _, p := range v.context.called {
			err := guarded("context "+p.Name(), func() error {
				state, err := p.AfterTurn(ctx, EndedTurn{
					Conversation: t.conv.id, Input: t.input, ContextMessages: v.context.messages,
					Response: t.turnMessages(), Err: failure, State: t.record.ContextState[p.Name()],
				})
				if err == nil && state != nil {
					states[p.Name()] = state
				}
				return err
			})
			if err != nil {
				t.warn("context/"+p.Name(), err)
			}
		}
	}
	return states
}

// turnError is the failure of a turn as an error; its cause is for the operator.
type turnError struct {
	outcome Outcome
	reason  Reason
	message string
	cause   error
}

func (e *turnError) Error() string {
	said := fmt.Sprintf("the turn %s (%s): %s", e.outcome, e.reason, e.message)
	if e.cause != nil {
		said += " " + e.cause.Error()
	}
	return said
}

func (e *turnError) Unwrap() error { return e.cause }

// afterStep calls the hooks that follow a complete step.
func (t *turn) afterStep(step Step) {
	for _, mw := range slices.Backward(t.agent.opts.Middleware) {
		if mw.AfterTools != nil && len(step.Results) > 0 {
			t.after("middleware/"+mw.Name, func() { mw.AfterTools(t.ctx, step.Results) })
		}
		if mw.AfterStep != nil {
			t.after("middleware/"+mw.Name, func() { mw.AfterStep(t.ctx, step) })
		}
	}
}

func (t *turn) afterTurn(end TurnFinished) {
	for _, v := range slices.Backward(t.visits) {
		for _, mw := range slices.Backward(v.agent.opts.Middleware) {
			if mw.AfterTurn != nil {
				t.after("middleware/"+mw.Name, func() { mw.AfterTurn(t.ctx, end) })
			}
		}
	}
}

// after calls a hook that cannot affect the turn.
func (t *turn) after(source string, f func()) {
	if err := guarded(source, func() error { f(); return nil }); err != nil {
		t.warn(source, err)
	}
}

// answerer returns the function that answers requests while the turn runs:
// Options.Answer of the agent that speaks, of the agent that was run, or, for a sub-agent
// without one, that of its caller.
func (t *turn) answerer() func(context.Context, Pending) (Answer, bool) {
	if t.agent.opts.Answer != nil {
		return t.agent.opts.Answer
	}
	if t.root.opts.Answer != nil {
		return t.root.opts.Answer
	}
	if above, ok := t.ctx.Value(toolContextKey{}).(*toolContext); ok {
		return above.answer
	}
	return nil
}

// ask puts a request to Options.Answer.
func (t *turn) ask(p Pending) {
	answer := t.answerer()
	if answer == nil || t.paused(t.queue) != nil {
		return
	}
	defer func() { <-t.asking }()
	ctx, cancel := context.WithTimeout(t.ctx, t.agent.opts.AnswerTimeout)
	defer cancel()
	var got Answer
	var ok bool
	err := t.paused(func() error {
		return guarded("Options.Answer", func() error { got, ok = answer(ctx, p); return nil })
	})
	switch {
	case t.ctx.Err() != nil:
		return
	case err != nil:
		t.warn("answer", err)
		return
	case ctx.Err() != nil:
		got, ok = overdue(p.ID), true
	}
	if ok {
		got.PendingID = p.ID
		t.m.answered(got)
	}
}

// paused calls f without counting its time for this turn and its callers.
func (t *turn) paused(f func() error) error {
	return t.clock.paused(func() error {
		if above, ok := t.ctx.Value(toolContextKey{}).(*toolContext); ok {
			return above.paused(f)
		}
		return f()
	})
}

// queue waits until no other call of Options.Answer is running.
func (t *turn) queue() error {
	select {
	case t.asking <- struct{}{}:
		return nil
	case <-t.ctx.Done():
		return t.ctx.Err()
	}
}
