package remoterun

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/internal/budget"
	"github.com/shoal-dev/shoal/internal/hub/runs"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// keep stores what a batch changed besides messages: the steps, the usage, and the end of the
// run. over says why the run must end, if it has used more than it may.
func (x *running) keep(c *runs.RunChange, b batch, n int64) (over string, err error) {
	steps, spent := false, shoal.Usage{Currency: shoal.Currency}
	for _, e := range b.Entries {
		if e.Line == nil || e.Line.Type == shoal.WorkText || e.Line.Type == shoal.WorkThought {
			continue
		}
		steps = true
		if e.Line.Type == shoal.WorkUsage {
			u := shoal.Usage{Cost: e.Line.Cost}
			if t := e.Line.Tokens; t != nil {
				u.InputTokens, u.OutputTokens = t.Input, t.Output
			}
			spent = spent.Add(u)
		}
		if e.Line.Type == shoal.WorkTurnStarted {
			if err := c.StepStarted(x.step(len(x.machine.turns) - 1)); err != nil {
				return "", err
			}
		}
	}
	if steps && len(x.machine.turns) > 0 {
		if err := x.putStep(c); err != nil {
			return "", err
		}
	}
	if x.machine.end != nil {
		return "", x.finish(c, n)
	}
	if spent == (shoal.Usage{Currency: shoal.Currency}) {
		return "", nil
	}
	return x.spend(c, spent)
}

// spend books usage, and returns why the run must end if a limit is exceeded.
func (x *running) spend(c *runs.RunChange, u shoal.Usage) (over string, err error) {
	call := storage.Spending{Cost: u.Cost, Tokens: u.InputTokens + u.OutputTokens}
	limits, spent, exceeds, err := c.Reserve(call)
	switch {
	case err != nil:
		return "", err
	case exceeds:
		return (&budget.LimitError{Limits: limits, Spent: spent}).Error(), c.AdjustUsage(call)
	}
	if most := x.config.Budget.MaxTokensPerRun; most > 0 {
		if all := x.machine.usage(); all.InputTokens+all.OutputTokens > most {
			return fmt.Sprintf("The run has used more than the %d tokens that it may use.", most), nil
		}
	}
	return x.overToday(c)
}

// overToday returns why an agent may not work any more today, empty if it may.
func (x *running) overToday(c *runs.RunChange) (string, error) {
	err := budget.CheckDay(c.Tx, x.run, x.config.Budget.MaxCostPerDay, c.At)
	if over := (*budget.DayError)(nil); errors.As(err, &over) {
		return over.Error(), nil
	}
	return "", err
}

// step returns a turn as others read it.
func (x *running) step(index int) shoal.Step {
	t := x.machine.turns[index]
	out := shoal.Step{
		Index: index, Model: t.model, FinishReason: t.stop, Usage: t.usage, Text: t.text.String(), Reasoning: t.reasoning.String(),
		ToolCalls: []shoal.StepCall{}, StartedAt: t.began, EndedAt: t.ended, MissingTools: []shoal.MissingTool{},
	}
	for _, k := range t.calls {
		one := shoal.StepCall{ToolCallID: k.CallID, ToolName: k.Tool, Args: k.Args, Status: stepStatus[k.State], StartedAt: k.started, EndedAt: k.ended}
		if k.State != shoal.ToolPending && k.State != shoal.ToolRunning {
			result := k.Output
			if k.Type == shoal.WorkQuestion && k.Answer != nil {
				result = k.Answer.Text
			}
			one.Result = &result
		}
		out.ToolCalls = append(out.ToolCalls, one)
	}
	return out
}

// stepStatus are the statuses of calls in steps, as of hosted runs.
var stepStatus = map[shoal.ToolState]string{
	shoal.ToolPending: "pending", shoal.ToolRunning: "pending", shoal.ToolDone: "ok", shoal.ToolFailed: "failed", shoal.ToolCanceled: "canceled", shoal.ToolDenied: "denied",
}

// putStep stores the last turn. Later runs of the agent read its text as that of an assistant.
func (x *running) putStep(c *runs.RunChange) error {
	index := len(x.machine.turns) - 1
	public := x.step(index)
	said := strings.TrimSpace(public.Text)
	if said == "" {
		said = "(no text)"
	}
	data, err := json.Marshal(agent.Step{
		Index: index, Done: public.EndedAt != nil, Finish: agent.FinishStop,
		Assistant: agent.Message{ID: x.machine.source(), Role: agent.Assistant, Parts: []agent.Part{agent.Text(said)}, CreatedAt: public.StartedAt.Time},
	})
	if err != nil {
		return err
	}
	r := c.Run
	if err := c.PutStep(r.SessionID, r.ID, storage.Step{Step: public, Data: data, Done: public.EndedAt != nil}); err != nil {
		return err
	}
	r.Steps, r.Usage = len(x.machine.turns), x.machine.usage()
	r.MaxSteps = max(r.MaxSteps, r.Steps)
	charged := storage.StepUsage{Run: r.ID, Step: index, Agent: r.AgentID, Model: public.Model, At: c.At, Usage: public.Usage}
	if err := c.AddUsage(r.SessionID, charged); err != nil || public.EndedAt == nil {
		return err
	}
	return c.StepCompleted(public)
}

// finish ends the run as its last line says.
func (x *running) finish(c *runs.RunChange, n int64) error {
	end := agent.TurnEnd{Outcome: agent.Completed, Reason: agent.ReasonDone, At: c.At.Time}
	status, failure := shoal.RunCompleted, (*shoal.RunError)(nil)
	if l := x.machine.end; l.Type == shoal.WorkFailed {
		end.Outcome, end.Reason, end.Message = agent.Failed, agent.ReasonInternal, l.Text
		status, failure = shoal.RunFailed, &shoal.RunError{Code: l.Code, Message: l.Text}
	}
	if err := x.announceTaken(c); err != nil {
		return err
	}
	return finishRun(c, end, n, status, failure)
}

// finishRun ends a run whose messages are closed.
func finishRun(c *runs.RunChange, end agent.TurnEnd, n int64, status shoal.RunStatus, failure *shoal.RunError) error {
	st, err := stateOf(*c.Run)
	if err != nil {
		return err
	}
	st.End, st.Remote.N = &end, n
	if err := st.put(c.Run); err != nil {
		return err
	}
	if c.Run.Began != 0 {
		if c.Run.Ended, err = c.NextPosition(); err != nil {
			return err
		}
	}
	if err := c.DropRunWork(c.Run.SessionID, c.Run.ID); err != nil {
		return err
	}
	return c.Finish(status, failure)
}
