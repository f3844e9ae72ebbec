package faults

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/shoal-dev/shoal"
)

// errUnknown reports that it is unknown whether a call took effect; errGone reports in
// addition that the connection broke.
var (
	errUnknown = errors.New("the outcome is unknown")
	errGone    = fmt.Errorf("the server is gone: %w", errUnknown)
)

// caller is a client with one key. It makes every call once, whereas package client
// retries.
type caller struct {
	http *http.Client
	url  string
	key  string
	as   shoal.EntityID

	mcpSession string // of the initialization; kept across all lives of the server
	calls      int
}

// exchange sends JSON and returns the body of the response. It returns errUnknown if
// there is no response, or one that reports a server failure. The end of ctx does not
// interrupt it.
func (c *caller) exchange(ctx context.Context, path string, header map[string]string, body any) ([]byte, http.Header, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleLimit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url+path, bytes.NewReader(text))
	if err != nil {
		return nil, nil, err
	}
	req.Header.Set("Authorization", "Bearer "+c.key)
	req.Header.Set("Content-Type", "application/json")
	for name, value := range header {
		req.Header.Set(name, value)
	}
	res, err := c.http.Do(req)
	if err != nil {
		return nil, nil, errGone
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	switch {
	case err != nil:
		return nil, nil, errGone
	case res.StatusCode >= http.StatusInternalServerError, res.StatusCode == http.StatusTooManyRequests:
		return nil, nil, fmt.Errorf("%w: %s", errUnknown, answer)
	case res.StatusCode >= http.StatusMultipleChoices:
		return nil, nil, fmt.Errorf("%s was refused with %d %s", path, res.StatusCode, answer)
	}
	return answer, res.Header, nil
}

// speaker is the protocol of a client: REST or MCP.
type speaker interface {
	post(ctx context.Context, p *post) (shoal.Message, error)
	wait(ctx context.Context, w waiting) (shoal.WaitResult, error)
}

// waiting is the input of a wait.
type waiting struct {
	kind      shoal.WaitKind
	timeoutMs int64
	ack       string
}

type restSpeaker struct{ *caller }

func (s restSpeaker) post(ctx context.Context, p *post) (m shoal.Message, err error) {
	body := map[string]any{"text": p.text, "mentions": p.mentions}
	answer, _, err := s.exchange(ctx, "/v1/sessions/default/spaces/"+string(p.space)+"/messages", map[string]string{"Idempotency-Key": p.key}, body)
	if err == nil {
		err = json.Unmarshal(answer, &m)
	}
	return m, err
}

func (s restSpeaker) wait(ctx context.Context, w waiting) (r shoal.WaitResult, err error) {
	body := map[string]any{"kind": w.kind, "timeoutMs": w.timeoutMs}
	if w.ack != "" {
		body["ack"] = w.ack
	}
	answer, _, err := s.exchange(ctx, "/v1/sessions/default/entities/"+string(s.as)+"/wait", nil, body)
	if err == nil {
		err = json.Unmarshal(answer, &r)
	}
	return r, err
}

// mcpSpeaker uses a revision of MCP that has MCP sessions, and never initializes again: a
// restart must not break a client.
type mcpSpeaker struct{ *caller }

const mcpVersion = "2025-06-18"

func (s mcpSpeaker) post(ctx context.Context, p *post) (m shoal.Message, err error) {
	return m, s.tool(ctx, "send_message", map[string]any{
		"threadId": p.space, "content": p.text, "mentions": p.mentions, "senderId": p.sender, "idempotencyKey": p.key,
	}, &m)
}

func (s mcpSpeaker) wait(ctx context.Context, w waiting) (r shoal.WaitResult, err error) {
	args := map[string]any{"agentId": s.as, "timeoutMs": w.timeoutMs}
	if w.ack != "" {
		args["ack"] = w.ack
	}
	return r, s.tool(ctx, "wait_for_"+string(w.kind), args, &r)
}

// initialize opens the only MCP session of this client.
func (s mcpSpeaker) initialize(ctx context.Context) error {
	_, header, err := s.rpc(ctx, map[string]any{"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": map[string]any{
		"protocolVersion": mcpVersion, "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "crash", "version": "1"},
	}})
	if err != nil {
		return err
	}
	s.mcpSession = header.Get("Mcp-Session-Id")
	_, _, err = s.rpc(ctx, map[string]any{"jsonrpc": "2.0", "method": "notifications/initialized"})
	return err
}

// tool calls a tool and decodes its structured content. It returns errUnknown for an error
// of the tool that reports a server failure.
func (s mcpSpeaker) tool(ctx context.Context, name string, args map[string]any, out any) error {
	s.calls++
	answer, _, err := s.rpc(ctx, map[string]any{
		"jsonrpc": "2.0", "id": s.calls, "method": "tools/call", "params": map[string]any{"name": name, "arguments": args},
	})
	if err != nil {
		return err
	}
	var got struct {
		Error  json.RawMessage
		Result struct {
			Content           []struct{ Text string }
			StructuredContent json.RawMessage
			IsError           bool
		}
	}
	if err := json.Unmarshal(answer, &got); err != nil {
		return fmt.Errorf("%w in %q", err, answer)
	}
	if got.Result.IsError && len(got.Result.Content) > 0 {
		text := got.Result.Content[0].Text
		switch kind, _, _ := strings.Cut(text, ":"); shoal.Kind(kind) {
		case shoal.Busy, shoal.Internal, shoal.StorageFull, shoal.RateLimited:
			return fmt.Errorf("%w: %s", errUnknown, text)
		}
	}
	if got.Error != nil || got.Result.IsError {
		return fmt.Errorf("%s was refused: %s", name, answer)
	}
	return json.Unmarshal(got.Result.StructuredContent, out)
}

// rpc sends one JSON-RPC message and returns its response, which arrives as JSON or as the
// last event of a stream.
func (s mcpSpeaker) rpc(ctx context.Context, message any) ([]byte, http.Header, error) {
	header := map[string]string{"Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": mcpVersion}
	if s.mcpSession != "" {
		header["Mcp-Session-Id"] = s.mcpSession
	}
	answer, got, err := s.exchange(ctx, "/mcp", header, message)
	if err != nil || !strings.HasPrefix(got.Get("Content-Type"), "text/event-stream") {
		return answer, got, err
	}
	var last []byte
	for line := range bytes.Lines(answer) {
		if data, ok := bytes.CutPrefix(line, []byte("data:")); ok && bytes.Contains(data, []byte(`"jsonrpc"`)) {
			last = data
		}
	}
	if last == nil {
		return nil, nil, errGone // the stream ended before the response
	}
	return last, got, nil
}
