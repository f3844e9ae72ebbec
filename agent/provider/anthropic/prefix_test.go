package anthropic_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/anthropic"
	"github.com/shoal-dev/shoal/agent/provider/internal/wiretest"
)

var cacheMark = regexp.MustCompile(`"cache_control":\{[^}]*\},?|,"cache_control":\{[^}]*\}`)

// Each request of a conversation begins with the request before it, across turns,
// steps, failures and cancellations. The cache markers move; they do not belong to the
// prompt.
func TestPromptPrefixIsStable(t *testing.T) {
	wiretest.PromptsGrow(t,
		func(v *wiretest.Vendor) agent.Model {
			return anthropic.New("claude-test", anthropic.Options{APIKey: testKey, BaseURL: v.URL, HTTPClient: wiretest.NewClient(t)})
		},
		func(a wiretest.Answer) string {
			said, n := []string{start}, 0
			block := func(block string, deltas ...string) {
				said = append(said, fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":%s}`, n, block))
				for _, d := range deltas {
					said = append(said, fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":%s}`, n, d))
				}
				said = append(said, shut(n))
				n++
			}
			if a.Resumes != "" {
				block(searchResult(a.Resumes))
			}
			if a.Sealed != "" {
				block(`{"type":"thinking","thinking":"","signature":""}`,
					fmt.Sprintf(`{"type":"thinking_delta","thinking":%q}`, a.Thought), fmt.Sprintf(`{"type":"signature_delta","signature":%q}`, a.Sealed))
			}
			cited := []string{fmt.Sprintf(`{"type":"text_delta","text":%q}`, a.Text)}
			reason := "end_turn"
			switch {
			case a.Paused:
				reason = "pause_turn"
			case a.Search != "":
				block(searchUse(a.Search), `{"type":"input_json_delta","partial_json":"{\"query\": \"a<b\"}"}`)
				block(searchResult(a.Search))
				cited = append(cited, citation(a.Search))
			}
			if a.Text != "" {
				block(`{"type":"text","text":""}`, cited...)
			}
			if a.Paused {
				block(searchUse(a.Search), `{"type":"input_json_delta","partial_json":"{\"query\": \"a<b\"}"}`)
			}
			for _, c := range a.Calls {
				block(fmt.Sprintf(`{"type":"tool_use","id":%q,"name":%q,"input":{}}`, c.ID, c.Name), fmt.Sprintf(`{"type":"input_json_delta","partial_json":%q}`, c.Arguments))
				reason = "tool_use"
			}
			return events(append(said, end(reason), stop)...)
		},
		func(body string) string {
			p := wiretest.Prompt(t, cacheMark.ReplaceAllString(body, ""), "messages", "content", "tools", "system")
			return strings.ReplaceAll(p, ",}", "}")
		})
}
