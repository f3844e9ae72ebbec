package mcpbridge

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"
)

// stateless is the first revision of the protocol without sessions.
const stateless = "2026-07-28"

// listenAgain is the pause before the bridge reopens a stream of notifications.
const listenAgain = time.Second

// pass sends a message to the server and writes the response.
func (b *bridge) pass(ctx context.Context, m message) {
	res, err := b.post(ctx, m)
	if err == nil {
		defer res.Body.Close()
		err = b.answer(ctx, res, m)
	}
	if err != nil && ctx.Err() == nil {
		b.HTTP.CloseIdleConnections() // the other idle connections are broken, too
		b.fail(m, -32603, fmt.Sprintf("The Shoal server at %s does not respond (%v). Make sure that it is running (shoal serve), then call again.", b.URL, err))
	}
}

func (b *bridge) post(ctx context.Context, m message) (*http.Response, error) {
	req, err := b.request(ctx, http.MethodPost, bytes.NewReader(m.raw))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if version := m.Params.Meta.ProtocolVersion; version != "" {
		req.Header.Set("Mcp-Protocol-Version", version)
		req.Header.Del("Mcp-Session-Id")
	}
	if req.Header.Get("Mcp-Protocol-Version") >= stateless && m.Method != "" {
		req.Header.Set("Mcp-Method", m.Method)
		if name := m.Params.Name + m.Params.URI; name != "" {
			req.Header.Set("Mcp-Name", name)
		}
	}
	return b.HTTP.Do(req)
}

// request returns a request with the common headers.
func (b *bridge) request(ctx context.Context, method string, body io.Reader) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(b.URL, "/")+"/mcp", body)
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for name, value := range map[string]string{
		"Mcp-Session-Id": b.session, "Mcp-Protocol-Version": b.version, "X-Shoal-Entity": b.As, "X-Shoal-Session": b.Session,
	} {
		if value != "" {
			req.Header.Set(name, value)
		}
	}
	if b.Key != "" {
		req.Header.Set("Authorization", "Bearer "+b.Key)
	}
	return req, nil
}

// answer writes the server's response to m. An error is one of the connection or the cause of
// ctx: a cancelled request gets no response, although the server may have sent one.
func (b *bridge) answer(ctx context.Context, res *http.Response, m message) error {
	if m.Method == "initialize" && res.StatusCode == http.StatusOK {
		b.mu.Lock()
		b.session = res.Header.Get("Mcp-Session-Id")
		b.mu.Unlock()
	}
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	if kind == "text/event-stream" && res.StatusCode == http.StatusOK {
		return b.relay(ctx, res.Body, m)
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, 4*maxMessage))
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return err
	}
	if m.Method == "initialize" && res.StatusCode == http.StatusOK {
		b.agreed(body)
	}
	var said struct {
		ID    json.RawMessage `json:"id"`
		Error *struct {
			Code    int    `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
	}
	switch decodeErr := json.Unmarshal(body, &said); {
	case res.StatusCode == http.StatusAccepted || len(body) == 0 && res.StatusCode < 300:
		return nil
	case decodeErr == nil && said.Error != nil && (len(said.ID) == 0 || string(said.ID) == "null"):
		b.fail(m, said.Error.Code, said.Error.Message) // refused before the server read its id
	case res.StatusCode < 300 || decodeErr == nil && said.Error != nil:
		b.write(body)
	default:
		b.fail(m, -32603, fmt.Sprintf("The server refused the message with status %d: %s", res.StatusCode, strings.TrimSpace(string(body[:min(len(body), 500)]))))
	}
	return nil
}

// agreed stores the protocol version that initialize negotiated.
func (b *bridge) agreed(body []byte) {
	var said struct {
		Result struct {
			ProtocolVersion string `json:"protocolVersion"`
		} `json:"result"`
	}
	_ = json.Unmarshal(body, &said) // without a version the client's version is kept
	b.mu.Lock()
	defer b.mu.Unlock()
	if said.Result.ProtocolVersion != "" {
		b.version = said.Result.ProtocolVersion
	}
}

// relay writes the messages of an event stream until it ends. The error says that the stream
// ended before the response to m.
func (b *bridge) relay(ctx context.Context, body io.Reader, m message) error {
	in := bufio.NewReaderSize(body, 32<<10)
	var data bytes.Buffer
	answered := !m.isRequest()
	for {
		line, err := in.ReadBytes('\n')
		line = bytes.TrimRight(line, "\r\n")
		if more, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			data.Write(bytes.TrimPrefix(more, []byte(" ")))
			data.WriteByte('\n')
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if len(line) == 0 && data.Len() > 0 {
			answered = b.event(data.Bytes(), m) || answered
			data.Reset()
		}
		if err != nil {
			if answered {
				return nil
			}
			return fmt.Errorf("the stream ended without the answer: %w", err)
		}
	}
}

// event writes one message of a stream and reports whether it is the response to m.
func (b *bridge) event(data []byte, m message) bool {
	var said struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	if json.Unmarshal(data, &said) != nil {
		return false
	}
	if m.Method == "initialize" && said.Method == "" {
		b.agreed(data)
	}
	b.write(data)
	return said.Method == "" && bytes.Equal(said.ID, m.ID)
}

// listen opens the stream of the server's own messages, a feature of the older era, and keeps
// it open.
func (b *bridge) listen(ctx context.Context) {
	b.mu.Lock()
	start := !b.streaming && b.session != "" && b.version < stateless
	b.streaming = b.streaming || start
	b.mu.Unlock()
	if !start {
		return
	}
	b.running.Go(func() {
		for ctx.Err() == nil {
			status, err := b.stream(ctx)
			switch {
			case err == nil && status == http.StatusMethodNotAllowed:
				return
			case err == nil && status == http.StatusNotFound:
				b.reconnect(ctx)
			}
			select {
			case <-ctx.Done():
			case <-time.After(listenAgain):
			}
		}
	})
}

// stream relays the server's own messages until the stream ends.
func (b *bridge) stream(ctx context.Context) (status int, err error) {
	req, err := b.request(ctx, http.MethodGet, nil)
	if err != nil {
		return 0, err
	}
	req.Header.Set("Accept", "text/event-stream")
	res, err := b.HTTP.Do(req)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return res.StatusCode, nil
	}
	return res.StatusCode, b.relay(ctx, res.Body, message{})
}

// reconnect creates another session with the client's original parameters and its
// subscriptions. The client, which already has the responses, does not notice.
func (b *bridge) reconnect(ctx context.Context) {
	b.mu.Lock()
	hello := b.hello
	b.session = ""
	again := make([]message, 0, len(b.subscribed))
	for _, m := range b.subscribed {
		again = append(again, m)
	}
	b.mu.Unlock()
	res, err := b.post(ctx, hello)
	if err != nil || res.StatusCode != http.StatusOK {
		if err == nil {
			res.Body.Close()
		}
		return // the next round tries again
	}
	b.mu.Lock()
	b.session = res.Header.Get("Mcp-Session-Id")
	b.mu.Unlock()
	forget(res)
	again = append([]message{{raw: []byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)}}, again...)
	for _, m := range again {
		if res, err := b.post(ctx, m); err == nil {
			forget(res)
		}
	}
}

// forget discards a response that the client already has.
func forget(res *http.Response) {
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, maxMessage))
	res.Body.Close()
}
