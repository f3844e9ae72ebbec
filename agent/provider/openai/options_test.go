package openai

import (
	"errors"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal/agent"
)

// Tools in the provider options are sent after the agent's own.
func TestToolsOfProviderOptions(t *testing.T) {
	others := []map[string]any{{"type": "web_search"}}
	for _, m := range []agent.Model{Chat("m", Options{BaseURL: "http://h"}), Responses("m", Options{BaseURL: "http://h"})} {
		req := *hello
		req.Tools = []agent.ToolSpec{{Name: "now"}}
		req.Settings.ProviderOptions = map[string]any{"tools": others}
		got := string(body(t, m, &req))
		if !strings.Contains(got, `,{"type":"web_search"}]`) || !strings.Contains(got, `"name":"now"`) || strings.Index(got, `"tools"`) > strings.Index(got, "hello") {
			t.Errorf("got %s", got)
		}
		req.Tools = nil
		if got := string(body(t, m, &req)); !strings.Contains(got, `"tools":[{"type":"web_search"}]`) {
			t.Errorf("without own tools: %s", got)
		}
		req.Settings.ProviderOptions = map[string]any{"tools": "web_search"}
		if _, err := encode(m.(*model).api.request(m.(*model), &req), req.Settings.ProviderOptions); !errors.Is(err, agent.ErrInvalidArgument) {
			t.Errorf("a list of tools that is a string: error %v, want invalid_argument", err)
		}
	}
}
