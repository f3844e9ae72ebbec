package openai

import (
	"fmt"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/internal/wiretest"
)

// Each request of a conversation begins with the request before it, across turns,
// steps, failures and cancellations. Servers of the chat wire show their thoughts.
func TestChatPromptPrefixIsStable(t *testing.T) {
	for _, field := range []string{fieldReasoningContent, fieldReasoning} {
		t.Run(field, func(t *testing.T) {
			wiretest.PromptsGrow(t,
				func(v *wiretest.Vendor) agent.Model {
					return Chat("test", Options{BaseURL: v.URL + "/v1", HTTPClient: wiretest.NewClient(t)})
				},
				func(a wiretest.Answer) string {
					var b strings.Builder
					chunk := func(format string, args ...any) {
						fmt.Fprintf(&b, "data: {\"choices\":[{\"index\":0,%s}]}\n\n", fmt.Sprintf(format, args...))
					}
					if a.Sealed != "" {
						chunk(`"delta":{%q:%q}`, field, a.Thought+a.Sealed)
					}
					if a.Text != "" {
						chunk(`"delta":{"content":%q}`, a.Text)
					}
					reason := "stop"
					for i, c := range a.Calls {
						chunk(`"delta":{"tool_calls":[{"index":%d,"id":%q,"type":"function","function":{"name":%q,"arguments":%q}}]}`, i, c.ID, c.Name, c.Arguments)
						reason = "tool_calls"
					}
					chunk(`"delta":{},"finish_reason":%q`, reason)
					return b.String() + "data: [DONE]\n\n"
				},
				func(body string) string { return wiretest.Prompt(t, body, "messages", "", "tools") })
		})
	}
}

func TestResponsesPromptPrefixIsStable(t *testing.T) {
	wiretest.PromptsGrow(t,
		func(v *wiretest.Vendor) agent.Model {
			return Responses("test", Options{BaseURL: v.URL + "/v1", HTTPClient: wiretest.NewClient(t)})
		},
		func(a wiretest.Answer) string {
			var items []string
			if a.Sealed != "" {
				items = append(items, fmt.Sprintf(`{"type":"reasoning","id":"rs_%s","encrypted_content":%q,"summary":[{"type":"summary_text","text":%q}]}`, a.Sealed, a.Sealed, a.Thought))
			}
			annotations := "[]"
			if a.Search != "" {
				items = append(items, fmt.Sprintf(`{"type":"web_search_call","id":%q,"status":"completed","action":{"type":"search","query":"a<b %s"}}`, a.Search, a.Search))
				annotations = fmt.Sprintf(`[{"type":"url_citation","start_index":0,"end_index":4,"url":"https://h/%s"}]`, a.Search)
			}
			if a.Text != "" {
				items = append(items, fmt.Sprintf(`{"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":%q,"annotations":%s}]}`, a.Text, annotations))
			}
			for _, c := range a.Calls {
				items = append(items, fmt.Sprintf(`{"type":"function_call","id":"fc_%s","call_id":%q,"name":%q,"arguments":%q}`, c.ID, c.ID, c.Name, c.Arguments))
			}
			var b strings.Builder
			for i, item := range items {
				fmt.Fprintf(&b, "data: {\"type\":\"response.output_item.done\",\"output_index\":%d,\"item\":%s}\n\n", i, item)
			}
			fmt.Fprintf(&b, "data: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\",\"output\":[%s]}}\n\n", strings.Join(items, ","))
			return b.String()
		},
		func(body string) string {
			return wiretest.Prompt(t, body, "input", "", "tools", "instructions")
		})
}
