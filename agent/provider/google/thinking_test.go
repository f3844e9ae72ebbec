package google_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/google"
	"github.com/shoal-dev/shoal/agent/provider/internal/wiretest"
)

// Each generation gets levels or budgets that it accepts; it refuses all others.
func TestThinking(t *testing.T) {
	effort := func(e string) agent.Reasoning { return agent.Reasoning{Enabled: true, Effort: e} }
	budget := func(n int) agent.Reasoning { return agent.Reasoning{Enabled: true, BudgetTokens: n} }
	for _, c := range []struct {
		models string
		r      agent.Reasoning
		want   string
		output int // of 1000 tokens that were asked for
	}{
		{"gemini-2.0-flash models/gemini-1.5-pro gemma-3-27b-it", effort("high"), ``, 1000},

		{"gemini-2.5-flash models/gemini-2.5-flash-preview-09-2025", effort(""), `{}`, 1000},
		{"gemini-2.5-flash gemini-2.5-flash-lite", effort("none"), `{"thinkingBudget":0}`, 1000},
		{"gemini-2.5-pro", effort("none"), `{"thinkingBudget":128}`, 1128},
		{"gemini-2.5-flash gemini-2.5-pro", effort("minimal"), `{"thinkingBudget":1024}`, 2024},
		{"gemini-2.5-flash", effort("medium"), `{"thinkingBudget":8192}`, 9192},
		{"gemini-2.5-flash", effort("xhigh"), `{"thinkingBudget":24576}`, 25576},
		{"gemini-2.5-pro", effort("xhigh"), `{"thinkingBudget":32768}`, 33768},
		{"gemini-2.5-flash", budget(100_000), `{"thinkingBudget":24576}`, 25576},
		{"gemini-2.5-flash-lite", budget(100), `{"thinkingBudget":512}`, 1512},

		{"gemini-3-pro-preview", effort("medium"), `{"thinkingLevel":"high"}`, 1000},
		{"gemini-3-flash-preview gemini-3.5-flash gemini-3.1-flash-lite", effort("minimal"), `{"thinkingLevel":"minimal"}`, 1000},
		{"gemini-3-flash-preview", effort("none"), `{"thinkingLevel":"minimal"}`, 1000},
		{"gemini-3-pro-preview gemini-3.1-pro-preview gemini-3.8-flash gemini-4-pro gemini-flash-latest", effort("none"), `{"thinkingLevel":"low"}`, 1000},
		{"gemini-3.1-pro-preview gemini-3.8-flash gemini-4-pro", effort("minimal"), `{"thinkingLevel":"low"}`, 1000},
		{"gemini-3.1-pro-preview gemini-4-pro", effort("xhigh"), `{"thinkingLevel":"high"}`, 1000},
		{"gemini-3.1-pro-preview gemini-4-pro", budget(10_000), `{"thinkingLevel":"medium"}`, 11_000},
		{"gemini-4-pro", budget(1_000_000), `{"thinkingLevel":"high"}`, 65_536},
		{"gemini-4-pro", agent.Reasoning{Enabled: true, IncludeThoughts: true}, `{"includeThoughts":true}`, 1000},
		{"gemini-4-pro", agent.Reasoning{Effort: "high"}, ``, 1000},
	} {
		for _, name := range strings.Fields(c.models) {
			v := newVendor(t, wiretest.Plays(short))
			m := google.New(name, google.Options{APIKey: testKey, BaseURL: v.URL, HTTPClient: wiretest.NewClient(t)})
			req := wiretest.Hello()
			req.Settings = agent.Settings{MaxOutputTokens: 1000, Reasoning: c.r}
			if _, err := wiretest.Transcribe(t, m, req); err != nil {
				t.Fatal(err)
			}
			var body struct {
				Config struct {
					Output   int             `json:"maxOutputTokens"`
					Thinking json.RawMessage `json:"thinkingConfig"`
				} `json:"generationConfig"`
			}
			if err := json.Unmarshal([]byte(v.Bodies[0]), &body); err != nil {
				t.Fatal(err)
			}
			if string(body.Config.Thinking) != c.want || body.Config.Output != c.output {
				t.Errorf("%s with %+v gets %s and %d tokens, want %s and %d", name, c.r, body.Config.Thinking, body.Config.Output, c.want, c.output)
			}
		}
	}
}
