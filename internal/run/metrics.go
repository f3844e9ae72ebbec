package run

import (
	"slices"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/metrics"
	"github.com/shoal-dev/shoal/internal/vendor"
)

// figures are the metrics of the executor.
type runMetrics struct {
	steps, tokens, cost metrics.Counters
}

func newMetrics(m *metrics.Set, e *Executor) runMetrics {
	m.GaugeFunc("shoal_runs_executing", "Runs that this server executes at this moment, without suspended runs.", func() float64 {
		e.mu.Lock()
		defer e.mu.Unlock()
		return float64(len(e.held))
	})
	return runMetrics{
		steps:  m.Counters("shoal_model_steps_total", "Steps of runs that are done, each with one answer of a model, by the model's provider.", "provider"),
		tokens: m.Counters("shoal_model_tokens_total", "Tokens that models read and wrote; cached ones count as input, too, and reasoning as output, too.", "provider", "kind"),
		cost:   m.Counters("shoal_model_cost_usd_total", "What model calls cost, where the price is known.", "provider"),
	}
}

// step counts a step that is stored. Only the provider is a label: the names of
// models are unbounded.
func (f *runMetrics) step(provider string, used shoal.Usage) {
	if !slices.Contains(providers, provider) {
		provider = "other"
	}
	f.steps.With(provider).Add(1)
	f.tokens.With(provider, "input").Add(float64(used.InputTokens))
	f.tokens.With(provider, "cached_input").Add(float64(used.CachedInputTokens))
	f.tokens.With(provider, "output").Add(float64(used.OutputTokens))
	f.tokens.With(provider, "reasoning").Add(float64(used.ReasoningTokens))
	f.cost.With(provider).Add(used.Cost)
}

var providers = []string{"openai", "openrouter", "anthropic", "gcp.gemini", "azure.ai.openai", "gcp.vertex_ai", "aws.bedrock", "ollama", vendor.Script}
