// Package mcpbridge connects a program that speaks MCP over standard input and output to the
// MCP endpoint of a Shoal server, which uses HTTP.
//
//	err := mcpbridge.Run(ctx, mcpbridge.Options{URL: "http://127.0.0.1:7462", Key: key, Stdin: os.Stdin, Stdout: os.Stdout})
//
// Guarantees:
//   - Standard output carries only protocol messages, one per line, each written in one
//     piece.
//   - Every request gets exactly one response, unless the client cancels it: the server's
//     response, or an error that says what to do when the server does not respond. Each
//     request connects again, so a restart of the server breaks nothing; a stream of
//     notifications is reopened with its subscriptions.
//   - When the client cancels a request or closes its output, the HTTP request ends, and with
//     it the wait on the server.
//   - Both eras of the protocol are supported. The bridge adds the headers that HTTP requires
//     and keeps the session of the older era.
package mcpbridge

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
)

// Options configure the bridge. URL, Stdin and Stdout are required.
type Options struct {
	// URL is the URL of the server, without /mcp.
	URL string
	// Key authenticates the calls; As and Session select the actor of an admin key.
	Key     string
	As      string
	Session string
	Stdin   io.Reader
	Stdout  io.Writer
	// HTTP is the client for the server; nil means a client without time-out.
	HTTP *http.Client
}

// Limits of the bridge.
const (
	maxMessage = 4 << 20 // the server accepts no larger message
	maxOpen    = 64      // concurrent requests; further ones are queued
)

// errDone cancels open requests when the client has closed its output.
var errDone = errors.New("the client has gone")

// Run relays messages in both directions until Stdin ends, which is not an error, or ctx ends.
// It returns when everything that it started has ended, except the goroutine that reads a
// Stdin that never ends.
func Run(ctx context.Context, o Options) error {
	if o.HTTP == nil {
		o.HTTP = &http.Client{}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	b := &bridge{Options: o, open: map[string]context.CancelCauseFunc{}, subscribed: map[string]message{}, slots: make(chan struct{}, maxOpen)}
	defer b.running.Wait()
	defer cancel(errDone)
	lines := make(chan []byte)
	readErr := make(chan error, 1)
	go func() { readErr <- b.read(ctx, lines) }() // blocks in Stdin, which nobody can interrupt
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case err := <-readErr:
			return err
		case line := <-lines:
			b.take(ctx, line)
		}
	}
}

type bridge struct {
	Options
	running sync.WaitGroup
	slots   chan struct{}

	writing sync.Mutex // guards Stdout

	mu         sync.Mutex
	session    string // Mcp-Session-Id of the older era
	version    string // version that initialize negotiated
	hello      message
	streaming  bool
	open       map[string]context.CancelCauseFunc // by request id
	subscribed map[string]message                 // by resource
}

// message is a line with the fields that the bridge needs.
type message struct {
	raw    []byte
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Name            string          `json:"name"`
		URI             string          `json:"uri"`
		RequestID       json.RawMessage `json:"requestId"`
		ProtocolVersion string          `json:"protocolVersion"`
		Meta            struct {
			ProtocolVersion string `json:"io.modelcontextprotocol/protocolVersion"`
		} `json:"_meta"`
	} `json:"params"`
}

func (m message) isRequest() bool { return m.Method != "" && len(m.ID) > 0 && string(m.ID) != "null" }

// read splits Stdin into lines.
func (b *bridge) read(ctx context.Context, lines chan<- []byte) error {
	in := bufio.NewReaderSize(b.Stdin, 64<<10)
	for {
		line, err := in.ReadBytes('\n')
		if line = bytes.TrimSpace(line); len(line) > 0 {
			select {
			case lines <- line:
			case <-ctx.Done():
				return nil
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("read from the client: %w", err)
		}
	}
}

// take relays one message. Requests run concurrently; messages without a response are relayed
// in order, and so is initialize, because later messages depend on it.
func (b *bridge) take(ctx context.Context, line []byte) {
	m := message{raw: line}
	if len(line) > maxMessage {
		b.fail(m, -32600, fmt.Sprintf("A message of %d bytes is too large; at most %d are allowed.", len(line), maxMessage))
		return
	}
	if err := json.Unmarshal(line, &m); err != nil && !json.Valid(line) {
		b.fail(m, -32700, "The line is not JSON; send one JSON-RPC message in each line.")
		return
	}
	switch {
	case m.Method == "notifications/cancelled":
		b.cancel(m.Params.RequestID)
		b.pass(ctx, m)
	case m.Method == "initialize":
		b.mu.Lock()
		b.hello, b.session, b.version = m, "", m.Params.ProtocolVersion
		b.mu.Unlock()
		b.pass(ctx, m)
	case !m.isRequest():
		b.pass(ctx, m)
		if m.Method == "notifications/initialized" {
			b.listen(ctx)
		}
	default:
		b.start(ctx, m)
	}
}

// start relays a request concurrently.
func (b *bridge) start(ctx context.Context, m message) {
	select {
	case b.slots <- struct{}{}:
	case <-ctx.Done():
		return
	}
	ctx, cancel := context.WithCancelCause(ctx)
	id := string(m.ID)
	b.mu.Lock()
	b.open[id] = cancel
	switch m.Method {
	case "resources/subscribe":
		b.subscribed[m.Params.URI] = m
	case "resources/unsubscribe":
		delete(b.subscribed, m.Params.URI)
	}
	b.mu.Unlock()
	b.running.Go(func() {
		defer func() {
			b.mu.Lock()
			delete(b.open, id)
			b.mu.Unlock()
			cancel(nil)
			<-b.slots
		}()
		b.pass(ctx, m)
	})
}

// cancel ends an open request, which then gets no response.
func (b *bridge) cancel(id json.RawMessage) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if end := b.open[string(id)]; end != nil {
		end(errDone)
	}
}

// write writes one message as a line to Stdout. An error means that the client is ending, and
// nobody is left to notify.
func (b *bridge) write(message []byte) {
	var line bytes.Buffer
	if json.Compact(&line, message) != nil {
		return // not JSON: nothing that a client could read
	}
	line.WriteByte('\n')
	b.writing.Lock()
	defer b.writing.Unlock()
	_, _ = b.Stdout.Write(line.Bytes())
}

// fail responds to a request with an error; other messages have no response.
func (b *bridge) fail(m message, code int, sentence string) {
	id := m.ID
	if len(id) == 0 {
		if m.Method != "" {
			return
		}
		id = json.RawMessage("null")
	}
	answer, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": id, "error": map[string]any{"code": code, "message": sentence},
	})
	if err == nil {
		b.write(answer)
	}
}
