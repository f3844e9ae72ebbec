package telemetry

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/shoal-dev/shoal/agent"
)

// secret returns the nth planted secret.
func secret(n int) string { return fmt.Sprintf("hunter-%02d-secret", n) }

const secrets = 16

// tellSecrets runs a turn whose every content holds a secret.
func tellSecrets(w *world) {
	user := agent.Message{Role: agent.User, Parts: []agent.Part{
		agent.Text(secret(1)),
		{Type: agent.FilePart, File: &agent.File{Name: secret(2), MediaType: "text/plain", Data: []byte(secret(3)), URL: "https://x/" + secret(4)}},
	}}
	call := agent.ToolCall{ID: "k1", Name: "weather", Arguments: `{"city":"` + secret(5) + `"}`}
	answer := agent.Message{Role: agent.Assistant, Parts: []agent.Part{
		{Type: agent.ReasoningPart, Text: secret(6), Opaque: json.RawMessage(`"` + secret(7) + `"`)},
		agent.Text(secret(8)),
		{Type: agent.CallPart, Call: &call},
	}}
	result := agent.ToolResult{CallID: "k1", Name: "weather", Status: agent.ResultFailed, Text: secret(9)}
	spec := agent.ToolSpec{Name: "weather", Description: secret(10), Schema: json.RawMessage(`{"title":"` + secret(11) + `"}`)}
	request := &agent.Request{
		Instructions: secret(12), Tools: []agent.ToolSpec{spec},
		Messages: []agent.Message{user, answer, {Role: agent.ToolRole, Parts: []agent.Part{{Type: agent.ResultPart, Result: &result}}}},
		Settings: agent.Settings{ProviderOptions: map[string]any{"key": secret(13)}},
	}
	failure := &agent.ModelError{Class: agent.ClassInvalid, Code: secret(14), Detail: secret(15), Err: errors.New(secret(16))}

	turn, endTurn := w.observer.Start(w.t.Context(), agent.Operation{Kind: agent.OpTurn, Agent: "helper", Input: []agent.Message{user}})
	step, endStep := w.observer.Start(turn, agent.Operation{Kind: agent.OpStep})
	_, endModel := w.observer.Start(step, agent.Operation{Kind: agent.OpModel, Model: gpt, Request: request})
	endModel(agent.OperationResult{Message: &answer, Finish: agent.FinishCalls, Err: failure})
	_, endTool := w.observer.Start(step, agent.Operation{Kind: agent.OpTool, Call: call, Tool: spec})
	endTool(agent.OperationResult{Result: result, Err: errors.New(secret(9))})
	endStep(agent.OperationResult{Message: &answer, Err: failure})
	endTurn(agent.OperationResult{Outcome: agent.Failed, Reason: agent.ReasonInvalidRequest, Err: failure})
}

func TestSecretsStayOutByDefault(t *testing.T) {
	w := newWorld(t, Options{})
	tellSecrets(w)
	written := w.everything()
	if !strings.Contains(written, "execute_tool weather") || !strings.Contains(written, metricExecuteTool) {
		t.Fatalf("nothing was written:\n%s", written)
	}
	for n := 1; n <= secrets; n++ {
		if strings.Contains(written, secret(n)) {
			t.Errorf("%s got out:\n%s", secret(n), written)
		}
	}
}

// With Content the texts are there; what no reader needs is not: bytes and
// addresses of files, opaque parts, a provider's options, the words of errors.
func TestContent(t *testing.T) {
	w := newWorld(t, Options{Content: true})
	tellSecrets(w)
	written := w.everything()
	for n := 1; n <= secrets; n++ {
		switch n {
		case 3, 4, 7, 13, 14, 15, 16:
			if strings.Contains(written, secret(n)) {
				t.Errorf("%s got out", secret(n))
			}
		default:
			if !strings.Contains(written, secret(n)) {
				t.Errorf("%s is missing", secret(n))
			}
		}
	}
	model, tool := attrs(w.span("chat gpt-5-mini")), attrs(w.span("execute_tool weather"))
	for key, want := range map[string]string{
		"gen_ai.system_instructions": `[{"content":"` + secret(12) + `","type":"text"}]`,
		"gen_ai.output.messages": `[{"finish_reason":"error","parts":[{"content":"` + secret(6) + `","type":"reasoning"},{"content":"` + secret(8) +
			`","type":"text"},{"arguments":"{\"city\":\"` + secret(5) + `\"}","id":"k1","name":"weather","type":"tool_call"}],"role":"assistant"}]`,
		"gen_ai.tool.definitions": `[{"description":"` + secret(10) + `","name":"weather","parameters":{"title":"` + secret(11) + `"},"type":"function"}]`,
	} {
		if got := model[key]; got != want {
			t.Errorf("%s is\n%v, want\n%s", key, got, want)
		}
	}
	if got, want := tool["gen_ai.tool.call.arguments"], `{"city":"`+secret(5)+`"}`; got != want {
		t.Errorf("arguments are %v, want %s", got, want)
	}
	if got := tool["gen_ai.tool.call.result"]; got != secret(9) {
		t.Errorf("the result is %v", got)
	}
	for n, s := range w.metrics() {
		for _, p := range s {
			if strings.Contains(asText(t, p.attrs), "secret") {
				t.Errorf("metric %s has content: %v", n, p.attrs)
			}
		}
	}
}

func TestTextsAreTruncated(t *testing.T) {
	for _, in := range []string{strings.Repeat("a", maxText), strings.Repeat("a", maxText+1), strings.Repeat("€", maxText), "\xff" + strings.Repeat("a", maxText-1)} {
		got := cut(in)
		if !utf8.ValidString(got) || len(got) > maxText+16 || (len(in) > maxText) != strings.HasSuffix(got, "(cut)") {
			t.Errorf("%d bytes are cut to %d: …%q", len(in), len(got), got[len(got)-20:])
		}
	}
}
