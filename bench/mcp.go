package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"sync/atomic"
)

// mcpVersion is an era of MCP that has sessions, as most clients speak it.
const mcpVersion = "2025-06-18"

const (
	mcpInitialize  = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"` + mcpVersion + `","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}`
	mcpInitialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
)

// mcpSide speaks JSON-RPC by hand, so that the server is what is measured.
type mcpSide struct {
	wire
	clients []mcpClient // sender and waiter of each pair
	calls   atomic.Int64
}

type mcpClient struct{ header http.Header }

func (s *mcpSide) process() *process { return s.wire.process }

// mcpHeader is what every request of a client has; key may be empty.
func mcpHeader(key string) http.Header {
	h := http.Header{
		"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}, "Mcp-Protocol-Version": {mcpVersion},
	}
	if key != "" {
		h.Set("Authorization", "Bearer "+key)
	}
	return h
}

// join initializes one client.
func (s *mcpSide) join(ctx context.Context, key string) error {
	header := mcpHeader(key)
	_, got, err := s.do(ctx, http.MethodPost, "/mcp", header.Clone(), []byte(mcpInitialize))
	if err != nil {
		return err
	}
	if id := got.Get("Mcp-Session-Id"); id != "" {
		header.Set("Mcp-Session-Id", id)
	}
	if _, _, err := s.do(ctx, http.MethodPost, "/mcp", header.Clone(), []byte(mcpInitialized)); err != nil {
		return err
	}
	s.clients = append(s.clients, mcpClient{header})
	return nil
}

// toolCall is the request that calls a tool.
func toolCall(id int64, tool string, args any) ([]byte, error) {
	encoded, err := json.Marshal(args)
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"%s","arguments":%s}}`, id, tool, encoded), err
}

// tool calls a tool as a client and returns the whole answer.
func (s *mcpSide) tool(ctx context.Context, client int, name string, args any) ([]byte, error) {
	body, err := toolCall(s.calls.Add(1), name, args)
	if err != nil {
		return nil, err
	}
	answer, _, err := s.do(ctx, http.MethodPost, "/mcp", s.clients[client].header.Clone(), body)
	if err == nil && (bytes.Contains(answer, []byte(`"isError":true`)) || !bytes.Contains(answer, []byte(`"result"`))) {
		err = fmt.Errorf("%s: %s", name, answer)
	}
	return answer, err
}

// sdkSide is the bare server on the MCP SDK.
type sdkSide struct{ mcpSide }

func (s *sdkSide) name() string { return sdkRow }

func (s *sdkSide) open(ctx context.Context, pairs int) error {
	for range 2 * pairs {
		if err := s.join(ctx, ""); err != nil {
			return err
		}
	}
	return nil
}

func (s *sdkSide) send(ctx context.Context, i int, text string, wake bool) error {
	in := sdkSend{Content: text}
	if wake {
		in.To = strconv.Itoa(i)
	}
	_, err := s.tool(ctx, 2*i, "send_message", in)
	return err
}

func (s *sdkSide) wait(ctx context.Context, i int) ([]byte, error) {
	return s.tool(ctx, 2*i+1, "wait_for_mentions", sdkWait{strconv.Itoa(i)})
}
