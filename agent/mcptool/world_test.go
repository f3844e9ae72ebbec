package mcptool_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/mcptool"
)

// runAsServer makes this test binary an MCP server on its standard input and
// output.
const runAsServer = "MCPTOOL_TEST_RUN_AS"

func TestMain(m *testing.M) {
	switch os.Getenv(runAsServer) {
	case "server":
		s := newShop()
		s.noticed <- struct{}{} // nobody in this process sees it
		if err := s.server.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	case "failing":
		fmt.Fprintln(os.Stderr, "cannot open the shop: key "+os.Getenv("SHOP_KEY")+" is wrong")
		os.Exit(3)
	case "deaf":
		<-make(chan struct{})
	}
	goleak.VerifyTestMain(m)
}

// shop is a real MCP server with a tool of each kind.
type shop struct {
	server   *mcp.Server
	calls    atomic.Int32  // of echo and of look
	named    sync.Map      // the keys of the calls of echo
	waiting  chan struct{} // a call of wait has begun
	canceled chan struct{} // a call of wait was canceled
	closed   chan struct{} // ends all calls of wait
	close    func()
	noticed  chan struct{} // work's progress was seen; it does not finish before
}

type said struct {
	Text string `json:"text" jsonschema:"What to say."`
}

func text(s string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: s}}}
}

func newShop() *shop {
	s := &shop{
		server:   mcp.NewServer(&mcp.Implementation{Name: "shop", Version: "1"}, nil),
		waiting:  make(chan struct{}, 8),
		canceled: make(chan struct{}, 8),
		closed:   make(chan struct{}),
		noticed:  make(chan struct{}, 1),
	}
	s.close = sync.OnceFunc(func() { close(s.closed) })
	mcp.AddTool(s.server, &mcp.Tool{Name: "echo", Description: "Says it back."}, func(_ context.Context, req *mcp.CallToolRequest, in said) (*mcp.CallToolResult, any, error) {
		s.calls.Add(1)
		s.named.Store(req.Params.Meta[mcptool.MetaCallKey], true)
		return text(in.Text), nil, nil
	})
	mcp.AddTool(s.server, &mcp.Tool{Name: "look", Title: "Looks again.", Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}},
		func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
			return text(fmt.Sprint("looked ", s.calls.Add(1))), nil, nil
		})
	s.server.AddTool(&mcp.Tool{Name: "price.of", InputSchema: map[string]any{"type": "object"}, Annotations: &mcp.ToolAnnotations{IdempotentHint: true}},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{}, StructuredContent: map[string]any{"price": 7}}, nil
		})
	s.server.AddTool(&mcp.Tool{Name: "picture", InputSchema: map[string]any{"type": "object"}},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{
				&mcp.TextContent{Text: "a pixel"},
				&mcp.ImageContent{MIMEType: "image/png", Data: []byte{1, 2}},
				&mcp.ResourceLink{Name: "list", URI: "shop://list"},
				&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "shop://note", Text: "a note"}},
				&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "shop://pdf", MIMEType: "application/pdf", Blob: []byte{3}}},
			}}, nil
		})
	s.server.AddTool(&mcp.Tool{Name: "break", InputSchema: map[string]any{"type": "object"}},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			r := text("it is broken")
			r.IsError = true
			return r, nil
		})
	s.server.AddTool(&mcp.Tool{Name: "wait", InputSchema: map[string]any{"type": "object"}},
		func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			s.waiting <- struct{}{}
			select {
			case <-ctx.Done():
				s.canceled <- struct{}{}
			case <-s.closed:
			}
			return text("ended"), ctx.Err()
		})
	s.server.AddTool(&mcp.Tool{Name: "work", InputSchema: map[string]any{"type": "object"}},
		func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			err := req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
				ProgressToken: req.Params.GetProgressToken(), Message: "half", Progress: 1, Total: 2,
			})
			select {
			case <-s.noticed:
			case <-ctx.Done():
			}
			return text("worked"), err
		})
	s.server.AddTool(&mcp.Tool{Name: "die", InputSchema: map[string]any{"type": "object"}},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			os.Exit(9)
			return nil, nil
		})
	s.server.AddTool(&mcp.Tool{Name: "env", InputSchema: map[string]any{"type": "object"}},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return text(strings.Join(os.Environ(), "\n")), nil
		})
	return s
}

// open counts the sessions that clients have.
func (s *shop) open() (n int) {
	for range s.server.Sessions() {
		n++
	}
	return n
}

func (s *shop) sessions() http.Handler {
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s.server }, nil)
}

func (s *shop) stateless() http.Handler {
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s.server }, &mcp.StreamableHTTPOptions{Stateless: true, PropagateRequestCancellation: true})
}

// serve serves h over HTTP until the test ends; what it returns replaces h.
func serve(t *testing.T, h http.Handler) (url string, replace func(http.Handler)) {
	t.Helper()
	var current atomic.Pointer[http.Handler]
	current.Store(&h)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { (*current.Load()).ServeHTTP(w, r) }))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server.URL, func(h http.Handler) { current.Store(&h) }
}

func process(role string) mcptool.Server {
	return mcptool.Server{Name: "shop", Command: []string{os.Args[0]}, Env: []string{runAsServer + "=" + role}, Timeout: 20 * time.Second}
}

func connect(t *testing.T, server mcptool.Server) *mcptool.Connection {
	t.Helper()
	c, err := mcptool.Connect(t.Context(), server)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func find(t *testing.T, tools []agent.Tool, name string) agent.Tool {
	t.Helper()
	for _, tool := range tools {
		if tool.Spec().Name == name {
			return tool
		}
	}
	t.Fatalf("there is no tool %s", name)
	return nil
}

func call(t *testing.T, tool agent.Tool, arguments string) agent.Output {
	t.Helper()
	out, err := tool.Call(t.Context(), agent.ToolCall{ID: "1", Name: tool.Spec().Name, Arguments: arguments})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func receive(t *testing.T, what <-chan struct{}, name string) {
	t.Helper()
	select {
	case <-what:
	case <-time.After(20 * time.Second):
		t.Fatalf("%s did not happen", name)
	}
}

// eventually asks again and again, for what comes by a notification.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.After(20 * time.Second); !is(); {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatal(what + " did not happen")
		}
	}
}

// hijack cuts the connection of a request without an answer.
func hijack(w http.ResponseWriter) error {
	h, ok := w.(http.Hijacker)
	if !ok {
		return errors.New("the connection cannot be taken over")
	}
	conn, _, err := h.Hijack()
	if err != nil {
		return err
	}
	return conn.Close()
}
