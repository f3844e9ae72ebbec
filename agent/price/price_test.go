package price_test

import (
	"math"
	"testing"
	"time"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/price"
)

func info(provider, name string) agent.ModelInfo {
	return agent.ModelInfo{Provider: provider, Name: name}
}

// The wanted costs were worked out by hand from the vendors' tables.
func TestCost(t *testing.T) {
	for name, c := range map[string]struct {
		provider, model string
		usage           agent.Usage
		want            float64
	}{
		"input and output":            {"openai", "gpt-5-mini", agent.Usage{InputTokens: 1_000_000, OutputTokens: 1_000_000}, 0.25 + 2},
		"a small call":                {"openai", "gpt-5-mini", agent.Usage{InputTokens: 1200, OutputTokens: 300}, 0.0003 + 0.0006},
		"cached input is cheaper":     {"openai", "gpt-5", agent.Usage{InputTokens: 10_000, CachedTokens: 8_000, OutputTokens: 1_000}, 0.0025 + 0.001 + 0.01},
		"thoughts are output already": {"openai", "o3", agent.Usage{InputTokens: 1_000, OutputTokens: 5_000, ReasoningTokens: 4_000}, 0.002 + 0.04},
		"without a cached rate":       {"openai", "gpt-5-pro", agent.Usage{InputTokens: 2_000, CachedTokens: 1_000, OutputTokens: 100}, 0.03 + 0.012},
		"cache writes cost more":      {"anthropic", "claude-sonnet-4-6", agent.Usage{InputTokens: 100_000, CachedTokens: 60_000, CacheWriteTokens: 30_000, OutputTokens: 2_000}, 0.03 + 0.018 + 0.1125 + 0.03},
		"at the limit":                {"anthropic", "claude-haiku-5-5", agent.Usage{InputTokens: 100_000, OutputTokens: 1_000}, 0.01 + 0.0005},
		"one over: all of it is long": {"anthropic", "claude-haiku-5-5", agent.Usage{InputTokens: 100_001, CachedTokens: 1, OutputTokens: 1_000}, 0.05 + 0.00000005 + 0.0025},
		"long, with a cache":          {"gcp.gemini", "gemini-2.5-pro", agent.Usage{InputTokens: 300_000, CachedTokens: 100_000, OutputTokens: 10_000}, 0.5 + 0.025 + 0.15},
		"no usage":                    {"openai", "gpt-5", agent.Usage{}, 0},
		"more cached than input":      {"openai", "gpt-5", agent.Usage{InputTokens: 10, CachedTokens: 1_000_000}, 0.125},
		"counts below zero":           {"openai", "gpt-5", agent.Usage{InputTokens: -5, CachedTokens: -5, CacheWriteTokens: -5, OutputTokens: -5}, 0},
		"unknown model":               {"openai", "gpt-99", agent.Usage{InputTokens: 1_000_000}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			got := price.Of(info(c.provider, c.model), c.usage)
			if math.Abs(got-c.want) > 1e-12 {
				t.Errorf("price.Of(%s, %+v) = %v, want %v", c.model, c.usage, got, c.want)
			}
		})
	}
}

