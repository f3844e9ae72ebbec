package main

import (
	"testing"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/script"
)

func TestAsk(t *testing.T) {
	heard := ""
	model := script.Func(func(r *agent.Request) script.Answer {
		last := r.Messages[len(r.Messages)-1]
		if last.Role == agent.User {
			return script.Answer{Calls: []agent.ToolCall{{Name: "weather", Arguments: `{"City":"Kiel"}`}}}
		}
		heard = last.Results()[0].Text
		return script.Answer{Text: "Take one."}
	})
	answer, err := ask(t.Context(), model, "Do I need an umbrella in Kiel?")
	if err != nil || answer != "Take one." || heard != "rain in Kiel" {
		t.Errorf("answer %q, the tool said %q, %v", answer, heard, err)
	}
}
