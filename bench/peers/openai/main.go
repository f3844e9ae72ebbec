// Command openai reads the stream of a model with OpenAI's module for Go, as a user
// would, and reports the resources it used. It executes orders from standard input like
// the readers of bench, which documents their format.
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
		fail(errors.New("usage: openai URL"))
	}
	orders, answers := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var o order
		if err := orders.Decode(&o); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			fail(err)
		}
		found, err := o.execute(context.Background(), os.Args[1]+o.Path)
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

// execute reads the answer repeatedly for the given number of seconds, at least once.
func (o order) execute(ctx context.Context, base string) (found reading, err error) {
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
			return found, fmt.Errorf("got %d deltas with %d bytes, want %d with %d", deltas, size, o.Deltas, o.Bytes)
		}
		found.Deltas += float64(deltas)
		found.Seconds = time.Since(began).Seconds()
	}
	found.CPU = cpu() - used
	runtime.ReadMemStats(&after)
	found.Allocated = float64(after.TotalAlloc - before.TotalAlloc)
	return found, nil
}

// read reads one answer. It assembles no message and runs no tool: both are the task of
// the module's user.
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

// cpu returns the CPU time of this process in seconds.
func cpu() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0 // cannot fail for the process itself
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}
