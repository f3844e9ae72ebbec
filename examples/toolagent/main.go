// Command toolagent is an agent with one Go function as a tool.
//
//	OPENAI_API_KEY=… go run ./examples/toolagent "Do I need an umbrella in Kiel?"
//
// Without OPENAI_API_KEY a script plays the model; a line on standard error says so.
package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/openai"
	"github.com/shoal-dev/shoal/agent/provider/script"
)

func main() {
	model := openai.Chat("gpt-5-mini")
	if os.Getenv("OPENAI_API_KEY") == "" {
		fmt.Fprintln(os.Stderr, "no OPENAI_API_KEY: a script plays the model")
		model = script.New(
			script.Answer{Calls: []agent.ToolCall{{Name: "weather", Arguments: `{"city":"Kiel"}`}}},
			script.Answer{Text: "(scripted) It rains in Kiel: take an umbrella."},
		)
	}
	question := strings.Join(os.Args[1:], " ")
	if question == "" {
		question = "Do I need an umbrella in Kiel?"
	}
	answer, err := ask(context.Background(), model, question)
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
	fmt.Println(answer)
}

// ask runs an agent with the tool weather on one question and returns its answer.
func ask(ctx context.Context, model agent.Model, question string) (string, error) {
	weather := agent.Func("weather", "Returns the weather of a city.",
		func(_ context.Context, in struct{ City string }) (string, error) { return "rain in " + in.City, nil })
	a, err := agent.New(model, agent.Options{Instructions: "Answer in one sentence.", Tools: []agent.Tool{weather}})
	if err != nil {
		return "", err
	}
	result, err := a.Run(ctx, agent.NewConversation(), agent.Say(question))
	if err != nil {
		return "", err
	}
	return result.Text(), nil
}
