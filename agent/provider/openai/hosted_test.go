package openai

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/internal/wiretest"
)

// Hosted tools are sent after the agent's own. Citations become a part of the text, at their
// place in it, which the wire counts in characters; all of it goes back over two turns.
func TestHostedTools(t *testing.T) {
	transcript, err := os.ReadFile("testdata/responses_web_search.txt")
	if err != nil {
		t.Fatal(err)
	}
	_, events, _ := strings.Cut(string(transcript), "\n----\n")
	events = strings.NewReplacer(
		`"Rain."`, `"Köln: Rain."`, `"start_index":0,"end_index":4`, `"start_index":6,"end_index":10`,
		`"text":"Take a coat.","annotations":[]`, `"text":"Take a coat.","annotations":[{"type":"url_citation","start_index":7,"end_index":99,"url":"https://example.com/coat","title":"Coat"},{"type":"later"},{"type":"url_citation","start_index":0,"end_index":12,"url":"https://example.com/coat","title":"Coat"}]`,
	).Replace(events)
	v := wiretest.NewVendor(t, wiretest.Plays(events))
	m := Responses("m", Options{
		APIKey: "k", BaseURL: v.URL + "/v1", HTTPClient: wiretest.NewClient(t),
		HostedTools: []HostedTool{WebSearch{AllowedDomains: []string{"example.com"}, ContextSize: "low"}, CodeInterpreter{}, CodeInterpreter{Container: "cntr_1"}},
	})
	a, err := agent.New(m, agent.Options{
		Tools:    []agent.Tool{agent.External(agent.ToolSpec{Name: "now"})},
		Settings: agent.Settings{ProviderOptions: map[string]any{"tools": []any{map[string]any{"type": "image_generation"}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	c := agent.NewConversation()
	for _, text := range []string{"weather?", "thanks"} {
		if _, err := a.Run(t.Context(), c, agent.Say(text)); err != nil {
			t.Fatal(err)
		}
	}
	for i, sent := range v.Bodies {
		if want := `,{"type":"web_search","filters":{"allowed_domains":["example.com"]},"search_context_size":"low"},{"container":{"type":"auto"},"type":"code_interpreter"},` +
			`{"container":"cntr_1","type":"code_interpreter"},{"type":"image_generation"}]`; !strings.Contains(sent, want) || !strings.Contains(sent, `"tools":[{"type":"function","name":"now"`) {
			t.Errorf("request %d lacks %s: %s", i, want, sent)
		}
	}
	stored, _ := c.Messages(t.Context())
	said := stored[1].Parts[len(stored[1].Parts)-1]
	want := []agent.Citation{
		{URL: "https://example.com", Title: "Weather", Start: 7, End: 11},
		{URL: "https://example.com/coat", Title: "Coat"},
		{URL: "https://example.com/coat", Title: "Coat", Start: 12, End: 24},
	}
	if d := cmp.Diff(want, said.Citations); d != "" || said.Text[7:11] != "Rain" || said.Text[12:24] != "Take a coat." {
		t.Errorf("%q: %s", said.Text, d)
	}
	for _, item := range []string{
		`{"id":"ws_1","type":"web_search_call","status":"completed","action":{"type":"search","query":"weather <Kiel>"}}`,
		`"text":"Köln: Rain.","annotations":[{"type":"url_citation","start_index":6,"end_index":10,"url":"https://example.com","title":"Weather"}]`,
	} {
		if !strings.Contains(strings.NewReplacer(`\u003c`, "<", `\u003e`, ">").Replace(v.Bodies[1]), item) {
			t.Errorf("the second request lacks %s: %s", item, v.Bodies[1])
		}
	}
}

// A mistake in a hosted tool fails each call before anything is sent.
func TestHostedToolMistakes(t *testing.T) {
	v := wiretest.NewVendor(t, wiretest.Plays(""))
	o := Options{APIKey: "k", BaseURL: v.URL + "/v1", HTTPClient: wiretest.NewClient(t), HostedTools: []HostedTool{WebSearch{}}}
	size := o
	size.HostedTools = []HostedTool{WebSearch{ContextSize: "huge"}}
	for want, m := range map[string]agent.Model{
		"HostedTools are tools of the Responses API; create the model with Responses": Chat("m", o),
		"HostedTools[0] has a ContextSize that is not low, medium or high":            Responses("m", size),
	} {
		_, err := wiretest.Transcribe(t, m, hello)
		if !errors.Is(err, agent.ErrInvalidArgument) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if len(v.Bodies) > 0 {
		t.Error("a request was sent")
	}
}
