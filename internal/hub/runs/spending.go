package runs

import (
	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

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
