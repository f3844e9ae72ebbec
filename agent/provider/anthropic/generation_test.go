package anthropic_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/anthropic"
	"github.com/shoal-dev/shoal/agent/provider/internal/wiretest"
)

// ask returns the settings in the body of a request to a model.
func ask(t *testing.T, name string, s agent.Settings, c agent.ToolChoice) string {
	t.Helper()
	v := newVendor(t, wiretest.Plays(short))
	m := anthropic.New(name, anthropic.Options{APIKey: testKey, BaseURL: v.URL, HTTPClient: wiretest.NewClient(t)})
	req := wiretest.Hello()
	req.Settings, req.ToolChoice, req.Tools = s, c, []agent.ToolSpec{now}
	if _, err := wiretest.Transcribe(t, m, req); err != nil {
		t.Fatal(err)
	}
	var body map[string]json.RawMessage
	if err := json.Unmarshal([]byte(v.Bodies[0]), &body); err != nil {
		t.Fatal(err)
	}
	var told []string
	for _, field := range []string{"max_tokens", "thinking", "output_config", "temperature", "top_p", "tool_choice"} {
		if value, ok := body[field]; ok {
			told = append(told, field+" "+string(value))
		}
	}
	return strings.Join(told, ", ")
}

// Each generation gets the settings that it accepts; it refuses all others. A
// budget and an effort say the same to models that know only one of them.
func TestGenerations(t *testing.T) {
	const plain = "max_tokens 8192, "
	effort := func(e string) agent.Reasoning { return agent.Reasoning{Enabled: true, Effort: e} }
	budget := func(n int) agent.Reasoning { return agent.Reasoning{Enabled: true, BudgetTokens: n} }
	for _, c := range []struct {
		models string // of one generation
		r      agent.Reasoning
		want   string
	}{
		{"claude-3-5-sonnet-20241022 claude-3-opus-20240229", effort("high"), "max_tokens 8192"},
		{"claude-3-5-sonnet-20241022", effort("none"), "max_tokens 8192"},

		{
			"claude-3-7-sonnet-20250219 claude-sonnet-4-20250514 claude-sonnet-4-0 claude-sonnet-4-5 claude-sonnet-4-5-20250929 claude-haiku-4-5 eu.anthropic.claude-sonnet-4-5-20250929-v1:0 claude-sonnet-4-5@20250929 anthropic/claude-sonnet-4.5",
			effort("high"), `max_tokens 32768, thinking {"budget_tokens":24576,"type":"enabled"}`,
		},
		{"claude-sonnet-4-5", effort(""), `max_tokens 16384, thinking {"budget_tokens":8192,"type":"enabled"}`},
		{"claude-sonnet-4-5", effort("minimal"), `max_tokens 9216, thinking {"budget_tokens":1024,"type":"enabled"}`},
		{"claude-sonnet-4-5", budget(500), `max_tokens 9216, thinking {"budget_tokens":1024,"type":"enabled"}`},
		{"claude-sonnet-4-5", effort("none"), plain + `thinking {"type":"disabled"}`},
		{"claude-opus-4-1 claude-opus-4-20250514", effort("xhigh"), `max_tokens 32000, thinking {"budget_tokens":23808,"type":"enabled"}`},

		{"claude-opus-4-5 claude-opus-4-5-20251101", effort("xhigh"), `max_tokens 40960, thinking {"budget_tokens":32768,"type":"enabled"}, output_config {"effort":"high"}`},
		{"claude-opus-4-5", budget(2000), `max_tokens 10192, thinking {"budget_tokens":2000,"type":"enabled"}`},

		{"claude-opus-4-6 claude-sonnet-4-6 anthropic.claude-opus-4-6-v1", effort("xhigh"), plain + `thinking {"type":"adaptive"}, output_config {"effort":"high"}`},
		{"claude-opus-4-6", budget(2000), `max_tokens 10192, thinking {"budget_tokens":2000,"type":"enabled"}`},
		{"claude-sonnet-4-6", effort("none"), plain + `thinking {"type":"disabled"}`},

		{
			"claude-opus-4-7 claude-opus-4-8 claude-opus-5 claude-opus-5-20270101 claude-sonnet-5 us.anthropic.claude-opus-4-7", effort("xhigh"),
			plain + `thinking {"type":"adaptive"}, output_config {"effort":"xhigh"}`,
		},
		{"claude-opus-4-7", budget(2000), `max_tokens 10192, thinking {"type":"adaptive"}, output_config {"effort":"low"}`},
		{"claude-opus-4-7", budget(200_000), `max_tokens 128000, thinking {"type":"adaptive"}, output_config {"effort":"xhigh"}`},
		{"claude-opus-4-7", effort(""), plain + `thinking {"type":"adaptive"}`},
		{"claude-opus-4-7 claude-opus-5 claude-haiku-5-5", effort("none"), plain + `thinking {"type":"disabled"}`},

		{"claude-sonnet-5-5", effort("none"), plain + `thinking {"type":"between_tools"}`},
		{"claude-mythos-preview", effort("xhigh"), plain + `thinking {"type":"adaptive"}, output_config {"effort":"high"}`},
		{
			"claude-opus-5-5 claude-fable-5-1 claude-mythos-5 claude-opus-6-1 claude-next", budget(10_000),
			`max_tokens 18192, thinking {"type":"adaptive"}, output_config {"effort":"medium"}`,
		},
		{"claude-opus-5-5 claude-fable-5 claude-next", effort("none"), plain + `output_config {"effort":"low"}`},

		{"glm-6", budget(2000), `max_tokens 10192, thinking {"budget_tokens":2000,"type":"enabled"}`},
		{"glm-6", effort("xhigh"), plain + `thinking {"type":"adaptive"}, output_config {"effort":"xhigh"}`},
	} {
		for _, name := range strings.Fields(c.models) {
			if got := ask(t, name, agent.Settings{Reasoning: c.r}, agent.ToolChoice{}); got != c.want {
				t.Errorf("%s with %+v:\ngot  %s\nwant %s", name, c.r, got, c.want)
			}
		}
	}
}

