package anthropic_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/anthropic"
	"github.com/shoal-dev/shoal/agent/provider/internal/wiretest"
)

// kept returns the opaque part of an answer that consists of blocks as they came.
func kept(blocks ...string) json.RawMessage {
	return json.RawMessage(`{"provider":"anthropic","blocks":[` + strings.Join(blocks, ",") + `]}`)
}

func raw(block string) string { return `{"raw":` + block + `}` }

func use(id, name, more string) string {
	return raw(fmt.Sprintf(`{"type":"server_tool_use","id":%q,"name":%q,"input":{"b" : "a<b>\u00e4 \/","n":12.5,"type":"text"}%s}`, id, name, more))
}

// ofServerTools are an answer of the provider's own tools: the use and the result of each
// of them, in the fields that answers have, of which requests take some.
var ofServerTools = []string{
	use("srvtoolu_1", "web_search", `,"caller":{"type":"direct","later":1},"later":1`),
	raw(`{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","caller":{"type":"direct"},"content":[{"type":"web_search_result","url":"https://example.com/?a=1&b","title":"A <b>","encrypted_content":"Eq\u00e4","page_age":null,"later":1},{"type":"web_search_result","url":"u","title":"t","encrypted_content":"e","page_age":"1 day"},{"type":"web_search_result","url":"u","title":"t","encrypted_content":"e"}]}`),
	use("srvtoolu_2", "web_search", `,"caller":null`),
	raw(`{"type":"web_search_tool_result","tool_use_id":"srvtoolu_2","content":{"type":"web_search_tool_result_error","error_code":"max_uses_exceeded","later":1}}`),
	use("srvtoolu_3", "web_search", `,"caller":{"type":"code_execution_20250825","tool_id":"srvtoolu_0"}`),
	raw(`{"type":"web_search_tool_result","tool_use_id":"srvtoolu_3","content":[],"caller":{"tool_id":"srvtoolu_0","type":"code_execution_20260120"}}`),
	use("srvtoolu_4", "web_fetch", `,"caller":{"type":"later","x":1}`),
	raw(`{"type":"web_fetch_tool_result","tool_use_id":"srvtoolu_4","content":{"type":"web_fetch_result","url":"https://example.com","retrieved_at":"2026-01-01T00:00:00Z","content":{"type":"document","title":null,"citations":{"enabled":true},"source":{"type":"text","media_type":"text/plain","data":"<p>"}}}}`),
	use("srvtoolu_5", "web_fetch", ""),
	raw(`{"type":"web_fetch_tool_result","tool_use_id":"srvtoolu_5","content":{"type":"web_fetch_tool_result_error","error_code":"url_not_accessible"},"caller":{"type":"direct"}}`),
	use("srvtoolu_6", "code_execution", ""),
	raw(`{"type":"code_execution_tool_result","tool_use_id":"srvtoolu_6","content":{"type":"code_execution_result","stdout":"1 < 2\n","stderr":"","return_code":0,"content":[{"type":"code_execution_output","file_id":"file_1","later":1}],"later":1}}`),
	use("srvtoolu_7", "code_execution", ""),
	raw(`{"type":"code_execution_tool_result","tool_use_id":"srvtoolu_7","content":{"type":"encrypted_code_execution_result","encrypted_stdout":"Eq","stderr":"","return_code":1,"content":[]}}`),
	use("srvtoolu_8", "code_execution", ""),
	raw(`{"type":"code_execution_tool_result","tool_use_id":"srvtoolu_8","content":{"type":"code_execution_tool_result_error","error_code":"unavailable"}}`),
	use("srvtoolu_9", "bash_code_execution", ""),
	raw(`{"type":"bash_code_execution_tool_result","tool_use_id":"srvtoolu_9","content":{"type":"bash_code_execution_result","stdout":"x","stderr":"y","return_code":2,"content":[{"type":"bash_code_execution_output","file_id":"file_2"}]}}`),
	use("srvtoolu_10", "bash_code_execution", ""),
	raw(`{"type":"bash_code_execution_tool_result","tool_use_id":"srvtoolu_10","content":{"type":"bash_code_execution_tool_result_error","error_code":"unavailable"}}`),
	use("srvtoolu_11", "text_editor_code_execution", ""),
	raw(`{"type":"text_editor_code_execution_tool_result","tool_use_id":"srvtoolu_11","content":{"type":"text_editor_code_execution_view_result","file_type":"text","content":"a & b","num_lines":1,"start_line":1,"total_lines":1}}`),
	use("srvtoolu_12", "text_editor_code_execution", ""),
	raw(`{"type":"text_editor_code_execution_tool_result","tool_use_id":"srvtoolu_12","content":{"type":"text_editor_code_execution_tool_result_error","error_code":"file_not_found","error_message":null}}`),
	use("srvtoolu_13", "tool_search_tool_regex", ""),
	raw(`{"type":"tool_search_tool_result","tool_use_id":"srvtoolu_13","content":{"type":"tool_search_tool_search_result","tool_references":[{"type":"tool_reference","tool_name":"now","later":1}]}}`),
	use("srvtoolu_14", "tool_search_tool_regex", ""),
	raw(`{"type":"tool_search_tool_result","tool_use_id":"srvtoolu_14","content":{"type":"tool_search_tool_result_error","error_code":"unavailable","error_message":"later"}}`),
	raw(`{"type":"container_upload","file_id":"file_3","later":1}`),
	raw(`{"later":[1, 2.50],"type":"later_block","text":"<b>"}`),
}

