package load

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync/atomic"

	"github.com/shoal-dev/shoal"
)

// mcpVersion is a version of MCP with sessions, which most clients use.
const mcpVersion = "2025-06-18"

// The messages of a client before it calls tools.
const (
	MCPInitialize  = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"` + mcpVersion + `","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}`
	MCPInitialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
)

// Tools are clients of a server that speaks MCP over streamable HTTP at /mcp. They write
// JSON-RPC by hand, so that the measurement is dominated by the server.
type Tools struct {
	Wire
	headers []http.Header // by client
	calls   atomic.Int64
}

// MCPHeader returns the header of all requests of a client; key may be empty.
func MCPHeader(key string) http.Header {
	h := http.Header{
		"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}, "Mcp-Protocol-Version": {mcpVersion},
	}
	if key != "" {
		h.Set("Authorization", "Bearer "+key)
	}
	return h
}

// Join initializes one client for each key, which may be empty.
func (t *Tools) Join(ctx context.Context, keys []string) error {
	first := len(t.headers)
	t.headers = append(t.headers, make([]http.Header, len(keys))...)
	return each(len(keys), func(n int) (err error) {
		t.headers[first+n], err = t.join(ctx, keys[n])
		return err
	})
}

func (t *Tools) join(ctx context.Context, key string) (http.Header, error) {
	header := MCPHeader(key)
	_, got, err := t.Do(ctx, http.MethodPost, "/mcp", header.Clone(), []byte(MCPInitialize))
	if err != nil {
		return nil, err
	}
	if id := got.Get("Mcp-Session-Id"); id != "" {
		header.Set("Mcp-Session-Id", id)
	}
	_, _, err = t.Do(ctx, http.MethodPost, "/mcp", header.Clone(), []byte(MCPInitialized))
	return header, err
}

// Leave ends the sessions of all clients.
func (t *Tools) Leave(ctx context.Context) error {
	headers := t.headers
	t.headers = nil
	return each(len(headers), func(n int) error {
		_, _, err := t.Do(ctx, http.MethodDelete, "/mcp", headers[n], nil)
		return err
	})
}

// ToolCall returns the request that calls a tool.
func ToolCall(id int64, tool string, args any) ([]byte, error) {
	encoded, err := json.Marshal(args)
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"%s","arguments":%s}}`, id, tool, encoded), err
}

// Tool calls a tool as a client and returns the complete response.
func (t *Tools) Tool(ctx context.Context, client int, name string, args any) ([]byte, error) {
	body, err := ToolCall(t.calls.Add(1), name, args)
	if err != nil {
		return nil, err
	}
	answer, _, err := t.Do(ctx, http.MethodPost, "/mcp", t.headers[client].Clone(), body)
	if err == nil && (bytes.Contains(answer, []byte(`"isError":true`)) || !bytes.Contains(answer, []byte(`"result"`))) {
		err = fmt.Errorf("%s: %s", name, answer)
	}
	return answer, err
}

// MCP is a world whose pairs use MCP. It implements [Pairs].
type MCP struct {
	Tools
	*World
	cursors []string
}

// NewMCP initializes the clients of so many pairs in a world whose spaces [World.Pair]
// has made.
func NewMCP(ctx context.Context, wire Wire, w *World, pairs int) (*MCP, error) {
	s := &MCP{Tools: Tools{Wire: wire}, World: w, cursors: make([]string, pairs)}
	return s, s.Join(ctx, w.Keys[:2*pairs])
}

// Send calls send_message.
func (s *MCP) Send(ctx context.Context, i int, text string, wake bool) error {
	_, err := s.Tool(ctx, 2*i, "send_message", toolPosting{SpaceID(i), text, mentioned(i, wake)})
	return err
}

type toolPosting struct {
	ThreadID shoal.SpaceID    `json:"threadId"`
	Content  string           `json:"content"`
	Mentions []shoal.EntityID `json:"mentions"`
}

// Wait calls wait_for_mentions, and acknowledges what the call before it returned.
func (s *MCP) Wait(ctx context.Context, i int) ([]byte, error) {
	answer, err := s.Tool(ctx, 2*i+1, "wait_for_mentions", Waiting{TimeoutMs: WaitMs, Ack: s.cursors[i]})
	s.cursors[i] = CursorIn(answer)
	return answer, err
}

// Unread acknowledges what the last wait of a pair returned, and returns what is left
// for its waiter, without waiting.
func (s *MCP) Unread(ctx context.Context, i int) ([]byte, error) {
	answer, err := s.Tool(ctx, 2*i+1, "wait_for_mentions", Waiting{Ack: s.cursors[i]})
	s.cursors[i] = CursorIn(answer)
	return answer, err
}