// What an answer may need beside its thoughts is left out where both together are
// refused.
func TestGenerationsRejectingSettingsWithThinking(t *testing.T) {
	high := agent.Reasoning{Enabled: true, Effort: "high"}
	required := agent.ToolChoice{Mode: agent.ToolsRequired}
	for _, c := range []struct {
		model  string
		r      agent.Reasoning
		choice agent.ToolChoice
		want   string
	}{
		{"claude-sonnet-4-5", agent.Reasoning{}, required, `max_tokens 8192, temperature 0.5, top_p 0.9, tool_choice {"type":"any"}`},
		{"claude-sonnet-4-5", agent.Reasoning{Enabled: true, Effort: "none"}, agent.ToolChoice{}, `max_tokens 8192, thinking {"type":"disabled"}, temperature 0.5, top_p 0.9`},
		{"claude-sonnet-4-5", high, agent.ToolChoice{}, `max_tokens 32768, thinking {"budget_tokens":24576,"type":"enabled"}`},
		{"claude-sonnet-4-5", high, required, `max_tokens 8192, temperature 0.5, top_p 0.9, tool_choice {"type":"any"}`},
		{"claude-opus-4-6", high, required, `max_tokens 8192, thinking {"type":"adaptive"}, output_config {"effort":"high"}, tool_choice {"type":"any"}`},
		{"claude-opus-4-7", agent.Reasoning{}, required, `max_tokens 8192, tool_choice {"type":"any"}`},
		{"claude-opus-4-7", agent.Reasoning{}, agent.ToolChoice{Mode: agent.ToolsSpecific, Name: "now"}, `max_tokens 8192, tool_choice {"name":"now","type":"tool"}`},
		{"claude-opus-5-5", agent.Reasoning{}, required, `max_tokens 8192`},
		{
			"claude-sonnet-5-5",
			agent.Reasoning{},
			agent.ToolChoice{Mode: agent.ToolsSpecific, Name: "now", Parallel: ptr(false)},
			`max_tokens 8192, tool_choice {"disable_parallel_tool_use":true,"type":"auto"}`,
		},
		{"glm-6", high, required, `max_tokens 8192, thinking {"type":"adaptive"}, output_config {"effort":"high"}, temperature 0.5, top_p 0.9, tool_choice {"type":"any"}`},
	} {
		s := agent.Settings{Temperature: ptr(0.5), TopP: ptr(0.9), Reasoning: c.r}
		if got := ask(t, c.model, s, c.choice); got != c.want {
			t.Errorf("%s with %+v and %+v:\ngot  %s\nwant %s", c.model, c.r, c.choice, got, c.want)
		}
	}
}
