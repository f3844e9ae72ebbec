package mcptool_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/mcptool"
)

var errClosedForTest = errors.New("the connection is closed")

// servers are the ways to reach a shop.
func servers(t *testing.T, s *shop) map[string]mcptool.Server {
	t.Helper()
	sessions, _ := serve(t, s.sessions())
	stateless, _ := serve(t, s.stateless())
	sse, _ := serve(t, mcp.NewSSEHandler(func(*http.Request) *mcp.Server { return s.server }, nil))
	return map[string]mcptool.Server{
		"sessions":  {Name: "shop", URL: sessions},
		"stateless": {Name: "shop", URL: stateless + "/mcp"},
		"sse":       {Name: "shop", URL: sse, Transport: mcptool.SSE},
		"stdio":     process("server"),
	}
}

func TestToolsOfAServer(t *testing.T) {
	for name, server := range servers(t, newShop()) {
		t.Run(name, func(t *testing.T) {
			tools := connect(t, server).Tools()
			var names, idempotent []string
			for _, tool := range tools {
				spec := tool.Spec()
				names = append(names, spec.Name)
				if spec.Idempotent {
					idempotent = append(idempotent, spec.Name)
				}
				if !spec.RequiresPermission || spec.Timeout <= 0 {
					t.Errorf("%s needs no permission, or has no time-out: %+v", spec.Name, spec)
				}
			}
			if diff := cmp.Diff([]string{"break", "die", "echo", "env", "look", "picture", "price_of", "wait", "work"}, names); diff != "" {
				t.Errorf("tools (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]string{"look", "price_of"}, idempotent); diff != "" {
				t.Errorf("idempotent tools (-want +got):\n%s", diff)
			}
			spec := find(t, tools, "echo").Spec()
			var schema struct {
				Properties map[string]struct{ Type, Description string }
				Required   []string
			}
			if err := json.Unmarshal(spec.Schema, &schema); err != nil || schema.Properties["text"].Description != "What to say." ||
				spec.Description != "Says it back." || len(schema.Required) != 1 {
				t.Errorf("echo: %s %s, %v", spec.Description, spec.Schema, err)
			}
			if got := find(t, tools, "look").Spec().Description; got != "Looks again." {
				t.Errorf("look: %q", got)
			}

			if got := call(t, find(t, tools, "echo"), `{"text":"moin <b>"}`); got.Text != "moin <b>" || got.Failed {
				t.Errorf("echo = %+v", got)
			}
			if got := call(t, find(t, tools, "echo"), `{"text":1}`); !got.Failed || !strings.Contains(got.Text, "text") {
				t.Errorf("echo of a wrong argument = %+v", got)
			}
			if got := call(t, find(t, tools, "price_of"), ``); got.Text != `{"price":7}` || got.Failed {
				t.Errorf("price.of = %+v", got)
			}
			if got := call(t, find(t, tools, "break"), `{}`); got.Text != "it is broken" || !got.Failed {
				t.Errorf("break = %+v", got)
			}
			want := agent.Output{Text: "a pixel\nlist shop://list\na note", Files: []agent.File{
				{MediaType: "image/png", Data: []byte{1, 2}},
				{Name: "shop://pdf", MediaType: "application/pdf", Data: []byte{3}},
			}}
			if diff := cmp.Diff(want, call(t, find(t, tools, "picture"), `{}`)); diff != "" {
				t.Errorf("picture (-want +got):\n%s", diff)
			}
		})
	}
}

// When the context of a call ends, the server is notified.
func TestCanceledCallIsCanceledOnTheServer(t *testing.T) {
	s := newShop()
	for name, server := range servers(t, s) {
		if name == "stdio" {
			continue // the other process has its own channels
		}
		t.Run(name, func(t *testing.T) {
			wait := find(t, connect(t, server).Tools(), "wait")
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			failed := make(chan error, 1)
			go func() {
				_, err := wait.Call(ctx, agent.ToolCall{Arguments: "{}"})
				failed <- err
			}()
			receive(t, s.waiting, "the call")
			cancel()
			receive(t, s.canceled, "the cancellation")
			if err := <-failed; err == nil || !strings.Contains(err.Error(), "context canceled") {
				t.Errorf("err = %v", err)
			}
		})
	}
}

// That no goroutine is left is seen by TestMain, after all tests.
func TestCloseEndsEverything(t *testing.T) {
	for name := range servers(t, newShop()) {
		t.Run(name, func(t *testing.T) {
			s := newShop()
			server := servers(t, s)[name]
			c := connect(t, server)
			tools := c.Tools()
			failed := make(chan error, 1)
			if name != "stdio" {
				go func() {
					_, err := find(t, tools, "wait").Call(context.Background(), agent.ToolCall{})
					failed <- err
				}()
				receive(t, s.waiting, "the call")
			} else {
				failed <- errClosedForTest
			}
			if err := c.Close(); err != nil {
				t.Error(err)
			}
			if err := <-failed; err == nil || !strings.Contains(err.Error(), "the connection is closed") {
				t.Errorf("the call in flight: %v", err)
			}
			if _, err := find(t, tools, "echo").Call(context.Background(), agent.ToolCall{}); err == nil || !strings.Contains(err.Error(), "the connection is closed") {
				t.Errorf("a call afterwards: %v", err)
			}
			if name != "stdio" {
				s.close()
				eventually(t, "the end of the server's sessions", func() bool { return s.open() == 0 })
			}
			if len(c.Tools()) == 0 || c.Close() != nil {
				t.Error("a closed connection has forgotten its tools, or cannot be closed again")
			}
		})
	}
}

func TestAcceptedTools(t *testing.T) {
	url, _ := serve(t, newShop().sessions())
	no := false
	tools := connect(t, mcptool.Server{Name: "shop", URL: url, Prefix: "shop/", AllowedTools: []string{"echo", "price.of"}, RequiresPermission: &no}).Tools()
	if len(tools) != 2 {
		t.Fatalf("%d tools", len(tools))
	}
	spec := find(t, tools, "shop_price_of").Spec()
	if spec.RequiresPermission {
		t.Error("price.of needs a permission")
	}
	if got := call(t, find(t, tools, "shop_echo"), `{"text":"a"}`); got.Text != "a" {
		t.Errorf("echo = %+v", got)
	}
	_, err := mcptool.Connect(t.Context(), mcptool.Server{Name: "shop", URL: url, AllowedTools: []string{"ehco"}})
	if agent.KindOf(err) != agent.ErrNotFound || !strings.Contains(err.Error(), `no tool "ehco"`) {
		t.Errorf("err = %v", err)
	}
}

func TestChangedToolListIsUsedByNextTurn(t *testing.T) {
	for _, name := range []string{"sessions", "stateless", "sse"} {
		t.Run(name, func(t *testing.T) {
			s := newShop()
			c := connect(t, servers(t, s)[name])
			before := len(c.Tools())
			s.server.AddTool(&mcp.Tool{Name: "newest", InputSchema: map[string]any{"type": "object"}},
				func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { return text("new"), nil })
			eventually(t, "the new tool", func() bool { return len(c.Tools()) == before+1 })
			if got := call(t, find(t, c.Tools(), "newest"), ""); got.Text != "new" {
				t.Errorf("newest = %+v", got)
			}
		})
	}
}
