package google_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/internal/wiretest"
)

// What the provider's own tools did goes back as it came, in its place, unless the
// answer was cut short.
func TestServerPartsGoBack(t *testing.T) {
	const code = `{"executableCode":{"language":"PYTHON","code":"print(1<2)"},"thoughtSignature":"QUJD"}`
	const outcome = `{"codeExecutionResult":{"outcome":"OUTCOME_OK","output":"True\n"}}`
	v := newVendor(t, wiretest.Plays(events(
		`{"candidates":[{"content":{"role":"model","parts":[{"text":"Let me compute."},`+code+`]}}]}`,
		`{"candidates":[{"content":{"role":"model","parts":[`+outcome+`,{"text":"It is true."}]},"finishReason":"STOP"}]}`,
	)))
	a, err := agent.New(v.model(t), agent.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c := agent.NewConversation()
	for _, text := range []string{"1 < 2?", "thanks"} {
		if r, err := a.Run(t.Context(), c, agent.Say(text)); err != nil || r.Text() != "Let me compute.It is true." {
			t.Fatalf("result %+v, %v", r, err)
		}
	}
	want := `{"role":"model","parts":[{"text":"Let me compute."},` + code + `,` + outcome + `,{"text":"It is true."}]}`
	if got := strings.ReplaceAll(v.Bodies[1], `\u003c`, "<"); !strings.Contains(got, want) {
		t.Errorf("body %s lacks %s", got, want)
	}
	messages, err := c.Messages(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	cut := messages[1]
	cut.Interrupted = true
	if _, err := wiretest.Transcribe(t, v.model(t), &agent.Request{Messages: []agent.Message{messages[0], cut, agent.Say("so?")}}); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(v.Bodies[2], "executableCode") || !strings.Contains(v.Bodies[2], "It is true.") {
		t.Errorf("an answer that was cut short: %s", v.Bodies[2])
	}
}

// Tools in the provider options are sent after the agent's own.
func TestToolsOfProviderOptions(t *testing.T) {
	v := newVendor(t, wiretest.Plays(short))
	req := wiretest.Hello()
	req.Tools = []agent.ToolSpec{now}
	req.Settings.ProviderOptions = map[string]any{"tools": []any{map[string]any{"googleSearch": struct{}{}}}}
	for range 2 {
		if _, err := wiretest.Transcribe(t, v.model(t), req); err != nil {
			t.Fatal(err)
		}
		req.Tools = nil
	}
	for i, want := range []string{`[{"functionDeclarations":[{"name":"now"}]},{"googleSearch":{}}]`, `[{"googleSearch":{}}]`} {
		var body struct {
			Tools json.RawMessage `json:"tools"`
		}
		if err := json.Unmarshal([]byte(v.Bodies[i]), &body); err != nil {
			t.Fatal(err)
		}
		if string(body.Tools) != want {
			t.Errorf("tools %s, want %s", body.Tools, want)
		}
	}
	req.Settings.ProviderOptions["tools"] = "googleSearch"
	if _, err := wiretest.Transcribe(t, v.model(t), req); !errors.Is(err, agent.ErrInvalidArgument) || len(v.Bodies) != 2 {
		t.Errorf("a list of tools that is a string: error %v, want invalid_argument", err)
	}
}
