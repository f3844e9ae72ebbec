package crowd

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

// ErrUnknown reports that it is unknown whether a call took effect; ErrGone reports in
// addition that the connection broke.
var (
	ErrUnknown = errors.New("the outcome is unknown")
	ErrGone    = fmt.Errorf("the server is gone: %w", ErrUnknown)
)

// Caller is a client with one key. It makes every call once, whereas package client
// retries.
type Caller struct {
	HTTP *http.Client
	URL  string
	Key  string
	As   shoal.EntityID

	MCPSession string // of the initialization; kept across all lives of the server
	Calls      int
}

// Exchange sends JSON and returns the body of the response. It returns ErrUnknown if
// there is no response, or one that reports a server failure. The end of ctx does not
// interrupt it.
func (c *Caller) Exchange(ctx context.Context, path string, header map[string]string, body any) ([]byte, http.Header, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), SettleLimit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.URL+path, bytes.NewReader(text))
	if err != nil {
		return nil, nil, err
	}
	req.Header.Set("Authorization", "Bearer "+c.Key)
	req.Header.Set("Content-Type", "application/json")
	for name, value := range header {
		req.Header.Set(name, value)
	}
	res, err := c.HTTP.Do(req)
	if err != nil {
		return nil, nil, ErrGone
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	switch {
	case err != nil:
		return nil, nil, ErrGone
	case res.StatusCode >= http.StatusInternalServerError, res.StatusCode == http.StatusTooManyRequests:
		return nil, nil, fmt.Errorf("%w: %s", ErrUnknown, answer)
	case res.StatusCode >= http.StatusMultipleChoices:
		return nil, nil, fmt.Errorf("%s was refused with %d %s", path, res.StatusCode, answer)
	}
	return answer, res.Header, nil
}

// Speaker is the protocol of a client: REST or MCP.
type Speaker interface {
	Post(ctx context.Context, p *Post) (shoal.Message, error)
	Wait(ctx context.Context, w Waiting) (shoal.WaitResult, error)
}

// Waiting is the input of a wait.
type Waiting struct {
	Kind      shoal.WaitKind
	TimeoutMs int64
	Ack       string
}

// RestSpeaker calls the REST API.
type RestSpeaker struct{ *Caller }

// Post implements [Speaker].
func (s RestSpeaker) Post(ctx context.Context, p *Post) (m shoal.Message, err error) {
	body := map[string]any{"text": p.Text, "mentions": p.Mentions}
	answer, _, err := s.Exchange(ctx, "/v1/sessions/default/spaces/"+string(p.Space)+"/messages", map[string]string{"Idempotency-Key": p.Key}, body)
	if err == nil {
		err = json.Unmarshal(answer, &m)
	}
	return m, err
}

// Wait implements [Speaker].
func (s RestSpeaker) Wait(ctx context.Context, w Waiting) (r shoal.WaitResult, err error) {
	body := map[string]any{"kind": w.Kind, "timeoutMs": w.TimeoutMs}
	if w.Ack != "" {
		body["ack"] = w.Ack
	}
	answer, _, err := s.Exchange(ctx, "/v1/sessions/default/entities/"+string(s.As)+"/wait", nil, body)
	if err == nil {
		err = json.Unmarshal(answer, &r)
	}
	return r, err
}

// MCPSpeaker uses a revision of MCP that has MCP sessions, and never initializes again: a
// restart must not break a client.
type MCPSpeaker struct{ *Caller }

// MCPVersion is the revision that an [MCPSpeaker] uses.
const MCPVersion = "2025-06-18"

// Post implements [Speaker].
func (s MCPSpeaker) Post(ctx context.Context, p *Post) (m shoal.Message, err error) {
	return m, s.tool(ctx, "send_message", map[string]any{
		"threadId": p.Space, "content": p.Text, "mentions": p.Mentions, "senderId": p.sender, "idempotencyKey": p.Key,
	}, &m)
}

// Wait implements [Speaker].
func (s MCPSpeaker) Wait(ctx context.Context, w Waiting) (r shoal.WaitResult, err error) {
	args := map[string]any{"agentId": s.As, "timeoutMs": w.TimeoutMs}
	if w.Ack != "" {
		args["ack"] = w.Ack
	}
	return r, s.tool(ctx, "wait_for_"+string(w.Kind), args, &r)
}

// Initialize opens the only MCP session of this client.
func (s MCPSpeaker) Initialize(ctx context.Context) error {
	_, header, err := s.rpc(ctx, map[string]any{"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": map[string]any{
		"protocolVersion": MCPVersion, "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "crash", "version": "1"},
	}})
	if err != nil {
		return err
	}
	s.MCPSession = header.Get("Mcp-Session-Id")
	_, _, err = s.rpc(ctx, map[string]any{"jsonrpc": "2.0", "method": "notifications/initialized"})
	return err
}

// tool calls a tool and decodes its structured content. It returns ErrUnknown for an error
// of the tool that reports a server failure.
func (s MCPSpeaker) tool(ctx context.Context, name string, args map[string]any, out any) error {
	s.Calls++
	answer, _, err := s.rpc(ctx, map[string]any{
		"jsonrpc": "2.0", "id": s.Calls, "method": "tools/call", "params": map[string]any{"name": name, "arguments": args},
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
			return fmt.Errorf("%w: %s", ErrUnknown, text)
		}
	}
	if got.Error != nil || got.Result.IsError {
		return fmt.Errorf("%s was refused: %s", name, answer)
	}
	return json.Unmarshal(got.Result.StructuredContent, out)
}

// rpc sends one JSON-RPC message and returns its response, which arrives as JSON or as the
// last event of a stream.
func (s MCPSpeaker) rpc(ctx context.Context, message any) ([]byte, http.Header, error) {
	header := map[string]string{"Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": MCPVersion}
	if s.MCPSession != "" {
		header["Mcp-Session-Id"] = s.MCPSession
	}
	answer, got, err := s.Exchange(ctx, "/mcp", header, message)
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
		return nil, nil, ErrGone // the stream ended before the response
	}
	return last, got, nil
}
