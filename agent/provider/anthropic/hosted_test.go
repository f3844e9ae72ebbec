package anthropic_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/anthropic"
	"github.com/shoal-dev/shoal/agent/provider/internal/wiretest"
)

func (v *vendor) hosted(t *testing.T, tools ...anthropic.HostedTool) agent.Model {
	return anthropic.New("claude-test", anthropic.Options{
		APIKey: testKey, BaseURL: v.URL, HTTPClient: wiretest.NewClient(t), HostedTools: tools,
	})
}

// Hosted tools are sent after the agent's own, with the header that code needs. Citations
// become a part of the text, at their place in it, and all of it goes back over two turns.
func TestHostedTools(t *testing.T) {
	v := newVendor(t, inTurn(
		blocksOf("end_turn", "null", text("Wärme: "), search("srvtoolu_1"), []string{searchResult("srvtoolu_1")},
			text("It will "), text("rain", citation("1"), `{"type":"citations_delta","citation":{"type":"char_location","cited_text":"wet","document_index":0,"document_title":"Almanac","start_char_index":0,"end_char_index":3}}`), text(".")),
		short,
	))
	a, err := agent.New(v.hosted(t, anthropic.WebSearch{MaxUses: 3, AllowedDomains: []string{"example.com"}}, anthropic.CodeExecution{}), agent.Options{
		Tools:    []agent.Tool{agent.External(agent.ToolSpec{Name: "now"})},
		Settings: agent.Settings{ProviderOptions: map[string]any{"tools": []any{map[string]any{"type": "web_fetch_20250910", "name": "web_fetch"}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	c := agent.NewConversation()
	var cited []agent.Citation
	for e, err := range a.Stream(t.Context(), c, agent.Say("weather?")) {
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := e.(agent.Cited); ok {
			cited = append(cited, e.Citation)
		}
	}
	if _, err := a.Run(t.Context(), c, agent.Say("thanks")); err != nil {
		t.Fatal(err)
	}
	want := []agent.Citation{
		{URL: "https://example.com", Title: "Weather", Quote: "Rain", Start: 16, End: 20},
		{Title: "Almanac", Quote: "wet", Start: 16, End: 20},
	}
	if d := cmp.Diff(want, cited); d != "" {
		t.Error(d)
	}
	stored, _ := c.Messages(t.Context())
	var texts []agent.Part
	for _, p := range stored[1].Parts {
		if p.Type == agent.TextPart {
			texts = append(texts, p)
		}
	}
	if len(texts) != 1 || texts[0].Text[16:20] != "rain" || !cmp.Equal(texts[0].Citations, want) {
		t.Errorf("stored %+v", texts)
	}
	for i, sent := range v.Bodies {
		if got := cacheMark.ReplaceAllString(sent, ""); !strings.Contains(got, `{"type":"web_search_20250305","name":"web_search","max_uses":3,"allowed_domains":["example.com"]},{"name":"code_execution","type":"code_execution_20250825"},{"name":"web_fetch","type":"web_fetch_20250910"}]`) ||
			strings.Index(got, `"name":"now"`) > strings.Index(got, "web_search_20250305") {
			t.Errorf("request %d has the tools %s", i, got[strings.Index(got, `"tools"`):])
		}
		if got := v.Requests[i].Header.Get("Anthropic-Beta"); got != "code-execution-2025-08-25" {
			t.Errorf("request %d has the betas %q", i, got)
		}
	}
	back := content(t, v.Bodies[1])
	if d := cmp.Diff(sorted(t, []string{
		`{"text":"Wärme: ","type":"text"}`, `{"id":"srvtoolu_1","input":{"query":"rain"},"name":"web_search","type":"server_tool_use"}`, searchResult("srvtoolu_1"),
		`{"text":"It will ","type":"text"}`,
		`{"text":"rain","type":"text","citations":[{"type":"web_search_result_location","cited_text":"Rain","url":"https://example.com","title":"Weather","encrypted_index":"Eo1"},{"type":"char_location","cited_text":"wet","document_index":0,"document_title":"Almanac","start_char_index":0,"end_char_index":3}]}`,
		`{"text":".","type":"text"}`,
	}), sorted(t, back)); d != "" {
		t.Error(d)
	}
}

// A mistake in a hosted tool fails each call before anything is sent.
func TestHostedToolMistakes(t *testing.T) {
	v := newVendor(t, inTurn(short))
	for want, tool := range map[string]anthropic.HostedTool{
		"HostedTools[1] is nil":                 nil,
		"HostedTools[1] has a negative MaxUses": anthropic.WebSearch{MaxUses: -1},
		"HostedTools[1] has allowed and blocked domains; the API takes one of the two": anthropic.WebSearch{AllowedDomains: []string{"a"}, BlockedDomains: []string{"b"}},
	} {
		_, err := wiretest.Transcribe(t, v.hosted(t, anthropic.CodeExecution{}, tool), wiretest.Hello())
		if !errors.Is(err, agent.ErrInvalidArgument) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if len(v.Bodies) > 0 {
		t.Error("a request was sent")
	}
	if _, err := wiretest.Transcribe(t, v.hosted(t, anthropic.WebSearch{}), wiretest.Hello()); err != nil {
		t.Fatal(err)
	}
	if got := v.Requests[0].Header["Anthropic-Beta"]; got != nil || !strings.Contains(v.Bodies[0], `"tools":[{"type":"web_search_20250305","name":"web_search"}]`) {
		t.Errorf("sent %s with the betas %q", v.Bodies[0], got)
	}
}
