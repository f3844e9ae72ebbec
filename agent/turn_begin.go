package agent

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"
)

// prepare determines whether the turn is new or resumed, and stores the input.
func (t *turn) prepare() error {
	record, err := t.conv.store.Load(t.ctx, t.conv.id)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return err
	}
	if err := record.validate(); err != nil {
		return err
	}
	t.record = record
	if err := t.mayBegin(); err != nil {
		return err
	}
	if err := t.reduceHard(); err != nil {
		return err
	}
	begin := t.begin()
	if err := t.storeBegin(begin); err != nil {
		return err
	}
	t.ref = TurnRef{ID: begin.ID, Attempt: begin.Attempt}
	t.input = begin.Input
	// A message or the answer to a request may have been stored between the read and
	// Begin. From here on that is not possible.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.ctx), writeTimeout)
	defer cancel()
	if t.record, err = t.conv.store.Load(ctx, t.conv.id); err != nil {
		return err
	}
	t.history, t.base = slices.Clip(t.record.Messages), t.record.Open.Base
	return nil
}

// storeBegin opens the turn in the store.
func (t *turn) storeBegin(begin Turn) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.ctx), writeTimeout)
	defer cancel()
	return t.conv.store.Begin(ctx, t.conv.id, begin)
}

// mayBegin applies the rules of rows 54 to 58 of the appendix of docs/agent.md.
func (t *turn) mayBegin() error {
	const op = "agent.Run"
	if err := checkHistory("input", t.input); err != nil {
		return err
	}
	open := t.record.Open
	switch {
	case open != nil && len(t.input) > 0:
		return NewError(op, ErrConflict, "Cannot add new messages when resuming mid-execution. Conversation '"+t.conv.id+"' is at step "+
			strconv.Itoa(open.step())+". Run it without messages to go on, answer its pending requests first, or Discard the turn.")
	case open == nil && len(t.input) == 0 && len(t.record.Messages) == 0:
		return NewError(op, ErrInvalidArgument, "Cannot run agent with empty conversation and no messages. "+
			"Pass a message, add messages to the conversation first, or open a conversation that has some.")
	}
	if t.resume = open != nil; !t.resume {
		t.agent = t.root.speaker(t.record.Messages).agent
		return nil
	}
	_, now, err := t.root.course(open)
	if err == nil {
		t.agent = now.agent
	}
	return err
}

// begin returns the turn as it is opened in the store.
func (t *turn) begin() Turn {
	now := time.Now()
	if t.resume {
		b := t.record.Open.Turn
		b.Attempt++
		return b
	}
	id := newID("trn_")
	input := slices.Clone(t.input)
	for i := range input {
		if input[i].ID == "" {
			input[i].ID = id + ".in" + strconv.Itoa(i)
		}
		if input[i].CreatedAt.IsZero() {
			input[i].CreatedAt = now
		}
	}
	return Turn{ID: id, Attempt: 1, Agent: t.agent.opts.Name, Input: input, StartedAt: now}
}

// open creates the machine, after the context providers have added their part.
func (t *turn) open() error {
	t.ctx = t.observe.turnBegins(t.ctx)
	steps, now, err := t.root.course(t.record.Open)
	if err != nil {
		return err
	}
	if _, err := t.enter(now); err != nil {
		return err
	}
	made := make([]*rules, len(steps))
	for i, at := range steps {
		if made[i] = at.rules; at == now {
			made[i] = t.rules // with the tools of its context providers
		}
	}
	r := t.rules
	if len(made) > 0 {
		r = made[0]
	}
	t.m = newMachine(r, t.conv.id, t.ref)
	t.m.root = &t.root.opts
	t.m.began = t.clock.began
	t.m.knowCalls(t.history)
	for name, choice := range t.record.Rules {
		t.m.choices[name] = choice
	}
	for _, e := range t.early { // the turn that required a hard reduction pays for it
		if did, ok := e.(Reduced); ok {
			t.m.spend(did.Usage, t.rules.priceOf(did.Model, did.Usage))
		}
	}
	if t.resume {
		t.m.interjected(t.record.Open.unread())
		t.m.resume(t.record.Open, made, t.rules)
	}
	return t.beforeTurn()
}
