package anthropic_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/anthropic"
	"github.com/shoal-dev/shoal/agent/provider/internal/wiretest"
)

var update = flag.Bool("update", false, "write the request bodies in testdata anew")

func ptr[T any](v T) *T { return &v }

var (
	weather = agent.ToolSpec{
		Name: "weather", Description: "Returns the weather.",
		Schema: json.RawMessage(`{"type":"object","properties":{"targetSpaceId":{"type":"string"},"city":{"$ref":"#/$defs/city"}},"required":["city"],"additionalProperties":false,"$defs":{"city":{"type":"string"}}}`),
	}
	now = agent.ToolSpec{Name: "now"}
)

func call(id, name, arguments string) agent.Part {
	return agent.Part{Type: agent.CallPart, Call: &agent.ToolCall{ID: id, Name: name, Arguments: arguments}}
}

func result(id string, status agent.ResultStatus, text string, files ...agent.File) agent.Part {
	return agent.Part{Type: agent.ResultPart, Result: &agent.ToolResult{CallID: id, Name: "x", Status: status, Text: text, Files: files}}
}

func thought(text, opaque string) agent.Part {
	return agent.Part{Type: agent.ReasoningPart, Text: text, Opaque: json.RawMessage(opaque)}
}

// requests are the cases of TestRequest; each has its body in testdata.
var requests = map[string]*agent.Request{
	"text": wiretest.Hello(),
	"history": {
		Instructions: "Be short.",
		Messages: []agent.Message{
			{Role: agent.System, Parts: []agent.Part{agent.Text("The user is Ann.")}},
			agent.Say("hello"), agent.Say("weather?"),
			{Role: agent.Assistant, Parts: []agent.Part{
				thought("Ask.Wait.", `{"provider":"anthropic","blocks":[{"signature":"EqQB","bytes":4},{"redacted":"EmwK"},{"signature":"ErQC","bytes":5}]}`),
				thought("not ours", `{"provider":"openai","blocks":[{"signature":"x"}]}`),
				thought("not signed", ``),
				thought("cut", `{"provider":"anthropic","blocks":[{"signature":"EsQD","bytes":4}]}`),
				agent.Text("Looking."), agent.Text(" \n"), agent.Text(""),
				call("toolu_1", "weather", `{"city": "Kiel", "id": 9007199254740993}`),
				call("functions.now:0", "now", `{"unfinished`),
			}},
			// A text that came in between does not part calls and results.
			agent.Say("hurry"),
			{Role: agent.ToolRole, Parts: []agent.Part{
				result("toolu_1", agent.ResultOK, "rain", agent.File{MediaType: "image/png", Data: []byte("png")}),
				result("functions.now:0", agent.ResultFailed, ""),
			}},
			// An answer of nothing but thoughts is refused by the API.
			{Role: agent.Assistant, Parts: []agent.Part{thought("Only.", `{"provider":"anthropic","blocks":[{"signature":"OnLy","bytes":5}]}`)}},
			{Role: agent.Assistant, Parts: []agent.Part{call("toolu_3", "now", `[]`)}},
			{Role: agent.ToolRole, Parts: []agent.Part{result("toolu_3", agent.ResultDenied, "Permission denied by user.")}},
		},
		Tools: []agent.ToolSpec{weather, now},
	},
	"files": {Messages: []agent.Message{{Role: agent.User, Parts: []agent.Part{
		agent.Image("image/jpeg", []byte("jpeg")),
		{Type: agent.FilePart, File: &agent.File{MediaType: "image/webp", URL: "https://example.com/a.webp"}},
		{Type: agent.FilePart, File: &agent.File{Name: "a.pdf", MediaType: "application/pdf", Data: []byte("%PDF")}},
		{Type: agent.FilePart, File: &agent.File{MediaType: "application/pdf", URL: "https://example.com/b.pdf"}},
		{Type: agent.FilePart, File: &agent.File{Name: "notes.md", MediaType: "text/markdown; charset=utf-8", Data: []byte("# Notes")}},
		{Type: agent.FilePart, File: &agent.File{Name: "a.mp3", MediaType: "audio/mpeg", Data: []byte("mp3")}},
		agent.Text("What is this?"),
	}}}},
	"settings": {
		Messages: []agent.Message{agent.Say("hello")},
		Tools:    []agent.ToolSpec{now},
		Settings: agent.Settings{
			Temperature: ptr(0.0), TopP: ptr(0.9), Seed: ptr(int64(1)), FrequencyPenalty: ptr(1.0), PresencePenalty: ptr(1.0),
			MaxOutputTokens: 100, Stop: []string{"END"},
			ProviderOptions: map[string]any{"top_k": 5, "metadata": map[string]any{"user_id": "u.1"}, "temperature": 0.5, "a.b*:#|": "dot", "stream": false},
		},
		ToolChoice: agent.ToolChoice{Parallel: ptr(false)},
	},
	"budget": {
		Messages: []agent.Message{agent.Say("hello")},
		Settings: agent.Settings{MaxOutputTokens: 1000, Reasoning: agent.Reasoning{Enabled: true, BudgetTokens: 2000, IncludeThoughts: true}},
	},
	"effort": {
		Messages: []agent.Message{agent.Say("hello")},
		Settings: agent.Settings{Reasoning: agent.Reasoning{Enabled: true, Effort: "minimal"}},
		Output:   &agent.OutputSchema{Name: "answer", Schema: json.RawMessage(`{"type":"object","properties":{"b":{"type":"string"},"a":{"type":"integer"}},"required":["b","a"],"additionalProperties":false}`)},
	},
	"no thinking": {
		Messages: []agent.Message{agent.Say("hello")},
		Settings: agent.Settings{Reasoning: agent.Reasoning{Enabled: true, Effort: "none"}},
	},
	"tools none":     {Messages: []agent.Message{agent.Say("hello")}, Tools: []agent.ToolSpec{now}, ToolChoice: agent.ToolChoice{Mode: agent.ToolsNone, Parallel: ptr(false)}},
	"tools required": {Messages: []agent.Message{agent.Say("hello")}, Tools: []agent.ToolSpec{now}, ToolChoice: agent.ToolChoice{Mode: agent.ToolsRequired, Parallel: ptr(true)}},
	"tools specific": {Messages: []agent.Message{agent.Say("hello")}, Tools: []agent.ToolSpec{now}, ToolChoice: agent.ToolChoice{Mode: agent.ToolsSpecific, Name: "now"}},
	"tools absent":   {Messages: []agent.Message{agent.Say("hello")}, ToolChoice: agent.ToolChoice{Mode: agent.ToolsRequired}},
}

