package openai

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal/agent"
)

const strictAnswer = `{"type":"object","properties":{"city":{"type":"string"},"wet":{"type":["boolean","null"]}},"required":["city","wet"],"additionalProperties":false}`

// everything is a request that uses all there is.
func everything() *agent.Request {
	half, seed, one := 0.5, int64(7), false
	tool := func(id, args string) agent.Part {
		return agent.Part{Type: agent.CallPart, Call: &agent.ToolCall{ID: id, Name: "weather", Arguments: args}}
	}
	return &agent.Request{
		Instructions: "Be <brief> & kind.",
		Messages: []agent.Message{
			{Role: agent.System, Parts: []agent.Part{agent.Text("It is Monday.")}},
			agent.Say("Here it is:"),
			{Role: agent.User, Parts: []agent.Part{
				agent.Text("All of it."),
				agent.Image("image/png", []byte("png")),
				{Type: agent.FilePart, File: &agent.File{MediaType: "image/jpeg", URL: "https://h/a.jpg"}},
				{Type: agent.FilePart, File: &agent.File{Name: "a.pdf", MediaType: "application/pdf", Data: []byte("pdf")}},
				{Type: agent.FilePart, File: &agent.File{Name: "b.pdf", MediaType: "application/pdf", URL: "https://h/b.pdf"}},
				{Type: agent.FilePart, File: &agent.File{Name: "n.csv", MediaType: "text/csv", Data: []byte("a,b")}},
				{Type: agent.FilePart, File: &agent.File{MediaType: "audio/mpeg", Data: []byte("mp3")}},
				{Type: agent.FilePart, File: &agent.File{Name: "z.zip", MediaType: "application/zip", Data: []byte("zip")}},
			}},
			{Role: agent.Assistant, Parts: []agent.Part{
				{Type: agent.ReasoningPart, Text: "Chat's.", Opaque: json.RawMessage(`{"provider":"openai","wire":"/chat/completions","field":"reasoning_content"}`)},
				{Type: agent.ReasoningPart, Text: "Responses'.", Opaque: json.RawMessage(`{"provider":"openai","wire":"/responses","items":[{"type":"reasoning","id":"rs_1","encrypted_content":"gAAA","summary":[]}]}`)},
				{Type: agent.ReasoningPart, Text: "Another's.", Opaque: json.RawMessage(`{"provider":"anthropic","signature":"x"}`)},
				{Type: agent.ReasoningPart, Text: "Nobody's."},
				{Type: agent.TextPart, Text: "Let me look.", Opaque: json.RawMessage(`{"provider":"openai","wire":"/responses","id":"msg_1","phase":"commentary"}`)},
				tool("call_1", `{"city": "Kiel"}`),
				tool("call_2", `{"city`),
				tool("call_3", ``),
				tool("call_4", `[1]`),
			}},
			{Role: agent.ToolRole, Parts: []agent.Part{
				{Type: agent.ResultPart, Result: &agent.ToolResult{CallID: "call_1", Text: "sunny"}},
				{Type: agent.ResultPart, Result: &agent.ToolResult{CallID: "call_2", Text: "see", Files: []agent.File{
					{Name: "map.png", MediaType: "image/png", Data: []byte("png")},
				}}},
				{Type: agent.ResultPart, Result: &agent.ToolResult{CallID: "call_3"}},
			}},
			{Role: agent.Assistant, Interrupted: true, Parts: []agent.Part{
				{Type: agent.ReasoningPart, Opaque: json.RawMessage(`{"provider":"openai","wire":"/responses","items":[{"type":"reasoning","id":"rs_2"}]}`)},
				agent.Text("It is"),
			}},
			{Role: agent.Assistant, Parts: []agent.Part{
				{Type: agent.ReasoningPart, Text: "Only thoughts.", Opaque: json.RawMessage(`{"provider":"openai","wire":"/responses","items":[{"type":"reasoning","id":"rs_3","encrypted_content":"gAAA","summary":[]}]}`)},
			}},
			agent.Say("Go on."),
		},
		Tools: []agent.ToolSpec{
			{Name: "weather", Description: "Returns the weather.", Schema: json.RawMessage(`{"type":"object", "properties":{"city":{"type":"string"}}}`)},
			{Name: "now"},
		},
		ToolChoice: agent.ToolChoice{Mode: agent.ToolsSpecific, Name: "weather", Parallel: &one},
		Settings: agent.Settings{
			Temperature: &half, TopP: &half, FrequencyPenalty: &half, PresencePenalty: &half, Seed: &seed,
			MaxOutputTokens: 100, Stop: []string{"END"},
			Reasoning: agent.Reasoning{Enabled: true, Effort: "low", IncludeThoughts: true},
			ProviderOptions: map[string]any{
				"temperature": 1, "user": "u<1>", "metadata": map[string]any{"b": 1, "a": 2},
			},
		},
		Output: &agent.OutputSchema{Name: "the report", Description: "What it is like.", Schema: json.RawMessage(strictAnswer)},
	}
}

