package anthropic_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/internal/wiretest"
)

func searchUse(id string) string {
	return fmt.Sprintf(`{"type":"server_tool_use","id":%q,"name":"web_search","input":{}}`, id)
}

func searchResult(id string) string {
	return fmt.Sprintf(`{"type":"web_search_tool_result","tool_use_id":%q,"content":[{"type":"web_search_result","url":"https://example.com","title":"Weather","encrypted_content":"Eq%s","page_age":null}]}`, id, id)
}

func citation(id string) string {
	return fmt.Sprintf(`{"type":"citations_delta","citation":{"type":"web_search_result_location","cited_text":"Rain","url":"https://example.com","title":"Weather","encrypted_index":"Eo%s"}}`, id)
}

// blocksOf writes blocks with their deltas as the events of an answer.
func blocksOf(reason, container string, blocks ...[]string) string {
	said := []string{start}
	for i, b := range blocks {
		said = append(said, fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":%s}`, i, b[0]))
		for _, delta := range b[1:] {
			said = append(said, fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":%s}`, i, delta))
		}
		said = append(said, shut(i))
	}
	said = append(said, fmt.Sprintf(`{"type":"message_delta","delta":{"stop_reason":%q,"container":%s},"usage":{"output_tokens":15}}`, reason, container))
	return events(append(said, stop)...)
}

func text(s string, deltas ...string) []string {
	return append([]string{`{"type":"text","text":""}`, fmt.Sprintf(`{"type":"text_delta","text":%q}`, s)}, deltas...)
}

func search(id string) []string {
	return []string{searchUse(id), `{"type":"input_json_delta","partial_json":""}`, `{"type":"input_json_delta","partial_json":"{\"query\":"}`, `{"type":"input_json_delta","partial_json":"\"rain\"}"}`}
}

// inTurn plays one transcript for each request.
func inTurn(transcripts ...string) http.HandlerFunc {
	n := 0
	return func(w http.ResponseWriter, r *http.Request) {
		wiretest.Plays(transcripts[min(n, len(transcripts)-1)])(w, r)
		n++
	}
}

// content returns the assistant's blocks in a request's body, without marks.
func content(t *testing.T, body string) []string {
	t.Helper()
	var sent struct {
		Messages []struct {
			Role    string            `json:"role"`
			Content []json.RawMessage `json:"content"`
		} `json:"messages"`
	}
	if err := json.Unmarshal([]byte(cacheMark.ReplaceAllString(body, "")), &sent); err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, m := range sent.Messages {
		for _, c := range m.Content {
			if m.Role == "assistant" {
				list = append(list, strings.ReplaceAll(string(c), ",}", "}"))
			}
		}
	}
	return list
}

// An answer that pauses while the provider's tools are at work goes back as it came,
// with the container that they work in, and the turn goes on with the next one. The
// turn after it sends all of it, too, with the citations, but no container.
func TestPausedTurnContinues(t *testing.T) {
	expires := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	v := newVendor(t, inTurn(
		blocksOf("pause_turn", `{"id":"container_1","expires_at":"`+expires+`"}`, text("Let me look. "), search("srvtoolu_1"), []string{searchResult("srvtoolu_1")}, search("srvtoolu_2")),
		blocksOf("end_turn", "null", []string{searchResult("srvtoolu_2")}, text("It will "), text("rain", citation("1")), text(".")),
		short,
	))
	a, err := agent.New(v.model(t), agent.Options{Settings: agent.Settings{ProviderOptions: map[string]any{
		"tools": []any{map[string]any{"type": "web_search_20250305", "name": "web_search"}},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	c := agent.NewConversation()
	r, err := a.Run(t.Context(), c, agent.Say("weather?"))
	if err != nil || r.Reason != agent.ReasonDone || r.Steps != 2 {
		t.Fatalf("result %+v, %v", r, err)
	}
	if _, err := a.Run(t.Context(), c, agent.Say("thanks")); err != nil {
		t.Fatal(err)
	}
	use := func(id string) string {
		return fmt.Sprintf(`{"id":%q,"input":{"query":"rain"},"name":"web_search","type":"server_tool_use"}`, id)
	}
	found := func(id string) string {
		return fmt.Sprintf(`{"content":[{"encrypted_content":"Eq%s","title":"Weather","url":"https://example.com","page_age":null,"type":"web_search_result"}],"tool_use_id":%q,"type":"web_search_tool_result"}`, id, id)
	}
	paused := []string{`{"text":"Let me look. ","type":"text"}`, use("srvtoolu_1"), found("srvtoolu_1"), use("srvtoolu_2")}
	whole := append(paused, found("srvtoolu_2"), `{"text":"It will ","type":"text"}`,
		`{"text":"rain","citations":[{"cited_text":"Rain","encrypted_index":"Eo1","title":"Weather","url":"https://example.com","type":"web_search_result_location"}],"type":"text"}`,
		`{"text":".","type":"text"}`)
	for i, want := range [][]string{nil, paused, whole} {
		if diff := cmp.Diff(sorted(t, want), sorted(t, content(t, v.Bodies[i]))); diff != "" {
			t.Errorf("request %d (-want +got):\n%s", i, diff)
		}
		if got := strings.Contains(v.Bodies[i], `"container":"container_1"`); got != (i == 1) {
			t.Errorf("request %d has the container: %v", i, got)
		}
	}
}

// sorted writes JSON with its fields in order.
func sorted(t *testing.T, list []string) []string {
	t.Helper()
	var out []string
	for _, text := range list {
		var v any
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, string(raw))
	}
	return out
}

// Pauses are steps: they end with the last one.
func TestPausesAreBounded(t *testing.T) {
	v := newVendor(t, wiretest.Plays(blocksOf("pause_turn", "null", search("srvtoolu_1"), []string{searchResult("srvtoolu_1")})))
	a, err := agent.New(v.model(t), agent.Options{MaxSteps: 3})
	if err != nil {
		t.Fatal(err)
	}
	r, err := a.Run(t.Context(), agent.NewConversation(), agent.Say("weather?"))
	if err == nil || r.Reason != agent.ReasonMaxSteps || len(v.Bodies) != 3 {
		t.Errorf("result %+v, %v after %d requests", r, err, len(v.Bodies))
	}
}

// A use of a provider's tool without a result is sent as long as the turn goes on,
// also after results of the agent's own tools, and never after that; nor is a result
// whose use has gone.
func TestProviderToolUsesAndResultsArePaired(t *testing.T) {
	own := `{"type":"tool_use","id":"toolu_1","name":"now","input":{}}`
	v := newVendor(t, inTurn(blocksOf("tool_use", "null", search("srvtoolu_1"), []string{own}), short))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	calls := 0
	a, err := agent.New(v.model(t), agent.Options{Tools: []agent.Tool{agent.Func("now", "", func(context.Context, struct{}) (string, error) {
		if calls++; calls == 2 {
			cancel()
		}
		return "noon", nil
	})}})
	if err != nil {
		t.Fatal(err)
	}
	c := agent.NewConversation()
	if _, err := a.Run(ctx, c, agent.Say("now?")); err != nil {
		t.Fatal(err)
	}
	if got := content(t, v.Bodies[1]); len(got) != 2 || !strings.Contains(got[0], `"srvtoolu_1"`) {
		t.Errorf("the turn goes on with %s", got)
	}
	if _, err := a.Run(t.Context(), c, agent.Say("and now?")); err != nil {
		t.Fatal(err)
	}
	if got := content(t, v.Bodies[2]); strings.Contains(strings.Join(got, ""), "srvtoolu_1") || len(got) != 2 {
		t.Errorf("the next turn sends %s", got)
	}
	messages, err := c.Messages(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	later := agent.Message{Role: agent.Assistant, Parts: []agent.Part{{Type: agent.TextPart, Text: "Rain.", Opaque: json.RawMessage(`{"provider":"anthropic","blocks":[{"raw":` + searchResult("srvtoolu_0") + `},{"text":true,"bytes":5}]}`)}}}
	if _, err := wiretest.Transcribe(t, v.model(t), &agent.Request{Messages: append(messages, later, agent.Say("so?"))}); err != nil {
		t.Fatal(err)
	}
	if body := v.Bodies[len(v.Bodies)-1]; strings.Contains(body, "srvtoolu_0") || !strings.Contains(body, "Rain.") {
		t.Errorf("a result without its use: %s", body)
	}
}

// Tools in the provider options are sent after the agent's own.
func TestToolsOfProviderOptions(t *testing.T) {
	v := newVendor(t, wiretest.Plays(short))
	req := wiretest.Hello()
	req.Tools = []agent.ToolSpec{now}
	req.Settings.ProviderOptions = map[string]any{"tools": []map[string]any{{"type": "web_search_20250305", "name": "web_search"}}}
	for range 2 {
		if _, err := wiretest.Transcribe(t, v.model(t), req); err != nil {
			t.Fatal(err)
		}
		req.Tools = nil
	}
	for i, want := range []int{2, 1} {
		var body struct{ Tools []struct{ Name, Type string } }
		if err := json.Unmarshal([]byte(v.Bodies[i]), &body); err != nil {
			t.Fatal(err)
		}
		if n := len(body.Tools); n != want || body.Tools[n-1].Type != "web_search_20250305" || want == 2 && body.Tools[0].Name != "now" {
			t.Errorf("tools %+v", body.Tools)
		}
	}
	req.Settings.ProviderOptions["tools"] = "web_search"
	if _, err := wiretest.Transcribe(t, v.model(t), req); !errors.Is(err, agent.ErrInvalidArgument) || len(v.Bodies) != 2 {
		t.Errorf("a list of tools that is a string: error %v, want invalid_argument", err)
	}
}
