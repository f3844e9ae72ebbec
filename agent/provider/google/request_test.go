package google_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/google"
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

func result(id, name string, status agent.ResultStatus, text string, files ...agent.File) agent.Part {
	return agent.Part{Type: agent.ResultPart, Result: &agent.ToolResult{CallID: id, Name: name, Status: status, Text: text, Files: files}}
}

func signed(p agent.Part, opaque string) agent.Part {
	p.Opaque = json.RawMessage(opaque)
	return p
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
				thought("Ask.", `{"provider":"gcp.gemini","signature":"QUJD"}`),
				thought("not ours", `{"provider":"anthropic","signature":"x"}`),
				thought("not signed", ``),
				{Type: agent.TextPart, Text: "Looking.", Opaque: json.RawMessage(`{"provider":"gcp.gemini","signature":"REVG"}`)},
				agent.Text(""),
				signed(call("call_A", "weather", `{"city": "Kiel", "id": 9007199254740993}`), `{"provider":"gcp.gemini","signature":"R0hJ"}`),
				signed(call("fc-2", "now", `{"unfinished`), `{"provider":"gcp.gemini","id":"fc-2"}`),
			}},
			// A text that came in between does not part calls and results.
			agent.Say("hurry"),
			{Role: agent.ToolRole, Parts: []agent.Part{
				result("call_A", "weather", agent.ResultOK, "rain", agent.File{MediaType: "image/png", Data: []byte("png")}),
				result("fc-2", "now", agent.ResultFailed, "no clock"),
			}},
			// Calls of another provider have no signature of ours.
			{Role: agent.Assistant, Parts: []agent.Part{call("toolu_3", "now", `[]`), call("toolu_4", "now", ``)}},
			{Role: agent.ToolRole, Parts: []agent.Part{
				result("toolu_3", "now", agent.ResultDenied, "Permission denied by user."), result("toolu_4", "now", agent.ResultTimedOut, ""),
			}},
		},
		Tools: []agent.ToolSpec{weather, now},
	},
	"files": {Messages: []agent.Message{{Role: agent.User, Parts: []agent.Part{
		agent.Image("image/jpeg", []byte("jpeg")),
		{Type: agent.FilePart, File: &agent.File{MediaType: "image/webp", URL: "https://example.com/a.webp"}},
		{Type: agent.FilePart, File: &agent.File{Name: "a.pdf", MediaType: "application/pdf", Data: []byte("%PDF")}},
		{Type: agent.FilePart, File: &agent.File{MediaType: "application/pdf", URL: "https://example.com/b.pdf"}},
		{Type: agent.FilePart, File: &agent.File{Name: "notes.md", MediaType: "text/markdown; charset=utf-8", Data: []byte("# Notes")}},
		{Type: agent.FilePart, File: &agent.File{Name: "a.gif", MediaType: "image/gif", Data: []byte("gif")}},
		{Type: agent.FilePart, File: &agent.File{Name: "a.mp3", MediaType: "audio/mpeg", Data: []byte("mp3")}},
		agent.Text("What is this?"),
	}}}},
	"settings": {
		Messages: []agent.Message{agent.Say("hello")},
		Tools:    []agent.ToolSpec{now},
		Settings: agent.Settings{
			Temperature: ptr(0.0), TopP: ptr(0.9), Seed: ptr(int64(1)), FrequencyPenalty: ptr(1.0), PresencePenalty: ptr(1.0),
			MaxOutputTokens: 100, Stop: []string{"END"},
			ProviderOptions: map[string]any{"safetySettings": []any{map[string]any{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_NONE"}}, "a.b": "dot"},
		},
		ToolChoice: agent.ToolChoice{Parallel: ptr(false)},
	},
	"budget": {
		Messages: []agent.Message{agent.Say("hello")},
		Settings: agent.Settings{MaxOutputTokens: 1000, Reasoning: agent.Reasoning{Enabled: true, BudgetTokens: 2000, Effort: "low", IncludeThoughts: true}},
	},
	"effort": {
		Messages: []agent.Message{agent.Say("hello")},
		Settings: agent.Settings{Reasoning: agent.Reasoning{Enabled: true, Effort: "xhigh"}},
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
			r := v.Requests[0]
			if got := r.URL.String(); r.Method != http.MethodPost || got != "/v1beta/models/gemini-test:streamGenerateContent?alt=sse" || r.Header.Get("X-Goog-Api-Key") != testKey {
				t.Errorf("request %s %s with headers %v", r.Method, got, r.Header)
			}
			var got bytes.Buffer
			if err := json.Indent(&got, []byte(strings.TrimSpace(v.Bodies[0])), "", "  "); err != nil {
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

// Before Gemini 3 calls need no signature.
func TestOlderModels(t *testing.T) {
	v := newVendor(t, wiretest.Plays(short))
	m := google.New("models/gemini-2.5-flash", google.Options{APIKey: testKey, BaseURL: v.URL, HTTPClient: v.Client()})
	if _, err := wiretest.Transcribe(t, m, &agent.Request{
		Messages: []agent.Message{{Role: agent.Assistant, Parts: []agent.Part{call("c", "now", `{}`)}}},
	}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(v.Bodies[0], `"functionCall"`) || strings.Contains(v.Bodies[0], "skip_") {
		t.Errorf("body %s", v.Bodies[0])
	}
}

// What cannot be sent is the caller's fault and not the network's.
func TestInvalidRequest(t *testing.T) {
	v := newVendor(t, wiretest.Plays(short))
	for name, options := range map[string]map[string]any{"gemini?x": nil, "gemini-test": {"odd": func() {}}} {
		m := google.New(name, google.Options{APIKey: testKey, BaseURL: v.URL, HTTPClient: v.Client()})
		req := wiretest.Hello()
		req.Settings.ProviderOptions = options
		_, err := wiretest.Transcribe(t, m, req)
		var failure *agent.ModelError
		if invalid := errors.As(err, &failure) && failure.Class == agent.ClassInvalid; !invalid && !errors.Is(err, agent.ErrInvalidArgument) || len(v.Requests) != 0 {
			t.Errorf("%s: error %v after %d requests, want invalid after none", name, err, len(v.Requests))
		}
	}
}
