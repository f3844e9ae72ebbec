package run

import (
	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/internal/agentconfig"
	"github.com/shoal-dev/shoal/internal/budget"
	"github.com/shoal-dev/shoal/internal/hub/runs"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/vendor"
)

// limitMiddleware is the middleware that reserves what the calls of a model may use.
func (x *execution) limitMiddleware(model agent.ModelInfo, c *agentconfig.Config) agent.Middleware {
	return x.spending.Middleware(model, vendor.Price(c.Model), x.reserve)
}

// reserve stores what a call may use. It reports false if the session has no limits. A
// call that does not fit into them ends the run.
func (x *execution) reserve(call storage.Spending) (counts bool, err error) {
	if x.unlimited.Load() {
		return false, nil
	}
	var over *budget.LimitError
	err = x.write(x.ctx, func(c *runs.RunChange) error {
		limits, spent, exceeds, err := c.Reserve(call)
		counts, over = limits != shoal.Limits{}, nil
		if exceeds {
			over = &budget.LimitError{Limits: limits, Spent: spent}
		}
		return err
	})
	switch {
	case err != nil:
		err = &brokenError{err}
	case over != nil:
		err = over
	default:
		return counts, nil
	}
	x.cancel(err)
	return false, err
}
