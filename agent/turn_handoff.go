package agent

import (
	"fmt"
	"slices"
)

// course returns the agent that made each stored step of the open turn, and the one that
// speaks now.
func (a *Agent) course(open *OpenTurn) (steps []*member, now *member, err error) {
	now = a.team[open.Agent]
	if now == nil {
		now = a.team[a.opts.Name] // any agent may take over a turn that was not transferred
	}
	for i := range open.Steps {
		s := &open.Steps[i]
		steps = append(steps, now)
		to := transferredTo(s.Results)
		if !s.Done || to == "" {
			continue
		}
		if now = a.team[to]; now == nil {
			return nil, nil, NewError("agent.Run", ErrConflict, fmt.Sprintf(
				"The unfinished turn %s was transferred to the agent %q, which %q cannot transfer to. Resume it with the agent that it was run with, or Discard the turn.",
				open.ID, to, a.opts.Name))
		}
	}
	return steps, now, nil
}

// visit is what an agent has prepared for a turn.
type visit struct {
	agent   *Agent
	context *contextRun
	rules   *rules
}

// enter makes the turn that of an agent: its context providers, tools and reduction. It
// reports whether the agent enters for the first time.
func (t *turn) enter(at *member) (first bool, err error) {
	if t.reducer != nil {
		if s := t.reducer.summary(); s != nil {
			t.summary = s
		}
	}
	t.agent = at.agent
	known := slices.IndexFunc(t.visits, func(v *visit) bool { return v.agent == at.agent })
	if known < 0 {
		v := &visit{agent: at.agent, rules: at.rules, context: &contextRun{}}
		t.visits = append(t.visits, v)
		v.context = t.callProviders()
		if v.rules, err = at.rules.with(v.context.tools); err != nil {
			return true, err
		}
		known = len(t.visits) - 1
		first = true
	}
	t.context, t.rules = t.visits[known].context, t.visits[known].rules
	o := &t.agent.opts
	latest := t.record.Summary
	if t.summary != nil {
		latest = t.summary
	}
	t.reducer = newReducer(o.Reduction, t.agent.model, latest)
	t.reducer.input = countCoverable(t.history[:t.base])
	if !o.KeepReasoning {
		t.reducer.earlier = t.reducer.input
	}
	t.reducer.model = summarizer{Model: t.reducer.model, turn: t}
	t.partial = nil
	if o.Output != nil && o.Output.Mode == OutputNative && !o.Output.NoPartials {
		t.partial = &partialOutput{}
	}
	return first, nil
}

// beforeTurn calls the hooks of an agent that enters for the first time.
func (t *turn) beforeTurn() error {
	for _, mw := range t.agent.opts.Middleware {
		if mw.BeforeTurn == nil {
			continue
		}
		if err := guarded("middleware "+mw.Name, func() error { return mw.BeforeTurn(t.ctx, t.input) }); err != nil {
			return err
		}
	}
	return nil
}

// transfer continues the turn with the agent to.
func (t *turn) transfer(to string) {
	first, err := t.enter(t.root.team[to])
	if err == nil && first {
		err = t.beforeTurn()
	}
	if err != nil {
		t.m.cancel(ReasonInternal, "The conversation could not be transferred to the agent "+to+".", err)
		return
	}
	t.m.transfer(t.rules)
}

// latestSummary returns the summary to store at the end, nil if none was written.
func (t *turn) latestSummary() *Summary {
	if t.reducer != nil {
		if s := t.reducer.summary(); s != nil {
			return s
		}
	}
	return t.summary
}
