package openai_test

import (
	"context"
	"fmt"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/openai"
)

// A model searches the web, and the program shows the sources of its answer. A server on this
// machine plays the provider.
func ExampleWebSearch() {
	url, stop := serveSearch()
	defer stop()
	model := openai.Responses("gpt-5", openai.Options{
		BaseURL: url, APIKey: "none",
		HostedTools: []openai.HostedTool{openai.WebSearch{AllowedDomains: []string{"example.com"}}},
	})
	a, err := agent.New(model, agent.Options{})
	if err != nil {
		panic(err)
	}
	result, err := a.Run(context.Background(), agent.NewConversation(), agent.Say("Is it raining in Kiel?"))
	if err != nil {
		panic(err)
	}
	for _, m := range result.Messages {
		for _, p := range m.Parts {
			for _, c := range p.Citations {
				fmt.Printf("%q: %s, %s\n", p.Text[c.Start:c.End], c.Title, c.URL)
			}
		}
	}
	// Output:
	// "Rain": Weather, https://example.com
}
