package run

import (
	"cmp"
	"net/url"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/price"
	"github.com/shoal-dev/shoal/internal/agentconfig"
)

// priceOf returns what calls of a configured model cost: by the price in its
// configuration, else by the list.
func priceOf(m agentconfig.Model) func(agent.ModelInfo, agent.Usage) float64 {
	own := m.Price
	if own == nil {
		return price.Of
	}
	p := price.Price{Rates: price.Rates{
		Input: own.Input, Output: own.Output, Cached: *cmp.Or(own.CachedInput, &own.Input), CacheWrite: *cmp.Or(own.CacheWrite, &own.Input),
	}}
	return func(_ agent.ModelInfo, u agent.Usage) float64 { return p.Cost(u) }
}

// checkBudget refuses a bound of costs for a model whose cost would count as zero.
func checkBudget(c *agentconfig.Config) error {
	if c.Budget.MaxCostPerDay <= 0 || c.Model.Price != nil {
		return nil
	}
	info := agent.ModelInfo{Provider: c.Model.Provider, Name: c.Model.Name}
	if u, err := url.Parse(c.Model.BaseURL); err == nil && strings.HasSuffix("."+u.Hostname(), ".openrouter.ai") {
		info.Provider = "openrouter"
	}
	if _, known := price.Lookup(info); known {
		return nil
	}
	return shoal.Invalid("budget.maxCostPerDay", "needs the price of "+c.Model.Name+", which is not on the server's list: add model.price {input, output} in US dollars for a million tokens, or leave the bound out")
}
