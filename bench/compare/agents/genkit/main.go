// Command genkit is the agent of the comparison with Genkit.
package main

import (
	"context"

	"github.com/firebase/genkit/go/ai"
	"github.com/firebase/genkit/go/genkit"
	"github.com/firebase/genkit/go/plugins/compat_oai/openai"
	"github.com/openai/openai-go/option"

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
	g := genkit.Init(ctx, genkit.WithPlugins(&openai.OpenAI{APIKey: harness.Key, Opts: []option.RequestOption{option.WithBaseURL(url)}}))
	weather := genkit.DefineTool(g, "weather", harness.WeatherIs, func(ctx *ai.ToolContext, in place) (string, error) {
		return harness.Weather(ctx, in.City)
	})
	add := genkit.DefineTool(g, "add", harness.AddIs, func(_ *ai.ToolContext, in numbers) (float64, error) {
		return harness.Add(in.A, in.B), nil
	})
	return func(ctx context.Context, question string, screen *harness.Screen) error {
		stream := genkit.GenerateStream(ctx, g, ai.WithModelName("openai/"+harness.Model), ai.WithSystem(harness.Instructions),
			ai.WithPrompt(question), ai.WithTools(weather, add), ai.WithMaxTurns(harness.MaxCalls))
		for value, err := range stream {
			if err != nil {
				return err
			}
			if !value.Done {
				screen.Show(value.Chunk.Text())
			}
		}
		return nil
	}, nil
}