func body(t testing.TB, m agent.Model, req *agent.Request) []byte {
	t.Helper()
	it := m.(*model)
	got, err := encode(it.api.request(it, req), req.Settings.ProviderOptions)
	if err != nil {
		t.Fatal(err)
	}
	if !json.Valid(got) {
		t.Fatalf("no JSON: %s", got)
	}
	return got
}

func TestRequests(t *testing.T) {
	t.Setenv(baseURLVar, "")
	plain := &agent.Request{Messages: []agent.Message{agent.Say("hello")}}
	for name, got := range map[string][]byte{
		"chat_everything":      body(t, Chat("m", Options{BaseURL: "http://h/v1"}), everything()),
		"chat_vendor":          body(t, Chat("gpt-5-mini"), everything()),
		"chat_plain":           body(t, Chat("gpt-5-mini"), plain),
		"responses_everything": body(t, Responses("gpt-5"), everything()),
		"responses_plain":      body(t, Responses("gpt-4o"), plain),
	} {
		var b bytes.Buffer
		if err := json.Indent(&b, got, "", "  "); err != nil {
			t.Fatal(err)
		}
		b.WriteByte('\n')
		name = filepath.Join("testdata", "request_"+name+".json")
		if *update {
			if err := os.WriteFile(name, b.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(b.Bytes(), want) {
			t.Errorf("%s: got\n%s", name, b.Bytes())
		}
	}
}

// A prompt cache finds the whole shorter request at the beginning of the longer.
func TestRequestsAreAppendOnly(t *testing.T) {
	for _, m := range []agent.Model{Chat("m", Options{BaseURL: "http://h/v1"}), Responses("gpt-5")} {
		long := everything()
		whole := body(t, m, long)
		for n := range long.Messages {
			short := *long
			short.Messages = long.Messages[:n]
			got := bytes.TrimSuffix(body(t, m, &short), []byte("]}"))
			if !bytes.HasPrefix(whole, got) {
				t.Errorf("%d messages: %s is not a prefix of %s", n, got, whole)
			}
		}
		if again := body(t, m, everything()); !bytes.Equal(again, whole) {
			t.Errorf("the same request differs:\n%s\n%s", whole, again)
		}
	}
}

func TestToolChoice(t *testing.T) {
	t.Setenv(baseURLVar, "")
	for mode, want := range map[agent.ToolMode]string{
		"": "", agent.ToolsAuto: "", agent.ToolsNone: `"tool_choice":"none"`, agent.ToolsRequired: `"tool_choice":"required"`,
	} {
		for _, m := range []agent.Model{Chat("m"), Responses("m")} {
			req := &agent.Request{Tools: []agent.ToolSpec{{Name: "f"}}, ToolChoice: agent.ToolChoice{Mode: mode}}
			got := string(body(t, m, req))
			if !strings.Contains(got, want) || strings.Contains(got, "tool_choice") != (want != "") {
				t.Errorf("%q: %s", mode, got)
			}
			req.Tools = nil
			if got := string(body(t, m, req)); strings.Contains(got, "tool_choice") {
				t.Errorf("%q without tools: %s", mode, got)
			}
		}
	}
}

func TestProviderOptionsWin(t *testing.T) {
	req := *hello
	req.Settings.ProviderOptions = map[string]any{"messages": []int{1}, "stream": false, "zeta": nil, "alpha": "a"}
	want := `{"model":"m","stream":false,"stream_options":{"include_usage":true},"alpha":"a","zeta":null,"messages":[1]}`
	if got := string(body(t, Chat("m", Options{BaseURL: "http://h"}), &req)); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestEncryptedReasoning(t *testing.T) {
	for name, want := range map[string]bool{
		"gpt-5": true, "gpt-5.1-codex": true, "o4-mini": true, "openai/o3": true, "new-model": true,
		"gpt-4o": false, "gpt-4.1-mini": false, "gpt-3.5-turbo": false, "chatgpt-4o-latest": false,
		"gpt-5-chat-latest": false, "ft:gpt-4o:x": false, "openai/gpt-4o": false,
	} {
		if got := thinks(name); got != want {
			t.Errorf("%s thinks: %v", name, got)
		}
	}
}

func TestStrictSchemas(t *testing.T) {
	object := func(rest string) string { return `{"type":"object",` + rest + `}` }
	closed := `"additionalProperties":false`
	for schema, want := range map[string]bool{
		strictAnswer: true,
		object(`"properties":{},"required":[],` + closed): true,
		object(`"properties":{"a":{"$ref":"#/$defs/b"}},"required":["a"],` + closed + `,"$defs":{"b":{"type":"array","items":{"type":"integer"}}}`): true,
		object(`"properties":{"a":{"anyOf":[{"type":"string"},{"type":"null"}]}},"required":["a"],` + closed):                                       true,

		``: false, `true`: false, `{}`: false, `{"type":"string"}`: false,
		object(`"properties":{"a":{"type":"string"}},"required":["a"]`):                                        false,
		object(`"properties":{"a":{"type":"string"}},"required":[],` + closed):                                 false,
		object(`"properties":{"a":{"type":"string"}},"required":["b"],` + closed):                              false,
		object(`"properties":{"a":{"type":"string","minLength":1}},"required":["a"],` + closed):                false,
		object(`"properties":{"a":{}},"required":["a"],` + closed):                                             false,
		object(`"properties":{"a":{"type":"object"}},"required":["a"],` + closed):                              false,
		object(`"properties":{"a":{"type":"array","items":{"type":"object"}}},"required":["a"],` + closed):     false,
		object(`"properties":{"a":{"anyOf":[{"type":["object","null"]}]}},"required":["a"],` + closed):         false,
		object(`"properties":{},"required":[],"anyOf":[{"type":"object"}],` + closed):                          false,
		object(`"properties":{"a":{"properties":{"b":{"type":"string"}}}},"required":["a"],` + closed):         false,
		object(`"properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":{"type":"null"}`): false,
	} {
		if got := strict(json.RawMessage(schema)); got != want {
			t.Errorf("%s is strict: %v", schema, got)
		}
	}
}

// Servers identify calls in many ways; the agent sees one.
func TestUnusualCalls(t *testing.T) {
	const two = "call 0 \"a\" \"f\"\nargs 0 \"{}\"\ncall 1 \"b\" \"g\"\nargs 1 \"{}\"\nfinish tool_calls\n"
	const nameless = "call 0 \"\" \"f\"\nargs 0 \"{}\"\ncall 1 \"\" \"g\"\nargs 1 \"{}\"\nfinish tool_calls\n"
	const grown = "call 0 \"a\" \"f\"\nargs 0 \"{\\\"x\\\":\"\nargs 0 \"1}\"\nfinish tool_calls\n"
	for _, c := range []struct {
		name, want string
		pieces     []string
	}{
		{"whole calls without index", two, []string{`{"id":"a","function":{"name":"f","arguments":"{}"}}`, `{"id":"b","function":{"name":"g","arguments":"{}"}}`}},
		{"all of them at 0", two, []string{`{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}`, `{"index":0,"id":"b","function":{"name":"g","arguments":"{}"}}`}},
		{"together in one chunk", two, []string{`{"id":"a","function":{"name":"f","arguments":"{}"}},{"id":"b","function":{"name":"g","arguments":"{}"}}`}},
		{"arguments as objects", two, []string{`{"id":"a","function":{"name":"f","arguments":{}}}`, `{"id":"b","function":{"name":"g","arguments":{}}}`}},
		{"empty ids, all at 0", nameless, []string{`{"index":0,"id":"","function":{"name":"f","arguments":"{}"}}`, `{"index":0,"id":"","function":{"name":"g","arguments":"{}"}}`}},
		{"no ids, no index", nameless, []string{`{"function":{"name":"f","arguments":"{}"}}`, `{"function":{"name":"g","arguments":"{}"}}`}},
		{"no ids, the same function", strings.ReplaceAll(nameless, `"g"`, `"f"`), []string{`{"function":{"name":"f","arguments":"{}"}}`, `{"function":{"name":"f","arguments":"{}"}}`}},
		{"no ids, no arguments", "call 0 \"\" \"f\"\ncall 1 \"\" \"g\"\nfinish tool_calls\n", []string{`{"function":{"name":"f"}}`, `{"function":{"name":"g"}}`}},
		{"id and name repeated", grown, []string{`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":"}}`, `{"index":0,"id":"a","function":{"name":"f","arguments":"1}"}}`}},
		{"id and name repeated, no index", grown, []string{`{"id":"a","function":{"name":"f","arguments":"{\"x\":"}}`, `{"id":"a","function":{"name":"f","arguments":"1}"}}`}},
		{"name repeated and nothing else", grown, []string{`{"id":"a","function":{"name":"f","arguments":"{\"x\":"}}`, `{"function":{"name":"f","arguments":"1}"}}`}},
		{"a new id with each piece", grown, []string{`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":"}}`, `{"index":0,"id":"z","function":{"arguments":"1}"}}`}},
		{"a late id", "call 0 \"\" \"f\"\nargs 0 \"{\\\"x\\\":\"\nargs 0 \"1}\"\nfinish tool_calls\n", []string{`{"index":0,"function":{"name":"f","arguments":"{\"x\":"}}`, `{"index":0,"id":"a","function":{"arguments":"1}"}}`}},
		{"a late name", "call 0 \"a\" \"f\"\nargs 0 \"{\"\nargs 0 \"}\"\nfinish tool_calls\n", []string{`{"index":0,"id":"a","function":{"arguments":"{"}}`, `{"index":0,"function":{"name":"f","arguments":"}"}}`}},
		{"no name at all", "call 0 \"a\" \"\"\nargs 0 \"{}\"\nfinish tool_calls\n", []string{`{"index":0,"id":"a","function":{"arguments":"{}"}}`}},
		{"nulls", "call 0 \"a\" \"f\"\nfinish tool_calls\n", []string{`{"index":0,"id":"a","type":null,"function":{"name":"f","arguments":null}}`, `{"index":0,"id":null,"function":{"name":null,"arguments":""}}`}},
		{"an empty piece", "finish stop\n", []string{`{}`}},
		{"a brace in a string", "call 0 \"\" \"f\"\nargs 0 \"{\\\"x\\\":\\\"}\"\nargs 0 \"\\\"}\"\nfinish tool_calls\n", []string{`{"function":{"name":"f","arguments":"{\"x\":\"}"}}`, `{"function":{"name":"f","arguments":"\"}"}}`}},
	} {
		var stream strings.Builder
		for _, piece := range c.pieces {
			stream.WriteString(`data: {"choices":[{"index":0,"delta":{"tool_calls":[` + piece + `]},"finish_reason":null}]}` + "\n\n")
		}
		stream.WriteString(`data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n")
		if got := listen(t, Chat("m", serve(t, say(stream.String(), 0))), hello); got != c.want {
			t.Errorf("%s: got\n%swant\n%s", c.name, got, c.want)
		}
	}
}

// What a model yields for its parts is what the next request sends back.
func TestReasoningIsSentBack(t *testing.T) {
	for _, c := range []struct {
		file, want string
		model      func(string, ...Options) agent.Model
	}{
		{"responses_reasoning_call.txt", `"input":[{"id":"rs_1","type":"reasoning","encrypted_content":"gAAA1","summary":[]},{"id":"rs_2",`, Responses},
		{"responses_web_search.txt", `"input":[{"id":"rs_1","type":"reasoning","encrypted_content":"gAAA1","summary":[]},{"id":"ws_1","type":"web_search_call","status":"completed","action":{"type":"search","query":"weather \u003cKiel\u003e"}},` +
			`{"type":"message","id":"msg_1","role":"assistant","phase":"commentary","status":"completed","content":[{"type":"output_text","text":"Rain.","annotations":[{"type":"url_citation","start_index":0,"end_index":4,"url":"https://example.com","title":"Weather"}]}]},` +
			`{"type":"message","id":"msg_2","role":"assistant","status":"completed","content":[{"type":"output_text","text":"Take a coat.","annotations":[]}]}]`, Responses},
		{"chat_reasoning_deepseek.txt", `{"role":"assistant","content":"Yes.","reasoning_content":"It is November."}`, Chat},
		{"chat_reasoning_openrouter.txt", `{"role":"assistant","content":null,"reasoning":"I should look.","tool_calls":[`, Chat},
	} {
		text, err := os.ReadFile(filepath.Join("testdata", c.file))
		if err != nil {
			t.Fatal(err)
		}
		_, stream, _ := strings.Cut(string(text), "\n----\n")
		m := c.model("m", serve(t, say(stream, 0)))
		answer := agent.Message{Role: agent.Assistant}
		for chunk, err := range m.Stream(t.Context(), hello) {
			if err != nil {
				t.Fatal(err)
			}
			grow(&answer, chunk)
		}
		if got := string(body(t, m, &agent.Request{Messages: []agent.Message{answer}})); !strings.Contains(got, c.want) {
			t.Errorf("%s: %s lacks %s", c.file, got, c.want)
		}
	}
}

// grow appends a chunk to a message, as [agent.Chunk] says.
func grow(m *agent.Message, c agent.Chunk) {
	last := len(m.Parts) - 1
	switch c.Kind {
	case agent.ChunkText, agent.ChunkReasoning:
		kind := agent.TextPart
		if c.Kind == agent.ChunkReasoning {
			kind = agent.ReasoningPart
		}
		if last < 0 || m.Parts[last].Type != kind {
			m.Parts = append(m.Parts, agent.Part{Type: kind})
			last++
		}
		m.Parts[last].Text += c.Text
	case agent.ChunkCallStart:
		m.Parts = append(m.Parts, agent.Part{Type: agent.CallPart, Call: &agent.ToolCall{ID: c.ID, Name: c.Name}})
	case agent.ChunkCallDelta:
		m.Parts[last].Call.Arguments += c.Text
	case agent.ChunkOpaque:
		m.Parts[last].Opaque = slices.Clone(c.Opaque)
	}
}

// Where reasoning is not counted as output, the total shows it.
func TestReasoningNextToOutput(t *testing.T) {
	for total, want := range map[int64]int64{130: 20, 145: 35} {
		u := chatUsage{Input: 110, Output: 20, Total: total}
		u.OutputDetails.Reasoning = 15
		if got := u.usage(); got.OutputTokens != want {
			t.Errorf("total %d: the output is %d, want %d", total, got.OutputTokens, want)
		}
	}
}
