package run

import (
	"context"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/internal/agentconfig"
	"github.com/shoal-dev/shoal/internal/tool"
	"github.com/shoal-dev/shoal/internal/vendor"
)

// Check reports what of a well-formed configuration cannot be executed here: a tool
// whose expression does not compile, a script that does not parse, a limit of costs for
// a model without a price. The error is of kind InvalidArgument and names each field;
// a missing key of a vendor is not an error.
func (e *Executor) Check(c *agentconfig.Config) error {
	_, err := tool.All(c, tool.Options{
		Network: e.o.Network, Env: e.o.Env, Keys: e.o.Keys,
		Agent:     func(context.Context, shoal.EntityID) (*agent.Agent, error) { return nil, shoal.NotFound },
		StoreFile: (&execution{}).storeFile, // nothing is executed
	})
	if err != nil {
		return err
	}
	if c.Remote != nil {
		return nil // its program chooses the model, and reports the costs
	}
	return vendor.Check(c)
}
