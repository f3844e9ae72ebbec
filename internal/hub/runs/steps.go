package runs

import (
	"slices"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// StepsOf returns the steps of a run as clients see them.
func StepsOf(tx Tx, session shoal.SessionID, id shoal.RunID) ([]shoal.Step, error) {
	steps, err := tx.RunSteps(session, id)
	if err != nil {
		return nil, err
	}
	out := make([]shoal.Step, len(steps))
	timeless := false
	for i, s := range steps {
		if out[i] = s.Step; out[i].ToolCalls == nil {
			out[i].ToolCalls = []shoal.StepCall{}
		}
		if out[i].MissingTools == nil {
			out[i].MissingTools = []shoal.MissingTool{}
		}
		timeless = timeless || slices.ContainsFunc(out[i].ToolCalls, func(c shoal.StepCall) bool { return c.StartedAt == nil })
	}
	if !timeless {
		return out, nil
	}
	rows, err := tx.PendingOf(session, id)
	for i := range out {
		fillWaitTimes(&out[i], rows)
	}
	return out, err
}

// fillWaitTimes sets the start and the end of the calls of a step whose results come from
// outside of the server, from the times of their pending actions. A permission does not
// count, because the call follows it.
func fillWaitTimes(s *shoal.Step, rows []storage.Pending) {
	for i := range s.ToolCalls {
		c := &s.ToolCalls[i]
		if c.StartedAt != nil {
			continue
		}
		at := slices.IndexFunc(rows, func(p storage.Pending) bool {
			within := !p.CreatedAt.Before(s.StartedAt.Time) && (s.EndedAt == nil || !p.CreatedAt.After(s.EndedAt.Time))
			return p.ToolCallID == c.ToolCallID && p.Kind != shoal.PendingPermission && within
		})
		if at >= 0 {
			c.StartedAt, c.EndedAt = &rows[at].CreatedAt, rows[at].AnsweredAt
		}
	}
}

// Reserve reserves the usage of a model call from the limits of the message at the run's
// root. If over is true, the limits of the session leave less than that: nothing is
// reserved, and the call must not be made. spent is what all runs of the root have used or
// reserved, without the call. If the session has no limits, nothing is recorded.
func (c *RunChange) Reserve(call storage.Spending) (limits shoal.Limits, spent storage.Spending, over bool, err error) {
	session, err := c.Session(c.Run.SessionID)
	if err != nil || session.Limits == (shoal.Limits{}) {
		return session.Limits, spent, false, err
	}
	limits = session.Limits
	sum, err := c.Spend(c.Run.SessionID, c.Run.CauseRoot, call)
	if err != nil {
		return limits, spent, false, err
	}
	over = limits.MaxCostPerRequest > 0 && sum.Cost > limits.MaxCostPerRequest ||
		limits.MaxTokensPerRequest > 0 && sum.Tokens > limits.MaxTokensPerRequest
	if over {
		_, err = c.Spend(c.Run.SessionID, c.Run.CauseRoot, storage.Spending{}.Minus(call))
	}
	return limits, sum.Minus(call), over, err
}

// AdjustUsage replaces the usage that was reserved for calls by what they used: more is the
// difference, which may be negative.
func (c *RunChange) AdjustUsage(more storage.Spending) error {
	_, err := c.Spend(c.Run.SessionID, c.Run.CauseRoot, more)
	return err
}