// The bodies of requests equal those in testdata, which were compared with the API's
// documentation.
func TestRequest(t *testing.T) {
	for name, req := range requests {
		t.Run(name, func(t *testing.T) {
			v := newVendor(t, wiretest.Plays(short))
			if _, err := wiretest.Transcribe(t, v.model(t), req); err != nil {
				t.Fatal(err)
			}
			if r := v.Requests[0]; r.Method != http.MethodPost || r.URL.Path != "/v1/messages" || r.Header.Get("X-Api-Key") != testKey || r.Header.Get("Anthropic-Version") != "2023-06-01" {
				t.Errorf("request %s %s with headers %v", r.Method, r.URL, r.Header)
			}
			var got bytes.Buffer
			if err := json.Indent(&got, []byte(v.Bodies[0]), "", "  "); err != nil {
				t.Fatal(err)
			}
			got.WriteByte('\n')
			file := filepath.Join("testdata", strings.ReplaceAll(name, " ", "_")+".json")
			if *update {
				if err := os.WriteFile(file, got.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got.String()); diff != "" {
				t.Errorf("body (-want +got):\n%s", diff)
			}
		})
	}
}

// A history that grows keeps its beginning, byte for byte, or the cache would
// be of no use. Only the marks move.
func TestLongerHistoryStartsWithTheSameBytes(t *testing.T) {
	whole := requests["history"].Messages
	v := newVendor(t, wiretest.Plays(short))
	m := anthropic.New("claude-test", anthropic.Options{APIKey: testKey, BaseURL: v.URL, NoCache: true, HTTPClient: v.Client()})
	for _, n := range []int{3, 6, 8} {
		if _, err := wiretest.Transcribe(t, m, &agent.Request{Messages: whole[:n]}); err != nil {
			t.Fatal(err)
		}
	}
	if strings.Contains(v.Bodies[2], "cache_control") {
		t.Errorf("NoCache sends marks: %s", v.Bodies[2])
	}
	for i, longer := range v.Bodies[1:] {
		prefix, _, found := strings.Cut(v.Bodies[i], `],"model"`)
		if !found || !strings.HasPrefix(longer, prefix) {
			t.Errorf("request %d\n%s\ndoes not begin with\n%s", i+1, longer, prefix)
		}
	}
}

// What a stream gave as opaque goes back as the blocks that it came from, in
// their places: shown and hidden ones in a row, and a hidden one after a call.
func TestReasoningIsSentBackUnchanged(t *testing.T) {
	hidden := func(index int, signature string) string {
		return events(fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":{"type":"thinking","thinking":"","signature":""}}`, index),
			fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":{"type":"signature_delta","signature":%q}}`, index, signature), shut(index))
	}
	think := func(index int, text, signature string) string {
		return events(fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":{"type":"thinking","thinking":"","signature":""}}`, index),
			fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":{"type":"thinking_delta","thinking":%q}}`, index, text),
			fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":{"type":"signature_delta","signature":%q}}`, index, signature), shut(index))
	}
	v := newVendor(t, wiretest.Plays(events(start)+
		think(0, "Rain? <b>", "EqQB+/=")+hidden(1, "Hid1")+think(2, "é", "Sig2")+
		events(`{"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"t","name":"f","input":{}}}`, shut(3))+
		hidden(4, "Hid4")+think(5, "so", "Sig5")+
		events(end("end_turn"), stop)))
	m := v.model(t)
	// The parts are put together as the agent does it.
	var parts []agent.Part
	for c, err := range m.Stream(t.Context(), wiretest.Hello()) {
		n := len(parts) - 1
		switch {
		case err != nil:
			t.Fatal(err)
		case c.Kind == agent.ChunkReasoning && (n < 0 || parts[n].Type != agent.ReasoningPart):
			parts = append(parts, agent.Part{Type: agent.ReasoningPart, Text: c.Text})
		case c.Kind == agent.ChunkReasoning:
			parts[n].Text += c.Text
		case c.Kind == agent.ChunkCallStart:
			parts = append(parts, call(c.ID, c.Name, "{}"))
		case c.Kind == agent.ChunkOpaque:
			parts[n].Opaque = c.Opaque
		}
	}
	req := &agent.Request{Messages: []agent.Message{agent.Say("hello"), {Role: agent.Assistant, Parts: parts}, agent.Say("and?")}}
	if _, err := wiretest.Transcribe(t, m, req); err != nil {
		t.Fatal(err)
	}
	var sent struct {
		Messages []struct {
			Content []struct{ Type, Thinking, Signature string } `json:"content"`
		} `json:"messages"`
	}
	if err := json.Unmarshal([]byte(v.Bodies[1]), &sent); err != nil {
		t.Fatal(err)
	}
	want := []struct{ Type, Thinking, Signature string }{
		{"thinking", "Rain? <b>", "EqQB+/="},
		{"thinking", "", "Hid1"},
		{"thinking", "é", "Sig2"},
		{"tool_use", "", ""},
		{"thinking", "", "Hid4"},
		{"thinking", "so", "Sig5"},
	}
	if diff := cmp.Diff(want, sent.Messages[1].Content); diff != "" {
		t.Errorf("blocks (-want +got):\n%s", diff)
	}
}