const citedText = "One <1> two three four five six."

var ofCitations = `{"text":true,"bytes":32,"citations":[` + strings.Join([]string{
	`{"type":"char_location","cited_text":"<1>","document_index":0,"document_title":null,"start_char_index":1,"end_char_index":20,"file_id":null}`,
	`{"type":"page_location","cited_text":"a","document_index":1,"document_title":"T","start_page_number":1,"end_page_number":2,"file_id":"file_1"}`,
	`{"type":"content_block_location","cited_text":"a","document_index":1,"document_title":"T","start_block_index":1,"end_block_index":2,"file_id":"file_1"}`,
	`{"type":"search_result_location","cited_text":"a","search_result_index":0,"source":"s","title":null,"start_block_index":1,"end_block_index":2}`,
	`{"type":"web_search_result_location","cited_text":"Rain","url":"https://example.com","title":"Weather","encrypted_index":"Eo"}`,
	`{"type":"later_location","x":{"y":"<"}}`,
}, ",") + `]}`

func answer(parts ...agent.Part) *agent.Request {
	return &agent.Request{Messages: []agent.Message{
		agent.Say("<hello> & \u2028 é \x01"), {Role: agent.Assistant, Parts: parts}, agent.Say("and?"),
	}}
}

func options(fields map[string]any) *agent.Request {
	return &agent.Request{
		Instructions: "Be short.", Messages: []agent.Message{agent.Say("hello")}, Tools: []agent.ToolSpec{now},
		Settings: agent.Settings{ProviderOptions: fields, Stop: []string{"<END>"}},
	}
}

