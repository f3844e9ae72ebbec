package google

import (
	"slices"
	"strings"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/internal/wire"
)

// thinking is the wire's thinkingConfig. The API refuses budget and level together.
type thinking struct {
	Include bool   `json:"includeThoughts,omitempty"`
	Budget  *int   `json:"thinkingBudget,omitempty"`
	Level   string `json:"thinkingLevel,omitempty"`
}

// generation is how the models of one generation are asked to think: with levels,
// with budgets, or not at all.
type generation struct {
	models      []string // see [wire.IsModel]
	levels      []string // from the least to the greatest
	least, most int      // budget
	off         bool     // a budget of 0 prevents thinking
}

var (
	lowToHigh     = []string{"low", "medium", "high"}
	minimalToHigh = []string{"minimal", "low", "medium", "high"}
)

// generations is what the vendor documents, as of November 2026. The more special
// ones come first.
var generations = []generation{
	{models: []string{"gemini-1.0", "gemini-1.5", "gemini-2.0", "gemma-3", "gemma-3n"}},
	{models: []string{"gemini-2.5-flash-lite"}, least: 512, most: 24576, off: true},
	{models: []string{"gemini-2.5-pro"}, least: 128, most: 32768},
	{models: []string{"gemini-2.5"}, least: 1, most: 24576, off: true},
	{models: []string{"gemini-3-pro"}, levels: []string{"low", "high"}},
	{models: []string{"gemini-3-flash", "gemini-3.1-flash", "gemini-3.5-flash"}, levels: minimalToHigh},
}

// newest is the generation of every other model. Of the levels it has those that
// all models from Gemini 3.1 on accept.
var newest = generation{levels: lowToHigh}

// mostOutput is the most tokens that a model writes, its thoughts included.
const mostOutput = 65536

// name is the model's name without the collection that it is in.
func (m *model) name() string {
	name := m.Info().Name
	return name[strings.LastIndex(name, "/")+1:]
}

// old reports whether the model is older than Gemini 3.
func (m *model) old() bool {
	return strings.HasPrefix(m.name(), "gemini-1") || strings.HasPrefix(m.name(), "gemini-2")
}

func thinkingOf(name string) generation {
	for _, g := range generations {
		if slices.ContainsFunc(g.models, func(family string) bool { return wire.IsModel(name, family) }) {
			return g
		}
	}
	return newest
}

// think asks for thoughts in the way that the generation accepts, with effort and
// budget translated into each other; nil if it accepts none or none is asked for.
func (g generation) think(r agent.Reasoning) *thinking {
	if !r.Enabled || g.levels == nil && g.most == 0 {
		return nil
	}
	t := &thinking{Include: r.IncludeThoughts && r.Effort != "none"}
	if g.levels == nil {
		t.Budget = g.budget(r)
		return t
	}
	switch r.Effort {
	case "none":
		t.Level = g.levels[0] // nothing prevents these from thinking
		return t
	case "":
		r.Effort = wire.Effort(r.BudgetTokens)
	}
	t.Level = wire.Nearest(r.Effort, g.levels)
	return t
}

// budget returns the budget to send, nil to let the model decide.
func (g generation) budget(r agent.Reasoning) *int {
	n := r.BudgetTokens
	switch {
	case r.Effort == "none" && g.off:
		return new(int)
	case r.Effort == "none":
		n = g.least
	case n > 0:
	case r.Effort == "":
		return nil
	default:
		n = wire.Budget(r.Effort)
	}
	n = min(max(n, g.least), g.most)
	return &n
}

// room returns how many tokens of an answer are for thoughts beyond its text.
func (g generation) room(r agent.Reasoning) int {
	t := g.think(r)
	switch {
	case t == nil:
		return 0
	case t.Budget != nil:
		return *t.Budget
	case r.Effort == "none":
		return 0
	}
	return max(r.BudgetTokens, 0)
}
