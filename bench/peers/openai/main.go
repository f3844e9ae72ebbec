// Command openai reads the stream of a model with OpenAI's module for Go, as its
// users do, and tells what that cost. It obeys orders on standard input like the
// readers of bench itself, which says what stands in them.
//
//	openai URL
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"syscall"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

type order struct {
	Path    string  `json:"path"` // of the answer, below the URL
	Deltas  int     `json:"deltas"`
	Bytes   int     `json:"bytes"`
	Seconds float64 `json:"seconds"`
}

type reading struct {
	Deltas    float64 `json:"deltas"`
	Seconds   float64 `json:"seconds"`
	CPU       float64 `json:"cpu"`
	Allocated float64 `json:"allocated"`
}

func main() {
	if len(os.Args) != 2 {
		fail(errors.New("the URL of a model is wanted, and nothing else"))
	}
	orders, answers := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var o order
		if err := orders.Decode(&o); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			fail(err)
		}
		found, err := o.obey(context.Background(), os.Args[1]+o.Path)
		if err == nil {
			err = answers.Encode(found)
		}
		if err != nil {
			fail(err)
		}
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "openai:", err)
	os.Exit(1)
}

// obey reads the answer again and again until the time is over.
func (o order) obey(ctx context.Context, base string) (found reading, err error) {
	client := openai.NewClient(option.WithBaseURL(base), option.WithAPIKey("none"), option.WithMaxRetries(0))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	used, began := cpu(), time.Now()
	for found.Seconds == 0 || found.Seconds < o.Seconds {
		deltas, size, err := read(ctx, client)
		if err != nil {
			return found, err
		}
		if deltas != o.Deltas || size != o.Bytes {
			return found, fmt.Errorf("%d deltas came with %d bytes; %d with %d were sent", deltas, size, o.Deltas, o.Bytes)
		}
		found.Deltas += float64(deltas)
		found.Seconds = time.Since(began).Seconds()
	}
	found.CPU = cpu() - used
	runtime.ReadMemStats(&after)
	found.Allocated = float64(after.TotalAlloc - before.TotalAlloc)
	return found, nil
}

// read takes one answer. It puts nothing together and runs no tool: whoever uses
// the module does that.
func read(ctx context.Context, client openai.Client) (deltas, size int, err error) {
	stream := client.Chat.Completions.NewStreaming(ctx, openai.ChatCompletionNewParams{
		Model:    "played",
		Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("Go on.")},
	})
	for stream.Next() {
		for _, c := range stream.Current().Choices {
			text := c.Delta.Content
			for _, call := range c.Delta.ToolCalls {
				text = call.Function.Arguments
			}
			if text != "" {
				deltas++
				size += len(text)
			}
		}
	}
	return deltas, size, errors.Join(stream.Err(), stream.Close())
}

// cpu returns the seconds that this process has used.
func cpu() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0 // it cannot fail for the process itself
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}
