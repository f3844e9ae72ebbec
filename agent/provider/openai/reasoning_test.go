package openai

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal/agent"
)

// Each family of the vendor's models gets an effort that it accepts, on both wires;
// others get what was set.
func TestReasoningEffort(t *testing.T) {
	budget := func(n int) agent.Reasoning { return agent.Reasoning{Enabled: true, BudgetTokens: n} }
	effort := func(e string) agent.Reasoning { return agent.Reasoning{Enabled: true, Effort: e} }
	for _, c := range []struct {
		models string
		r      agent.Reasoning
		want   string
	}{
		{"gpt-4o gpt-4.1-mini chatgpt-4o-latest gpt-5-chat-latest ft:gpt-4o:x openai/gpt-4o", effort("high"), ""},
		{"o3 o4-mini o3-mini-2025-01-31 gpt-oss-120b gpt-oss:20b gpt-5-codex gpt-5.1-codex-mini", effort("minimal"), "low"},
		{"o3 gpt-5-codex", effort("none"), "low"},
		{"o3 gpt-5 gpt-5.1", effort("xhigh"), "high"},
		{"gpt-5 gpt-5-mini gpt-5-2025-08-07", effort("minimal"), "minimal"},
		{"gpt-5 gpt-5-nano", effort("none"), "minimal"},
		{"gpt-5-pro", effort("low"), "high"},
		{"gpt-5.2-pro", effort("none"), "medium"},
		{"gpt-5.1 gpt-5.2 gpt-5.4-mini gpt-5.6-sol gpt-6", effort("none"), "none"},
		{"gpt-5.1 gpt-5.2 gpt-6", effort("minimal"), "low"},
		{"gpt-5.1-codex-max gpt-5.3-codex gpt-5.6 openai/gpt-5.5 gpt-6", effort("xhigh"), "xhigh"},
		{"gpt-5 gpt-5.2 o3", budget(2000), "low"},
		{"gpt-5 gpt-5.2 o3", budget(10_000), "medium"},
		{"gpt-5 o3", budget(50_000), "high"},
		{"gpt-5.2", budget(50_000), "xhigh"},
		{"gpt-5", agent.Reasoning{Enabled: true, Effort: "low", BudgetTokens: 50_000}, "low"},
		{"gpt-5 gpt-5.2", effort(""), ""},
		{"gpt-5", agent.Reasoning{Effort: "high"}, ""},
		{"qwen3 deepseek-chat", effort("xhigh"), "xhigh"},
		{"qwen3 deepseek-chat", budget(2000), ""},
	} {
		for _, name := range strings.Fields(c.models) {
			req := *hello
			req.Settings.Reasoning = c.r
			var chat struct {
				Effort string `json:"reasoning_effort"`
			}
			var responses struct {
				Reasoning struct {
					Effort string `json:"effort"`
				} `json:"reasoning"`
			}
			if err := json.Unmarshal(body(t, Chat(name, Options{BaseURL: "http://h"}), &req), &chat); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(body(t, Responses(name, Options{BaseURL: "http://h"}), &req), &responses); err != nil {
				t.Fatal(err)
			}
			if chat.Effort != c.want || responses.Reasoning.Effort != c.want {
				t.Errorf("%s with %+v gets %q and %q, want %q", name, c.r, chat.Effort, responses.Reasoning.Effort, c.want)
			}
		}
	}
	req := *hello
	req.Settings.Reasoning = agent.Reasoning{Enabled: true, Effort: "low", Summary: "auto"}
	if got := string(body(t, Responses("gpt-4o", Options{BaseURL: "http://h"}), &req)); strings.Contains(got, "reasoning") {
		t.Errorf("a model that does not think gets %s", got)
	}
}
