// Package price calculates the cost of model calls from list prices.
//
//	a, err := agent.New(model, agent.Options{Price: price.Of, MaxCost: 0.50})
//
// The prices are in one file, prices.json, with the day that they are of and
// where they come from. They are list prices in USD for the standard tier;
// discounts for batches, priority tiers, fees for tools and taxes are not in
// them, so that a cost is an estimate and not a bill. A list of one's own is
// read by [Load].
//
// Guarantees: a model that the list does not name costs nothing and is
// not found, rather than being charged like one with a similar name. Everything
// here is immutable and safe for concurrent use.
package price

import (
	"bytes"
	_ "embed" // prices.json
	"math"
	"sync"

	"github.com/shoal-dev/shoal/agent"
)

//go:embed prices.json
var builtin []byte

var defaultList = sync.OnceValue(func() *List {
	list, err := Load(bytes.NewReader(builtin))
	if err != nil {
		panic("price: the embedded prices.json is malformed: " + err.Error()) // a test loads it
	}
	return list
})

// Default returns the list that is part of this package.
func Default() *List { return defaultList() }

// Of returns what u costs with model in USD by the built-in list, 0 when the
// model is not on it. It fits agent.Options.Price.
func Of(model agent.ModelInfo, u agent.Usage) float64 { return Default().Of(model, u) }

// Lookup returns the price of model in the built-in list, and whether there is
// one.
func Lookup(model agent.ModelInfo) (Price, bool) { return Default().Lookup(model) }

// Rates are prices in USD for a million tokens.
type Rates struct {
	Input      float64 // tokens that no cache was involved in
	Cached     float64 // tokens read from the provider's prompt cache
	CacheWrite float64 // tokens written into it
	Output     float64 // thoughts included
}

// Price is what a model costs.
type Price struct {
	// Provider and Name are those of the entry in the list, which may be shorter
	// than the name of the model that was asked for.
	Provider, Name string
	Rates
	// LongOver is the number of input tokens above which a call is charged at the
	// rates Long as a whole; 0 when length does not matter.
	LongOver int64
	Long     Rates
	// Note says what a reader of the price should know; mostly empty.
	Note string
}

// Cost returns what the usage of one call costs in USD. Counts below zero are
// taken as zero, and so is input that is left after the cached parts when they
// exceed the whole.
func (p Price) Cost(u agent.Usage) float64 {
	r := p.Rates
	if p.LongOver > 0 && u.InputTokens > p.LongOver {
		r = p.Long
	}
	cached, written := count(u.CachedTokens), count(u.CacheWriteTokens)
	plain := math.Max(0, float64(u.InputTokens)-cached-written)
	return (plain*r.Input + cached*r.Cached + written*r.CacheWrite + count(u.OutputTokens)*r.Output) / 1e6
}

func count(tokens int64) float64 { return math.Max(0, float64(tokens)) }
