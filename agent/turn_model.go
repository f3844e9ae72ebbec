package agent

import (
	"context"
	"errors"
	"iter"
	"math/rand/v2"
	"slices"
	"time"
)

var errSlow = errors.New("the model was silent for too long")

// callModel makes one attempt of a model call and feeds its chunks to the
// machine.
func (t *turn) callModel(act action) {
	if err := t.prepareRequest(act); err != nil && t.ctx.Err() == nil {
		t.m.cancel(ReasonInternal, "The model call could not be prepared.", err)
		return
	}
	if t.ctx.Err() != nil {
		return
	}
	model := t.agent.models[t.m.model]
	info := model.Info()
	t.partial.reset() // the output of a previous attempt was discarded
	t.m.callModelStarted(info, t.request)
	t.flush()
	ctx, cancel := context.WithCancelCause(t.observe.stepContext(t.ctx))
	defer cancel(nil)
	ctx, ended := t.observe.start(ctx, Operation{
		Kind: OpModel, Agent: t.agent.opts.Name, Conversation: t.conv.id, TurnID: t.ref.ID,
		Step: t.m.step.Index, Attempt: act.attempt, Model: info, Request: t.request,
	})
	began := time.Now()
	first, err := t.stream(ctx, cancel, model)
	t.m.tick(t.clock.elapsed())
	usage := t.m.answer.usage
	ended(func() OperationResult {
		answer := t.m.message(err != nil)
		e := OperationResult{Err: err, Usage: usage, Cost: t.rules.priceOf(t.m.answer.model, usage), Finish: t.m.answer.finish, Message: &answer, Model: t.m.answer.model, Duration: time.Since(began)}
		if !first.IsZero() {
			e.First = first.Sub(began)
		}
		return e
	})
	if err == nil {
		t.reducer.observed(usage, t.request.Messages)
	}
	if t.ctx.Err() == nil {
		t.m.modelEnded(err, rand.Float64(), t.clock.remaining())
	}
}

// stream ranges over the model's answer. It returns when the first chunk arrived.
func (t *turn) stream(ctx context.Context, cancel context.CancelCauseFunc, model Model) (first time.Time, err error) {
	o := &t.agent.opts
	watch := newWatch(o.AttemptTimeout, o.StallTimeout, func() { cancel(errSlow) })
	defer watch.stop()
	finished := false
	for c, failed := range t.modelFunc(model, watch.called)(ctx, t.request) {
		if failed != nil {
			err = failed
			break
		}
		if first.IsZero() {
			first = time.Now()
		}
		watch.hold() // the consumer may take its time
		fits := t.m.chunk(&c)
		t.flush()
		if t.partial != nil && c.Kind == ChunkText {
			t.showPartial(c.Text)
		}
		if t.gone {
			return first, errGone
		}
		if !fits {
			return first, &ModelError{Class: ClassTooLarge, Provider: model.Info().Provider, Detail: "the answer exceeds MaxAnswerBytes"}
		}
		finished = finished || c.Kind == ChunkFinish
		watch.listen()
	}
	switch {
	case finished:
		return first, nil
	case errors.Is(context.Cause(ctx), errSlow):
		return first, &ModelError{Class: ClassTimeout, Provider: model.Info().Provider, Detail: errSlow.Error(), Err: err}
	case err == nil:
		return first, &ModelError{Class: ClassNetwork, Provider: model.Info().Provider, Detail: "the answer ended without a finish"}
	}
	return first, err
}

// modelFunc returns the call of the model with all middleware. called is called before
// each call of the model itself.
func (t *turn) modelFunc(model Model, called func()) ModelFunc {
	f := func(ctx context.Context, req *Request) iter.Seq2[Chunk, error] {
		return func(yield func(Chunk, error) bool) {
			stream := model.Stream
			if admitter, ok := model.(Admitter); ok {
				admitted, err := admitter.Admit(ctx, req)
				if err != nil {
					yield(Chunk{}, err)
					return
				}
				stream = admitted
			}
			called()
			stream(ctx, req)(yield)
		}
	}
	for _, mw := range slices.Backward(t.agent.opts.Middleware) {
		if mw.Model != nil {
			f = mw.Model(f)
		}
	}
	return f
}

