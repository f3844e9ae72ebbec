package run_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shoal-dev/shoal/internal/agentconfig"
	"github.com/shoal-dev/shoal/internal/run"
)

func decoded(t *testing.T, settings string) *agentconfig.Config {
	t.Helper()
	c, err := agentconfig.Decode([]byte(`{"version":"1.0","agent":{"id":"bot","system":"Serve."},`+settings+`}`), agentconfig.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Unlimited in a configuration is unlimited for the agent; what an author omits is
// the contract's default.
func TestAgentOptions(t *testing.T) {
	model := `"model":{"provider":"script","name":"s","providerOptions":{"script":"say hi","x":1}}`
	o := run.AgentOptions(decoded(t, model+`,"loop":{"toolTimeoutMs":0,"maxConsecutiveErrors":0,"maxIdenticalCalls":0,"maxParallelTools":0}`))
	if o.ToolTimeout >= 0 || o.MaxErrors >= 0 || o.MaxIdenticalCalls >= 0 || o.MaxParallelTools < 1000 {
		t.Errorf("without limits: %+v", o)
	}
	if d := cmp.Diff(map[string]any{"x": 1.0}, o.Settings.ProviderOptions); d != "" {
		t.Error(d)
	}
	o = run.AgentOptions(decoded(t, model))
	if o.MaxSteps != 5 || o.ToolTimeout.Seconds() != 30 || o.MaxErrors != 3 || o.MaxIdenticalCalls != 5 || o.MaxParallelTools != 8 || o.Continuation != 0 {
		t.Errorf("by default: %+v", o)
	}
}
