// Command eino is the agent of the comparison with the agent development kit of eino.
package main

import (
	"context"
	"errors"
	"io"

	"github.com/cloudwego/eino-ext/components/model/openai"
	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"

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
	model, err := openai.NewChatModel(ctx, &openai.ChatModelConfig{Model: harness.Model, BaseURL: url, APIKey: harness.Key})
	if err != nil {
		return nil, err
	}
	weather, err := utils.InferTool("weather", harness.WeatherIs, func(ctx context.Context, in place) (string, error) {
		return harness.Weather(ctx, in.City)
	})
	if err != nil {
		return nil, err
	}
	add, err := utils.InferTool("add", harness.AddIs, func(_ context.Context, in numbers) (float64, error) {
		return harness.Add(in.A, in.B), nil
	})
	if err != nil {
		return nil, err
	}
	agent, err := adk.NewChatModelAgent(ctx, &adk.ChatModelAgentConfig{
		Name: "assistant", Description: "Answers questions.", Instruction: harness.Instructions, Model: model,
		ToolsConfig:   adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{Tools: []tool.BaseTool{weather, add}}},
		MaxIterations: harness.MaxCalls,
	})
	if err != nil {
		return nil, err
	}
	runner := adk.NewRunner(ctx, adk.RunnerConfig{Agent: agent, EnableStreaming: true})
	return func(ctx context.Context, question string, screen *harness.Screen) error {
		events := runner.Query(ctx, question)
		for {
			event, more := events.Next()
			if !more {
				return nil
			}
			if event.Err != nil {
				return event.Err
			}
			if event.Output == nil || event.Output.MessageOutput == nil || event.Output.MessageOutput.Role != schema.Assistant {
				continue
			}
			if err := show(event.Output.MessageOutput, screen); err != nil {
				return err
			}
		}
	}, nil
}

func show(message *adk.MessageVariant, screen *harness.Screen) error {
	if !message.IsStreaming {
		screen.Show(message.Message.Content)
		return nil
	}
	defer message.MessageStream.Close()
	for {
		delta, err := message.MessageStream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		screen.Show(delta.Content)
	}
}
