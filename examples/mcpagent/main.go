// Command mcpagent is an agent that uses the official MCP SDK for Go. It shows the
// loop that the server's instructions ask a model to follow: wait, answer, wait again.
//
//	SHOAL_KEY=$(bin/shoal keys create --entity clerk --join welcome -q) go run ./examples/mcpagent
//	bin/shoal send welcome 'what time is it?' -m clerk --wait
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/shoal-dev/shoal"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	url := os.Getenv("SHOAL_URL")
	if url == "" {
		url = "http://127.0.0.1:7462"
	}
	if err := run(ctx, url, os.Getenv("SHOAL_KEY")); err != nil && ctx.Err() == nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, url, key string) error {
	transport := &mcp.StreamableClientTransport{Endpoint: url + "/mcp", HTTPClient: &http.Client{Transport: bearer(key)}}
	shoalServer, err := mcp.NewClient(&mcp.Implementation{Name: "clerk", Version: "1"}, nil).Connect(ctx, transport, nil)
	if err != nil {
		return err
	}
	defer func() { _ = shoalServer.Close() }() // the server closes idle MCP sessions by itself
	ack := ""
	for {
		var batch shoal.WaitResult
		arguments := map[string]any{"timeoutMs": 50_000}
		if ack != "" {
			arguments["ack"] = ack
		}
		if err := call(ctx, shoalServer, "wait_for_mentions", arguments, &batch); err != nil {
			return err
		}
		if batch.Cursor != nil {
			ack = *batch.Cursor
		}
		for _, item := range batch.Items {
			for _, m := range item.Messages {
				if m.Reason != shoal.ReasonMention {
					continue
				}
				err := call(ctx, shoalServer, "send_message", map[string]any{
					"threadId": item.Space.ID, "content": "It is " + time.Now().Format(time.Kitchen) + ".",
					"mentions": []shoal.EntityID{m.EntityID}, "idempotencyKey": "answer-" + string(m.ID),
				}, nil)
				if err != nil {
					return err
				}
			}
		}
	}
}

// call calls a tool and decodes its structured result into out, unless out is nil.
func call(ctx context.Context, s *mcp.ClientSession, tool string, arguments map[string]any, out any) error {
	result, err := s.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		return err
	}
	if result.IsError {
		text, _ := result.Content[0].(*mcp.TextContent)
		return errors.New(text.Text)
	}
	if out == nil {
		return nil
	}
	raw, err := json.Marshal(result.StructuredContent)
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, out)
}

// bearer is a key that it sends with every request.
type bearer string

// RoundTrip implements [http.RoundTripper].
func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}
