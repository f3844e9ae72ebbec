package runs

import (
	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// Reserve sets aside what a call of a model may use, of what the message at the run's root
// may set off. over says that the limits of the session leave less than that: nothing is
// set aside then, and the call must not be made. spent is what all runs of the root have
// used or set aside, without the call. Where the session has no limits nothing is noted.
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

// Book corrects what Reserve set aside by what calls have used more, or less.
func (c *RunChange) Book(more storage.Spending) error {
	_, err := c.Spend(c.Run.SessionID, c.Run.CauseRoot, more)
	return err
}
