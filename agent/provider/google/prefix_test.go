package google_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/google"
	"github.com/shoal-dev/shoal/agent/provider/internal/wiretest"
)

// Each request of a conversation begins with the request before it, across turns,
// steps, failures and cancellations.
func TestPromptPrefixIsStable(t *testing.T) {
	wiretest.PromptsGrow(t,
		func(v *wiretest.Vendor) agent.Model {
			return google.New("gemini-test", google.Options{APIKey: testKey, BaseURL: v.URL, HTTPClient: wiretest.NewClient(t)})
		},
		func(a wiretest.Answer) string {
			var parts []string
			signature := ""
			if a.Sealed != "" {
				signature = fmt.Sprintf(`,"thoughtSignature":%q`, base64.StdEncoding.EncodeToString([]byte(a.Sealed)))
			}
			if a.Thought != "" {
				parts = append(parts, fmt.Sprintf(`{"text":%q,"thought":true%s}`, a.Thought, signature))
			}
			if a.Search != "" {
				parts = append(parts, fmt.Sprintf(`{"executableCode":{"id":%q,"language":"PYTHON","code":"1 < 2"}}`, a.Search),
					fmt.Sprintf(`{"codeExecutionResult":{"id":%q,"outcome":"OUTCOME_OK","output":"True"}}`, a.Search))
			}
			if a.Text != "" {
				parts = append(parts, fmt.Sprintf(`{"text":%q%s}`, a.Text, signature))
			}
			for _, c := range a.Calls {
				parts = append(parts, fmt.Sprintf(`{"functionCall":{"id":%q,"name":%q,"args":%s}%s}`, c.ID, c.Name, c.Arguments, signature))
				signature = "" // of parallel calls only the first one is signed
			}
			return events(fmt.Sprintf(`{"candidates":[{"content":{"role":"model","parts":[%s]},"finishReason":"STOP"}]}`, strings.Join(parts, ",")))
		},
		func(body string) string {
			sealed := strings.ReplaceAll(wiretest.Prompt(t, body, "contents", "parts", "tools", "systemInstruction"), "c2VhbGVkL", "sealed-L")
			return sealed
		})
}
