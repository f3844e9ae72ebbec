package google_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/google"
	"github.com/shoal-dev/shoal/agent/provider/internal/wiretest"
)

// Hosted tools are sent after the agent's own. What Google Search found becomes citations of
// the text, also where the range is that of a piece of the stream; code goes back.
func TestHostedTools(t *testing.T) {
	const code = `{"executableCode":{"language":"PYTHON","code":"print(2)"}}`
	v := newVendor(t, wiretest.Plays(events(
		`{"candidates":[{"content":{"role":"model","parts":[{"text":"Look.","thought":true},`+code+`,{"text":"In Köln "}]}}]}`,
		`{"candidates":[{"content":{"role":"model","parts":[{"text":"it rains."}]},"groundingMetadata":{"groundingChunks":[{"web":{"uri":"https://example.com/1","title":"one"}}]}}]}`,
		`{"candidates":[{"content":{"role":"model","parts":[{"text":" Bring a coat."}]},"finishReason":"STOP","groundingMetadata":{"webSearchQueries":["rain"],`+
			`"groundingChunks":[{"web":{"uri":"https://example.com/1","title":"one"}},{"web":{"uri":"https://example.com/2","title":"two"}},{"later":{}}],`+
			`"groundingSupports":[{"segment":{"endIndex":18,"text":"In Köln it rains."},"groundingChunkIndices":[0,1,2,9]},`+
			`{"segment":{"partIndex":2,"startIndex":1,"endIndex":14,"text":"Bring a coat."},"groundingChunkIndices":[1]},`+
			`{"segment":{"startIndex":500,"endIndex":600,"text":"something else"},"groundingChunkIndices":[0]}]}}]}`,
	)))
	m := google.New("gemini-test", google.Options{
		APIKey: testKey, BaseURL: v.URL, HTTPClient: wiretest.NewClient(t), HostedTools: []google.HostedTool{google.Search{}, google.CodeExecution{}},
	})
	a, err := agent.New(m, agent.Options{Tools: []agent.Tool{agent.External(agent.ToolSpec{Name: "now"})}})
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
		if want := `"tools":[{"functionDeclarations":[{"name":"now"}]},{"googleSearch":{}},{"codeExecution":{}}]`; !strings.Contains(sent, want) {
			t.Errorf("request %d lacks %s: %s", i, want, sent)
		}
	}
	if want := code + `,{"text":"In Köln it rains. Bring a coat."}`; !strings.Contains(v.Bodies[1], want) {
		t.Errorf("the second request lacks %s: %s", want, v.Bodies[1])
	}
	stored, _ := c.Messages(t.Context())
	said := stored[1].Parts[len(stored[1].Parts)-1]
	want := []agent.Citation{
		{URL: "https://example.com/1", Title: "one", End: 18},
		{URL: "https://example.com/2", Title: "two", End: 18},
		{URL: "https://example.com/2", Title: "two", Start: 19, End: 32},
		{URL: "https://example.com/1", Title: "one"},
	}
	if d := cmp.Diff(want, said.Citations); d != "" {
		t.Error(d)
	}
	if got := said.Text[19:32]; got != "Bring a coat." {
		t.Errorf("the third citation is of %q", got)
	}
}
