// Command openaigo is the agent of the comparison with OpenAI's client and a loop by hand.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/shoal-dev/shoal/bench/compare/harness"
)

func main() { harness.Main(build) }

func build(_ context.Context, url string) (harness.Ask, error) {
	client := openai.NewClient(option.WithBaseURL(url), option.WithAPIKey(harness.Key))
	object := func(fields openai.FunctionParameters, required ...string) openai.FunctionParameters {
		return openai.FunctionParameters{"type": "object", "properties": fields, "required": required}
	}
	tools := []openai.ChatCompletionToolUnionParam{
		openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{
			Name: "weather", Description: openai.String(harness.WeatherIs),
			Parameters: object(openai.FunctionParameters{"city": map[string]string{"type": "string"}}, "city"),
		}),
		openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{
			Name: "add", Description: openai.String(harness.AddIs),
			Parameters: object(openai.FunctionParameters{"a": map[string]string{"type": "number"}, "b": map[string]string{"type": "number"}}, "a", "b"),
		}),
	}
	return func(ctx context.Context, question string, screen *harness.Screen) error {
		params := openai.ChatCompletionNewParams{
			Model: harness.Model, Tools: tools,
			Messages: []openai.ChatCompletionMessageParamUnion{openai.SystemMessage(harness.Instructions), openai.UserMessage(question)},
		}
		for range harness.MaxCalls {
			stream := client.Chat.Completions.NewStreaming(ctx, params)
			var answer openai.ChatCompletionAccumulator
			for stream.Next() {
				chunk := stream.Current()
				answer.AddChunk(chunk)
				if len(chunk.Choices) > 0 {
					screen.Show(chunk.Choices[0].Delta.Content)
				}
			}
			if err := stream.Err(); err != nil {
				return err
			}
			if len(answer.Choices) == 0 {
				return errors.New("the model has not answered")
			}
			message := answer.Choices[0].Message
			if len(message.ToolCalls) == 0 {
				return nil
			}
			params.Messages = append(params.Messages, message.ToParam())
			for _, call := range message.ToolCalls {
				result, err := callTool(ctx, call.Function.Name, call.Function.Arguments)
				if err != nil {
					return err
				}
				params.Messages = append(params.Messages, openai.ToolMessage(result, call.ID))
			}
		}
		return errors.New("too many steps")
	}, nil
}

func callTool(ctx context.Context, name, arguments string) (string, error) {
	var in struct {
		City string
		A, B float64
	}
	if err := json.Unmarshal([]byte(arguments), &in); err != nil {
		return "", err
	}
	switch name {
	case "weather":
		return harness.Weather(ctx, in.City)
	case "add":
		return fmt.Sprint(harness.Add(in.A, in.B)), nil
	}
	return "", fmt.Errorf("the model calls the unknown tool %q", name)
}
