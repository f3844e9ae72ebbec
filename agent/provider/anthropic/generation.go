package anthropic

import (
	"slices"
	"strings"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/internal/wire"
)

// The types of thinking that the wire knows.
const (
	thinkEnabled  = "enabled" // within a budget of tokens
	thinkAdaptive = "adaptive"
	thinkDisabled = "disabled"
	thinkBetween  = "between_tools"
)

// generation is what the models of one generation accept in a request. They
// refuse a request with anything else.
type generation struct {
	models   []string // families of models, see [wire.IsModel]
	budget   bool     // thinking within a budget
	adaptive bool     // thinking as much as the model decides
	off      string   // the type that prevents thinking; empty where nothing does
	efforts  []string // from the least to the greatest
	sampling bool     // temperature and top_p
	unforced bool     // no tool choice that forces a call
	output   int64    // the most tokens of an answer together with its thoughts
}

var (
	toHigh  = []string{"low", "medium", "high"}
	toXHigh = []string{"low", "medium", "high", "xhigh"}
)

// generations is what the vendor documents, as of November 2026.
var generations = []generation{
	{models: []string{"claude-3-opus", "claude-3-sonnet", "claude-3-haiku", "claude-3-5"}, sampling: true},
	{models: []string{"claude-opus-4", "claude-opus-4-0", "claude-opus-4-1"}, budget: true, off: thinkDisabled, sampling: true, output: 32_000},
	{
		models: []string{"claude-3-7", "claude-sonnet-4", "claude-sonnet-4-0", "claude-sonnet-4-5", "claude-haiku-4-5"},
		budget: true, off: thinkDisabled, sampling: true, output: 64_000,
	},
	{models: []string{"claude-opus-4-5"}, budget: true, off: thinkDisabled, efforts: toHigh, sampling: true, output: 64_000},
	{models: []string{"claude-sonnet-4-6"}, budget: true, adaptive: true, off: thinkDisabled, efforts: toHigh, sampling: true, output: 64_000},
	{models: []string{"claude-opus-4-6"}, budget: true, adaptive: true, off: thinkDisabled, efforts: toHigh, sampling: true, output: 128_000},
	{models: []string{"claude-mythos-preview"}, adaptive: true, efforts: toHigh, unforced: true, output: 128_000},
	{
		models:   []string{"claude-opus-4-7", "claude-opus-4-8", "claude-opus-5", "claude-sonnet-5"},
		adaptive: true, off: thinkDisabled, efforts: toXHigh, output: 128_000,
	},
	{models: []string{"claude-haiku-5-5"}, adaptive: true, off: thinkDisabled, efforts: toXHigh, unforced: true, output: 128_000},
	{models: []string{"claude-sonnet-5-5"}, adaptive: true, off: thinkBetween, efforts: toXHigh, unforced: true, output: 128_000},
}

// newest is the generation of every other Claude model: Opus 5.5, Fable, Mythos,
// and those that are not out yet.
var newest = generation{adaptive: true, efforts: toXHigh, unforced: true, output: 128_000}

// foreign is for models of other vendors, whose servers accept this wire. They get
// the settings as they are.
var foreign = generation{budget: true, adaptive: true, off: thinkDisabled, sampling: true}

// generationOf finds a model's generation by its name. Platforms write a prefix
// before Anthropic's own name, dots in its version and a revision after it.
func generationOf(name string) generation {
	at := strings.Index(name, "claude")
	if at < 0 {
		return foreign
	}
	name = strings.ReplaceAll(name[at:], ".", "-")
	for _, g := range generations {
		if slices.ContainsFunc(g.models, func(family string) bool { return wire.IsModel(name, family) }) {
			return g
		}
	}
	return newest
}

// minThinking is the smallest budget that the API accepts.
const minThinking = 1024

// think asks for thoughts in the way that the generation accepts, with effort and
// budget translated into each other.
func (g generation) think(p *params, extra map[string]any, r agent.Reasoning, c agent.ToolChoice) {
	switch {
	case !r.Enabled || !g.budget && !g.adaptive:
		return
	case r.Effort == "none" && g.off != "":
		extra["thinking"] = map[string]any{"type": g.off}
		return
	case r.Effort == "none":
		p.output().Effort = g.efforts[0]
		return
	}
	manual := g.budget && (r.BudgetTokens > 0 || !g.adaptive)
	if manual && (c.Mode == agent.ToolsRequired || c.Mode == agent.ToolsSpecific) {
		return // the API refuses budgets beside a forced call
	}
	thinking := map[string]any{"type": thinkAdaptive}
	if manual {
		thinking["type"], thinking["budget_tokens"] = thinkEnabled, g.fit(p, r)
	} else {
		g.widen(p, int64(r.BudgetTokens))
		if r.Effort == "" {
			r.Effort = wire.Effort(r.BudgetTokens)
		}
	}
	if r.IncludeThoughts {
		thinking["display"] = "summarized"
	}
	extra["thinking"] = thinking
	if r.Effort == "minimal" {
		r.Effort = "low" // no model of this wire knows it
	}
	if effort := wire.Nearest(r.Effort, g.efforts); effort != "" && (g.adaptive || g.efforts != nil) {
		p.output().Effort = effort
	}
}

// fit returns the budget of thoughts and makes room for it in max_tokens, as far
// as the model has some. What does not fit beside the answer is taken from the
// larger of the two.
func (g generation) fit(p *params, r agent.Reasoning) int64 {
	budget := int64(r.BudgetTokens)
	if budget <= 0 {
		budget = int64(wire.Budget(r.Effort))
	}
	budget = max(budget, minThinking)
	if g.output > 0 && p.MaxTokens+budget > g.output {
		budget = max(minThinking, min(budget, g.output-min(p.MaxTokens, g.output/2)))
	}
	g.widen(p, budget)
	return budget
}

// widen adds room for thoughts to max_tokens, up to what the model can write.
func (g generation) widen(p *params, tokens int64) {
	p.MaxTokens += tokens
	if g.output > 0 {
		p.MaxTokens = min(p.MaxTokens, max(g.output, p.MaxTokens-tokens))
	}
}

// sample sends temperature and top_p to models that accept them. Claude models
// that think do not.
func (g generation) sample(p *params, s agent.Settings, thinks bool) {
	if !g.sampling || thinks && g.output > 0 {
		return
	}
	p.Temperature, p.TopP = s.Temperature, s.TopP
}

// choice is the tool choice as far as the model accepts it: a model that refuses
// to be forced decides itself.
func (g generation) choice(c agent.ToolChoice) agent.ToolChoice {
	if g.unforced && (c.Mode == agent.ToolsRequired || c.Mode == agent.ToolsSpecific) {
		c.Mode = agent.ToolsAuto
	}
	return c
}
