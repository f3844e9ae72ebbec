package main

import (
	"testing"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/script"
)

func TestAsk(t *testing.T) {
	toolResult := ""
	model := script.Func(func(r *agent.Request) script.Answer {
		last := r.Messages[len(r.Messages)-1]
		if last.Role == agent.User {
			return script.Answer{Calls: []agent.ToolCall{{Name: "weather", Arguments: `{"City":"Kiel"}`}}}
		}
		toolResult = last.Results()[0].Text
		return script.Answer{Text: "Take one."}
	})
	answer, err := ask(t.Context(), model, "Do I need an umbrella in Kiel?")
	if err != nil || answer != "Take one." || toolResult != "rain in Kiel" {
		t.Errorf("got answer %q, tool result %q, error %v; want %q, %q, nil", answer, toolResult, err, "Take one.", "rain in Kiel")
	}
}