func TestLookup(t *testing.T) {
	for _, c := range []struct{ provider, model, want string }{
		{"openai", "gpt-5-mini", "gpt-5-mini"},
		{"openai", "gpt-5-mini-2025-08-07", "gpt-5-mini"},
		{"openai", "GPT-5-Mini", "gpt-5-mini"},
		{"openai", "gpt-5.1-2025-11-13", "gpt-5.1"},
		{"openai", "gpt-5-chat-latest", "gpt-5-chat"},
		{"openai", "gpt-4o-2024-05-13", "gpt-4o-2024-05-13"},
		{"openai", "gpt-4o-2024-11-20", "gpt-4o"},
		{"openai", "gpt-4-1106-preview", "gpt-4-1106-preview"},
		{"openai", "gpt-4-0613", "gpt-4"},
		{"openai", "o1-preview", "o1"},
		{"azure.ai.openai", "gpt-5", "gpt-5"},
		{"anthropic", "claude-opus-4-5-20251101", "claude-opus-4-5"},
		{"anthropic", "claude-opus-4-20250514", "claude-opus-4"},
		{"anthropic", "claude-sonnet-4@20250514", "claude-sonnet-4"},
		{"anthropic", "claude-3-5-haiku-latest", "claude-3-5-haiku"},
		{"gcp.gemini", "models/gemini-2.5-flash", "gemini-2.5-flash"},
		{"gcp.gemini", "gemini-2.5-flash-preview-09-2025", "gemini-2.5-flash"},
		{"gcp.gemini", "gemini-2.5-flash-lite-preview-06-17", "gemini-2.5-flash-lite"},
		{"gcp.vertex_ai", "gemini-2.0-flash-001", "gemini-2.0-flash"},
		{"openrouter", "anthropic/claude-opus-4.5", "claude-opus-4-5"},
		{"openrouter", "openai/gpt-4.1-mini", "gpt-4.1-mini"},
		{"openai", "google/gemini-3-pro-preview", "gemini-3-pro"}, // a gateway that speaks OpenAI's protocol

		// A neighbour's price would be a wrong price.
		{"openai", "gpt-5-giga", ""},
		{"openai", "gpt-5-min", ""},
		{"openai", "gpt-5-mini-audio", ""},
		{"openai", "gpt-4o-realtime-preview", ""},
		{"openai", "gpt", ""},
		{"openai", "", ""},
		{"anthropic", "claude-opus-4-9", ""},
		{"anthropic", "claude-opus-4-9-20261101", ""},
		{"anthropic", "gpt-5", ""},
		{"anthropic", "claude-opus-5-fast", ""},
		{"", "gpt-5", ""},
		{"script", "gpt-5", ""},
		{"openrouter", "nobody/gpt-5", ""},
		{"openrouter", "gpt-5", ""},
		{"openrouter", "openai/gpt-5:free", ""},
		{"openrouter", "/gpt-5", ""},
		{"aws.bedrock", "us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5"},
		{"aws.bedrock", "anthropic.claude-opus-5", "claude-opus-5"},
		{"aws.bedrock", "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-3-5-sonnet-20241022-v2:0", "claude-3-5-sonnet"},
		{"aws.bedrock", "anthropic.claude-giga-v1:0", ""},
		{"aws.bedrock", "amazon.nova-pro-v1:0", ""},
		{"gcp.vertex_ai", "claude-sonnet-4-5@20250929", "claude-sonnet-4-5"},
		{"openai", "us.anthropic.claude-opus-5", ""},
	} {
		p, ok := price.Lookup(info(c.provider, c.model))
		if ok != (c.want != "") || p.Name != c.want && ok {
			t.Errorf("price.Lookup(%q, %q) = %q, %v; want %q", c.provider, c.model, p.Name, ok, c.want)
		}
	}
}

// An entry that breaks one of these rules was most likely mistyped.
func TestBuiltinPricesAreValid(t *testing.T) {
	list := price.Default()
	if _, err := time.Parse(time.DateOnly, list.AsOf()); err != nil || list.Source() == "" {
		t.Errorf("the list is as of %q, from %q", list.AsOf(), list.Source())
	}
	if n := len(list.All()); n < 40 {
		t.Errorf("the list has %d models, want at least 40", n)
	}
	for _, p := range list.All() {
		if got, ok := price.Lookup(info(p.Provider, p.Name)); !ok || got != p {
			t.Errorf("%s %s is not found by its own name: %+v", p.Provider, p.Name, got)
		}
		checkRates(t, p.Name, p.Rates)
		if p.LongOver == 0 {
			continue
		}
		checkRates(t, p.Name+" long", p.Long)
		if p.LongOver < 100_000 {
			t.Errorf("%s: the long rates begin at %d tokens", p.Name, p.LongOver)
		}
		if p.Long.Input <= p.Input || p.Long.Output <= p.Output || p.Long.Cached < p.Cached || p.Long.CacheWrite < p.CacheWrite {
			t.Errorf("%s: long calls are not dearer: %+v, %+v", p.Name, p.Rates, p.Long)
		}
	}
}

func checkRates(t *testing.T, name string, r price.Rates) {
	t.Helper()
	if r.Input <= 0 || r.Output < r.Input || r.Output > 20*r.Input {
		t.Errorf("%s: input %v, output %v", name, r.Input, r.Output)
	}
	if r.Cached <= 0 || r.Cached > r.Input {
		t.Errorf("%s: input %v, cached %v", name, r.Input, r.Cached)
	}
	if r.CacheWrite < r.Input || r.CacheWrite > 2*r.Input {
		t.Errorf("%s: input %v, cacheWrite %v", name, r.Input, r.CacheWrite)
	}
}
