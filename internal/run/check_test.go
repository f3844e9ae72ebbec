package run_test

import (
	"errors"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/agentconfig"
	"github.com/shoal-dev/shoal/internal/run"
)

// What no run could ever execute is refused before it is stored, by its path.
func TestCheckReportsInvalidTools(t *testing.T) {
	e, err := run.New(run.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Stop()
	const head = `{version: "1.0", agent: {id: bot, system: s}, model: `
	for _, c := range []struct{ config, field string }{
		{head + `{provider: openai, name: m}}`, ""},
		{head + `{provider: openai, name: m}, tools: [{name: ask, executionType: ai-agent, execution: {agentConfig: other}}]}`, ""},
		{head + `{provider: openai, name: m}, tools: [{name: sum, executionType: compute, execution: {operation: x, expression: "nothing(1)"}}]}`, "tools[0].execution.expression"},
		{head + `{provider: script, name: m}}`, "model.providerOptions.script"},
		{head + `{provider: script, name: m, providerOptions: {script: "sing la"}}}`, "model.providerOptions.script"},
		{head + `{provider: script, name: m, providerOptions: {script: "say la"}}}`, ""},
		{head + `{provider: openai, name: nobody-sells-this}, budget: {maxCostPerDay: 5}}`, "budget.maxCostPerDay"},
		{head + `{provider: openai, name: nobody-sells-this}}`, ""},
		{head + `{provider: openai, name: nobody-sells-this, price: {input: 1, output: 2}}, budget: {maxCostPerDay: 5}}`, ""},
		{head + `{provider: anthropic, name: claude-haiku-4-5}, budget: {maxCostPerDay: 5}}`, ""},
	} {
		config, err := agentconfig.Decode([]byte(c.config), agentconfig.Options{})
		if err != nil {
			t.Fatalf("%s: %v", c.config, err)
		}
		err = e.Check(config)
		var refused *shoal.Error
		switch {
		case c.field == "" && err != nil:
			t.Errorf("%s: %v", c.config, err)
		case c.field != "" && (!errors.As(err, &refused) || len(refused.Fields) != 1 || refused.Fields[0].Location != c.field):
			t.Errorf("%s: %v, want something about %s", c.config, err, c.field)
		}
	}
}
