package agent_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/price"
	"github.com/shoal-dev/shoal/agent/provider/script"
)

// A bound of costs that could never be reached is refused.
func TestMaxCostNeedsAPrice(t *testing.T) {
	for _, c := range []struct {
		provider, model string
		known           bool
	}{{"anthropic", "claude-haiku-4-5", true}, {"anthropic", "nobody-sells-this", false}, {"script", "script", false}} {
		model := priced{script.New(), agent.ModelInfo{Provider: c.provider, Name: c.model}}
		_, err := agent.New(model, agent.Options{Price: price.Of, MaxCost: 1})
		var refused *agent.Error
		if c.known != (err == nil) {
			t.Errorf("%s: %v", c.model, err)
		}
		if !c.known && (!errors.As(err, &refused) || refused.Fields[0].Location != "MaxCost" || !strings.Contains(refused.Fields[0].Message, c.model)) {
			t.Errorf("%s: %v does not say what is missing", c.model, err)
		}
		if _, err := agent.New(model, agent.Options{Price: price.Of, MaxTokens: 1}); err != nil {
			t.Errorf("%s without the bound: %v", c.model, err)
		}
	}
}

type priced struct {
	agent.Model
	info agent.ModelInfo
}

func (p priced) Info() agent.ModelInfo { return p.info }

// Where another model answers that has no price, the turn says so once.
func TestFallbackModelWithoutPriceIsReported(t *testing.T) {
	text := "call echo {\"a\":\"x\"}\nusage 10 2\n---\nsay hi\nusage 10 2"
	first := named{script.New(), "dear", &agent.ModelError{Class: agent.ClassOverloaded}}
	second := named{script.New(parse(t, text)...), "unknown", nil}
	prices := map[string]float64{"dear": 1}
	o := agent.Options{MaxCost: 1, Price: func(m agent.ModelInfo, u agent.Usage) float64 { return prices[m.Name] * float64(u.InputTokens) }}
	events := all(t, newAgentOn(t, fallback{first, second}, o), t.Context(), agent.NewConversation(), agent.Say("go"))
	if told := of[agent.Warning](events); len(told) != 1 || told[0].Source != "price" || !strings.Contains(told[0].Err.Error(), "unknown") {
		t.Errorf("the turn warns %+v, want once about unknown", told)
	}
	prices["unknown"] = 0.01
	second = named{script.New(parse(t, text)...), "unknown", nil}
	events = all(t, newAgentOn(t, fallback{first, second}, o), t.Context(), agent.NewConversation(), agent.Say("go"))
	if told := of[agent.Warning](events); len(told) != 0 {
		t.Errorf("with a price the turn warns %+v", told)
	}
}