// bodies are the cases of TestBodies, in addition to those of TestRequest.
func bodies() map[string]*agent.Request {
	all := maps.Clone(requests)
	all["server tools"] = answer(
		agent.Part{Type: agent.TextPart, Text: "Well.", Opaque: kept(append([]string{`{"text":true,"bytes":5}`}, ofServerTools...)...)},
	)
	all["citations"] = answer(agent.Part{Type: agent.TextPart, Text: citedText, Opaque: kept(ofCitations)})
	all["cited text that was cut"] = answer(agent.Part{Type: agent.TextPart, Text: citedText + " Sev", Opaque: kept(ofCitations)})
	all["thoughts with server tools"] = answer(
		agent.Part{Type: agent.ReasoningPart, Text: "Hm <b>.", Opaque: kept(append([]string{`{"signature":"Eq+/=","bytes":7}`}, ofServerTools[:2]...)...)},
		agent.Text("Done."),
	)
	// The mark of an unfinished answer is on its last block that can have one.
	for i, block := range ofServerTools {
		name := fmt.Sprintf("mark on server block %02d", i)
		all[name] = &agent.Request{Messages: []agent.Message{agent.Say("hello"), {Role: agent.Assistant, Parts: []agent.Part{
			{Type: agent.TextPart, Text: "Well.", Opaque: kept(append([]string{`{"text":true,"bytes":5}`}, ofServerTools[i/2*2:i/2*2]...)...)},
			{Type: agent.ReasoningPart, Opaque: kept(append(slices.Clone(ofServerTools[i/2*2:i]), block)...)},
		}}}}
	}
	all["mark on citations"] = &agent.Request{Messages: []agent.Message{agent.Say("hello"), {Role: agent.Assistant, Parts: []agent.Part{
		{Type: agent.TextPart, Text: citedText, Opaque: kept(ofCitations)},
		thought("Ask.", `{"provider":"anthropic","blocks":[{"signature":"EqQB","bytes":4}]}`),
	}}}}
	all["mark on call"] = &agent.Request{Messages: []agent.Message{agent.Say("hello"), {Role: agent.Assistant, Parts: []agent.Part{call("t<1>", "now", "{ \"a\" : \"<\\u003e\\/\" }\n")}}}}
	all["mark on image"] = &agent.Request{Messages: []agent.Message{{Role: agent.User, Parts: []agent.Part{agent.Image("image/png", []byte("png"))}}}}
	all["mark on document"] = &agent.Request{Messages: []agent.Message{{Role: agent.User, Parts: []agent.Part{
		{Type: agent.FilePart, File: &agent.File{Name: "<a>.pdf", MediaType: "application/pdf", URL: "https://example.com/b.pdf?a=1&b=2"}},
	}}}}
	all["mark on files of a result"] = &agent.Request{Messages: []agent.Message{
		agent.Say("hello"),
		{Role: agent.Assistant, Parts: []agent.Part{call("t", "now", "")}},
		{Role: agent.ToolRole, Parts: []agent.Part{result("t", agent.ResultOK, "", agent.File{MediaType: "text/plain", Data: []byte("<é>")}, agent.File{MediaType: "application/pdf", Data: []byte("%PDF")}, agent.File{MediaType: "audio/mpeg", Data: []byte("mp3")})}},
	}}
	all["no messages"] = &agent.Request{Instructions: "Be short."}
	all["options over fields"] = options(map[string]any{
		"max_tokens": 7, "model": "other", "messages": []any{}, "system": "none", "stop_sequences": nil, "tool_choice": map[string]any{"type": "any"},
		"temperature": 0.25, "service_tier": "auto", "empty": "", "x_y": 1.5, "é": "ü", "yes": true, "raw": json.RawMessage(`{"a" : "<"}`), "text": "<&>\u2028\x7f",
	})
	all["options with tools"] = options(map[string]any{"tools": []any{map[string]any{"type": "web_search_20250305", "name": "<search>"}}})
	all["options with paths"] = options(map[string]any{"output_config.effort": "high", "tools.0": 1, "0": "zero", "-1": 1, "a|b": 1, "@this": 1, ":1": 2, "~": 3})
	all["options over thinking"] = &agent.Request{
		Messages: []agent.Message{agent.Say("hello")},
		Settings: agent.Settings{Reasoning: agent.Reasoning{Enabled: true, Effort: "high"}, ProviderOptions: map[string]any{"thinking": map[string]any{"type": "later"}, "output_config": map[string]any{}}},
	}
	all["schemas"] = &agent.Request{
		Messages: []agent.Message{agent.Say("hello")},
		Tools:    []agent.ToolSpec{{Name: "x", Description: "a < b", Schema: json.RawMessage("{ \"type\" : \"object\",\n \"pattern\":\"<\\u00e4\" }")}},
		Output:   &agent.OutputSchema{Schema: json.RawMessage(`{ "const" : "<" }`)},
	}
	all["long number in the input of a server tool"] = answer(
		agent.Part{Type: agent.TextPart, Text: "Well.", Opaque: kept(`{"text":true,"bytes":5}`, raw(`{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"n":9007199254740993}}`), ofServerTools[1])},
	)
	all["container"] = &agent.Request{Messages: []agent.Message{agent.Say("hello"), {Role: agent.Assistant, Parts: []agent.Part{
		{Type: agent.TextPart, Text: "Well.", Opaque: json.RawMessage(`{"provider":"anthropic","blocks":[],"container":{"id":"container_1"}}`)},
	}}}}
	return all
}

// The bodies of requests are those in testdata, byte for byte: a change of a byte in
// the middle of a history is a prompt that the provider's cache does not have.
func TestBodies(t *testing.T) {
	const file = "testdata/bodies.txt"
	var got strings.Builder
	cases := bodies()
	for _, name := range slices.Sorted(maps.Keys(cases)) {
		for _, model := range []string{"claude-test", "claude-sonnet-4-5"} {
			v := newVendor(t, wiretest.Plays(short))
			m := anthropic.New(model, anthropic.Options{APIKey: testKey, BaseURL: v.URL, HTTPClient: wiretest.NewClient(t)})
			if _, err := wiretest.Transcribe(t, m, cases[name]); err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			fmt.Fprintf(&got, "%s (%s)\n%s\n", name, model, v.Bodies[0])
		}
	}
	if *update {
		if err := os.WriteFile(file, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got.String(), "\n")); diff != "" {
		t.Errorf("bodies (-want +got):\n%s", diff)
	}
}
