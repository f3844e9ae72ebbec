package agent_test

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/shoal-dev/shoal/agent"
)

// disturbance is what happens to one run from outside.
type disturbance struct {
	cancelAt, leaveAt, panicAt int // the event at which it happens, -1 for never
	deadline                   time.Duration
}

func (s *simulation) disturbance() disturbance {
	d := disturbance{cancelAt: -1, leaveAt: -1, panicAt: -1}
	if s.calm.Load() {
		return d
	}
	switch s.r.IntN(8) {
	case 0:
		d.cancelAt = s.r.IntN(40)
	case 1:
		d.leaveAt = s.r.IntN(40)
	case 2:
		d.deadline = time.Duration(s.r.IntN(4000)) * time.Millisecond
	case 3:
		d.panicAt = s.r.IntN(60)
	}
	s.store.disturb()
	return d
}

// turn takes one run. begun is false when it could not begin.
func (s *simulation) turn(in []agent.Message) (end agent.TurnFinished, begun bool) {
	before := s.load()
	d := s.disturbance()
	opts := s.opts
	if s.calm.Load() {
		opts.TurnTimeout, opts.Retry.Attempts, opts.MaxTokens = -1, 9, 0
	}
	ctx, cancel := context.WithCancel(s.t.Context())
	if d.deadline > 0 {
		ctx, cancel = context.WithTimeout(s.t.Context(), d.deadline)
	}
	defer cancel()
	s.note("--- run with %d messages, %+v, %s", len(in), d, s.store)
	w := newWatcher(s, before, opts)
	err := s.consume(newAgentOn(s.t, s.fallback(s.model), opts).Stream(ctx, s.conv, in...), w, d, cancel)
	switch {
	case errors.Is(err, errOops):
		w.left, w.panicked = true, true
		if end = s.after(w, before); s.load().Open != nil { // for another process
			end.Unsaved = true
		}
		return end, true
	case err != nil:
		s.refused(ctx, before, err)
		return end, false
	}
	return s.after(w, before), true
}

var errOops = errors.New("the consumer panicked")

// consume ranges over a turn's events and does what is planned. The error is that
// of a turn that could not begin, or errOops.
func (s *simulation) consume(events iter.Seq2[agent.Event, error], w *simWatcher, d disturbance, cancel func()) (err error) {
	defer func() {
		if p := recover(); p != nil {
			if p != any(errOops) {
				panic(p)
			}
			err = errOops
		}
	}()
	n := 0
	var over time.Time
	for e, err := range events {
		if err != nil {
			return err
		}
		s.note("%s", show(e))
		w.event(e)
		switch n {
		case d.cancelAt:
			s.note("cancel")
			cancel()
			over = time.Now()
		case d.panicAt:
			s.note("panic")
			panic(errOops)
		case d.leaveAt:
			s.note("leave")
			w.left = true
			over = time.Now()
		}
		if n++; w.left {
			break
		}
	}
	if !over.IsZero() && time.Since(over) > 20*time.Second {
		s.fail("the turn went on for %v", time.Since(over))
	}
	return nil
}
