// Command adk is the agent of the comparison with the Agent Development Kit for Go.
package main

import (
	"context"
	"strconv"
	"sync/atomic"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/model/openaimodel"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/functiontool"
	"google.golang.org/genai"

	"github.com/shoal-dev/shoal/bench/compare/harness"
)

func main() { harness.Main(build) }

type place struct {
	City string `json:"city"`
}

type numbers struct {
	A float64 `json:"a"`
	B float64 `json:"b"`
}

func build(ctx context.Context, url string) (harness.Ask, error) {
	model, err := openaimodel.NewModel(ctx, harness.Model, &openaimodel.ClientConfig{APIKey: harness.Key, BaseURL: url})
	if err != nil {
		return nil, err
	}
	weather, err := functiontool.New(functiontool.Config{Name: "weather", Description: harness.WeatherIs}, func(ctx agent.Context, in place) (string, error) {
		return harness.Weather(ctx, in.City)
	})
	if err != nil {
		return nil, err
	}
	add, err := functiontool.New(functiontool.Config{Name: "add", Description: harness.AddIs}, func(_ agent.Context, in numbers) (float64, error) {
		return harness.Add(in.A, in.B), nil
	})
	if err != nil {
		return nil, err
	}
	assistant, err := llmagent.New(llmagent.Config{
		Name: "assistant", Description: "Answers questions.", Instruction: harness.Instructions, Model: model,
		Tools: []tool.Tool{weather, add},
	})
	if err != nil {
		return nil, err
	}
	run, err := runner.New(runner.Config{
		AppName: "compare", Agent: assistant, SessionService: session.InMemoryService(), AutoCreateSession: true,
	})
	if err != nil {
		return nil, err
	}
	var sessions atomic.Int64
	return func(ctx context.Context, question string, screen *harness.Screen) error {
		id := strconv.FormatInt(sessions.Add(1), 10)
		said := genai.NewContentFromText(question, genai.RoleUser)
		for event, err := range run.Run(ctx, "user", id, said, agent.RunConfig{StreamingMode: agent.StreamingModeSSE}) {
			if err != nil {
				return err
			}
			if event.Content == nil || !event.Partial {
				continue
			}
			for _, part := range event.Content.Parts {
				screen.Show(part.Text)
			}
		}
		return nil
	}, nil
}
