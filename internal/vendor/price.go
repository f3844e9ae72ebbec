package vendor

import (
	"cmp"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/price"
	"github.com/shoal-dev/shoal/internal/agentconfig"
)

// Price returns the function that computes what a call of the model costs, in US
// dollars: by the price in the configuration, else by the list of package price.
func Price(m agentconfig.Model) func(agent.ModelInfo, agent.Usage) float64 {
	own := m.Price
	if own == nil {
		return price.Of
	}
	p := price.Price{Rates: price.Rates{
		Input: own.Input, Output: own.Output, Cached: *cmp.Or(own.CachedInput, &own.Input), CacheWrite: *cmp.Or(own.CacheWrite, &own.Input),
	}}
	return func(_ agent.ModelInfo, u agent.Usage) float64 { return p.Cost(u) }
}

// checkBudget refuses a limit of costs for a model whose calls would count as free.
func checkBudget(c *agentconfig.Config) error {
	if c.Budget.MaxCostPerDay <= 0 || c.Model.Price != nil {
		return nil
	}
	info := agent.ModelInfo{Provider: cmp.Or(cloudProviders[c.Model.Provider], c.Model.Provider), Name: c.Model.Name}
	if isOpenRouter(c.Model.BaseURL) {
		info.Provider = "openrouter"
	}
	if _, known := price.Lookup(info); known {
		return nil
	}
	return shoal.Invalid("budget.maxCostPerDay", "needs the price of "+c.Model.Name+", which is not on the server's list: add model.price {input, output} in US dollars for a million tokens, or leave the bound out")
}
