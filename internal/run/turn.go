package run

import (
	"errors"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/internal/agenterror"
	"github.com/shoal-dev/shoal/internal/budget"
	"github.com/shoal-dev/shoal/internal/hub/live"
	"github.com/shoal-dev/shoal/internal/hub/runs"
	"github.com/shoal-dev/shoal/internal/perform"
	"github.com/shoal-dev/shoal/internal/spacetool"
)

// turn executes the run's one turn, or continues it.
func (x *execution) turn(a *agent.Agent) error {
	if err := x.openConversation(); err != nil {
		return err
	}
	var input []agent.Message
	if !x.store.hasOpenTurn() {
		var err error
		if input, err = spacetool.Input(x.ctx, x.forTools()); err != nil {
			return err
		}
		input = x.store.history.NewInput(input)
	}
	defer x.endDrafts()
	var failure error
	conv := agent.OpenConversation(x.store, string(x.run.ID))
	for event, err := range a.Stream(x.ctx, conv, input...) {
		if err != nil {
			return agenterror.Convert(err)
		}
		if x.stopCause() != nil {
			break // later events must not be published
		}
		if failure == nil {
			failure = x.storeFailure
		}
		if failure != nil {
			continue // drain the turn; the run is then ended from what is stored
		}
		if failure = x.handleEvent(event); failure != nil {
			failure = &brokenError{failure}
			x.cancel(failure)
		}
	}
	return failure
}

// handleEvent handles one event of the turn.
func (x *execution) handleEvent(event agent.Event) error {
	defer x.compose()()
	x.recordActivity(event)
	if x.woken.Swap(false) {
		if err := x.checkSpaces(); err != nil {
			return err
		}
	}
	switch e := event.(type) {
	case agent.StepStarted:
		if err := x.stepStarted(e); err != nil {
			return err
		}
	case agent.ReasoningStarted, agent.ReasoningDelta, agent.ReasoningEnded:
		x.relayReasoning(e)
		return nil
	case agent.RequestOpened:
		if own, err := x.ownRequest(e.Pending); own || err != nil {
			return err
		}
	case agent.Nested:
		answered, ok := e.Event.(agent.RequestAnswered) // this run has shown the sub-agent's request
		if !ok {
			return nil
		}
		answered.Pending.Via = e.CallID
		event = answered
	case agent.Warning:
		x.log.Warn("the agent warns", "source", e.Source, "error", e.Err)
		return nil
	case agent.ToolFinished:
		if e.Err != nil {
			x.log.Info("a tool failed", "tool", e.Result.Name, "status", e.Result.Status, "error", e.Err)
		}
	case agent.TurnFinished:
		return x.turnFinished(e)
	}
	if err := x.perform(x.composer.Apply(event), nil); err != nil {
		return err
	}
	switch event.(type) {
	case agent.ToolArgsDelta, agent.TextDelta:
		return x.saveDrafts(draftEvery)
	}
	return nil
}

// stepStarted announces a step, unless it did before, and stops an agent that has used its
// budget of the day.
func (x *execution) stepStarted(e agent.StepStarted) error {
	if e.Step < x.steps {
		return nil
	}
	x.steps = e.Step + 1
	x.store.awaitSteps(e.Step)
	at := shoal.Now()
	x.store.setStepStart(e.Step, at)
	var over *budget.DayError
	show := false
	err := x.write(x.ctx, func(c *runs.RunChange) (err error) {
		session, err := c.Session(x.run.SessionID)
		if err != nil {
			return err
		}
		x.unlimited.Store(session.Limits == shoal.Limits{})
		over = nil
		if err := budget.CheckDay(c.Tx, x.run, x.config.Budget.MaxCostPerDay, at); errors.As(err, &over) {
			return nil // what is booked until now is stored
		} else if err != nil {
			return err
		}
		if show, err = perform.ShowsReasoning(c.Tx, x.run); err != nil {
			return err
		}
		c.Run.Steps = e.Step + 1
		c.Run.MaxSteps = max(c.Run.MaxSteps, e.MaxSteps) // more may have been granted
		return c.StepStarted(shoal.Step{Index: e.Step, Model: x.model.Name, StartedAt: at, ToolCalls: []shoal.StepCall{}, Usage: shoal.Usage{Currency: shoal.Currency}, MissingTools: x.missing})
	})
	if over != nil {
		x.cancel(over)
	}
	x.show = show // the space's setting may have changed
	return err
}

// turnFinished suspends or ends the run.
func (x *execution) turnFinished(e agent.TurnFinished) error {
	if e.Outcome == agent.Waiting {
		if err := x.saveDrafts(0); err != nil {
			return err
		}
		return x.perform(x.composer.Apply(e), func(c *runs.RunChange) error {
			turn, err := x.store.suspendedTurn(x.clock.Total())
			if err != nil {
				return err
			}
			c.Run.Turn = turn
			if err := x.markAnswersTaken(c); err != nil {
				return err
			}
			return c.Suspend()
		})
	}
	end := x.endOfRun(agent.TurnEnd{Outcome: e.Outcome, Reason: e.Reason, Message: e.Message})
	if end.Outcome == agent.Failed {
		x.log.Warn("the run failed", "reason", end.Reason, "error", e.Err)
	}
	e.Outcome = end.Outcome
	if err := x.postReply(end); err != nil {
		return err
	}
	return x.finishRun(x.composer.Apply(e), end)
}

// thought is the open part of reasoning.
type thought struct {
	part   shoal.PartID
	offset int
}

// relayReasoning relays reasoning, which is stored only with the step.
func (x *execution) relayReasoning(event agent.Event) {
	d := live.Delta{Reasoning: true}
	if x.show {
		d.Space, d.Show = x.run.Space, true
	}
	switch e := event.(type) {
	case agent.ReasoningStarted:
		x.thought = thought{part: shoal.NewID[shoal.PartID](shoal.PrefixPart)}
		d.First = true
	case agent.ReasoningDelta:
		d.Text, d.Offset = e.Text, x.thought.offset
		x.thought.offset += len(e.Text)
	case agent.ReasoningEnded:
		d.Last, d.Offset = true, x.thought.offset
	}
	d.Part = x.thought.part
	x.hub.Work.Relay(x.lease, []live.Delta{d})
}