// prepareRequest builds the step's request.
func (t *turn) prepareRequest(act action) error {
	if act.attempt > 1 {
		return nil
	}
	view, did, err := t.reducer.view(t.ctx, t.seen(), false)
	if t.ctx.Err() != nil {
		return context.Cause(t.ctx)
	}
	if err != nil {
		t.warn("reduction", err)
	}
	t.showReduction(did)
	if view, err = t.rules.seen(view); err != nil {
		return err
	}
	view = t.withProvided(view)
	o := &t.agent.opts
	t.request = &Request{
		Instructions: joinLines(o.Instructions, t.context.instructions), Messages: view, Tools: t.rules.order,
		ToolChoice: o.ToolChoice, Settings: o.Settings,
	}
	if o.Output != nil && o.Output.Mode == OutputNative {
		t.request.Output = &o.Output.Types[0]
	}
	t.observe.stepBegins(t.m.step.Index)
	for _, mw := range o.Middleware {
		if mw.BeforeStep == nil {
			continue
		}
		if err := guarded("middleware "+mw.Name, func() error { return mw.BeforeStep(t.ctx, t.m.step.Index, t.request) }); err != nil {
			return err
		}
	}
	t.request = t.rules.closed(t.request, t.m.step.Closing)
	return nil
}

// seen is the history that the present step continues.
func (t *turn) seen() []Message {
	if len(t.m.step.Before) == 0 {
		return t.history
	}
	return append(slices.Clip(t.history), t.m.step.Before...)
}

// reduce shortens the request after an overflow as far as possible.
func (t *turn) reduce() {
	view, did, err := t.reducer.view(t.ctx, t.seen(), true)
	if t.ctx.Err() != nil {
		return
	}
	if err != nil {
		t.warn("reduction", err)
	}
	t.m.reducedHistory(did != nil)
	t.flush()
	t.showReduction(did)
	if view, err = t.rules.seen(view); err != nil {
		t.m.cancel(ReasonInternal, "The model call could not be prepared.", err)
		return
	}
	shorter := *t.request
	shorter.Messages = t.withProvided(view)
	t.request = t.rules.closed(&shorter, t.m.step.Closing)
}

// showReduction emits a reduction and counts its usage; it ignores nil.
func (t *turn) showReduction(did *Reduced) {
	if did == nil {
		return
	}
	t.m.spend(did.Usage, t.rules.priceOf(did.Model, did.Usage))
	t.emit(*did)
}

// withProvided puts the context providers' messages before the turn's input.
func (t *turn) withProvided(view []Message) []Message {
	if len(t.context.messages) == 0 {
		return view
	}
	at := len(view)
	if len(t.input) > 0 {
		at = slices.IndexFunc(view, func(m Message) bool { return m.ID == t.input[0].ID })
	}
	if at < 0 {
		at = slices.IndexFunc(view, func(m Message) bool { return m.Role != System && !m.Summary })
	}
	return slices.Insert(slices.Clone(view), max(at, 0), t.context.messages...)
}

func joinLines(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n" + b
}

// reduceHard rewrites the stored history before a new turn if Reduction.Hard is set.
func (t *turn) reduceHard() error {
	o := &t.agent.opts
	if !o.Reduction.Hard || t.resume || len(t.record.Messages) == 0 {
		return nil
	}
	by := newReducer(o.Reduction, t.agent.model, t.record.Summary)
	if !o.KeepReasoning {
		by.earlier = countCoverable(t.record.Messages)
	}
	view, did, err := by.view(t.ctx, t.record.Messages, false)
	if err != nil {
		t.early = append(t.early, Warning{Source: "reduction", Err: err})
	}
	if did == nil || err != nil {
		return nil
	}
	shorter := t.record
	shorter.Messages, shorter.Summary = stampSummaries(view), nil
	if err := t.conv.store.Replace(t.ctx, shorter); err != nil {
		return err
	}
	did.Hard = true
	t.early = append(t.early, *did)
	t.record, err = t.conv.store.Load(t.ctx, t.conv.id)
	return err
}
