package peer

import (
	"context"
	"flag"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/shoal-dev/shoal/bench/driver"
)

// ServeSDK runs two trivial tools on the MCP SDK for Go, over streamable HTTP with MCP
// sessions and JSON responses, with the floor's log.
func ServeSDK(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("sdk", flag.ContinueOnError)
	addr := flags.String("addr", "127.0.0.1:0", "the `address` to listen on")
	path := flags.String("db", "", "the `file` of the database")
	if err := flags.Parse(args); err != nil {
		return err
	}
	log, err := openLedger(*path)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /readyz", func(http.ResponseWriter, *http.Request) {})
	server := sdkServer(log)
	mux.Handle("/mcp", mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{JSONResponse: true}))
	return driver.Serve(ctx, *addr, mux)
}

// SendInput is the input of the tool send_message.
type SendInput struct {
	To      string `json:"to"`
	Content string `json:"content"`
}

// WaitInput is the input of the tool wait_for_mentions.
type WaitInput struct {
	ID string `json:"id"`
}

func sdkServer(log *ledger) *mcp.Server {
	var inboxes boxes[string]
	text := func(s string) *mcp.CallToolResult {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: s}}}
	}
	s := mcp.NewServer(&mcp.Implementation{Name: "bare", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "send_message", Description: "Send a message"}, func(_ context.Context, _ *mcp.CallToolRequest, in SendInput) (*mcp.CallToolResult, any, error) {
		if err := log.append([]byte(in.Content)); err != nil {
			return nil, nil, err
		}
		if in.To != "" {
			inboxes.of(in.To) <- in.Content
		}
		return text("sent"), nil, nil
	})
	mcp.AddTool(s, &mcp.Tool{Name: "wait_for_mentions", Description: "Wait for a message"}, func(ctx context.Context, _ *mcp.CallToolRequest, in WaitInput) (*mcp.CallToolResult, any, error) {
		select {
		case content := <-inboxes.of(in.ID):
			return text(content), nil, nil
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		}
	})
	return s
}
