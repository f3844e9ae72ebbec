// Command shoal is the agent of the comparison with package agent.
package main

import (
	"context"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/openai"
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

var newModel = openai.Chat

func build(_ context.Context, url string) (harness.Ask, error) {
	weather := agent.Func("weather", harness.WeatherIs, func(ctx context.Context, in place) (string, error) {
		return harness.Weather(ctx, in.City)
	})
	add := agent.Func("add", harness.AddIs, func(_ context.Context, in numbers) (float64, error) {
		return harness.Add(in.A, in.B), nil
	})
	a, err := agent.New(newModel(harness.Model, openai.Options{BaseURL: url, APIKey: harness.Key}), agent.Options{
		Instructions: harness.Instructions, Tools: []agent.Tool{weather, add}, MaxSteps: harness.MaxCalls,
	})
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, question string, screen *harness.Screen) error {
		for event, err := range a.Stream(ctx, agent.NewConversation(), agent.Say(question)) {
			if err != nil {
				return err
			}
			switch e := event.(type) {
			case agent.TextDelta:
				screen.Show(e.Text)
			case agent.MessageEnded:
				screen.End(e.Discarded)
			case agent.TurnFinished:
				return e.Err
			}
		}
		return nil
	}, nil
}
