// Command openaigo is a program at the official OpenAI client for Go, played by test/openai:
//
//	openaigo BASE_URL KEY CHAT_MODEL RESPONSE_MODEL
//
// It lists the models, streams a completion of one and a response of the other, which may call its tool weather,
// and prints what it has as one JSON object.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"
)

// timeout ends a program whose server does not answer.
const timeout = 2 * time.Minute

// report is what is printed.
type report struct {
	Models   []string `json:"models"`
	Chat     string   `json:"chat"`     // the pieces of the completion
	Whole    string   `json:"whole"`    // the completion of the client's accumulator
	Pieces   string   `json:"pieces"`   // of the response
	Response string   `json:"response"` // its output_text
	Call     string   `json:"call"`
	Answer   string   `json:"answer"` // after the output of the call
	Refused  string   `json:"refused"`
}

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	client := openai.NewClient(option.WithBaseURL(os.Args[1]), option.WithAPIKey(os.Args[2]))
	r, err := play(ctx, client, os.Args[3], os.Args[4])
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(r)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "openaigo:", err)
		os.Exit(1)
	}
}

func play(ctx context.Context, client openai.Client, chatModel, responseModel string) (r report, err error) {
	for models := client.Models.ListAutoPaging(ctx); ; {
		if !models.Next() {
			if err := models.Err(); err != nil {
				return r, err
			}
			break
		}
		r.Models = append(r.Models, models.Current().ID)
	}
	chat := client.Chat.Completions.NewStreaming(ctx, openai.ChatCompletionNewParams{
		Model: chatModel, Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("Hello")},
	})
	var all openai.ChatCompletionAccumulator
	for chat.Next() {
		chunk := chat.Current()
		if !all.AddChunk(chunk) {
			return r, errors.New("the accumulator refuses a chunk")
		}
		for _, c := range chunk.Choices {
			r.Chat += c.Delta.Content
		}
	}
	if err := chat.Err(); err != nil {
		return r, err
	}
	r.Whole = all.Choices[0].Message.Content
	if r, err = respond(ctx, client, responseModel, r); err != nil {
		return r, err
	}
	_, refused := client.Responses.New(ctx, responses.ResponseNewParams{Model: "nobody", Input: responses.ResponseNewParamsInputUnion{OfString: param.NewOpt("Hello")}})
	if e := new(openai.Error); errors.As(refused, &e) {
		r.Refused = fmt.Sprint(e.StatusCode, " ", e.Code, " ", e.Param)
	}
	return r, nil
}

// respond streams a response that calls the tool, and answers the call.
func respond(ctx context.Context, client openai.Client, model string, r report) (report, error) {
	asked := responses.ResponseNewParams{
		Model: model, Input: responses.ResponseNewParamsInputUnion{OfString: param.NewOpt("Rain?")},
		Tools: []responses.ToolUnionParam{{OfFunction: &responses.FunctionToolParam{Name: "weather", Parameters: map[string]any{"type": "object"}}}},
	}
	stream := client.Responses.NewStreaming(ctx, asked)
	var last responses.Response
	for stream.Next() {
		switch e := stream.Current().AsAny().(type) {
		case responses.ResponseTextDeltaEvent:
			r.Pieces += e.Delta
		case responses.ResponseCompletedEvent:
			last = e.Response
		}
	}
	if err := stream.Err(); err != nil {
		return r, err
	}
	r.Response = last.OutputText()
	for _, item := range last.Output {
		call, is := item.AsAny().(responses.ResponseFunctionToolCall)
		if !is {
			continue
		}
		r.Call = call.Name + call.Arguments
		asked.PreviousResponseID = param.NewOpt(last.ID)
		output := responses.ResponseInputItemParamOfFunctionCallOutput("rain")
		output.OfFunctionCallOutput.CallID = param.NewOpt(call.CallID)
		asked.Input = responses.ResponseNewParamsInputUnion{OfInputItemList: responses.ResponseInputParam{output}}
		next, err := client.Responses.New(ctx, asked)
		if err != nil {
			return r, err
		}
		r.Answer = strings.TrimSpace(next.OutputText())
	}
	return r, nil
}
