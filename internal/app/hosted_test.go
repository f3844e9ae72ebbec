package app

import (
	"testing"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/price"
	"github.com/shoal-dev/shoal/agent/provider/script"
)

// Every form of the first agent is a config that can be hosted, and its models are
// known and cheap.
func TestFormsOfTheFirstAgent(t *testing.T) {
	for _, m := range models() {
		config, err := configOf(m)
		if err != nil {
			t.Fatal(err)
		}
		if config.Agent.ID != ShopAgent || config.Model.Name != m.Name || len(config.Tools) != 2 {
			t.Errorf("the config is %s", config.Canonical())
		}
		if m.Provider == scripted {
			continue
		}
		p, ok := price.Lookup(agent.ModelInfo{Provider: m.Provider, Name: m.Name})
		if !ok || p.Output > 3 {
			t.Errorf("%s of %s costs %+v, %v", m.Name, m.Provider, p, ok)
		}
	}
	if _, err := script.Parse(shopping); err != nil {
		t.Error(err)
	}
}
